package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/recountdb/recount/projections"
	snapshots "github.com/recountdb/recount/projections/code"
	runtimegraph "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// The parameters of the shop whose day benchRuntime generates.
const (
	shopServices   = 40
	shopOperations = 10 // of each service
	shopPartitions = 4
	shopDay        = int64(24 * time.Hour)
	shopFrom       = int64(1_790_000_000_000_000_000) / shopDay * shopDay
	spansAnExport  = 100
	spansABatch    = 24_000 // as many as fit in the follower's 8 MiB
)

// shop generates the spans of a day, in exports as a collector sends them: each has the spans of
// one service, from many traces.
type shop struct {
	rng *rand.Rand
	// calls has the calls that each operation of each service makes.
	calls     [shopServices][shopOperations][]shopCall
	observers [shopServices]*recountv1.Observer
	waiting   [shopServices][]*recountv1.Observation
	batches   [shopPartitions]schemas.Batch
	inBatch   [shopPartitions]int
	spans     int
	emit      func(schemas.Batch) error
}

// shopCall is a call of an operation of another service, or of a database.
type shopCall struct {
	service, operation int // service -1 is the database
}

func newShop(seed int64, emit func(schemas.Batch) error) *shop {
	s := &shop{rng: rand.New(rand.NewPCG(uint64(seed), 5)), emit: emit}
	for i := range s.calls {
		s.observers[i] = &recountv1.Observer{Service: fmt.Sprintf("service-%02d", i), Version: "1.4.2", Instance: fmt.Sprint("pod-", i), Environment: "production"}
		for j := range s.calls[i] {
			// Calls go to services with higher numbers, so that they end.
			for range s.rng.IntN(4) {
				if i+1 < shopServices {
					s.calls[i][j] = append(s.calls[i][j], shopCall{i + 1 + s.rng.IntN(shopServices-i-1), s.rng.IntN(shopOperations)})
				}
			}
			if s.rng.IntN(2) == 0 {
				s.calls[i][j] = append(s.calls[i][j], shopCall{-1, j})
			}
		}
	}
	for p := range s.batches {
		s.batches[p] = schemas.Batch{Topic: "recount.spans", Partition: int32(p)}
	}
	return s
}

func (s *shop) id(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], s.rng.Uint64())
	}
	return b
}

// trace generates the spans of one request.
func (s *shop) trace(at int64) error {
	// Requests may begin at any service, but most begin at the edge.
	service := int(math.Abs(s.rng.NormFloat64()) * shopServices / 3)
	if service >= shopServices {
		service = s.rng.IntN(shopServices)
	}
	left := 40
	_, err := s.serve(service, s.rng.IntN(shopOperations), s.id(16), nil, at, &left)
	return err
}

func (s *shop) serve(service, operation int, trace, parent []byte, at int64, left *int) (took int64, err error) {
	o := &recountv1.Observation{
		TraceId: trace, SpanId: s.id(8), ParentId: parent, Side: recountv1.Side_SIDE_CALLED,
		Kind: recountv1.RuntimeKind_RUNTIME_KIND_RPC, Operation: operationName(service, operation), Templated: true, System: "grpc", StartUnixNano: at,
	}
	took = int64(1e5 * math.Exp(s.rng.NormFloat64()))
	for _, c := range s.calls[service][operation] {
		if *left--; *left < 0 {
			break
		}
		asked := &recountv1.Observation{
			TraceId: trace, SpanId: s.id(8), ParentId: o.SpanId, Side: recountv1.Side_SIDE_CALLER,
			Kind: recountv1.RuntimeKind_RUNTIME_KIND_QUERIES, Operation: "SELECT carts", Peer: "postgresql", System: "postgresql", StartUnixNano: at + took,
		}
		inner := int64(2e5 * math.Exp(s.rng.NormFloat64()))
		if c.service >= 0 {
			asked.Kind, asked.System = recountv1.RuntimeKind_RUNTIME_KIND_RPC, "grpc"
			asked.Operation, asked.Peer = operationName(c.service, c.operation), s.observers[c.service].Service
			if inner, err = s.serve(c.service, c.operation, trace, asked.SpanId, at+took, left); err != nil {
				return 0, err
			}
		}
		asked.DurationNano = inner + 50_000
		took += asked.DurationNano
		if err := s.tell(service, asked); err != nil {
			return 0, err
		}
	}
	o.DurationNano = took
	if s.rng.IntN(100) == 0 {
		o.Status = recountv1.Status_STATUS_ERROR
	}
	return took, s.tell(service, o)
}

