package runtime

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// one parses a span from a line: "shop caller rpc Get 1.2<1.1 ~2.7 !" is its service, side, kind,
// operation, trace and id, its parent's id after "<", links after "~", and "!" if it failed.
func one(line string) told {
	f := strings.Fields(line)
	o := &recountv1.Observation{
		Side: recountv1.Side(recountv1.Side_value["SIDE_"+strings.ToUpper(f[1])]),
		Kind: recountv1.RuntimeKind(recountv1.RuntimeKind_value["RUNTIME_KIND_"+strings.ToUpper(f[2])]),
		// The start depends on the length of the operation's name, so that times differ.
		Operation: f[3], StartUnixNano: int64(len(f[3])) * 1e9, DurationNano: 1000,
	}
	var t told
	t.by, t.o = &recountv1.Observer{Service: f[0]}, o
	if f[4] == "-" {
		return t
	}
	id, parent, ok := strings.Cut(f[4], "<")
	o.TraceId, o.SpanId = ids(id)
	if ok {
		_, o.ParentId = ids("0." + parent)
	}
	for _, more := range f[5:] {
		if to, ok := strings.CutPrefix(more, "~"); ok {
			l := &recountv1.SpanLink{}
			l.TraceId, l.SpanId = ids(to)
			o.Links = append(o.Links, l)
		}
		if more == "!" {
			o.Status = recountv1.Status_STATUS_ERROR
		}
	}
	return t
}

func ids(s string) (trace, span []byte) {
	var a, b byte
	if _, err := fmt.Sscanf(s, "%d.%d", &a, &b); err != nil {
		panic(err)
	}
	return append(make([]byte, 15), a), append(make([]byte, 7), b)
}

// callsOf applies spans one at a time, each service's to its partition, and returns the calls as
// lines.
func callsOf(t *testing.T, spans []told) string {
	t.Helper()
	r := open(t)
	next := map[int]int64{}
	for _, s := range spans {
		p := partitionOf(s.by.Service, 3)
		tp := schemas.TopicPartition{Topic: defaultTopic, Partition: int32(p)}
		if err := r.Apply(t.Context(), schemas.Batch{Topic: tp.Topic, Partition: tp.Partition, Next: next[p] + 1, Records: []*recountv1.Record{batch(tp, next[p], s)}}); err != nil {
			t.Fatal(err)
		}
		next[p]++
	}
	v, err := r.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	calls, err := v.Calls(t.Context(), Range{}, "")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range calls {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %d/%d",
			c.Caller, c.Callee, strings.ToLower(strings.TrimPrefix(c.Kind.String(), "RUNTIME_KIND_")), c.Operation, c.Errors, c.Count))
	}
	return strings.Join(lines, "\n")
}

// permutations calls f with every order of the spans.
func permutations(spans []told, f func([]told)) {
	var try func(at int)
	try = func(at int) {
		if at == len(spans) {
			f(spans)
			return
		}
		for i := at; i < len(spans); i++ {
			spans[at], spans[i] = spans[i], spans[at]
			try(at + 1)
			spans[at], spans[i] = spans[i], spans[at]
		}
	}
	try(0)
}

