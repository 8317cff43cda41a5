package runtime_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/cputime"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// traced gives a memory a log: events of spans that can be read again.
type traced struct {
	*memory
	log map[schemas.Position]*recountv1.SpanBatch
	// read is the number of events that were read.
	read int
}

func newTraced(t *testing.T) *traced {
	w := &traced{memory: newMemory(t), log: map[schemas.Position]*recountv1.SpanBatch{}}
	w.s.Events = func(_ context.Context, at []schemas.Position, fn func(schemas.LogRecord) error) error {
		for _, p := range at {
			if w.log[p] == nil {
				continue
			}
			w.read++
			if err := fn(schemas.LogRecord{Position: p}); err != nil {
				return err
			}
		}
		return nil
	}
	w.s.Observe = func(_ context.Context, lr schemas.LogRecord) (*recountv1.SpanBatch, error) {
		return w.log[lr.Position], nil
	}
	return w
}

// event adds spans of one event, each a line of "TRACE SPAN SERVICE OPERATION OFFSET DURATION [failed]" with
// durations from begin.
func (w *traced) event(begin time.Time, lines ...string) {
	w.t.Helper()
	b := &recountv1.SpanBatch{}
	for _, l := range lines {
		f := append(strings.Fields(l), "")
		var trace, span uint64
		if _, err := fmt.Sscan(f[0]+" "+f[1], &trace, &span); err != nil {
			w.t.Fatal(err)
		}
		after, err := time.ParseDuration(f[4])
		took, err2 := time.ParseDuration(f[5])
		if err := errors.Join(err, err2); err != nil {
			w.t.Fatal(err)
		}
		o := &recountv1.Observation{
			Observer: uint32(len(b.Observers)), Side: recountv1.Side_SIDE_CALLED, Kind: recountv1.RuntimeKind_RUNTIME_KIND_CALLS, Operation: f[3],
			TraceId: binary.BigEndian.AppendUint64(make([]byte, 8), trace), SpanId: binary.BigEndian.AppendUint64(nil, span),
			StartUnixNano: begin.Add(after).UnixNano(), DurationNano: took.Nanoseconds(), Status: recountv1.Status_STATUS_OK,
		}
		if f[6] == "failed" {
			o.Status = recountv1.Status_STATUS_ERROR
		}
		b.Observers = append(b.Observers, &recountv1.Observer{Service: f[2]})
		b.Observations = append(b.Observations, o)
	}
	at := schemas.Position{Topic: "recount.spans", Offset: w.next["recount.spans"]}
	w.apply("recount.spans", &recountv1.Record{EventType: schemas.TypeSpansExported, Body: &recountv1.Record_Spans{Spans: b}})
	w.log[at] = b
}

// listed returns an answer's traces, one line each.
func listed(r runtime.TracesResponse) string {
	var b strings.Builder
	for _, x := range r.Traces {
		fmt.Fprintf(&b, "%s %s %s %s %d/%d %s", strings.TrimLeft(x.Trace, "0"), x.Service, x.Operation, time.Duration(x.Duration), x.Failed, x.Spans, strings.Join(x.Services, ","))
		fmt.Fprintf(&b, " for %s %s\n", strings.TrimLeft(x.Match.Span, "0"), x.Match.Operation)
	}
	return b.String()
}

