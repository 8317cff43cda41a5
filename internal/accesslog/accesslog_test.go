package accesslog_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/recountdb/recount/internal/accesslog"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// read returns a log's entries and events, and the skipped lines.
func read(t testing.TB, log string, from int) (entries []*recountv1.AccessEntry, events []schemas.Event, skipped []string) {
	t.Helper()
	o := accesslog.Options{Service: "shop", From: from, Redact: func(m *recountv1.AccessLogged) { redact.Default().Event(m) }}
	last := 0
	for b, err := range accesslog.Read(strings.NewReader(log), o) {
		last = max(last, b.Lines)
		var skip *accesslog.SkipError
		if errors.As(err, &skip) {
			skipped = append(skipped, skip.Error())
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.Event.DecodePayload()
		if err != nil {
			t.Fatal(err)
		}
		l := m.(*recountv1.AccessLogged)
		if len(l.Entries) != b.Requests || l.Service != "shop" || string(b.Event.Key) != "shop" {
			t.Errorf("%d entries of %q under key %q, want %d", len(l.Entries), l.Service, b.Event.Key, b.Requests)
		}
		entries, events = append(entries, l.Entries...), append(events, b.Event)
	}
	if most := strings.Count(log, "\n") + 1; last > most || strings.HasSuffix(log, "\n") && last == most {
		t.Errorf("read to line %d of %d", last, most)
	}
	return entries, events, skipped
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ why, line, want string }{
		{
			"common", `127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326`,
			`time:{seconds:971211336} method:"GET" path:"/apache_pb.gif" status:200 bytes:2326 remote:"127.0.0.1" user:"frank"`,
		},
		{
			"combined", `::1 - - [01/Mar/2026:12:00:00 +0000] "POST /cart?user=7 HTTP/1.1" 503 - "https://shop.example.com/a?q=secret" "curl/8.5 \"x\""`,
			`time:{seconds:1772366400} method:"POST" path:"/cart" status:503 remote:"::1" referer:"https://shop.example.com/a" user_agent:"curl/8.5 \"x\""`,
		},
		{
			"virtual host, and more behind", `shop:443 10.0.0.1 - - [01/Mar/2026:12:00:00 +0000] "GET / HTTP/2.0" 200 5 "-" "-" "10.9.9.9" rt=0.1`,
			`time:{seconds:1772366400} method:"GET" path:"/" status:200 bytes:5 remote:"10.0.0.1" host:"shop:443"`,
		},
		{
			"bytes of TLS", `10.0.0.1 - - [01/Mar/2026:12:00:00 +0000] "\x16\x03\x01" 400 157 "-" "-"`,
			`time:{seconds:1772366400} status:400 bytes:157 remote:"10.0.0.1"`,
		},
		{
			"a URL for a target", `10.0.0.1 - - [01/Mar/2026:12:00:00 +0000] "GET http://me:x@shop.example.com/a%20b?c HTTP/1.1" 200 1`,
			`time:{seconds:1772366400} method:"GET" path:"/a%20b" status:200 bytes:1 remote:"10.0.0.1" host:"shop.example.com"`,
		},
		{
			"a secret in a path", `10.0.0.1 - - [01/Mar/2026:12:00:00 +0000] "GET /reset/password=hunter2 HTTP/1.1" 200 1`,
			`time:{seconds:1772366400} method:"GET" path:"/reset/password=[redacted:password]" status:200 bytes:1 remote:"10.0.0.1"`,
		},
		{
			"JSON of nginx", `{"time_iso8601":"2026-03-01T12:00:00+00:00","request":"GET /a?b=c HTTP/1.1","status":"404","body_bytes_sent":"12","request_time":"0.250","remote_addr":"10.0.0.1","http_user_agent":"curl","http_referer":"-"}`,
			`time:{seconds:1772366400} method:"GET" path:"/a" status:404 bytes:12 duration:{nanos:250000000} remote:"10.0.0.1" user_agent:"curl"`,
		},
		{
			"JSON of Caddy", `{"level":"info","ts":1772366400.5,"msg":"handled request","request":{"remote_ip":"10.0.0.1","method":"PUT","host":"shop","uri":"/a?b","headers":{"User-Agent":["curl"]}},"user_id":"","duration":0.001,"size":7,"status":201}`,
			`time:{seconds:1772366400 nanos:500000000} method:"PUT" path:"/a" status:201 bytes:7 duration:{nanos:1000000} remote:"10.0.0.1" host:"shop" user_agent:"curl"`,
		},
		{
			"JSON of Traefik", `{"StartUTC":"2026-03-01T12:00:00.25Z","RequestMethod":"GET","RequestPath":"/a","DownstreamStatus":200,"DownstreamContentSize":3,"Duration":1500000,"ClientHost":"10.0.0.1"}`,
			`time:{seconds:1772366400 nanos:250000000} method:"GET" path:"/a" status:200 bytes:3 duration:{nanos:1500000} remote:"10.0.0.1"`,
		},
		{
			"JSON of an application", `{"timestamp":1772366400123,"method":"get","path":"/users/7","route":"/users/{id}","status":200,"duration_ms":1.5,"trace_id":"5B8EFFF798038103D269B633813FC60C"}`,
			`time:{seconds:1772366400 nanos:123000000} method:"GET" path:"/users/7" route:"/users/{id}" status:200 duration:{nanos:1500000} trace_id:"5b8efff798038103d269b633813fc60c"`,
		},
	} {
		got, _, skipped := read(t, c.line+"\n", 0)
		want := &recountv1.AccessEntry{}
		if err := prototext.Unmarshal([]byte(c.want), want); err != nil {
			t.Fatal(c.why, err)
		}
		if d := cmp.Diff([]*recountv1.AccessEntry{want}, got, protocmp.Transform()); d != "" || skipped != nil {
			t.Errorf("%s: %q %s", c.why, skipped, d)
		}
	}
}

