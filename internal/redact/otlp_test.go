package redact

import (
	"errors"
	"fmt"
	"testing"

	"github.com/recountdb/recount/schemas/otlpwire"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

func str(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

func attr(key string, v *commonpb.AnyValue) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: v}
}

func array(vs ...*commonpb.AnyValue) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: vs}}}
}

func list(kvs ...*commonpb.KeyValue) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: kvs}}}
}

// traces returns a message with the value s in every field that is redacted.
func traces(s string) *tracepb.TracesData {
	kvs := func() []*commonpb.KeyValue {
		return []*commonpb.KeyValue{
			attr("plain", str("stays")), attr("n", &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 7}}), attr("text", str(s)),
			attr("array", array(str("stays"), str(s))), attr("list", list(attr("inner", str(s)))),
			attr("bytes", &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: []byte(s)}}),
		}
	}
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: kvs(), DroppedAttributesCount: 1},
		ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &commonpb.InstrumentationScope{Name: "lib", Version: "1", Attributes: kvs()},
			Spans: []*tracepb.Span{{
				TraceId: make([]byte, 16), SpanId: make([]byte, 8), Name: s, Attributes: kvs(), Kind: tracepb.Span_SPAN_KIND_CLIENT,
				Events: []*tracepb.Span_Event{{TimeUnixNano: 5, Name: s, Attributes: kvs()}},
				Links:  []*tracepb.Span_Link{{TraceId: make([]byte, 16), TraceState: "a=b", Attributes: kvs()}},
				Status: &tracepb.Status{Message: s, Code: tracepb.Status_STATUS_CODE_ERROR},
			}},
			SchemaUrl: "https://opentelemetry.io/schemas/1.30.0",
		}},
	}}}
}

// TestOTLP redacts a secret in every field, encoded and decoded, and checks that everything else is
// unchanged, including fields of a later version.
func TestOTLP(t *testing.T) {
	later := protowire.AppendTag(nil, 900, protowire.BytesType)
	later = protowire.AppendString(later, "of a later version")
	secret, clean := traces("redis://:hunter2@db"), traces("redis://:[redacted:url-password]@db")
	for _, m := range []*tracepb.TracesData{secret, clean} {
		m.ResourceSpans[0].ScopeSpans[0].Spans[0].ProtoReflect().SetUnknown(later)
	}
	in, err := proto.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	out, found, err := Default().OTLP(t.Context(), otlpwire.Traces, in)
	if err != nil {
		t.Fatal(err)
	}
	var got tracepb.TracesData
	if err := proto.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(clean, &got, protocmp.Transform()); d != "" {
		t.Error(d)
	}
	if len(found) != 5*4+3 {
		t.Errorf("found %d", len(found))
	}
	again, found, err := Default().OTLP(t.Context(), otlpwire.Traces, out)
	if err != nil || len(found) != 0 || &again[0] != &out[0] {
		t.Errorf("the second time: found %v, %v", found, err)
	}
	if n := len(Default().Event(secret)); n != 5*4+3 || !proto.Equal(secret, clean) {
		t.Errorf("in memory: found %d\n%s", n, cmp.Diff(clean, secret, protocmp.Transform()))
	}
}

func TestOTLPSecretNames(t *testing.T) {
	for _, key := range []string{
		"http.request.header.authorization", "http.request.header.proxy-authorization", "http.request.header.cookie", "http.response.header.set-cookie",
		"http.request.header.x-api-key", "http.request.header.x_api_key", "db.password", "DB_PASSWORD", "dbPassword", "user.pass", "aws.secretAccessKey",
		"client_secret", "accessToken", "x-amz-security-token", "jwt", "azure.credentials",
		"http.request.header.x-session", "payment.card_number", "card.cvv",
	} {
		m := &tracepb.Span{Attributes: []*commonpb.KeyValue{attr(key, array(str("two words"), list(attr("k", str("v1")))))}}
		want := &tracepb.Span{Attributes: []*commonpb.KeyValue{attr(key, array(str("[redacted:secret]"), list(attr("k", str("[redacted:secret]")))))}}
		if got, n := redactSpan(t, m); n != 2 || !proto.Equal(got, want) {
			t.Errorf("%s: %v", key, got)
		}
	}
	for _, kv := range []*commonpb.KeyValue{
		attr("gen_ai.usage.input_tokens", str("12")), attr("bypass", str("cache")), attr("messaging.kafka.message.key", str("order 7")),
		attr("ssl.private_key", str("/etc/ssl/key.pem")), attr("session.token", str("$TOKEN")), attr("token", str("[redacted:secret]")),
		attr("max_token", &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 4096}}), attr("db.password", str("")),
		attr("messaging.message.id", str("Jf8sLq0Zx3Vb7Nn2Tt5Rr9Kk1Mm4")), attr("", str("x")), attr("http.request.method", str("GET")),
	} {
		m := &tracepb.Span{Attributes: []*commonpb.KeyValue{kv}}
		if got, n := redactSpan(t, m); n != 0 || !proto.Equal(got, m) {
			t.Errorf("%s: %v", kv.Key, got)
		}
	}
	// The key follows the value.
	value, _ := proto.Marshal(str("hunter2"))
	kv := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), value)
	kv = protowire.AppendString(protowire.AppendTag(kv, 1, protowire.BytesType), "password")
	b := protowire.AppendBytes(protowire.AppendTag(nil, 9, protowire.BytesType), kv)
	if _, found, err := Default().OTLP(t.Context(), otlpwire.Span, b); err != nil || len(found) != 1 {
		t.Errorf("the key behind the value: %v, %v", found, err)
	}
}

