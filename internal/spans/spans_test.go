package spans_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/otlpwire"
)

const maxEvent = 4 << 10

func split(t testing.TB, m *tracepb.TracesData) spans.Result {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	res, err := spans.Splitter{Redact: redact.Default(), MaxEvent: maxEvent}.Split(b)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func attr(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

// of returns the spans of a service in one scope; "" means no service name.
func of(service string, all ...*tracepb.Span) *tracepb.ResourceSpans {
	r := &resourcepb.Resource{Attributes: []*commonpb.KeyValue{attr("host.name", "h")}}
	if service != "" {
		r.Attributes = append(r.Attributes, attr("service.name", service))
	}
	return &tracepb.ResourceSpans{Resource: r, SchemaUrl: "https://opentelemetry.io/schemas/1.30.0", ScopeSpans: []*tracepb.ScopeSpans{{
		Scope: &commonpb.InstrumentationScope{Name: "lib"}, Spans: all,
	}}}
}

// numbered returns a valid span that ends n seconds after the first of March.
func numbered(n int) *tracepb.Span {
	end := time.Date(2026, 3, 1, 0, 0, n, 0, time.UTC).UnixNano()
	return &tracepb.Span{
		TraceId: fmt.Appendf(nil, "trace %10d", n), SpanId: fmt.Appendf(nil, "s%07d", n), Name: fmt.Sprint("op ", n),
		StartTimeUnixNano: uint64(end - 1e6), EndTimeUnixNano: uint64(end), Attributes: []*commonpb.KeyValue{attr("k", "v")},
	}
}

func run(from, to int) (all []*tracepb.Span) {
	for n := from; n < to; n++ {
		all = append(all, numbered(n))
	}
	return all
}

// decoded returns the spans in events, in order, by service.
func decoded(t testing.TB, events []schemas.Event) map[string][]*tracepb.Span {
	t.Helper()
	got := map[string][]*tracepb.Span{}
	for _, e := range events {
		m, err := e.DecodePayload()
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Payload) > maxEvent {
			t.Errorf("an event of %d bytes", len(e.Payload))
		}
		d := m.(*tracepb.TracesData)
		if want := schemas.SpanTime(schemas.LastEnd(d)); !e.Time.Equal(want) {
			t.Errorf("time %s, want %s", e.Time, want)
		}
		for _, rs := range d.ResourceSpans {
			service := schemas.ServiceOf(rs.Resource)
			if string(e.Key) != service {
				t.Errorf("key %q of spans of %q", e.Key, service)
			}
			if len(rs.Resource.GetAttributes()) == 0 || rs.SchemaUrl == "" {
				t.Errorf("a resource without what it says: %v", rs)
			}
			for _, ss := range rs.ScopeSpans {
				if ss.Scope.GetName() != "lib" {
					t.Errorf("a scope without its name: %v", ss)
				}
				got[service] = append(got[service], ss.Spans...)
			}
		}
	}
	return got
}

func TestSplitByService(t *testing.T) {
	m := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{
		of("cart", run(0, 3)...), of("", run(3, 4)...), of("front", run(4, 6)...), of("cart", run(6, 8)...), of("idle"),
	}}
	res := split(t, m)
	want := map[string][]*tracepb.Span{"cart": append(run(0, 3), run(6, 8)...), "front": run(4, 6), "unknown_service": run(3, 4)}
	if d := cmp.Diff(want, decoded(t, res.Events), protocmp.Transform()); d != "" {
		t.Error(d)
	}
	if len(res.Events) != 3 || res.Spans != 8 || res.Refused != 0 || res.Redacted != 0 {
		t.Errorf("%d events, %+v", len(res.Events), res)
	}
	again := split(t, m)
	for i := range again.Events {
		if again.Events[i].ID != res.Events[i].ID {
			t.Errorf("event %d: another id the second time", i)
		}
	}
	if none := split(t, &tracepb.TracesData{}); len(none.Events) != 0 || none.Spans != 0 {
		t.Errorf("of nothing: %+v", none)
	}
}

func TestSplitBelowTheLimit(t *testing.T) {
	large := numbered(500)
	large.Name = strings.Repeat("x", maxEvent)
	all := append(append(run(0, 300), large), run(300, 400)...)
	second := of("cart", run(400, 410)...)
	second.ScopeSpans = append(second.ScopeSpans, &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "lib"}, Spans: run(410, 450)})
	res := split(t, &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{of("cart", all...), second}})
	want := map[string][]*tracepb.Span{"cart": run(0, 450)}
	if d := cmp.Diff(want, decoded(t, res.Events), protocmp.Transform()); d != "" {
		t.Error(d)
	}
	if len(res.Events) < 5 || res.Spans != 451 || res.Refused != 1 {
		t.Errorf("%d events of %d spans, %d refused", len(res.Events), res.Spans, res.Refused)
	}
	if !strings.Contains(res.Problem, "4155 bytes") || !strings.Contains(res.Problem, "the maximum is 4096") {
		t.Errorf("problem: %s", res.Problem)
	}
}