func TestSkipped(t *testing.T) {
	good := `127.0.0.1 - - [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.0" 200 1`
	log := strings.Join([]string{
		good, "", "hello", `1 - - [yesterday] "GET / HTTP/1.0" 200 1`, `1 - - [01/Mar/2026:12:00:00 +0000] GET`, `1 - - [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.0" ok 1`,
		`{"method":"GET"`, `{"method":"GET","path":"/"}`, `{"time":"2026-03-01T12:00:00Z"}`, `{"time":-7,"path":"/"}`, `{"time":7,"path":"/"}`,
		good + strings.Repeat("x", 300<<10), good,
	}, "\n")
	entries, events, skipped := read(t, log, 0)
	if len(entries) != 2 || len(events) != 1 || len(skipped) != 10 {
		t.Errorf("%d entries in %d events, skipped %q", len(entries), len(events), skipped)
	}
	want := []string{"line 3: neither", "line 4: time", "line 5: no request", "line 6: status", "line 7: not a JSON", "line 8: no time", "line 9: neither a method", `line 10: time "-7"`, "line 11: time 1970", "line 12: longer than"}
	for i, s := range skipped {
		if !strings.HasPrefix(s, want[i]) {
			t.Errorf("got %q, want %q", s, want[i])
		}
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "10.0.0.1 - - [01/Mar/2026:12:%02d:%02d +0000] \"GET /%d HTTP/1.1\" 200 1\n", i/60%60, i%60, i)
	}
	return b.String()
}

func ids(events []schemas.Event) (all []schemas.EventID) {
	for _, e := range events {
		all = append(all, e.ID)
	}
	return all
}

// TestAgain reads a log that grows: existing events do not change, and lines read before are
// skipped according to the marks.
func TestAgain(t *testing.T) {
	whole := many(3500)
	short := whole[:strings.Index(whole, "/2500 ")]
	short = short[:strings.LastIndex(short, "\n")+1]
	dir := t.TempDir()
	first, events, _ := read(t, short, 0)
	if len(first) != 2500 || len(events) != 3 {
		t.Fatalf("%d requests in %d events", len(first), len(events))
	}
	if _, again, _ := read(t, short, 0); !slices.Equal(ids(again), ids(events)) {
		t.Error("the same log, other ids")
	}
	if _, grown, _ := read(t, whole, 0); !slices.Equal(ids(grown)[:2], ids(events)[:2]) {
		t.Error("a log that has grown, other ids of its first lines")
	}
	if err := accesslog.OpenMarks(dir, "log", "shop").Add(2500, int64(len(short)), sha256.Sum256([]byte(short))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why, service, log string
		want              int
	}{
		{"the same", "shop", short, 2500},
		{"grown", "shop", whole, 2500},
		{"another", "shop", "x" + whole, 0},
		{"shorter", "shop", short[:100], 0},
		{"of another service", "cart", whole, 0},
	} {
		if got, err := accesslog.OpenMarks(dir, "log", c.service).Known(strings.NewReader(c.log)); err != nil || got != c.want {
			t.Errorf("%s: %d lines known, %v; want %d", c.why, got, err, c.want)
		}
	}
	rest, _, _ := read(t, whole, 2500)
	all, _, _ := read(t, whole, 0)
	for i, e := range append(first, rest...) {
		if !proto.Equal(e, all[i]) {
			t.Fatalf("request %d: %v, want %v", i, e, all[i])
		}
	}
	if len(first)+len(rest) != len(all) {
		t.Errorf("%d and %d requests of %d", len(first), len(rest), len(all))
	}
}

// FuzzRead checks that any input gives valid events or skipped lines.
func FuzzRead(f *testing.F) {
	f.Add(many(3))
	f.Add(`{"ts":1.5e9,"request":{"method":"GET","uri":"/a?b","headers":{"User-Agent":["x"]}},"status":200,"duration":"1s"}`)
	f.Add(`a:1 1 - - [01/Mar/2026:12:00:00 +0000] "GET http://h/%zz HTTP/1.1" 200 1 "\x16" "-"`)
	f.Fuzz(func(t *testing.T, log string) { read(t, log, 0) })
}
