package schemas

import (
	"fmt"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestPlainAgent(t *testing.T) {
	for _, p := range []string{
		`{}`,
		`{"workspace":"acme/shop","agent":"a","session":"s","parent_event_id":"p","text":"Checkout \"fails\".\nSince when?"}`,
		`{"tenant":"t","occurred_at":"2026-03-01T00:00:00.5Z","thought":"hm","model":"m","tool":{"name":"bash","call_id":"1","command":"go test ./...","cwd":"/src"}}`,
		` { "tool" : { "call_id" : "1" , "result" : "ok" , "failed" : true , "exit_code" : -1 , "duration" : "1.5s" } , "agent" : "a" } `,
		`{"tool":{}}`, `{"tool":{"failed":false}}`,
	} {
		if !samePlain(t, plainAgent, &recountv1.AgentEvent{}, []byte(p)) {
			t.Errorf("%s was not taken", p)
		}
	}
	for _, p := range []string{
		``, `{`, `[]`, `{"text":"a"`, `{"text":"a"}}`, `{"text":"a","text":"b"}`, `{"tool":{"name":"a","name":"b"}}`, `{"tool":{},"tool":{}}`,
		`{"text":null}`, `{"tool":null}`, `{"tool":[]}`, `{"tool":{}`, `{"tool":{"files":["a"]}}`, `{"parentEventId":"a"}`, `{"memory":{}}`,
		`{"tool":{"failed":1}}`, `{"tool":{"failed":truest}}`, `{"tool":{"failed":true`, `{"tool":{"failed":"true"}}`, `{"tool":{"x":1}}`,
		`{"importance":2}`, `{"tool":{"duration":"-1s"}}`, "{\"tool\":{\"result\":\"\xff\"}}", `{"tool":{"name":"a"},}`, `{"tool":{"name":"a",}}`,
	} {
		if samePlain(t, plainAgent, &recountv1.AgentEvent{}, []byte(p)) {
			t.Errorf("%q was taken", p)
		}
	}
}

// TestPlainAgentKnowsTheConstraints checks that every text that plainAgent accepts has the limit
// stated in agents.proto, and that the schema has no other constraint on it or its message.
func TestPlainAgentKnowsTheConstraints(t *testing.T) {
	taken := 0
	for _, of := range []struct {
		m    proto.Message
		form string
	}{{&recountv1.AgentEvent{}, `{%q:%q}`}, {&recountv1.Tool{}, `{"tool":{%q:%q}}`}} {
		d := of.m.ProtoReflect().Descriptor()
		if proto.HasExtension(d.Options(), validate.E_Message) {
			t.Errorf("%s has constraints over its fields, which plainAgent does not know", d.Name())
		}
		for i := range d.Fields().Len() {
			f := d.Fields().Get(i)
			take := func(n int) bool {
				return samePlain(t, plainAgent, &recountv1.AgentEvent{}, fmt.Appendf(nil, of.form, f.Name(), strings.Repeat("x", n)))
			}
			if f.Kind() != protoreflect.StringKind || f.IsList() || f.IsMap() {
				continue
			}
			rules, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
			most := int(rules.GetString().GetMaxBytes())
			if most == 0 {
				most = 1 << 16
			} else if take(most + 1) {
				t.Errorf("%s of %d bytes was taken", f.FullName(), most+1)
			}
			if !take(0) || !take(most) {
				t.Errorf("%s of %d bytes was not taken", f.FullName(), most)
			}
			taken++
		}
	}
	if taken != 14 {
		t.Errorf("%d texts, plainAgent takes 14", taken)
	}
}

// FuzzPlainAgent checks that plainAgent gives the same result as the general decoder.
func FuzzPlainAgent(f *testing.F) {
	for _, p := range []string{
		`{"workspace":"acme/shop","agent":"a","session":"s","parent_event_id":"p","occurred_at":"2026-03-01T00:00:00Z","text":"a\"b"}`,
		`{"thought":"t","tool":{"name":"bash","call_id":"1","command":"ls","cwd":"/","result":"r","failed":true,"exit_code":-1,"duration":"1.5s"}}`,
	} {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { samePlain(t, plainAgent, &recountv1.AgentEvent{}, payload) })
}

func BenchmarkDecodeAgentEvent(b *testing.B) {
	e := Event{Type: TypeToolResult, ContentType: ContentJSON, Payload: []byte(
		`{"workspace":"acme/shop","agent":"agent-17","session":"run-17","parent_event_id":"018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55",` +
			`"tool":{"call_id":"12","result":"` + strings.Repeat("some words of a result ", 8) + `","exit_code":1}}`)}
	b.ReportAllocs()
	for range b.N {
		if _, err := e.DecodePayload(); err != nil {
			b.Fatal(err)
		}
	}
}
