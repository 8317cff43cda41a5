package otlp_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	grpcgzip "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/otlp"
)

// log is a test's log: it keeps each event once, by its id.
type log struct {
	mu     sync.Mutex
	events map[schemas.EventID]schemas.Event
	err    error         // the error that Append returns
	hold   chan struct{} // Append waits until it is closed, if it is not nil
	held   chan struct{} // gets a value for each Append that waits, if it has capacity
}

func (l *log) append(ctx context.Context, events []schemas.Event) ([]api.Appended, error) {
	if l.hold != nil {
		select {
		case l.held <- struct{}{}:
		default:
		}
		select {
		case <-l.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	for _, e := range events {
		if e.Type != schemas.TypeSpansExported || len(e.Payload) > maxEvent {
			return nil, fmt.Errorf("event of %s, %d bytes", e.Type, len(e.Payload))
		}
		l.events[e.ID] = e
	}
	return make([]api.Appended, len(events)), nil
}

// spans returns all spans in the log by trace and span id.
func (l *log) spans(t *testing.T) map[string]*tracepb.Span {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	got := map[string]*tracepb.Span{}
	for _, e := range l.events {
		m, err := e.DecodePayload()
		if err != nil {
			t.Fatal(err)
		}
		for _, rs := range m.(*tracepb.TracesData).ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					got[string(s.TraceId)+string(s.SpanId)] = s
				}
			}
		}
	}
	return got
}

const (
	maxEvent   = 256 << 10
	maxRequest = 1 << 20
)

// door is a listening receiver.
type door struct {
	log  *log
	url  string
	conn *grpc.ClientConn
	grpc collectorpb.TraceServiceClient
}

func open(t *testing.T, change func(o *otlp.Options)) *door {
	t.Helper()
	d := &door{log: &log{events: map[schemas.EventID]schemas.Event{}}}
	o := otlp.Options{
		Append: d.log.append, Split: spans.Splitter{Redact: redact.Default(), MaxEvent: maxEvent},
		MaxRequest: maxRequest, Patience: 50 * time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	r := otlp.New(o)
	web := httptest.NewServer(r.HTTP())
	t.Cleanup(web.Close)
	d.url = web.URL
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := r.GRPC(nil)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	if d.conn, err = grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.conn.Close() })
	d.grpc = collectorpb.NewTraceServiceClient(d.conn)
	return d
}