// TestRefused puts a valid span beside each invalid one.
func TestRefused(t *testing.T) {
	deep := &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}}
	for range 100 {
		deep = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{deep}}}}
	}
	for _, c := range []struct {
		why  string
		bad  func(s *tracepb.Span)
		want string
	}{
		{"short trace id", func(s *tracepb.Span) { s.TraceId = s.TraceId[:15] }, `span "op 1": trace_id of 15 bytes, want 16`},
		{"no trace id", func(s *tracepb.Span) { s.TraceId = nil }, `trace_id of 0 bytes, want 16`},
		{"zero trace id", func(s *tracepb.Span) { s.TraceId = make([]byte, 16) }, `trace_id is zero`},
		{"long span id", func(s *tracepb.Span) { s.SpanId = make([]byte, 16) }, `span_id of 16 bytes, want 8`},
		{"zero span id", func(s *tracepb.Span) { s.SpanId = make([]byte, 8) }, `span_id is zero`},
		{"nested deep", func(s *tracepb.Span) { s.Attributes[0].Value = deep }, `values nested deeper than 32`},
		{"not UTF-8", func(s *tracepb.Span) {
			s.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), []byte("caf\xe9")))
		}, `span "caf\xe9": cannot be kept: text that is not UTF-8`},
	} {
		s := numbered(1)
		c.bad(s)
		res := split(t, &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{of("cart", numbered(0), s, numbered(2))}})
		if res.Spans != 3 || res.Refused != 1 || !strings.Contains(res.Problem, c.want) {
			t.Errorf("%s: %d refused: %s", c.why, res.Refused, res.Problem)
		}
		want := map[string][]*tracepb.Span{"cart": {numbered(0), numbered(2)}}
		if d := cmp.Diff(want, decoded(t, res.Events), protocmp.Transform()); d != "" {
			t.Errorf("%s: %s", c.why, d)
		}
	}
	rs := of("cart", run(0, 5)...)
	rs.Resource.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte("\x0a\x02\xff\xff")))
	res := split(t, &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{rs, of("front", run(5, 6)...)}})
	if res.Spans != 6 || res.Refused != 5 || len(res.Events) != 1 || !strings.Contains(res.Problem, "its resource cannot be kept") {
		t.Errorf("a resource that is not UTF-8: %+v", res)
	}
	rs = of("cart", run(0, 5)...)
	rs.ScopeSpans[0].ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), []byte("https://\xff")))
	res = split(t, &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{rs, of("front", run(5, 6)...)}})
	if res.Spans != 6 || res.Refused != 5 || len(res.Events) != 1 || !strings.Contains(res.Problem, "its scope cannot be kept: text contains invalid UTF-8") {
		t.Errorf("a schema URL that is not UTF-8: %+v", res)
	}
}

// TestKept checks spans that look wrong but are left to readers to judge.
func TestKept(t *testing.T) {
	backwards, ancient, never, far := numbered(1), numbered(2), numbered(3), numbered(4)
	backwards.StartTimeUnixNano, backwards.EndTimeUnixNano = backwards.EndTimeUnixNano, backwards.StartTimeUnixNano
	ancient.StartTimeUnixNano, ancient.EndTimeUnixNano = 1, 2
	never.StartTimeUnixNano, never.EndTimeUnixNano = 0, 0
	far.EndTimeUnixNano = 1<<64 - 1
	loop := numbered(5)
	loop.ParentSpanId = loop.SpanId
	for _, c := range []struct {
		why  string
		span *tracepb.Span
		time string
	}{
		{"end before start", backwards, "2026-03-01T00:00:01Z"},
		{"1970", ancient, "1970-01-01T00:00:00.000000002Z"},
		{"no time", never, "1970-01-01T00:00:00Z"},
		{"beyond the times of events", far, "2250-01-01T00:00:00Z"},
		{"its own parent", loop, "2026-03-01T00:00:05Z"},
	} {
		res := split(t, &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{of("cart", c.span)}})
		if res.Refused != 0 || len(res.Events) != 1 {
			t.Fatalf("%s: %+v", c.why, res)
		}
		e := res.Events[0]
		if got := e.Time.Format(time.RFC3339Nano); got != c.time {
			t.Errorf("%s: time %s, want %s", c.why, got, c.time)
		}
		if _, err := schemas.DecodeEvent("recount.spans", e.Headers(), e.Key, e.Payload, e.Time); err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if d := cmp.Diff(map[string][]*tracepb.Span{"cart": {c.span}}, decoded(t, res.Events), protocmp.Transform()); d != "" {
			t.Errorf("%s: %s", c.why, d)
		}
	}
}

