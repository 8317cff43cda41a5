package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	runtimegraph "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

const (
	spansARequest = 100
	spanServices  = 5
	spanSenders   = 16
)

// spanLoad generates the exports of a chain of services: the spans of request n of service s are
// children of those of service s-1. Only ids and times differ from one request to the next, so that
// the sender costs little.
type spanLoad struct {
	wire    [spanServices][]byte
	ids     [spanServices][spansARequest]spanPlaces
	started time.Time
}

// spanPlaces has the offsets of a span's ids and times in the request.
type spanPlaces struct{ trace, span, parent, start, end int }

func newSpanLoad() (*spanLoad, error) {
	l := &spanLoad{started: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	for s := range spanServices {
		ss := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "io.opentelemetry.http", Version: "2.1.0"}}
		for i := range spansARequest {
			x := &tracepb.Span{
				TraceId: fmt.Appendf(nil, "TRACE-%05d-%04d", i, s), SpanId: fmt.Appendf(nil, "SP%04d%02d", i, s), ParentSpanId: fmt.Appendf(nil, "PA%04d%02d", i, s),
				Name: fmt.Sprintf("GET /service%d/items/{id}", s), Kind: tracepb.Span_SPAN_KIND_SERVER,
				StartTimeUnixNano: uint64(1)<<56 + uint64(i), EndTimeUnixNano: uint64(1)<<57 + uint64(i), Status: &tracepb.Status{},
			}
			for _, kv := range [][2]string{
				{"http.request.method", "GET"},
				{"url.scheme", "https"},
				{"server.address", fmt.Sprintf("service%d.shop.svc.cluster.local", s)},
				{"url.path", fmt.Sprintf("/service%d/items/%d", s, i*7919)},
				{"http.route", fmt.Sprintf("/service%d/items/{id}", s)},
				{"network.peer.address", "10.0.12.7"},
				{"user_agent.original", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"},
				{"network.protocol.version", "1.1"},
				{"thread.name", fmt.Sprintf("http-nio-8080-exec-%d", i%8)},
			} {
				x.Attributes = append(x.Attributes, textAttribute(kv[0], kv[1]))
			}
			x.Attributes = append(x.Attributes, &commonpb.KeyValue{Key: "http.response.status_code", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 200}}})
			ss.Spans = append(ss.Spans, x)
		}
		wire, err := proto.Marshal(&collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
			Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
				textAttribute("service.name", fmt.Sprintf("service%d", s)), textAttribute("service.version", "1.4.2"),
				textAttribute("k8s.pod.name", fmt.Sprintf("service%d-6d5f7c8b9-x2x4z", s)),
			}},
			ScopeSpans: []*tracepb.ScopeSpans{ss},
		}}})
		if err != nil {
			return nil, err
		}
		l.wire[s] = wire
		for i, x := range ss.Spans {
			le := binary.LittleEndian
			p := spanPlaces{
				bytes.Index(wire, x.TraceId), bytes.Index(wire, x.SpanId), bytes.Index(wire, x.ParentSpanId),
				bytes.Index(wire, le.AppendUint64(nil, x.StartTimeUnixNano)), bytes.Index(wire, le.AppendUint64(nil, x.EndTimeUnixNano)),
			}
			if min(p.trace, p.span, p.parent, p.start, p.end) < 0 {
				return nil, errors.New("an export without its ids")
			}
			l.ids[s][i] = p
		}
	}
	return l, nil
}