var operationNames = func() (names [shopServices][shopOperations]string) {
	for i := range names {
		for j := range names[i] {
			names[i][j] = fmt.Sprintf("shop.Service%d/Operation%d", i, j)
		}
	}
	return names
}()

func operationName(service, operation int) string { return operationNames[service][operation] }

func (s *shop) tell(service int, o *recountv1.Observation) error {
	s.spans++
	if s.waiting[service] = append(s.waiting[service], o); len(s.waiting[service]) < spansAnExport {
		return nil
	}
	return s.export(service)
}

func (s *shop) export(service int) error {
	p := service % shopPartitions
	b := &s.batches[p]
	told := s.waiting[service]
	s.waiting[service] = make([]*recountv1.Observation, 0, spansAnExport)
	b.Records = append(b.Records, &recountv1.Record{
		Origin: &recountv1.Position{Topic: b.Topic, Partition: b.Partition, Offset: b.Next}, EventId: s.id(16), EventType: schemas.TypeSpansExported,
		Body: &recountv1.Record_Spans{Spans: &recountv1.SpanBatch{Observers: []*recountv1.Observer{s.observers[service]}, Observations: told}},
	})
	b.Next++
	if s.inBatch[p] += len(told); s.inBatch[p] < spansABatch {
		return nil
	}
	return s.flush(p)
}

func (s *shop) flush(p int) error {
	b := s.batches[p]
	s.batches[p].Records, s.inBatch[p] = nil, 0
	return s.emit(b)
}

