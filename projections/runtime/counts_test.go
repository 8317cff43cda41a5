package runtime

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestCounts checks that a view of counts gives what the full view does, except for durations and
// examples, and that a range that extends beyond all spans gives what one clipped to them gives.
func TestCounts(t *testing.T) {
	r := open(t)
	tp := schemas.TopicPartition{Topic: defaultTopic}
	day, hour := levels[3], levels[2]
	var all []told
	for i := range 60 {
		all = append(all, told{&recountv1.Observer{Service: "a"}, &recountv1.Observation{
			TraceId: append(make([]byte, 8), numbered(1000+i/7)...), SpanId: numbered(i), Side: calledSide, Operation: fmt.Sprint(i % 3), Kind: recountv1.RuntimeKind_RUNTIME_KIND_CALLS,
			StartUnixNano: 40*day + int64(i)*hour + int64(i*i)*levels[0], DurationNano: int64(i),
		}})
	}
	must(t, r.Apply(t.Context(), schemas.Batch{Topic: tp.Topic, Next: 1, Records: []*recountv1.Record{batch(tp, 0, all...)}}))
	v, err := r.View()
	must(t, err)
	defer v.Close()
	first, last := v.Bounds()
	read := func(of *View, in Range) (rows []ServerSum) {
		rows, err := of.ServerSums(t.Context(), in, "")
		must(t, err)
		for i := range rows {
			rows[i].durations, rows[i].Examples = nil, nil
		}
		return rows
	}
	same := func(what string, got, want []ServerSum) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Sum{})); diff != "" || len(want) == 0 {
			t.Errorf("%s: -want +got:\n%s", what, diff)
		}
	}
	for _, in := range []Range{{}, {first, last + 1}, {first + 5*hour + 1, last - 3*hour}, {first + hour, last + 100*day}} {
		same(fmt.Sprint(in), read(v.Counts(), in), read(v, in))
		for n := range 3 { // each end beyond, and both
			wide := in
			if n != 1 && in.To != 0 && in.From <= first {
				wide.From = first - 90*day - 17*levels[0]
			}
			if n != 0 && in.To > last {
				wide.To = last + 90*day + 17*levels[0]
			}
			same(fmt.Sprint(wide), read(v, wide), read(v, in))
		}
	}
	for _, in := range []Range{{last + 40*day, last + 41*day}, {last + 1, last + 1}, {last + 2, last + 1}} {
		if rows := read(v, in); len(rows) != 0 {
			t.Errorf("%v, after all that was seen: %v", in, rows)
		}
	}
}