// TestPairs checks the calls for every order of the spans.
func TestPairs(t *testing.T) {
	for name, c := range map[string]struct {
		spans, want []string
	}{
		"client and server":                   {[]string{"a caller rpc Get 1.1", "b called rpc Get 1.2<1"}, []string{"a b rpc Get 0/1"}},
		"it failed where the client says so":  {[]string{"a caller rpc Get 1.1 !", "b called rpc Get 1.2<1"}, []string{"a b rpc Get 1/1"}},
		"it failed where the server says so":  {[]string{"a caller rpc Get 1.1", "b called rpc Get 1.2<1 !"}, []string{"a b rpc Get 1/1"}},
		"no client's span":                    {[]string{"a inside unspecified work 1.1 !", "b called rpc Get 1.2<1"}, []string{"a b rpc Get 0/1"}},
		"the parent is a server":              {[]string{"a called calls root 1.1", "b called rpc Get 1.2<1"}, []string{"a b rpc Get 0/1"}},
		"no server's span":                    {[]string{"a caller rpc Get 1.1", "b inside unspecified work 1.2<1"}, []string{"a b rpc Get 0/1"}},
		"a client below another's client":     {[]string{"a caller rpc Get 1.1", "b caller queries SELECT 1.2<1"}, []string{"a b rpc Get 0/1"}},
		"inside below inside elsewhere":       {[]string{"a inside unspecified work 1.1", "b inside unspecified do 1.2<1"}, []string{"a b calls do 0/1"}},
		"the caller's kind":                   {[]string{"a caller rpc Get 1.1", "b called unspecified Get 1.2<1"}, []string{"a b rpc Get 0/1"}},
		"a service calls itself":              {[]string{"a caller rpc Get 1.1", "a called rpc Get 1.2<1"}, []string{"a a rpc Get 0/1"}},
		"within a service is no call":         {[]string{"a called rpc Get 1.1", "a inside unspecified work 1.2<1", "a caller rpc Put 1.3<2"}, nil},
		"another trace":                       {[]string{"a caller rpc Get 1.1", "b called rpc Get 2.2<1"}, nil},
		"its own parent":                      {[]string{"a caller rpc Get 1.1<1", "b called rpc Get 1.2<2"}, nil},
		"parents that go round":               {[]string{"a caller rpc Get 1.1<2", "b called rpc Get 1.2<1"}, []string{"a b rpc Get 0/1", "b a calls  0/1"}},
		"the parent is missing":               {[]string{"b called rpc Get 1.2<1"}, nil},
		"two servers of one client":           {[]string{"a caller rpc Get 1.1", "b called rpc Get 1.2<1", "c called rpc Get 1.3<1"}, []string{"a b rpc Get 0/1", "a c rpc Get 0/1"}},
		"Zipkin: one id":                      {[]string{"a caller rpc Get 1.1", "b called rpc Get 1.1"}, []string{"a b rpc Get 0/1"}},
		"Zipkin: a chain":                     {[]string{"a caller rpc Get 1.1", "b called rpc Get 1.1", "b caller rpc Put 1.2<1", "c called rpc Put 1.2<1"}, []string{"a b rpc Get 0/1", "b c rpc Put 0/1"}},
		"Zipkin: a child without client":      {[]string{"a caller rpc Get 1.1", "b called rpc Get 1.1", "c called rpc Put 1.2<1"}, []string{"a b rpc Get 0/1", "b c rpc Put 0/1"}},
		"Zipkin: within a service":            {[]string{"a caller rpc Get 1.1", "a called rpc Get 1.1"}, []string{"a a rpc Get 0/1"}},
		"one id without cause":                {[]string{"a caller rpc Get 1.1<7", "b called rpc Get 1.1<8"}, nil},
		"an id used again: the client":        {[]string{"a caller rpc Get 1.1", "c inside unspecified x 1.1<9", "b called rpc Get 1.2<1"}, []string{"a b rpc Get 0/1"}},
		"an id used again: one's own service": {[]string{"a caller rpc Get 1.1", "b inside unspecified x 1.1<9", "b called rpc Get 1.2<1"}, nil},
		"an id used again: the first":         {[]string{"c caller rpc Get 1.1<9", "a caller rpc Get 1.1<8", "b called rpc Get 1.2<1"}, []string{"c b rpc Get 0/1"}},
		"consumed below":                      {[]string{"a caller produces orders 1.1", "b called consumes orders 1.2<1"}, []string{"a b consumes orders 0/1"}},
		"consumed elsewhere":                  {[]string{"a caller produces orders 1.1", "b called consumes orders 2.2 ~1.1"}, []string{"a b consumes orders 0/1"}},
		"consumed with parent and link":       {[]string{"a caller produces orders 1.1", "b called consumes orders 1.2<1 ~1.1"}, []string{"a b consumes orders 0/1"}},
		"two messages at once":                {[]string{"a caller produces orders 1.1", "c caller produces orders 3.1", "b called consumes orders 2.2 ~1.1 ~3.1 ~3.1"}, []string{"a b consumes orders 0/1", "c b consumes orders 0/1"}},
		"a link of a server is no call":       {[]string{"a caller produces orders 1.1", "b called rpc Get 2.2 ~1.1"}, nil},
		"a link to itself":                    {[]string{"b called consumes orders 2.2 ~2.2"}, nil},
		"a consumer that works on":            {[]string{"a caller produces orders 1.1", "b called consumes orders 2.2 ~1.1", "b caller rpc Get 2.3<2", "c called rpc Get 2.4<3"}, []string{"a b consumes orders 0/1", "b c rpc Get 0/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var spans []told
			for _, line := range c.spans {
				spans = append(spans, one(line))
			}
			want := strings.Join(c.want, "\n")
			permutations(spans, func(spans []told) {
				if got := callsOf(t, spans); got != want {
					var order []string
					for _, s := range spans {
						order = append(order, fmt.Sprintf("%s %x", s.by.Service, s.o.SpanId[7]))
					}
					t.Errorf("in the order %s, got\n%s\nwant\n%s", strings.Join(order, ", "), got, want)
				}
			})
		})
	}
}

// TestToldTwice checks that the first of duplicate spans in a partition counts, whichever event the
// second is in.
func TestToldTwice(t *testing.T) {
	spans := []told{
		one("a caller rpc Get 1.1"), one("b called rpc Get 1.2<1"),
		one("b called rpc Other 1.2<1 !"), one("a caller rpc Get 1.1"), one("b called rpc Get 1.2<1"),
	}
	if got, want := callsOf(t, spans), "a b rpc Get 0/1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	slices.Reverse(spans)
	if got, want := callsOf(t, spans[1:]), "a b rpc Other 1/1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