func TestSecretsAndLaterFields(t *testing.T) {
	later := protowire.AppendString(protowire.AppendTag(nil, 1000, protowire.BytesType), "of a later version")
	rs := of("cart", numbered(0))
	rs.ScopeSpans[0].Spans[0].Attributes[0] = attr("db.password", "hunter2")
	rs.Resource.Attributes = append(rs.Resource.Attributes, attr("process.command_line", "serve --token hunter2"))
	m := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{rs}}
	want := proto.Clone(m).(*tracepb.TracesData)
	want.ResourceSpans[0].ScopeSpans[0].Spans[0].Attributes[0] = attr("db.password", "[redacted:secret]")
	want.ResourceSpans[0].Resource.Attributes[2] = attr("process.command_line", "serve --token [redacted:secret]")
	for _, m := range []*tracepb.TracesData{m, want} {
		rs := m.ResourceSpans[0]
		for _, p := range []proto.Message{m, rs, rs.Resource, rs.ScopeSpans[0], rs.ScopeSpans[0].Scope, rs.ScopeSpans[0].Spans[0]} {
			p.ProtoReflect().SetUnknown(later)
		}
	}
	res := split(t, m)
	if len(res.Events) != 1 || res.Redacted != 2 {
		t.Fatalf("%+v", res)
	}
	got := &tracepb.TracesData{}
	if err := proto.Unmarshal(res.Events[0].Payload, got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, protocmp.Transform()); d != "" {
		t.Error(d)
	}
}

func TestCutShort(t *testing.T) {
	b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{of("cart", numbered(0))}})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(b); n++ {
		if _, err := (spans.Splitter{Redact: redact.Default(), MaxEvent: maxEvent}).Split(b[:n]); !errors.Is(err, otlpwire.ErrMalformed) {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
}

// FuzzSplit checks that each span that the library decodes is in one event, unchanged except for
// secrets, or is refused.
func FuzzSplit(f *testing.F) {
	for _, m := range []*tracepb.TracesData{
		{}, {ResourceSpans: []*tracepb.ResourceSpans{of("cart", run(0, 3)...), of("", run(3, 40)...), of("cart", numbered(41))}},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		res, err := (spans.Splitter{Redact: redact.Default(), MaxEvent: maxEvent}).Split(b)
		var m tracepb.TracesData
		if decodes := proto.Unmarshal(b, &m); decodes != nil {
			if err == nil && res.Refused == 0 && res.Spans > 0 {
				t.Fatalf("all taken, and the library says %v", decodes)
			}
			return
		}
		if err != nil {
			if len(b) > maxEvent/2 {
				return
			}
			t.Fatal(err)
		}
		sent, kept := 0, 0
		for _, rs := range m.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				sent += len(ss.Spans)
			}
		}
		for _, e := range res.Events {
			var d tracepb.TracesData
			if err := proto.Unmarshal(e.Payload, &d); err != nil || len(e.Payload) > maxEvent {
				t.Fatalf("an event of %d bytes: %v", len(e.Payload), err)
			}
			for _, rs := range d.ResourceSpans {
				for _, ss := range rs.ScopeSpans {
					kept += len(ss.Spans)
				}
			}
		}
		if res.Spans != sent || kept+res.Refused != sent {
			t.Fatalf("%d spans sent, %d counted, %d kept, %d refused", sent, res.Spans, kept, res.Refused)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	var all []*tracepb.Span
	for n := range 100 {
		s := numbered(n)
		for i := range 9 {
			s.Attributes = append(s.Attributes, attr(fmt.Sprint("server.attribute.", i), "value "+fmt.Sprint(n*i)))
		}
		all = append(all, s)
	}
	in, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{of("cart", all...)}})
	if err != nil {
		b.Fatal(err)
	}
	s := spans.Splitter{Redact: redact.Default(), MaxEvent: 4 << 20}
	b.ReportAllocs()
	for b.Loop() {
		if res, err := s.Split(in); err != nil || len(res.Events) != 1 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/span")
}

// TestSplitEndsWithItsContext checks that reading stops when the sender has disconnected.
func TestSplitEndsWithItsContext(t *testing.T) {
	export, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{
		Spans: []*tracepb.Span{{TraceId: bytes.Repeat([]byte{1}, 16), SpanId: bytes.Repeat([]byte{2}, 8), Name: "token=abc1"}},
	}}}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := spans.Splitter{Redact: redact.Default(), MaxEvent: maxEvent}
	if res, err := s.SplitContext(ctx, export); err != nil || len(res.Events) != 1 {
		t.Fatalf("%d events, %v", len(res.Events), err)
	}
	cancel()
	if res, err := s.SplitContext(ctx, export); !errors.Is(err, context.Canceled) || len(res.Events) != 0 {
		t.Errorf("%d events, %v", len(res.Events), err)
	}
}