// TestTraces checks that traces are found by their spans, and described by all of them.
func TestTraces(t *testing.T) {
	w := newTraced(t)
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	w.event(noon, "1 1 web /buy 0ms 50ms", "1 2 carts /carts 5ms 40ms failed")
	w.event(noon.Add(time.Minute), "2 1 web /buy 0ms 20ms")
	w.event(noon.Add(2*time.Minute), "3 1 web /see 0ms 900ms")
	w.event(noon.Add(3*time.Minute), "3 2 stock /stock 10ms 800ms") // arrives later than its parent
	one := "1 web /buy 50ms 1/2 carts,web for 2 /carts\n"
	for name, c := range map[string]struct {
		r    runtime.TracesRequest
		want string
	}{
		"the newest first": {runtime.TracesRequest{}, "3 web /see 1m0.81s 0/2 stock,web for 1 /see\n2 web /buy 20ms 0/1 web for 1 /buy\n1 web /buy 50ms 1/2 carts,web for 1 /buy\n"},
		"failing":          {runtime.TracesRequest{Failing: true}, one},
		"of a service":     {runtime.TracesRequest{Service: "carts"}, one},
		"of an operation":  {runtime.TracesRequest{Operation: "ARTS"}, one},
		"that took long":   {runtime.TracesRequest{Longer: 100 * time.Millisecond.Nanoseconds()}, "3 web /see 1m0.81s 0/2 stock,web for 1 /see\n"},
		"the slowest":      {runtime.TracesRequest{Slow: true, Limit: 2, Operation: "/buy"}, "1 web /buy 50ms 1/2 carts,web for 1 /buy\n2 web /buy 20ms 0/1 web for 1 /buy\n"},
		"of a time":        {runtime.TracesRequest{Window: runtime.Window{From: noon.Add(30 * time.Second), To: noon.Add(90 * time.Second)}}, "2 web /buy 20ms 0/1 web for 1 /buy\n"},
		"none":             {runtime.TracesRequest{Service: "nobody"}, ""},
	} {
		got, err := runtime.TracesOf(t.Context(), w.s, c.r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if l := listed(got); l != c.want || (got.Status == query.StatusEmpty) != (c.want == "") || got.More {
			t.Errorf("%s: %+v\n%swant\n%s", name, got.Basis, l, c.want)
		}
	}
	if _, err := runtime.TracesOf(t.Context(), w.s, runtime.TracesRequest{Limit: 1001}); err == nil {
		t.Error("a limit of 1,001 was taken")
	}
}

// TestTracesReadNoMoreThanNeeded checks that the newest traces do not cost the whole log, and that an answer
// says how far it looked.
func TestTracesReadNoMoreThanNeeded(t *testing.T) {
	w := newTraced(t)
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for i := range 500 {
		w.event(noon.Add(time.Duration(i)*time.Second), fmt.Sprintf("%d 1 web /buy 0ms 50ms", i+1))
	}
	got, err := runtime.TracesOf(t.Context(), w.s, runtime.TracesRequest{Limit: 3})
	if want := "1f4 web"; err != nil || len(got.Traces) != 3 || !got.More || !strings.HasPrefix(listed(got), want) || got.LookedBackTo != nil {
		t.Errorf("%v %+v", err, got)
	}
	if w.read > 128 {
		t.Errorf("%d events were read for three traces", w.read)
	}
	const lookedBeyond = 70 // more than is read together
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("%d %d web /job 0ms 1ms", 1000+i, i+1)
	}
	for i := range runtime.MaxLookedAt/len(many) + lookedBeyond {
		w.event(noon.Add(time.Hour+time.Duration(i)*time.Second), many...)
	}
	got, err = runtime.TracesOf(t.Context(), w.s, runtime.TracesRequest{Operation: "/buy"})
	if err != nil || len(got.Traces) != 0 || got.LookedBackTo == nil || !got.LookedBackTo.After(noon.Add(time.Hour)) || !got.More {
		t.Errorf("%v %+v", err, got)
	}
}

// TestWhyOfManyOperations asks why a trace of 8,000 spans is slow, each of an operation of its own: the
// sums of the operations are not read once for each span.
func TestWhyOfManyOperations(t *testing.T) {
	w := newTraced(t)
	var lines []string
	for i := range 8000 {
		lines = append(lines, fmt.Sprintf("1 %d web /o%d 0ms 50ms", i+1, i))
	}
	w.event(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), lines...)
	w.s.Event = func(_ context.Context, at schemas.Position) (schemas.LogRecord, error) {
		return schemas.LogRecord{Position: at, Timestamp: time.Unix(1, 0), Value: []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}`)}, nil
	}
	start := cputime.Used()
	_, err := runtime.WhyOf(t.Context(), w.s, runtime.SpanWhyRequest{Ref: fmt.Sprintf("%032x", 1)})
	if took := cputime.Used() - start; took > 15*time.Second {
		t.Errorf("took %v", took)
	}
	var none *query.NotFoundError
	if !errors.As(err, &none) || !strings.Contains(none.Hint, "none took longer") {
		t.Error(err)
	}
}