// day generates at least n spans, with the density of ten million in a day.
func (s *shop) day(ctx context.Context, n int) error {
	for s.spans < n && ctx.Err() == nil {
		if err := s.trace(shopFrom + int64(s.spans)*(shopDay/10_000_000)); err != nil {
			return err
		}
	}
	for service := range s.waiting {
		if err := s.export(service); err != nil {
			return err
		}
	}
	for p := range s.batches {
		if err := s.flush(p); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// benchRuntime folds a day of spans into the projection `runtime`, and queries it. The cost of
// generating the spans is measured separately and subtracted.
func benchRuntime(ctx context.Context, o options, r *report) error {
	before := cpuTime()
	if err := newShop(o.seed, func(schemas.Batch) error { return nil }).day(ctx, o.spans); err != nil {
		return err
	}
	making := cpuTime() - before

	set, err := projections.Open(o.dir, projections.Options{}, runtimegraph.Kind, snapshots.Kind(snapshots.Options{}))
	if err != nil {
		return err
	}
	defer set.Close()
	one, release, err := set.Acquire(runtimegraph.Name)
	if err != nil {
		return err
	}
	release() // nothing rebuilds it in the meantime
	p := one.(*runtimegraph.Runtime)
	var applying time.Duration
	s := newShop(o.seed, func(b schemas.Batch) error {
		start := time.Now()
		defer func() { applying += time.Since(start) }()
		return p.Apply(ctx, b)
	})
	before = cpuTime()
	if err := s.day(ctx, o.spans); err != nil {
		return err
	}
	if err := p.Flush(); err != nil {
		return err
	}
	folding := cpuTime() - before - making
	r.add("spans", "%d, %d services, %d operations, %d partitions, %d spans an export, %d a batch", s.spans, shopServices, shopServices*shopOperations, shopPartitions, spansAnExport, spansABatch)
	r.add("CPU a span, all threads, without making it up", "%.2f µs (made up: %.2f µs)", micros(folding, s.spans), micros(making, s.spans))
	r.add("spans a second, one thread applying", "%.0f", float64(s.spans)/applying.Seconds())
	r.add("peak RSS, the making up included", "%d MiB", peakRSS()>>20)
	bytes, err := treeSize(o.dir)
	if err != nil {
		return err
	}
	r.add("on disk", "%d MiB, %.0f bytes a span", bytes>>20, float64(bytes)/float64(s.spans))
	if err := askRuntime(ctx, p, r); err != nil {
		return err
	}
	return askTraffic(ctx, set, r)
}

// askTraffic runs the query as the APIs do, including at_least, the newest span and confidence,
// without code to join.
func askTraffic(ctx context.Context, set *projections.Set, r *report) error {
	s := runtime.Sources{Set: set, Code: code.Sources{Set: set, Graphs: code.NewCache(0)}}
	at := func(hour, minute int) time.Time {
		return time.Unix(0, shopFrom).Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	}
	for _, c := range []struct {
		what string
		runtime.TrafficRequest
	}{
		{"all of time", runtime.TrafficRequest{}},
		{"all of time, the slowest first", runtime.TrafficRequest{Slow: true}},
		{"the last 23 hours", runtime.TrafficRequest{Window: runtime.Window{From: at(0, 59)}}},
		{"an hour from 11:17", runtime.TrafficRequest{Window: runtime.Window{From: at(11, 17), To: at(12, 17)}}},
	} {
		var took latencies
		before, rows := cpuTime(), 0
		for range 101 {
			start := time.Now()
			all, err := runtime.TrafficOf(ctx, s, c.TrafficRequest)
			if err != nil {
				return err
			}
			took, rows = append(took, time.Since(start)), all.Total
		}
		r.add("runtime traffic, "+c.what, "p50 %.1f ms, p99 %.1f ms, %.1f ms CPU, %d operations",
			millis(took.quantile(0.5)), millis(took.quantile(0.99)), millis(cpuTime()-before)/float64(len(took)), rows)
	}
	return nil
}

func askRuntime(ctx context.Context, p *runtimegraph.Runtime, r *report) error {
	hour := int64(time.Hour)
	for _, c := range []struct {
		what string
		in   runtimegraph.Range
	}{
		{"all of time", runtimegraph.Range{}},
		{"24 hours, from midnight", runtimegraph.Range{From: shopFrom, To: shopFrom + shopDay}},
		{"23 hours from 00:17 to 23:17", runtimegraph.Range{From: shopFrom + 17*hour/60, To: shopFrom + 23*hour + 17*hour/60}},
		{"an hour from 11:17", runtimegraph.Range{From: shopFrom + 11*hour + 17*hour/60, To: shopFrom + 12*hour + 17*hour/60}},
	} {
		var served, calls latencies
		rows, pairs := 0, 0
		for range 101 {
			start := time.Now()
			v, err := p.View()
			if err != nil {
				return err
			}
			all, err := v.ServerSums(ctx, c.in, "")
			if err != nil {
				return err
			}
			for i := range all {
				for _, q := range []float64{0.5, 0.95, 0.99} {
					all[i].Quantile(q)
				}
			}
			served, rows = append(served, time.Since(start)), len(all)
			start = time.Now()
			edges, err := v.Calls(ctx, c.in, "")
			if err != nil {
				return err
			}
			calls, pairs = append(calls, time.Since(start)), len(edges)
			v.Close()
		}
		r.add("served with three quantiles, "+c.what, "p50 %.1f ms, p99 %.1f ms, %d rows", millis(served.quantile(0.5)), millis(served.quantile(0.99)), rows)
		r.add("calls, "+c.what, "p50 %.1f ms, p99 %.1f ms, %d rows", millis(calls.quantile(0.5)), millis(calls.quantile(0.99)), pairs)
	}
	return nil
}

func micros(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(n) }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

func treeSize(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}
