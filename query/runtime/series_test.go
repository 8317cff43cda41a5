package runtime_test

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// at adds a request to an operation of the service carts at a time; it fails if it took a second.
func (m *memory) at(when time.Time, operation string, took time.Duration) {
	m.t.Helper()
	id := binary.BigEndian.AppendUint64(nil, uint64(m.next["recount.spans"]+1))
	o := &recountv1.Observation{
		TraceId: append(make([]byte, 8), id...), SpanId: id, Side: recountv1.Side_SIDE_CALLED, Kind: recountv1.RuntimeKind_RUNTIME_KIND_CALLS, Operation: operation,
		StartUnixNano: when.UnixNano(), DurationNano: took.Nanoseconds(), Status: recountv1.Status_STATUS_OK,
	}
	if took >= time.Second {
		o.Status = recountv1.Status_STATUS_ERROR
	}
	b := &recountv1.SpanBatch{Observers: []*recountv1.Observer{{Service: "carts"}}, Observations: []*recountv1.Observation{o}}
	m.apply("recount.spans", &recountv1.Record{EventType: schemas.TypeSpansExported, Body: &recountv1.Record_Spans{Spans: b}})
}

// TestSeries checks buckets without gaps in which each request is counted once.
func TestSeries(t *testing.T) {
	m := newMemory(t)
	ask := func(r runtime.SeriesRequest) runtime.SeriesResponse {
		t.Helper()
		got, err := runtime.SeriesOf(t.Context(), m.s, r)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range got.Buckets {
			if !b.From.Before(b.To) || i > 0 && !b.From.Equal(got.Buckets[i-1].To) {
				t.Errorf("bucket %d is from %s to %s", i, b.From, b.To)
			}
		}
		return got
	}
	if got := ask(runtime.SeriesRequest{}); got.Status != query.StatusEmpty || got.Hint == "" || len(got.Buckets) != 0 {
		t.Errorf("without spans: %+v", got)
	}
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for minute := range 60 {
		m.at(start.Add(time.Duration(minute)*time.Minute+30*time.Second), "GET /carts", 10*time.Millisecond)
	}
	m.at(start.Add(45*time.Minute), "POST /carts", 2*time.Second)

	got := ask(runtime.SeriesRequest{Buckets: 4, Window: runtime.Window{From: start, To: start.Add(time.Hour)}})
	if len(got.Buckets) != 4 || got.Count != 61 || got.Errors != 1 {
		t.Fatalf("%d buckets, %d requests, %d errors", len(got.Buckets), got.Count, got.Errors)
	}
	for i, want := range []struct{ count, errors uint64 }{{15, 0}, {15, 0}, {15, 0}, {16, 1}} {
		b := got.Buckets[i]
		if b.Count != want.count || b.Errors != want.errors || !b.From.Equal(start.Add(time.Duration(i)*15*time.Minute)) {
			t.Errorf("bucket %d: %+v", i, b)
		}
	}
	if b := got.Buckets[3]; b.P50 < 9e6 || b.P50 > 11e6 || b.P99 < b.P50 || b.ErrorRate != 1.0/16 {
		t.Errorf("the last: %+v", b)
	}
	// There are no more buckets than minutes, and the open range is that of the spans.
	if got := ask(runtime.SeriesRequest{Buckets: 500}); len(got.Buckets) != 60 || got.Count != 61 {
		t.Errorf("of an open range: %d buckets, %d requests", len(got.Buckets), got.Count)
	}
	// Filters, and a range that is wider than what was seen.
	if got := ask(runtime.SeriesRequest{Operation: "post"}); got.Count != 1 || got.Errors != 1 || len(got.Buckets) != 24 || got.Buckets[18].P50 < 19e8 {
		t.Errorf("post: %d requests, %+v", got.Count, got.Buckets)
	}
	if got := ask(runtime.SeriesRequest{Service: "nowhere"}); got.Count != 0 || got.Status != query.StatusEmpty || got.Hint == "" {
		t.Errorf("nowhere: %+v", got)
	}
	wide := ask(runtime.SeriesRequest{Buckets: 10, Window: runtime.Window{From: start.AddDate(0, 0, -30), To: start.AddDate(0, 0, 30)}})
	if wide.Count != 61 || len(wide.Buckets) != 10 || wide.Buckets[0].From.Minute() != 0 {
		t.Errorf("wide: %d requests, %+v", wide.Count, wide.Buckets[0])
	}
	for i, b := range wide.Buckets {
		if b.Count != 0 && b.Count != 61 {
			t.Errorf("wide, bucket %d: %d requests", i, b.Count)
		}
	}
	// Wrong clocks do not matter, however wrong.
	m.at(time.Unix(0, math.MinInt64+1), "GET /carts", time.Millisecond)
	m.at(time.Unix(0, math.MaxInt64-1e9), "GET /carts", time.Millisecond)
	if got := ask(runtime.SeriesRequest{Buckets: 7}); len(got.Buckets) != 7 || got.Count < 61 {
		t.Errorf("with wrong clocks: %d buckets, %d requests", len(got.Buckets), got.Count)
	}
	var wrong *query.RequestError
	if _, err := runtime.SeriesOf(t.Context(), m.s, runtime.SeriesRequest{Buckets: 501}); !errors.As(err, &wrong) || wrong.Field != "buckets" {
		t.Errorf("501 buckets: %v", err)
	}
}
