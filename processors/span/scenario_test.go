package span

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestScenarios reads testdata/*.txt: one span per block, followed by "----" and the result. A
// block has "#" comments, the span's kind and name, and one line per attribute, "http.status_code
// 200"; numbers, true and false have their own types, and quoted text is text. "@error" and "@ok"
// set the status. Run with -rewrite after adding a span; commit the output only if it is right. A
// span that is understood otherwise than before needs a new Name.
func TestScenarios(t *testing.T) {
	var all []golden.Versioned
	golden.Blocks(t, "testdata/*.txt", func(t *testing.T, input string) (string, bool) {
		sp := parseSpan(t, input)
		if sp == nil {
			return "", false
		}
		o := observe(t, sp)
		all = append(all, golden.Versioned{Name: "scenario", Versions: Name, Input: []byte(input), Result: golden.Proto(t, o)})
		return describe(o), true
	})
	golden.Versions(t, "testdata/versions/spans.txt", all)
}

// parseSpan parses a block; it returns nil if the block has only comments.
func parseSpan(t testing.TB, block string) *tracepb.Span {
	t.Helper()
	var sp *tracepb.Span
	for l := range strings.SplitSeq(block, "\n") {
		key, value, _ := strings.Cut(l, " ")
		switch {
		case strings.HasPrefix(l, "#"):
		case sp == nil:
			kind, ok := tracepb.Span_SpanKind_value["SPAN_KIND_"+key]
			if !ok {
				t.Fatalf("%s: no kind of span", l)
			}
			sp = newSpan(tracepb.Span_SpanKind(kind), value)
		case key == "@error":
			sp.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
		case key == "@ok":
			sp.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_OK}
		default:
			sp.Attributes = append(sp.Attributes, &commonpb.KeyValue{Key: key, Value: parseValue(value)})
		}
	}
	return sp
}

func parseValue(s string) *commonpb.AnyValue {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
	}
	if s == "true" || s == "false" {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: s == "true"}}
	}
	if text, err := strconv.Unquote(s); err == nil {
		s = text
	}
	return stringValue(s)
}

func stringValue(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

func newSpan(kind tracepb.Span_SpanKind, name string) *tracepb.Span {
	return &tracepb.Span{
		TraceId: []byte("0123456789abcdef"), SpanId: []byte("01234567"), Kind: kind, Name: name,
		StartTimeUnixNano: 1763640000e9, EndTimeUnixNano: 1763640000e9 + 12e6,
	}
}

func export(resource []*commonpb.KeyValue, spans ...*tracepb.Span) *tracepb.TracesData {
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   &resourcepb.Resource{Attributes: resource},
		ScopeSpans: []*tracepb.ScopeSpans{{Spans: spans}},
	}}}
}

func exported(t testing.TB, data *tracepb.TracesData) *recountv1.SpanBatch {
	t.Helper()
	rec := &recountv1.Record{}
	if err := Exported(schemas.Event{Time: time.Unix(1763640001, 0)}, data, rec); err != nil {
		t.Fatal(err)
	}
	return rec.GetSpans()
}

// observe returns the observation of one span.
func observe(t testing.TB, sp *tracepb.Span) *recountv1.Observation {
	t.Helper()
	b := exported(t, export(nil, sp))
	if len(b.Observations) != 1 {
		t.Fatalf("%d observations of one span: %s", len(b.Observations), b.Problem)
	}
	return b.Observations[0]
}

// describe prints the fields that differ between the spans of a scenario.
func describe(o *recountv1.Observation) string {
	var out strings.Builder
	short := func(prefix, s string) string { return strings.ToLower(strings.TrimPrefix(s, prefix)) }
	fmt.Fprintf(&out, "%s %s %q", short("SIDE_", o.Side.String()), short("RUNTIME_KIND_", o.Kind.String()), o.Operation)
	if o.Templated {
		out.WriteString(" templated")
	}
	for _, field := range [][2]string{{"system", o.System}, {"peer", o.Peer}, {"function", o.Function}, {"file", o.File}} {
		if field[1] != "" {
			fmt.Fprintf(&out, "\n%s %s", field[0], field[1])
		}
	}
	if o.Line != 0 {
		fmt.Fprintf(&out, ":%d", o.Line)
	}
	if o.Status != recountv1.Status_STATUS_UNSPECIFIED || o.Code != nil {
		fmt.Fprintf(&out, "\n%s", short("STATUS_", o.Status.String()))
		if o.Code != nil {
			fmt.Fprintf(&out, " %d", *o.Code)
		}
	}
	return out.String() + "\n"
}
