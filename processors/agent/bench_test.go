package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"google.golang.org/protobuf/proto"
)

// BenchmarkObjects decodes, processes and embeds events as a stream does.
func BenchmarkObjects(b *testing.B) {
	words := strings.Fields("the checkout service returns five hundred when a cart has no items so I will read src/cart.go and the logs of commit 9fceb02 before changing anything else in the handler of the payment")
	message := func(i, size int) *recountv1.AgentEvent {
		var s strings.Builder
		for n := i; s.Len() < size; n += 7 {
			s.WriteString(words[n%len(words)] + " ")
			if n%11 == 0 {
				fmt.Fprintf(&s, "item%d. ", n)
			}
		}
		return &recountv1.AgentEvent{Workspace: "/src/shop", Agent: "claude", Session: "s-17", ParentEventId: fmt.Sprintf("e%d", i), Text: s.String()[:size]}
	}
	for _, c := range []struct {
		name, typ, media string
		event            func(i int) *recountv1.AgentEvent
	}{
		{"message-200-json", schemas.TypeUserMessage, schemas.ContentJSON, func(i int) *recountv1.AgentEvent { return message(i, 200) }},
		{"message-200-proto", schemas.TypeUserMessage, schemas.ContentProto, func(i int) *recountv1.AgentEvent { return message(i, 200) }},
		{"message-4000-proto", schemas.TypeUserMessage, schemas.ContentProto, func(i int) *recountv1.AgentEvent { return message(i, 4000) }},
		{"call-proto", schemas.TypeToolCall, schemas.ContentProto, func(i int) *recountv1.AgentEvent {
			e := message(i, 100)
			e.Tool = &recountv1.Tool{Name: "bash", CallId: fmt.Sprint(i), Command: fmt.Sprintf("go test ./cart -run Test%d | tail -5", i%50), Cwd: "/src/shop"}
			return e
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			in := make([]schemas.LogRecord, 512)
			for i := range in {
				value, err := proto.Marshal(c.event(i))
				if c.media == schemas.ContentJSON {
					value, err = schemas.EncodePayload(c.event(i))
				}
				if err != nil {
					b.Fatal(err)
				}
				in[i] = schemas.LogRecord{
					Position: schemas.Position{Topic: "recount.agents", Offset: int64(i)}, Timestamp: time.Unix(1763640000, 0), Value: value,
					Headers: []schemas.Header{{Key: "ce_type", Value: []byte(c.typ)}, {Key: "content-type", Value: []byte(c.media)}, {Key: "ce_id", Value: []byte(fmt.Sprintf("e%d", i))}},
				}
			}
			chain := processors.DefaultChain()
			chain.Workers = 1
			b.ReportAllocs()
			for b.Loop() {
				if _, err := processors.Records(context.Background(), in, chain); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(in)), "ns/event")
		})
	}
}

// BenchmarkLargest processes an event of the maximum size.
func BenchmarkLargest(b *testing.B) {
	value, _ := json.Marshal(map[string]any{"tool": map[string]string{"result": strings.Repeat("2026-11-20 10:00:00 ERROR src/cart.go:12 cart is empty, trace 1f\n", 4<<20/66)}})
	in := []schemas.LogRecord{{
		Position: schemas.Position{Topic: "recount.agents"}, Timestamp: time.Unix(1763640000, 0), Value: value,
		Headers: []schemas.Header{{Key: "ce_type", Value: []byte(schemas.TypeToolResult)}},
	}}
	for b.Loop() {
		if _, err := processors.Records(context.Background(), in, processors.DefaultChain()); err != nil {
			b.Fatal(err)
		}
	}
}
