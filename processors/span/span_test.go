package span

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const server = tracepb.Span_SPAN_KIND_SERVER

func TestWrongIDsAreSkippedAndCounted(t *testing.T) {
	bad := func(trace, span string) *tracepb.Span {
		sp := newSpan(server, "bad\x00one")
		sp.TraceId, sp.SpanId = []byte(trace), []byte(span)
		return sp
	}
	b := exported(t, export(nil,
		bad("short", "01234567"), newSpan(server, "good"), bad("0123456789abcdef", "012345678"),
		bad(strings.Repeat("\x00", 16), "01234567"), bad("0123456789abcdef", strings.Repeat("\x00", 8)), bad("", "")))
	if b.Skipped != 5 || b.Problem != "span 0 (bad one): trace id of 5 bytes, want 16" {
		t.Errorf("%d skipped: %s", b.Skipped, b.Problem)
	}
	if len(b.Observations) != 1 || b.Observations[0].Operation != "good" || b.Observations[0].Index != 1 {
		t.Errorf("got %v", b.Observations)
	}
}

// TestSpansOfNothing checks that half a million empty spans, which fit one message, cost no memory.
func TestSpansOfNothing(t *testing.T) {
	racing.Alone(t)
	const n = 500_000
	scope := &tracepb.ScopeSpans{Spans: make([]*tracepb.Span, n)}
	for i := range scope.Spans {
		scope.Spans[i] = &tracepb.Span{}
	}
	scope.Spans[n-1] = newSpan(server, "last")
	payload, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{scope}}}})
	if err != nil {
		t.Fatal(err)
	}
	rec := &recountv1.Record{}
	if err := Wire(schemas.Event{Payload: payload}, rec); err != nil {
		t.Fatal(err)
	}
	b := rec.GetSpans()
	if b.Skipped != n-1 || len(b.Observations) != 1 || b.Observations[0].Index != n-1 {
		t.Errorf("%d skipped, observations %v", b.Skipped, b.Observations)
	}
	if room := cap(b.Observations); room != 1 {
		t.Errorf("room for %d observations was made", room)
	}
}

func TestParents(t *testing.T) {
	for name, c := range map[string]struct{ parent, want string }{
		"another span": {"76543210", "76543210"},
		"itself":       {"01234567", ""},
		"none":         {"", ""},
		"zeros":        {strings.Repeat("\x00", 8), ""},
		"wrong length": {"765", ""},
	} {
		sp := newSpan(server, "x")
		sp.ParentSpanId = []byte(c.parent)
		if got := observe(t, sp).ParentId; string(got) != c.want {
			t.Errorf("%s: parent %q, want %q", name, got, c.want)
		}
	}
}

