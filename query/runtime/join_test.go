package runtime_test

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/projections"
	snapshots "github.com/recountdb/recount/projections/code"
	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// memory has the projections that questions join, fed by hand.
type memory struct {
	t    testing.TB
	set  *projections.Set
	s    runtime.Sources
	next map[string]int64
}

func newMemory(t testing.TB) *memory {
	t.Helper()
	set, err := projections.Open(t.TempDir(), projections.Options{}, snapshots.Kind(snapshots.Options{}), observed.Kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	s := runtime.Sources{Set: set, Code: code.Sources{Set: set, Graphs: code.NewCache(0)}, Services: map[string]string{}}
	return &memory{t: t, set: set, s: s, next: map[string]int64{}}
}

func (m *memory) apply(topic string, records ...*recountv1.Record) {
	m.t.Helper()
	for _, r := range records {
		r.Origin = &recountv1.Position{Topic: topic, Offset: m.next[topic]}
		event := sha1.Sum(fmt.Append(nil, topic, m.next[topic]))
		r.EventId = event[:16]
		m.next[topic]++
	}
	if err := m.set.Apply(m.t.Context(), schemas.Batch{Topic: topic, Next: m.next[topic], Records: records}); err != nil {
		m.t.Fatal(err)
	}
}

// code commits a text archive as a repository.
func (m *memory) code(repo, archive string) {
	m.t.Helper()
	c := &recountv1.CommitRecorded{Repository: repo, Scope: recountv1.Scope_SCOPE_FULL, Message: "all of it"}
	var records []*recountv1.Record
	for _, f := range txtar.Parse([]byte(archive)).Files {
		sum := sha1.Sum(f.Data)
		blob := hex.EncodeToString(sum[:])
		facts := &recountv1.FileFacts{Repository: repo, Path: f.Name, Blob: blob, Size: int64(len(f.Data))}
		if l, ok := languages.OfPath(f.Name); ok {
			facts.Language = l.Name
			l.Extract(f.Data, facts)
		}
		records = append(records, &recountv1.Record{EventType: schemas.TypeSourceRevised, Body: &recountv1.Record_FileFacts{FileFacts: facts}})
		c.Changes = append(c.Changes, &recountv1.FileChange{Path: f.Name, Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: blob})
	}
	sum := sha1.Sum(fmt.Append(nil, repo, archive))
	c.Commit = hex.EncodeToString(sum[:])
	m.apply("recount.commits", append(records,
		&recountv1.Record{EventType: schemas.TypeCommitRecorded, Body: &recountv1.Record_Commit{Commit: c}},
		&recountv1.Record{EventType: schemas.TypeRefMoved, Body: &recountv1.Record_RefMoved{RefMoved: &recountv1.RefMoved{Repository: repo, Ref: "HEAD", NewCommit: c.Commit}}})...)
}

var epoch = time.Date(2026, 1, 14, 12, 0, 0, 0, time.UTC)

// served appends a span of the called side: "calls GET /users/{id}". Braces and similar characters
// mark the operation as a pattern.
func (m *memory) served(by *recountv1.Observer, operations ...string) {
	m.t.Helper()
	b := &recountv1.SpanBatch{Observers: []*recountv1.Observer{by}}
	for i, op := range operations {
		kind, name, _ := strings.Cut(op, " ")
		trace := sha1.Sum(fmt.Append(nil, by, op, m.next))
		b.Observations = append(b.Observations, &recountv1.Observation{
			TraceId: trace[:16], SpanId: trace[8:16], Side: recountv1.Side_SIDE_CALLED, Kind: recountv1.RuntimeKind(recountv1.RuntimeKind_value["RUNTIME_KIND_"+strings.ToUpper(kind)]),
			Operation: name, Templated: strings.ContainsAny(name, "{<:"), StartUnixNano: epoch.UnixNano(), DurationNano: 1e6, Status: recountv1.Status_STATUS_OK, Index: uint32(i),
		})
	}
	m.apply("recount.spans", &recountv1.Record{EventType: schemas.TypeSpansExported, Body: &recountv1.Record_Spans{Spans: b}})
}

// joined returns how traffic joins operations with code, one line each.
func (m *memory) joined() string {
	m.t.Helper()
	r, err := runtime.TrafficOf(m.t.Context(), m.s, runtime.TrafficRequest{})
	if err != nil {
		m.t.Fatal(err)
	}
	var b strings.Builder
	for _, x := range r.Operations {
		fmt.Fprintf(&b, "%s %s: %s %.2f", x.Service, x.Operation, x.Code.Rule, x.Code.Confidence)
		if x.Code.Symbol != nil {
			fmt.Fprintf(&b, " %s %s", x.Code.Symbol.Repo, x.Code.Symbol.Place())
		}
		if x.Code.Home != nil {
			fmt.Fprintf(&b, " [%s]", x.Code.Home.Rule)
		}
		if x.Code.Why != "" {
			fmt.Fprintf(&b, " (%s)", x.Code.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const users = `
-- app.py --
from flask import Flask

app = Flask(__name__)


@app.get("/users/<int:user>")
def show(user):
    return {}


@app.get("/users/new")
def new():
    return {}
`

const again = `
-- main.go --
package main

import "net/http"

func main() { http.HandleFunc("GET /users/{id}", show) }

func show(w http.ResponseWriter, r *http.Request) {}
`

// TestRoutesMatchByPattern checks that a route matches however a framework writes it, and with
// values in its path.
func TestRoutesMatchByPattern(t *testing.T) {
	m := newMemory(t)
	m.code("acme/users", users)
	by := &recountv1.Observer{Service: "users"}
	m.served(by, "calls GET /users/:id", "calls GET /users/{user}", "calls GET /users/<int:user>", "calls GET /users/42", "calls GET /users/new", "calls POST /users/{id}", "calls GET /orders/{id}", "calls poll")
	want := `users GET /orders/{id}: unresolved 0.30 (no route of the code answers it)
users GET /users/42: request 0.60 acme/users app.py:7 (the service's repository is not known)
users GET /users/:id: route 0.60 acme/users app.py:7 (the service's repository is not known)
users GET /users/<int:user>: route 0.60 acme/users app.py:7 (the service's repository is not known)
users GET /users/new: request 0.60 acme/users app.py:12 (the service's repository is not known)
users GET /users/{user}: route 0.60 acme/users app.py:7 (the service's repository is not known)
users POST /users/{id}: unresolved 0.30 (no route of the code answers it)
users poll: unresolved 0.30 (no method and path)
`
	if diff := cmp.Diff(want, m.joined()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRootOfAnUnknownService checks that an operation which any service may have is not joined with
// the code of the only repository, unless the service is known to be of it.
func TestRootOfAnUnknownService(t *testing.T) {
	m := newMemory(t)
	m.code("acme/site", `
-- app.py --
from flask import Flask

app = Flask(__name__)


@app.get("/")
def home():
    return {}


@app.get("/<page>")
def show(page):
    return {}


@app.get("/users/<page>")
def user(page):
    return {}
`)
	m.served(&recountv1.Observer{Service: "stranger"}, "calls GET /", "calls GET /{page}", "calls GET /healthz", "calls GET /users/7")
	m.served(&recountv1.Observer{Service: "site", Repository: "acme/site"}, "calls GET /", "calls GET /healthz")
	want := `site GET /: request 0.80 acme/site app.py:7 [vcs]
site GET /healthz: request 0.80 acme/site app.py:12 [vcs]
stranger GET /: unresolved 0.30 (the service's repository is not known, and any service may have such a route)
stranger GET /healthz: unresolved 0.30 (the service's repository is not known, and any service may have such a route)
stranger GET /users/7: request 0.60 acme/site app.py:17 (the service's repository is not known)
stranger GET /{page}: unresolved 0.30 (the service's repository is not known, and any service may have such a route)
`
	if diff := cmp.Diff(want, m.joined()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCodeThatComesLater checks that the same spans are joined once the code is imported, and with
// less confidence once two repositories are possible, until something identifies one.
func TestCodeThatComesLater(t *testing.T) {
	m := newMemory(t)
	by := &recountv1.Observer{Service: "people"}
	m.served(by, "calls GET /users/{id}")
	check := func(when, want string) {
		t.Helper()
		if got := strings.TrimSpace(m.joined()); got != "people GET /users/{id}: "+want {
			t.Errorf("%s:\n got %s\nwant %s", when, got, want)
		}
	}
	check("without code", "unresolved 0.30 (no route of the code answers it)")
	m.code("acme/users", users)
	check("one repository", "route 0.60 acme/users app.py:7 (the service's repository is not known)")
	m.code("acme/again", again)
	check("two repositories", "unresolved 0.30 (the service's repository is not known, and several have it: acme/again, acme/users)")
	m.code("acme/deploy", "-- compose.yaml --\nservices:\n  people: {image: acme/users}\n")
	check("a manifest of a repository that has it not", "unresolved 0.30 [manifest] (nothing in acme/deploy has it)")
	m.served(&recountv1.Observer{Service: "people", Repository: "acme/again"})
	m.served(&recountv1.Observer{Service: "people", Repository: "acme/again"}, "calls GET /users/{id}")
	check("the spans say which", "route 0.95 acme/again main.go:7 [vcs]")
	m.s.Services["people"] = "users"
	check("the configuration says which", "route 0.80 acme/users app.py:7 [configured]")
}

// TestDeadRoutesAreWatched checks that a route is reported dead only if its service sent spans.
func TestDeadRoutesAreWatched(t *testing.T) {
	m := newMemory(t)
	m.code("acme/users", users)
	m.code("acme/again", again)
	dead := func() string {
		t.Helper()
		r, err := runtime.DeadRoutes(t.Context(), m.s, runtime.DeadRoutesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		s := ""
		for _, x := range r.Routes {
			s += fmt.Sprintf("dead %s of %s by %v\n", x.Name, x.Repo, x.By)
		}
		for _, u := range r.Unwatched {
			s += fmt.Sprintf("unwatched %d of %s\n", u.Routes, u.Repo)
		}
		return s + fmt.Sprintf("seen %d, %s", r.Seen, r.Status)
	}
	if diff := cmp.Diff("unwatched 1 of acme/again\nunwatched 2 of acme/users\nseen 0, empty", dead()); diff != "" {
		t.Errorf("without spans (-want +got):\n%s", diff)
	}
	m.served(&recountv1.Observer{Service: "people", Repository: "acme/users"}, "calls GET /users/7")
	if diff := cmp.Diff("dead GET /users/new of acme/users by [people]\nunwatched 1 of acme/again\nseen 1, ok", dead()); diff != "" {
		t.Errorf("with spans (-want +got):\n%s", diff)
	}
}

// TestAnswersRestOnWhatTheySay checks that only the timing depends on the clock.
func TestAnswersRestOnWhatTheySay(t *testing.T) {
	m := newMemory(t)
	m.code("acme/users", users)
	m.served(&recountv1.Observer{Service: "users"}, "calls GET /users/{id}")
	var texts []string
	var first runtime.TrafficResponse
	for range 2 {
		r, err := runtime.TrafficOf(t.Context(), m.s, runtime.TrafficRequest{})
		if err != nil {
			t.Fatal(err)
		}
		r.Timing.TotalUS, r.Timing.Steps = 0, nil
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		texts, first = append(texts, string(b)), r
	}
	if texts[0] != texts[1] {
		t.Errorf("asked twice:\n%s\n%s", texts[0], texts[1])
	}
	if got := first.Watermark.String(); got != "recount.commits/0:3,recount.spans/0:1" {
		t.Errorf("rests on %s", got)
	}
	if got := fmt.Sprint(first.AppliedFilters); got != "[{at eq 2026-01-14T12:00:00Z}]" {
		t.Errorf("filters %s", got)
	}
	var steps []string
	for _, s := range first.Proof {
		steps = append(steps, s.Operator)
	}
	if diff := cmp.Diff([]string{"visible", "served", "visible", "code", "join"}, steps); diff != "" {
		t.Errorf("proof (-want +got):\n%s", diff)
	}
}

// TestASpanOfTheFuture checks that one span dated 2250 does not make that year now for all. It once
// did, and nothing was recent any more.
func TestASpanOfTheFuture(t *testing.T) {
	m := newMemory(t)
	m.code("acme/users", users)
	m.served(&recountv1.Observer{Service: "users"}, "calls GET /users/{id}")
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	m.s.Now = func() time.Time { return now }
	before, err := runtime.TrafficOf(t.Context(), m.s, runtime.TrafficRequest{Window: runtime.Window{At: now}})
	if err != nil {
		t.Fatal(err)
	}
	m.apply("recount.spans", &recountv1.Record{EventType: schemas.TypeSpansExported, Body: &recountv1.Record_Spans{Spans: &recountv1.SpanBatch{
		Observers: []*recountv1.Observer{{Service: "clockless"}},
		Observations: []*recountv1.Observation{{
			Side: recountv1.Side_SIDE_CALLED, Kind: recountv1.RuntimeKind_RUNTIME_KIND_CALLS, Operation: "GET /x",
			StartUnixNano: time.Date(2249, 12, 31, 0, 0, 0, 0, time.UTC).UnixNano(),
		}},
	}}})
	late := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	for name, w := range map[string]runtime.Window{"nothing said": {}, "until ever": {From: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), To: late}} {
		got, err := runtime.TrafficOf(t.Context(), m.s, runtime.TrafficRequest{Window: w, Service: "users"})
		if err != nil || len(got.Operations) != 1 || got.Operations[0].Confidence != before.Operations[0].Confidence || got.Operations[0].Confidence == 0 {
			t.Errorf("%s: %+v %v, before %+v", name, got.Operations, err, before.Operations)
		}
	}
	if got, err := runtime.TrafficOf(t.Context(), m.s, runtime.TrafficRequest{Window: runtime.Window{From: late}}); err != nil || len(got.Operations) != 0 {
		t.Errorf("from ever on: %+v %v", got.Operations, err)
	}
}

// TestSpansWithoutKindAreNotServed checks that the hint of traffic names another place to look.
func TestSpansWithoutKindAreNotServed(t *testing.T) {
	m := newMemory(t)
	trace := [16]byte{1}
	spanOf := func(observer uint32, id, parent byte) *recountv1.Observation {
		o := &recountv1.Observation{
			Observer: observer, TraceId: trace[:], SpanId: []byte{id, 0, 0, 0, 0, 0, 0, 0}, Side: recountv1.Side_SIDE_INSIDE,
			Kind: recountv1.RuntimeKind_RUNTIME_KIND_RPC, Operation: "shop.Carts/GetCart", StartUnixNano: epoch.UnixNano(), DurationNano: 1e6,
		}
		if parent != 0 {
			o.ParentId = []byte{parent, 0, 0, 0, 0, 0, 0, 0}
		}
		return o
	}
	m.apply("recount.spans", &recountv1.Record{EventType: schemas.TypeSpansExported, Body: &recountv1.Record_Spans{Spans: &recountv1.SpanBatch{
		Observers:    []*recountv1.Observer{{Service: "web"}, {Service: "carts"}},
		Observations: []*recountv1.Observation{spanOf(0, 1, 0), spanOf(1, 2, 1)},
	}}})
	for name, r := range map[string]struct {
		request runtime.TrafficRequest
		want    string
	}{
		"all":             {runtime.TrafficRequest{}, "see recount runtime edges for calls"},
		"another service": {runtime.TrafficRequest{Service: "users"}, "no span matches"},
	} {
		got, err := runtime.TrafficOf(t.Context(), m.s, r.request)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.Hint, r.want) {
			t.Errorf("%s: hint %q, want one of %q", name, got.Hint, r.want)
		}
	}
}

// TestFunctionsOfManifests checks that a route of a template leads to the function in the code that
// the template names.
func TestFunctionsOfManifests(t *testing.T) {
	m := newMemory(t)
	m.code("acme/lambda", `
-- template.yaml --
AWSTemplateFormatVersion: "2010-09-09"
Resources:
  Get:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: src/
      Handler: app.get
      Events:
        A: {Type: Api, Properties: {Path: "/items/{id}", Method: get}}
-- src/app.py --
def get(event, context):
    return {}
-- other/app.py --
def get(event, context):
    return {}
`)
	m.served(&recountv1.Observer{Service: "items"}, "calls GET /items/{id}")
	want := "items GET /items/{id}: route 0.60 acme/lambda src/app.py:1 (the service's repository is not known)\n"
	if diff := cmp.Diff(want, m.joined()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestUnknownPrefixesAreNotJoined checks that a route whose prefix is not known is joined to no span.
func TestUnknownPrefixesAreNotJoined(t *testing.T) {
	m := newMemory(t)
	m.code("acme/users", `
-- users.py --
from flask import Blueprint
bp = Blueprint("users", __name__)
@bp.get("/users")
def users():
    return []
`)
	m.served(&recountv1.Observer{Service: "users"}, "calls GET /users", "calls GET /v1/users")
	want := `users GET /users: unresolved 0.30 (no route of the code answers it)
users GET /v1/users: unresolved 0.30 (no route of the code answers it)
`
	if diff := cmp.Diff(want, m.joined()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAServerInALanguageThatIsNotRead checks that a procedure whose server is in such a language is
// not joined to a client of another service, and that the .env file says what a service is built from.
func TestAServerInALanguageThatIsNotRead(t *testing.T) {
	m := newMemory(t)
	m.code("acme/shop", `
-- compose.yaml --
services:
  currency: {build: {context: ., dockerfile: "${CURRENCY_DOCKERFILE}"}}
  web: {build: {context: ., dockerfile: "${WEB_DOCKERFILE}"}}
-- .env --
CURRENCY_DOCKERFILE=./src/currency/Dockerfile
WEB_DOCKERFILE=./src/web/Dockerfile
-- src/currency/Dockerfile --
FROM scratch
-- src/web/Dockerfile --
FROM scratch
-- src/currency/main.cpp --
int main() {}
-- pb/demo.proto --
syntax = "proto3";
package demo;
message Money {}
service CurrencyService { rpc Convert(Money) returns (Money); }
-- src/web/demo.ts --
export class CurrencyServiceClient { convert(request: object) { return request } }
`)
	m.served(&recountv1.Observer{Service: "currency"}, "rpc demo.CurrencyService/Convert")
	got := m.joined()
	if !strings.HasPrefix(got, "currency demo.CurrencyService/Convert: unresolved") || !strings.Contains(got, "[manifest]") {
		t.Errorf("got %s", got)
	}
}
