package span_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/schemas"
)

// BenchmarkExported decodes and processes exports of 100 spans, as a stream does: half are requests
// with twelve attributes, the others RPCs with seven and queries with eight.
func BenchmarkExported(b *testing.B) {
	const spans, exports = 100, 64
	var in []schemas.LogRecord
	for i := range exports {
		value, err := proto.Marshal(sample(i, spans))
		if err != nil {
			b.Fatal(err)
		}
		in = append(in, schemas.LogRecord{
			Position:  schemas.Position{Topic: "recount.spans", Offset: int64(i)},
			Timestamp: time.Unix(1763640000, 0), Key: []byte("cart"), Value: value,
			Headers: []schemas.Header{{Key: "content-type", Value: []byte(schemas.ContentProto)}},
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := processors.Records(context.Background(), in, processors.Chain{Workers: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*exports*spans), "ns/span")
	b.ReportMetric(float64(len(in[0].Value))/spans, "B/span")
}

func sample(export, spans int) *tracepb.TracesData {
	all := make([]*tracepb.Span, spans)
	for i := range all {
		var kvs []any
		kind := tracepb.Span_SPAN_KIND_SERVER
		switch i % 4 {
		case 0, 1:
			kvs = []any{
				"http.request.method", "GET", "http.route", "/users/{id}", "url.path", fmt.Sprintf("/users/%d", i), "url.scheme", "http",
				"server.address", "shop.example", "server.port", 8080, "network.peer.address", "10.0.0.7", "network.peer.port", 51234,
				"user_agent.original", "Mozilla/5.0 (X11; Linux x86_64)", "network.protocol.version", "1.1", "client.address", "10.0.0.7",
				"http.response.status_code", 200,
			}
		case 2:
			kind = tracepb.Span_SPAN_KIND_CLIENT
			kvs = []any{
				"rpc.system", "grpc", "rpc.service", "shop.CartService", "rpc.method", "GetCart", "rpc.grpc.status_code", 0,
				"server.address", "cart", "server.port", 7070, "network.peer.address", "10.0.0.9",
			}
		case 3:
			kind = tracepb.Span_SPAN_KIND_CLIENT
			kvs = []any{
				"db.system", "postgresql", "db.name", "shop", "db.statement", "SELECT id, total FROM carts WHERE user_id = $1 AND open",
				"db.user", "app", "server.address", "db", "server.port", 5432, "thread.id", 17, "thread.name", "worker-17",
			}
		}
		all[i] = &tracepb.Span{
			TraceId: fmt.Appendf(nil, "%016x", export), SpanId: fmt.Appendf(nil, "%08x", i+1), ParentSpanId: fmt.Appendf(nil, "%08x", i),
			Name: "GET /users/{id}", Kind: kind, StartTimeUnixNano: 1763640000e9, EndTimeUnixNano: 1763640000e9 + 12e6, Attributes: attributes(kvs...),
		}
	}
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   &resourcepb.Resource{Attributes: attributes("service.name", "cart", "service.version", "1.4.2")},
		ScopeSpans: []*tracepb.ScopeSpans{{Spans: all}},
	}}}
}

func attributes(kvs ...any) (all []*commonpb.KeyValue) {
	for i := 0; i < len(kvs); i += 2 {
		v := &commonpb.AnyValue{}
		switch value := kvs[i+1].(type) {
		case string:
			v.Value = &commonpb.AnyValue_StringValue{StringValue: value}
		case int:
			v.Value = &commonpb.AnyValue_IntValue{IntValue: int64(value)}
		}
		all = append(all, &commonpb.KeyValue{Key: kvs[i].(string), Value: v})
	}
	return all
}
