package node_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/node"
)

// exported returns n spans of a service, numbered from first.
func exported(service string, first, n int) *collectorpb.ExportTraceServiceRequest {
	ss := &tracepb.ScopeSpans{}
	for i := first; i < first+n; i++ {
		ss.Spans = append(ss.Spans, &tracepb.Span{
			TraceId: fmt.Appendf(nil, "trace %10d", i), SpanId: fmt.Appendf(nil, "s%07d", i), Name: "GET /",
			StartTimeUnixNano: 1772323200e9, EndTimeUnixNano: 1772323201e9,
		})
	}
	name := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: service}}
	return &collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{{Key: "service.name", Value: name}}}, ScopeSpans: []*tracepb.ScopeSpans{ss},
	}}}
}

func eventAt(t *testing.T, r *running, at schemas.Position) schemas.Event {
	t.Helper()
	rec, err := r.Log().Read(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	e, err := schemas.DecodeEvent(rec.Position.Topic, rec.Headers, rec.Key, rec.Value, rec.Timestamp)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// inLog counts the distinct spans and the events in the log.
func inLog(t *testing.T, r *running) (spans, events int) {
	t.Helper()
	seen, events := spansInLog(t, r)
	return len(seen), events
}

// spansInLog returns the trace and span ids of the spans in the log, and the number of events with
// spans.
func spansInLog(t *testing.T, r *running) (seen map[string]bool, events int) {
	t.Helper()
	seen = map[string]bool{}
	ends, err := r.Log().Ends(t.Context(), "recount.spans")
	if err != nil {
		t.Fatal(err)
	}
	for tp, end := range ends {
		for offset := range end {
			m, err := eventAt(t, r, schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset}).DecodePayload()
			if err != nil {
				t.Fatal(err)
			}
			events++
			for _, rs := range m.(*tracepb.TracesData).ResourceSpans {
				for _, ss := range rs.ScopeSpans {
					for _, s := range ss.Spans {
						seen[string(s.TraceId)+string(s.SpanId)] = true
					}
				}
			}
		}
	}
	return seen, events
}

// TestSpansAreDurable sends from many clients at once over both protocols and checks that
// everything acknowledged is in the log when it is opened again.
func TestSpansAreDurable(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	e := r.Endpoints()
	conn, err := grpc.NewClient(e.OTLPGRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := collectorpb.NewTraceServiceClient(conn)
	const senders, requests, each = 4, 25, 20
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range requests {
				m := exported(fmt.Sprint("service ", s), (s*requests+i)*each, each)
				if s%2 == 0 {
					if _, err := client.Export(t.Context(), m); err != nil {
						t.Error(err)
					}
					continue
				}
				b, err := proto.Marshal(m)
				if err != nil {
					t.Error(err)
				}
				resp, err := http.Post(e.OTLPHTTP+"/v1/traces", "application/x-protobuf", bytes.NewReader(b))
				if err != nil {
					t.Error(err)
					continue
				}
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Error(resp.Status)
				}
			}
		})
	}
	wg.Wait()
	// Sending it again does not append another event.
	if _, err := client.Export(t.Context(), exported("service 0", 0, each)); err != nil {
		t.Error(err)
	}
	r.stop()
	r = start(t, cfg)
	if spans, events := inLog(t, r); spans != senders*requests*each || events != senders*requests {
		t.Errorf("%d spans in %d events, want %d in %d", spans, events, senders*requests*each, senders*requests)
	}
	// The projection knows the ids of events from before the start.
	out, err := r.Client.Append(t.Context(), []schemas.Event{{
		Type: schemas.TypeSpansExported, ContentType: schemas.ContentJSON,
		Payload: []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"password=hunter2"}]}]}]}`),
	}})
	if err != nil || len(out) != 1 || out[0].Redacted != 1 {
		t.Errorf("JSON over the API: %+v, %v", out, err)
	}
	stored := eventAt(t, r, out[0].Position)
	if stored.ContentType != schemas.ContentProto || string(stored.Key) != "unknown_service" || bytes.Contains(stored.Payload, []byte("hunter2")) {
		t.Errorf("stored as %s under %q", stored.ContentType, stored.Key)
	}
}

func TestSpansDoors(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.OTLP.GRPC = "none"
	r := start(t, cfg)
	if e := r.Endpoints(); e.OTLPGRPC != "" || !strings.HasPrefix(e.OTLPHTTP, "http://127.0.0.1:") {
		t.Errorf("endpoints %+v", e)
	}
	r.stop()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg.OTLP.GRPC = l.Addr().String()
	if n, err := node.Open(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "otlp.grpc (--otlp-grpc): "+l.Addr().String()+": in use") {
		t.Errorf("a port in use: %v %v", n, err)
	}
}