// export returns n valid spans of a service, numbered from first.
func export(service string, first, n int) *collectorpb.ExportTraceServiceRequest {
	ss := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "lib"}}
	for i := first; i < first+n; i++ {
		ss.Spans = append(ss.Spans, &tracepb.Span{
			TraceId: fmt.Appendf(nil, "trace %10d", i), SpanId: fmt.Appendf(nil, "s%07d", i), Name: "GET /",
			StartTimeUnixNano: 1772323200e9, EndTimeUnixNano: 1772323201e9,
			Attributes: []*commonpb.KeyValue{text("http.route", "/"), text("db.password", "hunter2")},
		})
	}
	return &collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{text("service.name", service)}}, ScopeSpans: []*tracepb.ScopeSpans{ss},
	}}}
}

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func wire(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func deflated(b []byte) []byte {
	var buf bytes.Buffer
	z := zlib.NewWriter(&buf)
	_, _ = z.Write(b)
	_ = z.Close()
	return buf.Bytes()
}

func zstded(b []byte) []byte {
	z, _ := zstd.NewWriter(nil) // the options are fine
	defer z.Close()
	return z.EncodeAll(b, nil)
}

func zipped(b []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write(b)
	_ = z.Close()
	return buf.Bytes()
}

// post sends a body; headers alternate names and values.
func (d *door) post(t *testing.T, path string, body []byte, headers ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, b
}

const (
	protobuf = "application/x-protobuf"
	asJSON   = "application/json"
)

func TestEveryWayIn(t *testing.T) {
	d := open(t, nil)
	sent := 0
	next := func(n int) *collectorpb.ExportTraceServiceRequest {
		sent += n
		return export(fmt.Sprint("service ", sent), sent-n, n)
	}
	for _, options := range [][]grpc.CallOption{nil, {grpc.UseCompressor(grpcgzip.Name)}, {grpc.UseCompressor("zstd")}, {grpc.UseCompressor("deflate")}} {
		resp, err := d.grpc.Export(t.Context(), next(100), options...)
		if err != nil || resp.PartialSuccess != nil {
			t.Fatal(resp, err)
		}
	}
	var doc bytes.Buffer // protojson writes ids in base64, OTLP in hex
	fmt.Fprintf(&doc, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x","name":"json","startTimeUnixNano":"1","newField":{}}]}]}]}`, 1<<60, 7)
	sent++
	whole, err := os.ReadFile("testdata/trace.json") // the example of opentelemetry-proto, Apache-2.0
	if err != nil {
		t.Fatal(err)
	}
	sent++
	for _, c := range []struct {
		body    []byte
		headers []string
	}{
		{wire(t, next(50)), []string{"Content-Type", protobuf}},
		{wire(t, next(50)), []string{"Content-Type", "application/protobuf; charset=binary"}},
		{zipped(wire(t, next(50))), []string{"Content-Type", protobuf, "Content-Encoding", "gzip"}},
		{doc.Bytes(), []string{"Content-Type", asJSON}},
		{deflated(wire(t, next(50))), []string{"Content-Type", protobuf, "Content-Encoding", "deflate"}},
		{deflated(wire(t, next(50))), []string{"Content-Type", protobuf, "Content-Encoding", "zlib"}},
		{zstded(wire(t, next(50))), []string{"Content-Type", protobuf, "Content-Encoding", "zstd"}},
		{zipped(whole), []string{"Content-Type", "application/json; charset=utf-8", "Content-Encoding", "gzip"}},
	} {
		resp, body := d.post(t, "/v1/traces", c.body, c.headers...)
		want, answer := protobuf, ""
		if strings.HasPrefix(c.headers[1], asJSON) {
			want, answer = asJSON, "{}"
		}
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != want || string(body) != answer {
			t.Errorf("%v: %d %s %q", c.headers, resp.StatusCode, resp.Header.Get("Content-Type"), body)
		}
	}
	got := d.log.spans(t)
	if len(got) != sent {
		t.Errorf("%d spans in the log, %d sent", len(got), sent)
	}
	for _, s := range got {
		for _, a := range s.Attributes {
			if a.Key == "db.password" && a.Value.GetStringValue() != "[redacted:secret]" {
				t.Errorf("a secret in the log: %v", a)
			}
		}
	}
}

// TestConcurrent sends from many clients at once, each request twice.
func TestConcurrent(t *testing.T) {
	d := open(t, nil)
	const senders, requests, each = 8, 20, 25
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for r := range requests {
				m := export(fmt.Sprint("service ", s%3), (s*requests+r)*each, each)
				if _, err := d.grpc.Export(t.Context(), m); err != nil {
					t.Error(err)
				}
				if resp, body := d.post(t, "/v1/traces", wire(t, m), "Content-Type", protobuf); resp.StatusCode != 200 {
					t.Errorf("%d %q", resp.StatusCode, body)
				}
			}
		})
	}
	wg.Wait()
	if got, want := len(d.log.spans(t)), senders*requests*each; got != want || len(d.log.events) != senders*requests {
		t.Errorf("%d spans in %d events, want %d in %d", got, len(d.log.events), want, senders*requests)
	}
}