func TestTimes(t *testing.T) {
	at := func(s string) uint64 {
		parsed, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(parsed.UnixNano())
	}
	for _, c := range []struct {
		name       string
		start, end uint64
		want       string
		duration   time.Duration
		clock      bool
	}{
		{"in order", at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:01Z"), "2026-01-01T00:00:00Z", time.Second, false},
		{"at once", at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"), "2026-01-01T00:00:00Z", 0, false},
		{"end before start", at("2026-01-01T00:00:01Z"), at("2026-01-01T00:00:00Z"), "2026-01-01T00:00:01Z", 0, true},
		{"no end", at("2026-01-01T00:00:01Z"), 0, "2026-01-01T00:00:01Z", 0, true},
		{"no start", 0, at("2026-01-01T00:00:01Z"), "2026-01-01T00:00:01Z", 0, true},
		{"neither: the event's", 0, 0, "2025-11-20T12:00:01Z", 0, true},
		{"milliseconds for nanoseconds: 1970", 1763640000000, 1763640000012, "1970-01-01T00:29:23Z", 12, false},
		{"the far future", 1<<64 - 2, 1<<64 - 1, "2250-01-01T00:00:00Z", 0, false},
	} {
		sp := newSpan(server, "x")
		sp.StartTimeUnixNano, sp.EndTimeUnixNano = c.start, c.end
		o := observe(t, sp)
		if got := time.Unix(0, o.StartUnixNano).UTC().Format(time.RFC3339); got != c.want || o.DurationNano != int64(c.duration) || o.Clock != c.clock {
			t.Errorf("%s: %s, %d ns, clock %v", c.name, got, o.DurationNano, o.Clock)
		}
	}
}

func TestLinks(t *testing.T) {
	sp := newSpan(tracepb.Span_SPAN_KIND_CONSUMER, "process orders")
	for i := range 2000 {
		sp.Links = append(sp.Links, &tracepb.Span_Link{TraceId: []byte("fedcba9876543210"), SpanId: fmt.Appendf(nil, "%08d", i+1)},
			&tracepb.Span_Link{TraceId: []byte("short")})
	}
	o := observe(t, sp)
	if len(o.Links) != maxLinks || string(o.Links[1].SpanId) != "00000002" {
		t.Errorf("%d links, the second to %q", len(o.Links), o.Links[1].GetSpanId())
	}
}

func TestTextIsBounded(t *testing.T) {
	long := strings.Repeat("ä/", 4000)
	b := exported(t, export([]*commonpb.KeyValue{{Key: "service.name", Value: stringValue(long)}},
		newSpan(server, long),
		parseSpan(t, "CLIENT x\nhttp.request.method GET\nhttp.route /"+long+"\npeer.service "+long+"\nrpc.service "+long+"\ncode.function.name "+long),
		parseSpan(t, "CLIENT x\ndb.system "+long+"\ndb.query.summary "+long),
		newSpan(server, "two\nlines\x7f"),
	))
	for i, o := range b.Observations {
		for field, most := range map[string]int{o.Operation: maxOperation, o.Peer: maxPeer, o.System: maxName, o.Function: maxCode} {
			if len(field) > most || !utf8.ValidString(field) {
				t.Errorf("%d: %d bytes, at most %d: %.40q", i, len(field), most, field)
			}
		}
	}
	if got := b.Observers[0].Service; len(got) > maxName || !utf8.ValidString(got) {
		t.Errorf("service of %d bytes", len(got))
	}
	if got := b.Observations[3].Operation; got != "two lines " {
		t.Errorf("got %q", got)
	}
}

// TestReceiversAreConsumers checks that a span that requests messages from a broker, a client in
// newer conventions, is a consumer of the messages in its links.
func TestReceiversAreConsumers(t *testing.T) {
	sp := parseSpan(t, "CLIENT poll orders\nmessaging.system kafka\nmessaging.destination.name orders\nmessaging.operation.type receive")
	if got := observe(t, sp).Side; got != recountv1.Side_SIDE_CALLER {
		t.Errorf("without links: %v", got)
	}
	sp.Links = []*tracepb.Span_Link{{TraceId: []byte("fedcba9876543210"), SpanId: []byte("12345678")}}
	if got := observe(t, sp); got.Side != recountv1.Side_SIDE_CALLED || got.Peer != "" {
		t.Errorf("with links: %v", got)
	}
}

// TestNestedAttributes checks that nested values are ignored, at any depth.
func TestNestedAttributes(t *testing.T) {
	deep := stringValue("x")
	for range 2000 {
		deep = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{deep}}}}
	}
	sp := newSpan(server, "work")
	sp.Attributes = []*commonpb.KeyValue{
		nil,
		{},
		{Key: "http.route"},
		{Key: "http.request.method", Value: deep},
		{Key: "http.route", Value: deep},
		{Key: "service.name", Value: deep},
	}
	o := observe(t, sp)
	if o.Operation != "ANY" {
		t.Errorf("got %v", o)
	}
}