func textAttribute(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

// request returns the nth request; the services alternate.
func (l *spanLoad) request(n int) []byte {
	s, round := n%spanServices, n/spanServices
	b := bytes.Clone(l.wire[s])
	for i, p := range l.ids[s] {
		trace := uint64(round*spansARequest + i)
		at := uint64(l.started.UnixNano()) + trace*1e6 + uint64(s)*1e3
		binary.BigEndian.PutUint64(b[p.trace:], 0x9e3779b97f4a7c15*(trace+1))
		binary.BigEndian.PutUint64(b[p.trace+8:], trace+1)
		binary.BigEndian.PutUint64(b[p.span:], 0xbf58476d1ce4e5b9*(trace*spanServices+uint64(s)+1))
		binary.BigEndian.PutUint64(b[p.parent:], 0)
		if s > 0 {
			binary.BigEndian.PutUint64(b[p.parent:], 0xbf58476d1ce4e5b9*(trace*spanServices+uint64(s)))
		}
		binary.LittleEndian.PutUint64(b[p.start:], at)
		binary.LittleEndian.PutUint64(b[p.end:], at+uint64(1+trace%40)*1e5)
	}
	return b
}

// wireCodec sends requests that are already encoded.
type wireCodec struct{}

// Name implements encoding.CodecV2.
func (wireCodec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (wireCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

// Unmarshal implements encoding.CodecV2.
func (wireCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// benchSpans sends spans over gRPC to a complete Recount in this process: as fast as it accepts
// them, then at a fixed rate.
func benchSpans(ctx context.Context, o options, r *report) (err error) {
	l, err := newSpanLoad()
	if err != nil {
		return err
	}
	s, err := startSystem(ctx, filepath.Join(o.dir, "spans"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	conn, err := grpc.NewClient(s.node.Endpoints().OTLPGRPC, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(wireCodec{})))
	if err != nil {
		return err
	}
	defer conn.Close()
	export := func(ctx context.Context, n int) error {
		b, answer := l.request(n), []byte(nil)
		if err := conn.Invoke(ctx, collectorpb.TraceService_Export_FullMethodName, &b, &answer); err != nil {
			return err
		}
		if len(answer) > 0 {
			return fmt.Errorf("request %d: a partial success", n)
		}
		return nil
	}
	requests := o.spans / 5 / spansARequest
	spans := requests * spansARequest
	r.add("a request", "%d spans, %d bytes", spansARequest, len(l.wire[0]))

	var next atomic.Int64
	start, cpu := time.Now(), cpuTime()
	g, running := errgroup.WithContext(ctx)
	for range spanSenders {
		g.Go(func() error {
			for n := int(next.Add(1)) - 1; n < requests; n = int(next.Add(1)) - 1 {
				if err := export(running, n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	acknowledged := time.Since(start)
	r.add(fmt.Sprintf("%d spans from %d senders, acknowledged (durable)", spans, spanSenders), "%.0f spans/s", float64(spans)/acknowledged.Seconds())
	if err := s.caughtUp(ctx); err != nil {
		return err
	}
	projected := time.Since(start)
	r.add("… and in the projection", "%.0f spans/s; %.1f µs CPU a span, the senders' included", float64(spans)/projected.Seconds(), float64((cpuTime()-cpu).Microseconds())/float64(spans))
	r.add("… peak RSS, the senders' included", "%d MiB", peakRSS()>>20)
	if err := s.countSpans(ctx, requests); err != nil {
		return err
	}

	start, cpu = time.Now(), cpuTime()
	if _, err := s.client.Rebuild(ctx, api.RebuildRequest{Projections: []string{runtimegraph.Name}}, nil); err != nil {
		return err
	}
	r.add("rebuild of `runtime` from the log", "%.0f spans/s; %.1f µs CPU a span", float64(spans)/time.Since(start).Seconds(), float64((cpuTime()-cpu).Microseconds())/float64(spans))

	rate := 10_000 / spansARequest
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	n := rate * int(o.duration.Seconds())
	took := make(latencies, n)
	g, running = errgroup.WithContext(ctx)
	for i := range n {
		select {
		case <-running.Done():
			return g.Wait()
		case <-tick.C:
		}
		due := time.Now()
		g.Go(func() error {
			defer func() { took[i] = time.Since(due) }()
			return export(running, requests+i)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	r.add(fmt.Sprintf("an export at %d spans/s, for %s", rate*spansARequest, o.duration), "p50 %s, p99 %s, max %s", took.quantile(.5).Round(10*time.Microsecond), took.quantile(.99).Round(10*time.Microsecond), took.quantile(1).Round(10*time.Microsecond))
	return nil
}

// caughtUp waits until the projections have applied the whole log.
func (s *system) caughtUp(ctx context.Context) error {
	for {
		st, err := s.client.Status(ctx, api.StatusRequest{})
		if err != nil {
			return err
		}
		if !behind(st) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// countSpans checks that the log has an event for each request.
func (s *system) countSpans(ctx context.Context, want int) error {
	ends, err := s.node.Log().Ends(ctx, s.node.Log().Topic(schemas.TopicSpans))
	if err != nil {
		return err
	}
	var n int64
	for _, tp := range ends.Partitions() {
		n += ends[tp]
	}
	if n != int64(want) {
		return fmt.Errorf("%d events in the log, %d requests sent", n, want)
	}
	return nil
}
