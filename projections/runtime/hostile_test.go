package runtime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// hostile applies n observations of one trace in batches, and returns the calls.
func hostile(t *testing.T, n int, make func(i int) (service string, o *recountv1.Observation)) ([]Call, *Runtime) {
	t.Helper()
	r := open(t)
	tp := schemas.TopicPartition{Topic: defaultTopic}
	offset := int64(0)
	for i := 0; i < n; {
		b := schemas.Batch{Topic: tp.Topic, Partition: tp.Partition}
		for range 10 {
			var all []told
			for ; i < n && len(all) < 100; i++ {
				service, o := make(i)
				all = append(all, told{&recountv1.Observer{Service: service}, o})
			}
			if len(all) > 0 {
				b.Records = append(b.Records, batch(tp, offset, all...))
				offset++
			}
		}
		b.Next = offset
		must(t, r.Apply(t.Context(), b))
	}
	v, err := r.View()
	must(t, err)
	defer v.Close()
	calls, err := v.Calls(t.Context(), Range{}, "")
	must(t, err)
	return calls, r
}

func numbered(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)+1) }

// TestHugeTrace checks that a trace of 100,000 spans costs as much as many small ones, however its
// spans are connected. With quadratic work it would not finish.
func TestHugeTrace(t *testing.T) {
	n := 100_000
	if racing.On {
		n = 10_000
	}
	trace := make([]byte, 16)
	for name, c := range map[string]struct {
		make func(i int) (string, *recountv1.Observation)
		want int
	}{
		"one parent, the last": {func(i int) (string, *recountv1.Observation) {
			if i == n-1 {
				return "a", &recountv1.Observation{TraceId: trace, SpanId: numbered(n), Side: callerSide, Operation: "x"}
			}
			return "b", &recountv1.Observation{TraceId: trace, SpanId: numbered(i), ParentId: numbered(n), Side: calledSide, Operation: "x"}
		}, n - 1},
		"a chain, the deepest first": {func(i int) (string, *recountv1.Observation) {
			side := callerSide
			if i%2 == 0 {
				side = calledSide
			}
			return string("ab"[i/2%2]), &recountv1.Observation{TraceId: trace, SpanId: numbered(i), ParentId: numbered(i + 1), Side: side, Operation: "x"}
		}, n/2 - 0 + n/2 - 1},
		"one id": {func(i int) (string, *recountv1.Observation) {
			return fmt.Sprint("s", i%1000), &recountv1.Observation{TraceId: trace, SpanId: numbered(0), ParentId: numbered(0), Side: calledSide, Operation: "x"}
		}, 0},
		"one link": {func(i int) (string, *recountv1.Observation) {
			if i == n-1 {
				return "a", &recountv1.Observation{TraceId: trace, SpanId: numbered(n), Side: callerSide, Operation: "x"}
			}
			return "b", &recountv1.Observation{
				TraceId: append(numbered(i), numbered(i)...), SpanId: numbered(i), Side: calledSide, Kind: recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES, Operation: "x",
				Links: []*recountv1.SpanLink{{TraceId: trace, SpanId: numbered(n)}},
			}
		}, n - 1},
	} {
		t.Run(name, func(t *testing.T) {
			calls, r := hostile(t, n, c.make)
			got := 0
			for _, call := range calls {
				got += int(call.Count)
			}
			if got != c.want {
				t.Errorf("got %d calls, want %d", got, c.want)
			}
			if maxBytes := 4 * traceBytes; r.memory.traces.Bytes() > maxBytes {
				t.Errorf("%d bytes of traces kept, want at most %d", r.memory.traces.Bytes(), maxBytes)
			}
		})
	}
}

// TestEndlessTrace checks that spans of a trace beyond its limit are in Served but not joined.
func TestEndlessTrace(t *testing.T) {
	const n = maxEntries + 5000
	trace := make([]byte, 16)
	calls, r := hostile(t, n, func(i int) (string, *recountv1.Observation) {
		side := callerSide
		if i > 0 {
			side = calledSide
		}
		return string("ab"[min(i, 1)]), &recountv1.Observation{TraceId: trace, SpanId: numbered(i), ParentId: numbered(0), Side: side, Operation: "x"}
	})
	if len(calls) != 1 || calls[0].Count != maxEntries-1 {
		t.Errorf("calls: got %+v, want one row of %d", calls, maxEntries-1)
	}
	v, err := r.View()
	must(t, err)
	defer v.Close()
	served, err := v.ServerSums(t.Context(), Range{}, "b")
	must(t, err)
	if len(served) != 1 || served[0].Count != n-1 {
		t.Errorf("served: got %+v, want one row of %d", served, n-1)
	}
}