func TestTablesOfDynamoDB(t *testing.T) {
	sp := parseSpan(t, "CLIENT DynamoDB.GetItem\ndb.system dynamodb\ndb.operation GetItem")
	sp.Attributes = append(sp.Attributes, &commonpb.KeyValue{Key: "aws.dynamodb.table_names", Value: &commonpb.AnyValue{
		Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{stringValue("Carts")}}},
	}})
	if got := observe(t, sp).Operation; got != "GetItem Carts" {
		t.Errorf("got %q", got)
	}
}

func TestObservers(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		want *recountv1.Observer
	}{
		{"stable names", `service.name cart
service.namespace shop
service.version 1.4.2
service.instance.id 627cc493-f310-47de-96bd-71410b7dec09
k8s.pod.name cart-1
deployment.environment.name production
vcs.repository.url.full https://me:token@github.com/Acme/shop.git
vcs.ref.head.revision 9FCEB02D0AE598E95DC970B74767F19372D61AF8`, &recountv1.Observer{
			Service: "cart", Namespace: "shop", Version: "1.4.2", Instance: "627cc493-f310-47de-96bd-71410b7dec09",
			Environment: "production", Repository: "github.com/Acme/shop", Revision: "9fceb02d0ae598e95dc970b74767f19372d61af8",
		}},
		{"older names, the best that is set", `host.name node-7
k8s.pod.name cart-1
service.instance.id
deployment.environment staging
git.repository_url github.com/acme/shop
git.commit.sha 9fceb02
service.name cart`, &recountv1.Observer{
			Service: "cart", Instance: "cart-1", Environment: "staging", Repository: "github.com/acme/shop", Revision: "9fceb02",
		}},
		{"nothing", ``, &recountv1.Observer{Service: "unknown_service"}},
		{"blank, no revision, a local repository", "service.name \" \"\nvcs.ref.head.revision main\nvcs.repository.url.full file:///srv/shop", &recountv1.Observer{Service: "unknown_service"}},
		{"a name in numbers", "service.name 42", &recountv1.Observer{Service: "42"}},
	} {
		attributes := parseSpan(t, "SERVER x\n"+c.in).Attributes
		b := exported(t, export(attributes, newSpan(server, "x")))
		if diff := cmp.Diff([]*recountv1.Observer{c.want}, b.Observers, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestOneObserverForEqualResources checks that equal resources, which an export may repeat for each
// scope or instance, give one observer, and that a resource without spans gives none.
func TestOneObserverForEqualResources(t *testing.T) {
	name := func(s string) []*commonpb.KeyValue {
		return []*commonpb.KeyValue{{Key: "service.name", Value: stringValue(s)}}
	}
	data := &tracepb.TracesData{}
	for _, part := range []*tracepb.TracesData{
		export(name("idle")), export(name("a"), newSpan(server, "one")),
		export(name("b"), newSpan(server, "two")), export(name("a"), newSpan(server, "three")),
	} {
		data.ResourceSpans = append(data.ResourceSpans, part.ResourceSpans...)
	}
	data.ResourceSpans = append(data.ResourceSpans, nil, &tracepb.ResourceSpans{ScopeSpans: []*tracepb.ScopeSpans{nil, {Spans: []*tracepb.Span{nil}}}})
	b := exported(t, data)
	var got []string
	for _, o := range b.Observations {
		got = append(got, fmt.Sprintf("%s %d %s", b.Observers[o.Observer].Service, o.Index, o.Operation))
	}
	if want := []string{"a 0 one", "b 1 two", "a 2 three"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if b.Skipped != 1 || len(b.Observers) != 2 {
		t.Errorf("%d skipped, observers %v", b.Skipped, b.Observers)
	}
}

func TestAccessLog(t *testing.T) {
	at := timestamppb.New(time.Unix(1763640000, 0))
	rec := &recountv1.Record{}
	err := Logged(schemas.Event{}, &recountv1.AccessLogged{Service: "web", Entries: []*recountv1.AccessEntry{
		{Time: at, Method: "get", Path: "/users/42?x=1", Status: 404, Duration: durationpb.New(time.Millisecond)},
		{Time: at, Method: "POST", Path: "/users/42", Route: "/users/:id", Status: 502, TraceId: "5b8efff798038103d269b633813fc60c"},
		{Time: &timestamppb.Timestamp{Seconds: 253402300799}, Path: "/"},
		{Time: &timestamppb.Timestamp{Seconds: -62135596800}, Path: "*", Method: "OPTIONS"},
	}}, rec)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, o := range rec.GetSpans().GetObservations() {
		if o.Index != uint32(i) || o.SpanId != nil || o.System != "http" {
			t.Errorf("%v", o)
		}
		got = append(got, fmt.Sprintf("%x %d+%d ", o.TraceId, o.StartUnixNano/1e9, o.DurationNano)+strings.ReplaceAll(describe(o), "\n", " "))
	}
	want := []string{
		` 1763640000+1000000 called calls "GET /users/{}" system http ok 404 `,
		`5b8efff798038103d269b633813fc60c 1763640000+0 called calls "POST /users/:id" templated system http error 502 `,
		` 8835955200+0 called calls "ANY /" system http `,
		` -2208988800+0 called calls "OPTIONS *" system http `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAccessLogRefused(t *testing.T) {
	good := timestamppb.New(time.Unix(1763640000, 0))
	for want, entry := range map[string]*recountv1.AccessEntry{
		"entries[1].time":     {Time: &timestamppb.Timestamp{Nanos: -1}},
		"entries[1].duration": {Time: good, Duration: &durationpb.Duration{Seconds: 1 << 60}},
	} {
		err := Logged(schemas.Event{}, &recountv1.AccessLogged{Service: "web", Entries: []*recountv1.AccessEntry{{Time: good}, entry}}, &recountv1.Record{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestValuesAreReplaced(t *testing.T) {
	for in, want := range map[string]string{
		"/":                    "/",
		"":                     "",
		"//a//":                "//a//",
		"/users/42":            "/users/{}",
		"/users/4":             "/users/{}",
		"/users/42/":           "/users/{}/",
		"/v1/oauth2/s3":        "/v1/oauth2/s3",
		"/api/v2.1/iso-8859-1": "/api/v2.1/iso-{}-1",
		"/a/2024-01-31/1.2.3":  "/a/{}/{}",
		"/at/-12.5,33.1":       "/at/{}",
		"/product/OLJCESPC7Z":  "/product/{}",
		"/README/LICENSE":      "/README/LICENSE",
		"/c/9fceb02d":          "/c/{}",
		"/facade/deadbeef":     "/facade/deadbeef",
		"/x/deadbeefdeadbeef":  "/x/{}",
		"/x/8a6e0804-2bd0-4672-b79d-d97027f9071a":      "/x/{}",
		"/x/cart-8a6e0804-2bd0-4672-b79d-d97027f9071a": "/x/cart-{}",
		"/x/8a6e0804-2bd0-4672-b79d-d97027f9071a.json": "/x/{}.json",
		"/u/ann@example.org":                           "/u/{}",
		"/q/hello%20world":                             "/q/{}",
		"/photo123456.jpg":                             "/photo{}.jpg",
		"/order_1234567":                               "/order_{}",
		"/b/aGVsbG8gd29ybGQxMjM0NTY3":                  "/b/{}",
		"/blog/my-first-post":                          "/blog/my-first-post",
		"/" + strings.Repeat("x", 65):                  "/{}",
		strings.Repeat("/a", 17):                       strings.Repeat("/a", 16) + "/{}",
		"process order 77":                             "process order {}",
		"/ä/ö1234":                                     "/ä/ö{}",
	} {
		if got := withoutValues(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// TestShortHexIsReplaced checks that ids of a few hexadecimal digits are values, and that words and
// names made of such letters are not.
func TestShortHexIsReplaced(t *testing.T) {
	for in, want := range map[string]string{
		"/op-1869f":                     "/op-{}",
		"/op-18a6f":                     "/op-{}",
		"/op-c3e1a":                     "/op-{}",
		"/commit/9fceb02":               "/commit/{}",
		"/acme/shop/compare/9fceb0..4a": "/acme/shop/compare/{}..4a",
		"/t/a1b2c3":                     "/t/{}",
		"/T/A1B2C3":                     "/T/{}",
		"/static/main.4f3a2b.js":        "/static/main.{}.js",
		"/static/css/app-3ae91f.css":    "/static/css/app-{}.css",
		"/s/0afd3c/join":                "/s/{}/join",
		"GET /x/7e0bd":                  "GET /x/{}",
		"worker 5d41c":                  "worker {}",

		"/cafe":              "/cafe",
		"/face/add/decade":   "/face/add/decade",
		"/facade/deface/bed": "/facade/deface/bed",
		"/cafe24":            "/cafe24",
		"/decade2/feed1":     "/decade2/feed1",
		"/abc123":            "/abc123",
		"/2fa/e2e/3d/b2b/ec": "/2fa/e2e/3d/b2b/ec",
		"/auth/2fa-code":     "/auth/2fa-code",
		"/mp3/h264/base64":   "/mp3/h264/base64",
		"/api/v1beta1/pods":  "/api/v1beta1/pods",
		"/sha256/md5/ed448":  "/sha256/md5/ed448",
		"/ec2/c5d/a11y/i18n": "/ec2/c5d/a11y/i18n",
		"/add-bad-cab":       "/add-bad-cab",
	} {
		if got := withoutValues(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestStatements(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT * FROM a.b JOIN c":                                    "SELECT a.b",
		"select id from carts where name = 'FROM x'":                  "SELECT carts",
		"SELECT * FROM (SELECT x FROM t) AS s":                        "SELECT t",
		"SELECT (SELECT max(x) FROM u) FROM t":                        "SELECT t",
		"SELECT extract(year FROM at), trim(both FROM x) FROM visits": "SELECT visits",
		"WITH old AS (SELECT id FROM t) DELETE FROM y USING old":      "DELETE y",
		"WITH RECURSIVE r(n) AS (SELECT 1 FROM base) SELECT * FROM r": "SELECT base",
		"INSERT INTO orders(id, total) VALUES (?, ?)":                 "INSERT orders",
		"INSERT INTO a SELECT * FROM b":                               "INSERT a",
		"UPDATE ONLY shop.carts SET x = 1":                            "UPDATE shop.carts",
		"DELETE FROM `shop`.`carts` WHERE id = 1":                     "DELETE shop.carts",
		`SELECT * FROM "Odd ""name"""`:                                `SELECT Odd ""name""`,
		"SELECT TOP 1 * FROM [dbo].[Users]":                           "SELECT dbo.Users",
		"/* FROM x */ SELECT 1 -- FROM y\nFROM z":                     "SELECT z",
		"CREATE TABLE IF NOT EXISTS t (id int)":                       "CREATE t",
		"CREATE INDEX i ON t (id)":                                    "CREATE",
		"TRUNCATE TABLE t":                                            "TRUNCATE t",
		"CALL add_item(?, ?)":                                         "CALL add_item",
		"SELECT * FROM generate_series(1, 10)":                        "SELECT",
		"(SELECT a FROM x) UNION (SELECT b FROM y)":                   "SELECT x",
		"SELECT 1":                "SELECT",
		"SELECT * FROM $1":        "SELECT",
		"SELECT * FROM":           "SELECT",
		"SELECT * FROM 'unclosed": "SELECT",
		"MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE": "MERGE t",
		"SELECT x.y FROM größe":                                        "SELECT größe",
		"BEGIN":                                                        "BEGIN",
		"GET user:1":                                                   "GET",
		"WITH broken AS (SELECT 1":                                     "WITH",
		`{"find":"users"}`:                                             "",
		"":                                                             "",
		"))))":                                                         "",
		"SELECT " + strings.Repeat("(", 5000):                          "SELECT",
		strings.Repeat("x", 100):                                       "",
	} {
		verb, table := statement(in)
		if got := strings.TrimSpace(verb + " " + table); got != want {
			t.Errorf("%.80s: got %q, want %q", in, got, want)
		}
	}
}

// FuzzExported checks that any OTLP gives the same valid record twice, within the limits, and that
// the record depends only on the bytes.
func FuzzExported(f *testing.F) {
	f.Add([]byte{})
	for _, block := range []string{
		"CLIENT q\ndb.system mysql\ndb.statement WITH a AS (SELECT 1 FROM t) SELECT * FROM a",
		"SERVER GET /x\nhttp.method GET\nhttp.url http://[::1]:80/1/2",
		"PRODUCER send x\nmessaging.system kafka\npeer.address [::1]:9092",
		"UNSPECIFIED grpc.shop.Cart/Get",
	} {
		data, err := proto.Marshal(export(nil, parseSpan(f, block)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var encoded [2][]byte
		for i := range encoded {
			data := &tracepb.TracesData{}
			if proto.Unmarshal(payload, data) != nil {
				return
			}
			b := exported(t, data)
			for _, o := range b.Observations {
				if len(o.Operation) > maxOperation || len(o.Peer) > maxPeer || o.DurationNano < 0 || o.StartUnixNano < earliest || o.StartUnixNano > latest {
					t.Fatalf("out of bounds: %v", o)
				}
			}
			var err error
			// Marshalling refuses text that is not UTF-8.
			if encoded[i], err = (proto.MarshalOptions{Deterministic: true}).Marshal(b); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(encoded[0], encoded[1]) {
			t.Fatal("twice, and not the same")
		}
	})
}

// FuzzWire checks that the decoder of the wire format reads what the protobuf library reads, and
// refuses what it refuses.
func FuzzWire(f *testing.F) {
	bad := newSpan(server, "x")
	bad.Links = []*tracepb.Span_Link{{TraceId: []byte("fedcba9876543210"), SpanId: []byte("12345678"), TraceState: "a=b"}}
	bad.Events = []*tracepb.Span_Event{{Name: "exception", Attributes: []*commonpb.KeyValue{{Key: "k", Value: stringValue("v")}}}}
	bad.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "broken"}
	bad.Attributes = []*commonpb.KeyValue{{Key: "aws.dynamodb.table_names", Value: &commonpb.AnyValue{
		Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{stringValue("a"), stringValue("b")}}},
	}}, {Key: "db.system", Value: stringValue("dynamodb")}, {Key: "http.status_code", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: 404}}}}
	data, err := proto.Marshal(export([]*commonpb.KeyValue{{Key: "service.name", Value: stringValue("cart")}}, bad, newSpan(server, "GET /users/42")))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(append(data, data...))
	for i := range 40 {
		damaged := slices.Clone(data)
		damaged[i*len(data)/40] ^= 1 << (i % 8)
		f.Add(damaged)
		f.Add(data[:i*len(data)/40])
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		decoded := &tracepb.TracesData{}
		refused := proto.Unmarshal(payload, decoded)
		got, want := &recountv1.Record{}, &recountv1.Record{}
		if err := Wire(schemas.Event{Payload: payload}, got); (err == nil) != (refused == nil) {
			t.Fatalf("the library says %v, Wire says %v", refused, err)
		}
		if refused != nil {
			return
		}
		if err := Exported(schemas.Event{}, decoded, want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Fatalf("other than what the library reads (-library +Wire):\n%s", diff)
		}
	})
}

// FuzzStatement checks that the scanner terminates and returns valid text.
func FuzzStatement(f *testing.F) {
	f.Add("WITH x AS (SELECT 'a''b' FROM \"t\") SELECT * FROM x.[y] -- z")
	f.Fuzz(func(t *testing.T, s string) {
		verb, table := statement(s)
		if utf8.ValidString(s) && !utf8.ValidString(verb+table) {
			t.Fatalf("%q gives %q, %q", s, verb, table)
		}
		withoutValues(s)
	})
}