func redactSpan(t *testing.T, m *tracepb.Span) (*tracepb.Span, int) {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out, found, err := Default().OTLP(t.Context(), otlpwire.Span, b)
	if err != nil {
		t.Fatal(err)
	}
	got := &tracepb.Span{}
	if err := proto.Unmarshal(out, got); err != nil {
		t.Fatal(err)
	}
	return got, len(found)
}

func TestOTLPRefuses(t *testing.T) {
	deep := str("x")
	for range maxNesting {
		deep = array(deep)
	}
	b, err := proto.Marshal(&tracepb.Span{Attributes: []*commonpb.KeyValue{attr("a", deep)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Default().OTLP(t.Context(), otlpwire.Span, b); !errors.Is(err, ErrText) {
		t.Errorf("nested deep: %v", err)
	}
	name := protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), []byte("caf\xe9"))
	if _, _, err := Default().OTLP(t.Context(), otlpwire.Span, name); !errors.Is(err, ErrText) {
		t.Errorf("not UTF-8: %v", err)
	}
	whole, err := proto.Marshal(traces("x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Default().OTLP(t.Context(), otlpwire.Traces, whole[:len(whole)-1]); !errors.Is(err, otlpwire.ErrMalformed) {
		t.Errorf("cut short: %v", err)
	}
}

// FuzzOTLP compares with the protobuf library: it decodes what is accepted, and rejects what is
// refused, except for too deep nesting. Redacting twice equals redacting once.
func FuzzOTLP(f *testing.F) {
	for _, s := range []string{"plain", "redis://:hunter2@db", "password=hunter2"} {
		b, err := proto.Marshal(traces(s))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 16<<10 {
			return // slower, without new cases
		}
		var before, after tracepb.TracesData
		decodes := proto.Unmarshal(b, &before)
		out, found, err := Default().OTLP(t.Context(), otlpwire.Traces, b)
		if err != nil {
			if decodes == nil && !(errors.Is(err, ErrText) && len(b) > 4*maxNesting) {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		if decodes != nil {
			t.Fatalf("taken, and the library says %v", decodes)
		}
		if err := proto.Unmarshal(out, &after); err != nil {
			t.Fatalf("redacted, it does not decode: %v", err)
		}
		if len(found) == 0 != (string(out) == string(b)) {
			t.Fatalf("found %d, and the bytes say otherwise", len(found))
		}
		if _, found, err := Default().OTLP(t.Context(), otlpwire.Traces, out); err != nil || len(found) > 0 {
			t.Fatalf("the second time: %v, %v", found, err)
		}
	})
}

// BenchmarkOTLP redacts a server's span with ten attributes and no secret.
func BenchmarkOTLP(b *testing.B) {
	s := &tracepb.Span{TraceId: make([]byte, 16), SpanId: make([]byte, 8), ParentSpanId: make([]byte, 8), Name: "GET /api/products/{id}", Kind: 2, StartTimeUnixNano: 1e18, EndTimeUnixNano: 1e18 + 1e6}
	for k, v := range map[string]string{
		"http.request.method": "GET", "url.scheme": "https", "server.address": "shop.example.com", "url.path": "/api/products/0PUK6V6EV0",
		"http.route": "/api/products/{id}", "network.peer.address": "10.0.12.7", "user_agent.original": "Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0",
		"network.protocol.version": "1.1", "thread.name": "http-nio-8080-exec-3",
	} {
		s.Attributes = append(s.Attributes, attr(k, str(v)))
	}
	s.Attributes = append(s.Attributes, attr("http.response.status_code", &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 200}}))
	for _, c := range []struct {
		name  string
		extra *commonpb.KeyValue
	}{
		{"clean", attr("k8s.pod.name", str("shop-6d5f7c8b9-x2x4z"))},
		{"query", attr("url.full", str("https://shop.example.com/api/products?page=2&sort=price"))},
		{"secret", attr("http.request.header.authorization", array(str("Bearer abc")))},
	} {
		m := proto.Clone(s).(*tracepb.Span)
		m.Attributes = append(m.Attributes, c.extra)
		in, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%s-%dB", c.name, len(in)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Default().OTLP(b.Context(), otlpwire.Span, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
