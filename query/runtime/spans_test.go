package runtime

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestConfidence(t *testing.T) {
	at := time.Date(2026, 5, 14, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		recent uint64
		age    time.Duration
		want   float64
	}{
		"thousands this week":           {1001, time.Hour, 0.95},
		"exactly a thousand":            {1000, time.Hour, 0.85},
		"hundreds":                      {100, time.Hour, 0.85},
		"tens":                          {99, time.Hour, 0.7},
		"ten":                           {10, time.Hour, 0.7},
		"a few":                         {9, time.Hour, 0.5},
		"once":                          {1, 7 * day, 0.5},
		"not this week":                 {0, 8 * day, 0.2},
		"not for a month":               {0, 31 * day, 0.2},
		"not for ninety days":           {0, 90 * day, 0.2},
		"not for longer":                {0, 91 * day, 0},
		"by a clock that is ahead":      {1, -time.Hour, 0.5},
		"stale, whatever was counted":   {5000, 31 * day, 0.2},
		"forgotten, whatever was found": {5000, 91 * day, 0},
	} {
		if got := confidenceOf(c.recent, at.Add(-c.age), at); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// id returns the id of a span in tests: one letter, "" for none.
func id(name string) (s spanID) {
	copy(s[:], name)
	return s
}

// forest parses lines of "SERVICE ID PARENT [SIDE]" into spans that began one after the other.
func forest(lines string) (all []span) {
	for i, l := range strings.Split(strings.TrimSpace(lines), "\n") {
		f := append(strings.Fields(l), "", "")
		o := &recountv1.Observation{StartUnixNano: int64(i), Side: recountv1.Side(recountv1.Side_value["SIDE_"+strings.ToUpper(f[3])])}
		parent := f[2]
		if parent == "-" {
			parent = ""
		}
		all = append(all, span{service: f[0], id: id(f[1]), parent: id(parent), seen: o, raw: &tracepb.Span{}, up: -1})
	}
	return all
}

// drawn formats the tree, one line per span.
func drawn(all []span, order []int) string {
	var b strings.Builder
	for _, i := range order {
		s := &all[i]
		fmt.Fprintf(&b, "%s%s %s", strings.Repeat(" ", s.depth), s.service, strings.TrimRight(string(s.id[:]), "\x00"))
		if s.missing {
			b.WriteString(" missing")
		}
		if s.cycle {
			b.WriteString(" cycle")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestTheTreeIsDrawnAsItIs(t *testing.T) {
	for name, c := range map[string]struct{ spans, want string }{
		"children come in the order of their start": {"web a -\nweb b a\ncarts c b\nweb d a", "web a\n web b\n  carts c\n web d\n"},
		"a parent may come after its child":         {"carts b a\nweb a -", "web a\n carts b\n"},
		"a parent that never came":                  {"web b a\ncarts c b", "web b missing\n carts c\n"},
		"its own parent":                            {"web a a\ncarts b a", "web a cycle\n carts b\n"},
		"a cycle of three and what hangs on it":     {"x a c\nx b a\nx c b\nx d b", "x a cycle\n x b\n  x c\n  x d\n"},
		"a cycle beside a tree":                     {"x r -\nx a b\nx b a", "x r\nx a cycle\n x b\n"},
		"one id on both sides, as Zipkin has it": {
			"web r - called\nweb a r caller\ncarts a r called\ncarts b a inside", "web r\n web a\n  carts a\n   carts b\n",
		},
	} {
		all := forest(c.spans)
		if diff := cmp.Diff(c.want, drawn(all, buildTree(all))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestALongTrace checks that 100,000 spans, each below the previous, form a tree like any other.
func TestALongTrace(t *testing.T) {
	const n = 100_000
	all := make([]span, n)
	for i := range all {
		s := &all[i]
		*s = span{service: "x", seen: &recountv1.Observation{StartUnixNano: int64(i)}, up: -1}
		copy(s.id[:], fmt.Sprintf("%08d", i))
		if i > 0 {
			s.parent = all[i-1].id
		}
	}
	order := buildTree(all)
	if len(order) != n || all[n-1].depth != n-1 {
		t.Errorf("%d spans, the last %d deep", len(order), all[n-1].depth)
	}
}

func TestParseSpan(t *testing.T) {
	trace, span := strings.Repeat("ab", 16), strings.Repeat("CD", 8)
	for ref, want := range map[string][2]bool{
		trace: {true, false}, span: {false, true}, trace + "/" + span: {true, true}, " " + trace + "\n": {true, false},
		"": {}, "/": {}, trace + "/": {}, "/" + span: {}, span + "/" + trace: {}, "018f3c2a": {}, trace[1:]: {}, "recount.commands/0/42": {}, strings.Repeat("zz", 16): {},
	} {
		tr, sp, err := parseSpan(ref)
		if got := [2]bool{tr != traceID{}, sp != spanID{}}; got != want || (err == nil) != (want[0] || want[1]) {
			t.Errorf("%q: %v %v", ref, got, err)
		}
	}
}

func TestCommandsConcernServices(t *testing.T) {
	for text, want := range map[string]bool{
		"kubectl rollout restart deployment/carts": true, "helm upgrade Carts ./charts": true, "docker push acme/carts:2": true,
		"deploy cartsdb": false, "deploy mycarts": false, "deploy all": false,
	} {
		if got := hasWord(text, "carts"); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	if hasWord("anything", "") {
		t.Error("a service without a name is named by anything")
	}
}

// TestAttributesOfAgents checks that attributes of generative AI are kept, and all only on request.
func TestAttributesOfAgents(t *testing.T) {
	text := func(s string) *commonpb.AnyValue {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
	}
	deep := text("end")
	for range 20 {
		deep = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{deep}}}}
	}
	s := &tracepb.Span{
		Attributes: []*commonpb.KeyValue{{Key: "gen_ai.request.model", Value: text("small")}, {Key: "http.route", Value: text("/")}, {Key: "gen_ai.tools", Value: deep}},
		Events:     []*tracepb.Span_Event{{Name: "exception", Attributes: []*commonpb.KeyValue{{Key: "exception.message", Value: text("no")}, {Key: "exception.stacktrace", Value: text("at …")}}}},
	}
	got := attributes(s, false)
	want := map[string]string{"gen_ai.request.model": "small", "gen_ai.tools": strings.Repeat("[", 9) + "…" + strings.Repeat("]", 9), "exception: exception.message": "no"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if all := attributes(s, true); len(all) != 5 {
		t.Errorf("all: %v", all)
	}
}

// TestWayTo: of the way through a trace that is nested deep, the beginning and the end are shown.
func TestWayTo(t *testing.T) {
	all := make([]span, 20_000)
	for i := range all {
		all[i].up = i - 1
	}
	for at, want := range map[int]int{0: 0, 99: 0, 100: 1, 19_999: 19_900} {
		way, left := wayTo(all, at)
		if left != want || len(way)+left != at+1 || way[0] != 0 || way[len(way)-1] != at {
			t.Errorf("to %d: %d spans, %d left out", at, len(way), left)
		}
		if left > 0 && (way[WayBegin-1] != WayBegin-1 || way[WayBegin] != WayBegin+left) {
			t.Errorf("to %d: %d and %d are together", at, way[WayBegin-1], way[WayBegin])
		}
	}
}
