package node

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
)

// ending is a context that ends after a number of checks, and counts the checks.
type ending struct {
	context.Context
	after, asked int
}

func (c *ending) Err() error {
	if c.asked++; c.asked > c.after {
		return context.Canceled
	}
	return nil
}

// TestRedactionEndsWithItsClient checks that redaction, which may take seconds, stops when the
// client disconnects, and that nothing of the request is stored.
func TestRedactionEndsWithItsClient(t *testing.T) {
	long := strings.Repeat("--password a ", 40<<10) // half a MiB
	span, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{
		Spans: []*tracepb.Span{{TraceId: make([]byte, 16), SpanId: make([]byte, 8), Name: long}},
	}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]schemas.Event{
		"command": {Payload: []byte(`{"command":"` + long + `","cwd":"/src"}`)},
		"output":  {Type: schemas.TypeOutcomeObserved, Payload: []byte(`{"command_event_id":"b7","exit_code":1,"output_tail":"` + long[:60<<10] + `"}`)},
		"agent":   {Type: schemas.TypeUserMessage, Payload: []byte(`{"tenant":"t","workspace":"w","agent":"a","session":"s","text":"` + long + `"}`)},
		"spans":   {Type: schemas.TypeSpansExported, ContentType: schemas.ContentProto, Payload: span, Key: []byte("shop"), Time: time.Unix(1763640000, 0)},
		"subject": {Subject: "token=" + long, Payload: []byte(`{"command":"make","cwd":"/src"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			a := waitingAppender(t, func(context.Context, ...schemas.Event) ([]schemas.Position, error) {
				t.Error("stored")
				return nil, errors.New("stored")
			})
			ctx := &ending{Context: t.Context(), after: 2}
			_, err := a.Append(ctx, []schemas.Event{e})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if ctx.asked > ctx.after+6 { // returning takes a few checks, continuing takes many
				t.Errorf("went on for %d looks at the context", ctx.asked-ctx.after)
			}
		})
	}
}