// TestEnds checks that extreme times and durations are kept as they are.
func TestEnds(t *testing.T) {
	r := open(t)
	tp := schemas.TopicPartition{Topic: defaultTopic}
	year := int64(366 * 24 * 3600 * 1e9)
	var all []told
	for i, at := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		for j, d := range []int64{0, 1, 3 * year, math.MaxInt64} {
			all = append(all, told{&recountv1.Observer{Service: "a"}, &recountv1.Observation{
				TraceId: make([]byte, 16), SpanId: numbered(10*i + j), Side: calledSide, Operation: fmt.Sprint(at), StartUnixNano: at, DurationNano: d,
			}})
		}
	}
	must(t, r.Apply(t.Context(), schemas.Batch{Topic: tp.Topic, Next: 1, Records: []*recountv1.Record{batch(tp, 0, all...)}}))
	v, err := r.View()
	must(t, err)
	defer v.Close()
	served, err := v.ServerSums(t.Context(), Range{}, "")
	must(t, err)
	for _, s := range served {
		at := fmt.Sprint(s.First)
		slowest, ok := s.Quantile(1)
		if s.Count != 4 || s.First != s.Last || at != s.Operation || !ok || slowest < 0.99*math.MaxInt64 || slowest > 1.01*math.MaxInt64 {
			t.Errorf("got %+v, slowest %g, want four at %s", s, slowest, s.Operation)
		}
		if fastest, _ := s.Quantile(0); fastest != 0 {
			t.Errorf("fastest: got %g, want 0", fastest)
		}
	}
	if len(served) != 5 {
		t.Errorf("got %d rows, want 5", len(served))
	}
	if first, last := v.Bounds(); first != math.MinInt64 || last != math.MaxInt64 {
		t.Errorf("bounds: got %d to %d, want all", first, last)
	}
	// No end of a range is moved past the limits of int64.
	for _, in := range []Range{{math.MinInt64, math.MaxInt64}, {-1, math.MaxInt64}, {math.MinInt64, 1}} {
		if got := in.within(times{math.MinInt64, math.MaxInt64}); got != in {
			t.Errorf("%v: got %v", in, got)
		}
	}
	// The first minute of 1970 contains 0 and 1.
	served, err = v.ServerSums(t.Context(), Range{0, 1}, "")
	must(t, err)
	if len(served) != 2 {
		t.Errorf("the minute after 1970: got %d rows, want 2", len(served))
	}
}

// TestRefused checks that the error for what cannot be applied names the record and the problem.
func TestRefused(t *testing.T) {
	tp := schemas.TopicPartition{Topic: defaultTopic}
	id := make([]byte, 16)
	for want, o := range map[string]*recountv1.Observation{
		"observation 0: observer 3 of 1": {Observer: 3},
		"observation 0: ids of trace, span and parent of 15, 8 and 0 bytes, want 16, 8 and 8 or 0":  {TraceId: id[:15], SpanId: id[:8]},
		"observation 0: ids of trace, span and parent of 8, 0 and 0 bytes, want 16, 8 and 8 or 0":   {TraceId: id[:8]},
		"observation 0: ids of trace, span and parent of 0, 0 and 8 bytes, want 16, 8 and 8 or 0":   {ParentId: id[:8]},
		"observation 0: ids of trace, span and parent of 16, 8 and 16 bytes, want 16, 8 and 8 or 0": {TraceId: id, SpanId: id[:8], ParentId: id},
		"observation 0: ids of link 1 of 16 and 9 bytes, want 16 and 8":                             {TraceId: id, SpanId: id[:8], Links: []*recountv1.SpanLink{{TraceId: id, SpanId: id[:8]}, {TraceId: id, SpanId: id[:9]}}},
	} {
		r := open(t)
		record := batch(tp, 7, told{&recountv1.Observer{Service: "a"}, &recountv1.Observation{}})
		observer := o.Observer
		record.GetSpans().Observations[0] = o
		o.Observer = observer
		err := r.Apply(t.Context(), schemas.Batch{Topic: tp.Topic, Next: 8, Records: []*recountv1.Record{record}})
		if !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), "recount.spans/0/7") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want a poison error at recount.spans/0/7: %s", err, want)
		}
	}
}