func TestEmpty(t *testing.T) {
	d := open(t, nil)
	for _, m := range []*collectorpb.ExportTraceServiceRequest{{}, export("idle", 0, 0)} {
		if resp, err := d.grpc.Export(t.Context(), m); err != nil || resp.PartialSuccess != nil {
			t.Error(resp, err)
		}
		if resp, body := d.post(t, "/v1/traces", wire(t, m), "Content-Type", protobuf); resp.StatusCode != 200 || len(body) != 0 {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
	}
	if resp, body := d.post(t, "/v1/traces", []byte("{}"), "Content-Type", asJSON); resp.StatusCode != 200 || string(body) != "{}" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	for _, other := range []string{`{"resourceMetrics":[{}]}`, `{"resourceLogs":[]}`, `{"spans":[]}`} { // sent to the wrong path
		if resp, body := d.post(t, "/v1/traces", []byte(other), "Content-Type", asJSON); resp.StatusCode != 400 {
			t.Errorf("%s: %d %q", other, resp.StatusCode, body)
		}
	}
	if len(d.log.events) != 0 {
		t.Errorf("%d events of nothing", len(d.log.events))
	}
}

func TestPartialSuccess(t *testing.T) {
	d := open(t, nil)
	m := export("cart", 0, 5)
	m.ResourceSpans[0].ScopeSpans[0].Spans[1].SpanId = []byte("short")
	m.ResourceSpans[0].ScopeSpans[0].Spans[3].Name = strings.Repeat("x", maxEvent)
	for _, how := range []string{"grpc", protobuf, asJSON} {
		resp := &collectorpb.ExportTraceServiceResponse{}
		var err error
		switch how {
		case "grpc":
			resp, err = d.grpc.Export(t.Context(), m)
		case protobuf:
			_, body := d.post(t, "/v1/traces", wire(t, m), "Content-Type", how)
			err = proto.Unmarshal(body, resp)
		case asJSON:
			_, body := d.post(t, "/v1/traces", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00","name":"a"},{"traceId":"01","name":"b"}]}]}]}`), "Content-Type", how)
			err = protojson.Unmarshal(body, resp)
		}
		want := `2 of 5 spans; the first: span "GET /": span_id of 5 bytes, want 8`
		if how == asJSON {
			want = `2 of 2 spans; the first: span "a": trace_id of 1 bytes, want 16`
		}
		if err != nil || resp.GetPartialSuccess().GetRejectedSpans() != 2 || resp.GetPartialSuccess().GetErrorMessage() != want {
			t.Errorf("%s: %v, %v", how, resp, err)
		}
	}
	if got := len(d.log.spans(t)); got != 3 {
		t.Errorf("%d spans in the log, want the 3 good ones", got)
	}
}

// TestRefused checks requests that are refused as a whole, with the status in both protocols.
func TestRefused(t *testing.T) {
	d := open(t, nil)
	good := wire(t, export("cart", 0, 10))
	large := 64 << 20
	if racing.On { // packing it takes half a minute
		large = 8 << 20
	}
	bomb := zipped(make([]byte, large))
	nested := []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":` + strings.Repeat(`{"arrayValue":{"values":[`, 500) + strings.Repeat(`]}}`, 500) + `}]}}]}`)
	for _, c := range []struct {
		why     string
		body    []byte
		headers []string
		code    int
		want    string
	}{
		{"cut short", good[:len(good)-3], []string{"Content-Type", protobuf}, 400, "cut short or damaged"},
		{"no protobuf", []byte("hello"), []string{"Content-Type", protobuf}, 400, "not an ExportTraceServiceRequest"},
		{"no JSON", []byte("{"), []string{"Content-Type", asJSON}, 400, "not an ExportTraceServiceRequest"},
		{"nested deep", nested, []string{"Content-Type", asJSON}, 400, "nested deeper than"},
		{"id not in hex", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"zz"}]}]}]}`), []string{"Content-Type", asJSON}, 400, "not hex"},
		{"a bomb", bomb, []string{"Content-Type", protobuf, "Content-Encoding", "gzip"}, 413, "larger than 1048576 bytes"},
		{"a bomb of JSON", zipped(bytes.Repeat([]byte(" "), large)), []string{"Content-Type", asJSON, "Content-Encoding", "gzip"}, 413, "larger than"},
		{"far too much", make([]byte, large), []string{"Content-Type", protobuf}, 413, "larger than 1048576 bytes"},
		{"a bomb in zstd", zstded(make([]byte, large)), []string{"Content-Type", protobuf, "Content-Encoding", "zstd"}, 413, "larger than 1048576 bytes"},
		{"a window of 16 MB in zstd", []byte("\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00"), []string{"Content-Type", protobuf, "Content-Encoding", "zstd"}, 400, "window size exceeded"},
		{"a bomb in deflate", deflated(make([]byte, large)), []string{"Content-Type", protobuf, "Content-Encoding", "deflate"}, 413, "larger than 1048576 bytes"},
		{"no zstd", good, []string{"Content-Type", protobuf, "Content-Encoding", "zstd"}, 400, "cut short or damaged"},
		{"no gzip", good, []string{"Content-Type", protobuf, "Content-Encoding", "gzip"}, 400, "not gzip"},
		{"gzip cut short", zipped(good)[:40], []string{"Content-Type", protobuf, "Content-Encoding", "gzip"}, 400, "cut short"},
		{"another encoding", good, []string{"Content-Type", protobuf, "Content-Encoding", "br"}, 415, "want gzip, deflate, zstd or none"},
		{"another type", good, []string{"Content-Type", "text/plain"}, 415, "want application/x-protobuf"},
		{"no type", good, nil, 415, "want application/x-protobuf"},
		{"another name", good, []string{"Content-Type", protobuf, "Host", "evil.example"}, 421, "not a name of this server"},
		{"a web page", good, []string{"Content-Type", protobuf, "Sec-Fetch-Site", "cross-site"}, 403, "another origin"},
	} {
		resp, body := d.post(t, "/v1/traces", c.body, c.headers...)
		var s statuspb.Status
		var err error
		if resp.Header.Get("Content-Type") == protobuf {
			err = proto.Unmarshal(body, &s)
		} else {
			err = protojson.Unmarshal(body, &s)
		}
		if err != nil || resp.StatusCode != c.code || !strings.Contains(s.Message, c.want) || resp.Header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %s %v %v", c.why, resp.StatusCode, resp.Header, &s, err)
		}
	}
	for _, c := range []struct {
		why     string
		m       proto.Message
		options []grpc.CallOption
		code    codes.Code
		want    string
	}{
		{"no export", &commonpb.InstrumentationScope{Name: "hello"}, nil, codes.InvalidArgument, "not an ExportTraceServiceRequest"},
		{"a bomb", &statuspb.Status{Message: string(make([]byte, large))}, []grpc.CallOption{grpc.UseCompressor(grpcgzip.Name)}, codes.ResourceExhausted, "larger than max"},
		{"a bomb in zstd", &statuspb.Status{Message: string(make([]byte, large))}, []grpc.CallOption{grpc.UseCompressor("zstd")}, codes.ResourceExhausted, "larger than max"},
		{"far too much", &statuspb.Status{Message: string(make([]byte, large))}, nil, codes.ResourceExhausted, "larger than max"},
	} {
		err := d.conn.Invoke(t.Context(), collectorpb.TraceService_Export_FullMethodName, c.m, &collectorpb.ExportTraceServiceResponse{}, c.options...)
		s := status.Convert(err)
		if s.Code() != c.code || !strings.Contains(s.Message(), c.want) || len(s.Details()) != 0 {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	if len(d.log.events) != 0 {
		t.Errorf("%d events of refused requests", len(d.log.events))
	}
	if _, err := d.grpc.Export(t.Context(), export("cart", 0, 10)); err != nil || len(d.log.spans(t)) != 10 {
		t.Errorf("after all that: %v", err)
	}
}

func TestOnlyTraces(t *testing.T) {
	d := open(t, nil)
	for _, signal := range []string{"metrics", "logs"} {
		resp, body := d.post(t, "/v1/"+signal, nil, "Content-Type", asJSON)
		if resp.StatusCode != 404 || !strings.Contains(string(body), "only traces are accepted here") || !strings.Contains(string(body), "OTEL_"+strings.ToUpper(signal)+"_EXPORTER=none") {
			t.Errorf("%s: %d %s", signal, resp.StatusCode, body)
		}
		method := "/opentelemetry.proto.collector." + signal + ".v1." + strings.ToUpper(signal[:1]) + signal[1:] + "Service/Export"
		err := d.conn.Invoke(t.Context(), method, &statuspb.Status{}, &statuspb.Status{})
		if status.Code(err) != codes.Unimplemented || !strings.Contains(err.Error(), "OTEL_"+strings.ToUpper(signal)+"_EXPORTER=none") {
			t.Errorf("%s: %v", signal, err)
		}
	}
	if resp, body := d.post(t, "/", nil); resp.StatusCode != 404 || !strings.Contains(string(body), "POST /v1/traces") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	resp, err := http.Get(d.url + "/v1/traces")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
}

func TestToken(t *testing.T) {
	d := open(t, func(o *otlp.Options) { o.Gate = access.NewGate("abc", nil) })
	for _, header := range []string{"", "Bearer abd", "abc"} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", header)
		if _, err := d.grpc.Export(ctx, export("cart", 0, 1)); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%q: %v", header, err)
		}
		if resp, _ := d.post(t, "/v1/traces", nil, "Content-Type", protobuf, "Authorization", header); resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%q: %d", header, resp.StatusCode)
		}
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer abc")
	if _, err := d.grpc.Export(ctx, export("cart", 0, 1)); err != nil {
		t.Error(err)
	}
	if resp, body := d.post(t, "/v1/traces", wire(t, export("cart", 1, 1)), "Content-Type", protobuf, "Authorization", "Bearer abc"); resp.StatusCode != 200 {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// TestComeAgain checks that a failure that may pass is not acknowledged and carries a delay for a
// retry.
func TestComeAgain(t *testing.T) {
	for _, c := range []struct {
		err  error
		code codes.Code
		http int
		wait string
	}{
		{schemas.Transientf("the disk is nearly full"), codes.Unavailable, 503, "5"},
		{schemas.Fatalf("the log is damaged"), codes.Unavailable, 503, "5"},
		{errors.New("something else"), codes.Unavailable, 503, "5"},
		{schemas.Poisonf("never"), codes.InvalidArgument, 400, ""},
	} {
		d := open(t, nil)
		d.log.err = c.err
		_, err := d.grpc.Export(t.Context(), export("cart", 0, 1))
		s := status.Convert(err)
		var again bool
		for _, detail := range s.Details() {
			info, ok := detail.(*errdetails.RetryInfo)
			again = again || ok && info.RetryDelay.AsDuration() == 5*time.Second
		}
		if s.Code() != c.code || again != (c.wait != "") || !strings.Contains(s.Message(), c.err.Error()) {
			t.Errorf("%v: %v %v", c.err, err, s.Details())
		}
		resp, body := d.post(t, "/v1/traces", wire(t, export("cart", 0, 1)), "Content-Type", protobuf)
		if resp.StatusCode != c.http || resp.Header.Get("Retry-After") != c.wait {
			t.Errorf("%v: %d %q %q", c.err, resp.StatusCode, resp.Header.Get("Retry-After"), body)
		}
	}
}

// TestOverload blocks the log until the memory is used up. It checks that further requests are
// asked to retry and that no acknowledged span is missing.
func TestOverload(t *testing.T) {
	d := open(t, func(o *otlp.Options) { o.MaxInFlight = maxRequest })
	d.log.hold, d.log.held = make(chan struct{}), make(chan struct{}, 1)
	const each = 6000
	large := export("cart", 0, each)
	if n := proto.Size(large); n > maxRequest || n < maxRequest*9/16 {
		t.Fatalf("a request of %d bytes is no test", n)
	}
	fits, answers := make(chan error), make(chan error)
	send := func(i int, answer chan error) {
		_, err := d.grpc.Export(t.Context(), export("cart", i*each, each))
		answer <- err
	}
	go send(0, fits)
	<-d.log.held
	const others = 5
	for i := range others {
		go send(1+i, answers)
	}
	for range others {
		err := <-answers
		if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "overloaded") || len(status.Convert(err).Details()) != 1 {
			t.Error(err)
		}
	}
	resp, body := d.post(t, "/v1/traces", wire(t, large), "Content-Type", protobuf)
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	close(d.log.hold)
	if err := <-fits; err != nil || len(d.log.spans(t)) != each {
		t.Errorf("the one there was room for: %v, %d spans in the log", err, len(d.log.spans(t)))
	}
	if _, err := d.grpc.Export(t.Context(), large); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// TestLeft checks a client that disconnects while its spans are stored.
func TestLeft(t *testing.T) {
	d := open(t, nil)
	d.log.hold, d.log.held = make(chan struct{}), make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-d.log.held
		cancel()
	}()
	if _, err := d.grpc.Export(ctx, export("cart", 0, 1)); status.Code(err) != codes.Canceled {
		t.Error(err)
	}
	close(d.log.hold)
	if _, err := d.grpc.Export(t.Context(), export("cart", 0, 1)); err != nil {
		t.Error(err)
	}
}
