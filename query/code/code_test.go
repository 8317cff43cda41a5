package code_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var epoch = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

func callLine(c code.Call) string {
	s := fmt.Sprintf("%d %s %s %.2f at %s", c.Depth, c.Name, c.Edge, c.Confidence, c.Site)
	if c.Via != "" {
		s += " via " + c.Via
	}
	return s
}

func TestNames(t *testing.T) {
	m := newShop(t)
	for _, tt := range []struct{ name, typed, want string }{
		{"the end of the chain", "Client.Produce", "pkg/kgo/client.toy:3"},
		{"with the package's last element", "kgo.Client.Produce", "pkg/kgo/client.toy:3"},
		{"with some of the package", "pkg/kgo.Client.Produce", "pkg/kgo/client.toy:3"},
		{"with all of it", "github.com/acme/shop/pkg/kgo.Client.Produce", "pkg/kgo/client.toy:3"},
		{"its own name alone", "Produce", "pkg/kgo/client.toy:3"},
		{"as Go prints methods", "(*Client).Produce", "pkg/kgo/client.toy:3"},
		{"as Rust and C++ write it", "Client::flush", "pkg/kgo/client.toy:4"},
		{"a place", "pkg/kgo/client.toy:4", "pkg/kgo/client.toy:4"},
		{"a place by the end of its path", "client.toy:5", "pkg/kgo/client.toy:5"},
		{"a place outside of declarations", "client.toy:1", "pkg/kgo/client.toy"},
		{"a file and a name", "conn.toy:conn.Write", "pkg/kgo/conn.toy:3"},
		{"with the repository", "acme/shop:Client.Close", "pkg/kgo/client.toy:5"},
		{"a whole name before longer ones", "conn", "pkg/kgo/conn.toy:2"},
		{"a file", "cmd/main.toy", "cmd/main.toy"},
		{"what is exported before what is not", "write", "pkg/kgo/client.toy:7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := code.Callees(t.Context(), m.s, code.CallsRequest{Symbol: tt.typed})
			if tt.typed == "write" { // both are exported: the interface's and conn's
				var am *code.AmbiguousNameError
				if !errors.As(err, &am) || len(am.Candidates) != 2 || am.Candidates[0] != (code.NameCandidate{Name: "pkg/kgo/client.toy:Writer.Write", Is: "method kgo.Writer.Write at pkg/kgo/client.toy:7"}) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil || r.Symbol.Place() != tt.want {
				t.Errorf("%s is at %s, want %s (%v)", tt.typed, r.Symbol.Place(), tt.want, err)
			}
		})
	}
	_, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: "Client.Prodcue"})
	var nf *query.NotFoundError
	if !errors.As(err, &nf) || !strings.Contains(nf.Hint, "did you mean kgo.Client.Produce") {
		t.Errorf("an unknown name: %v", err)
	}
	for _, r := range []code.CallsRequest{
		{Symbol: "Client.Produce", Scope: code.Scope{Repo: "none"}},
		{Symbol: "Client.Produce", Scope: code.Scope{At: "nobranch"}},
		{Symbol: "Client.Produce", Scope: code.Scope{At: "HEAD^{tree}"}},
		{Symbol: "Client.Produce", Scope: code.Scope{At: "HEAD~99999999999999999999"}},
	} {
		want := query.UnknownRevision
		if r.Repo != "" {
			want = query.UnknownImport
		}
		if _, err := code.Callers(t.Context(), m.s, r); !errors.As(err, &nf) || nf.Kind != want {
			t.Errorf("%+v: %v", r.Scope, err)
		}
	}
}

// TestInterruptedImport: of a repository whose commits were imported and no ref, the error names the fix.
func TestInterruptedImport(t *testing.T) {
	m := newMemory(t)
	b := schemas.Batch{Topic: tp.Topic, Records: []*recountv1.Record{m.record(&recountv1.Record{
		EventType: schemas.TypeCommitRecorded, Body: &recountv1.Record_Commit{Commit: &recountv1.CommitRecorded{
			Repository: shop, Scope: recountv1.Scope_SCOPE_FULL, Commit: strings.Repeat("ab", 20), Message: "a shop",
		}},
	})}}
	b.Next = m.next
	if err := m.set.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	var nf *query.NotFoundError
	_, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: "Client.Produce"})
	if !errors.As(err, &nf) || nf.Kind != query.UnknownImport || !strings.Contains(nf.Hint, "run `recount import git PATH` again") {
		t.Errorf("got %v", err)
	}
}

// TestPathsAreNamedAsTheyAre checks paths with characters that names in code do not have: brackets
// and colons.
func TestPathsAreNamedAsTheyAre(t *testing.T) {
	m := newShop(t)
	m.commit(shop, "Ada", `paths
-- app/(shop)/page.toy --
package github.com/acme/shop/app
function Page
-- docs/a:b.toy --
package github.com/acme/shop/docs
function Docs
`)
	for typed, want := range map[string]string{
		"app/(shop)/page.toy":        "app/(shop)/page.toy",
		"(shop)/page.toy:2":          "app/(shop)/page.toy:2",
		"app/(shop)/page.toy:Page":   "app/(shop)/page.toy:2",
		"./app/(shop)/page.toy:2":    "app/(shop)/page.toy:2",
		"docs/a:b.toy":               "docs/a:b.toy",
		"docs/a:b.toy:Docs":          "docs/a:b.toy:2",
		"pkg/kgo/client.toy:4:9":     "pkg/kgo/client.toy:4", // as compilers print a place
		"client.toy:Client::flush":   "pkg/kgo/client.toy:4",
		"client.toy:(*Client).flush": "pkg/kgo/client.toy:4",
	} {
		r, err := code.Callees(t.Context(), m.s, code.CallsRequest{Symbol: typed})
		if err != nil || r.Symbol.Place() != want {
			t.Errorf("%s is at %s, want %s (%v)", typed, r.Symbol.Place(), want, err)
		}
	}
	for _, text := range []string{"app/(shop)/page.toy", "app/(shop)/page.toy:2", "(*Client).flush"} {
		if r, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: text}); err != nil || len(r.Symbols) == 0 {
			t.Errorf("symbols %s: none (%v)", text, err)
		}
	}
}

func TestARepositorysShortNameMayBeAmbiguous(t *testing.T) {
	m := newShop(t)
	for _, repo := range []string{"example.org/one/net", "example.org/two/net"} {
		m.commit(repo, "Bob", "net\n-- net.toy --\npackage "+repo+"\nfunction Dial\n")
	}
	_, err := code.Flow(t.Context(), m.s, code.FlowRequest{Scope: code.Scope{Repo: shop}, From: "main", To: "net:Dial"})
	var am *code.AmbiguousNameError
	if !errors.As(err, &am) || len(am.Candidates) != 2 {
		t.Errorf("got %v; want both repositories listed", err)
	}
	if _, err := code.Flow(t.Context(), m.s, code.FlowRequest{Scope: code.Scope{Repo: shop}, From: "main", To: "two/net:Dial"}); err != nil {
		t.Error(err)
	}
}

func TestCallers(t *testing.T) {
	m := newShop(t)
	r, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: "conn.Write", Depth: 4})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 kgo.Writer.Write implements 0.70 at pkg/kgo/conn.toy:3",
		"2 kgo.Client.flush calls 0.70 at pkg/kgo/client.toy:4 via kgo.Writer.Write",
		"3 kgo.Client.Close calls 0.70 at pkg/kgo/client.toy:5 via kgo.Client.flush",
		"3 kgo.Client.Produce calls 0.70 at pkg/kgo/client.toy:3 via kgo.Client.flush",
		"4 cmd.run calls 0.70 at cmd/main.toy:3 via kgo.Client.Produce",
		"4 kgo.TestProduce calls 0.70 at pkg/kgo/client_test.toy:2 via kgo.Client.Produce",
	}
	got := lines(r.Calls, callLine)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("callers (-want +got):\n%s", diff)
	}
	if r.Status != query.StatusOK || r.Watermark.String() != "recount.commits/0:8" || len(r.Proof) != 4 || r.Proof[1].Inputs["hash"] != r.Revision.Snapshot.String() || r.Proof[1].Hits[0].Position != r.Revision.Position {
		t.Errorf("basis: %s %s %+v", r.Status, r.Watermark, r.Proof)
	}
	r, err = code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: "Close", MinConfidence: 0.8})
	if err != nil || r.Status != query.StatusEmpty || r.Hint == "" || r.AppliedFilters[0].Value != "0.8" {
		t.Errorf("a guess is left out: %+v %v", r.Calls, err)
	}
	r, err = code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: "Client", Depth: 3, Limit: 1})
	if err != nil || len(r.Calls) != 1 || r.Total != 5 || r.Truncated != 4 {
		t.Errorf("a type stands for its methods: %d of %d, %d left out (%v)", len(r.Calls), r.Total, r.Truncated, err)
	}
}

func TestCallees(t *testing.T) {
	m := newShop(t)
	r, err := code.Callees(t.Context(), m.s, code.CallsRequest{Symbol: "Produce", Depth: 9})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 kgo.Client.flush calls 0.98 at pkg/kgo/client.toy:3",
		"2 kgo.Writer.Write calls 0.98 at pkg/kgo/client.toy:4 via kgo.Client.flush",
		"3 kgo.conn.Write implements 0.70 at pkg/kgo/conn.toy:3 via kgo.Writer.Write",
	}
	if diff := cmp.Diff(want, lines(r.Calls, callLine)); diff != "" {
		t.Errorf("callees (-want +got):\n%s", diff)
	}
	outside := lines(r.Outside, func(f code.Foreign) string { return f.Package + "." + f.Name + " by " + f.By + " at " + f.Site })
	if diff := cmp.Diff([]string{"log.Print by kgo.Client.Produce at pkg/kgo/client.toy:3", "github.com/acme/net.Dial by kgo.conn.Write at pkg/kgo/conn.toy:3"}, outside); diff != "" {
		t.Errorf("outside (-want +got):\n%s", diff)
	}
}

// TestAcrossRepositories checks that what another repository declares is found under the name that
// its users have for it, in both directions.
func TestAcrossRepositories(t *testing.T) {
	m := newShop(t)
	m.commit("github.com/acme/net", "Bob", `net
-- net.toy --
package github.com/acme/net
function Dial -> dial
function dial
`)
	in := code.Scope{Repo: "net"}
	r, err := code.Callers(t.Context(), m.s, code.CallsRequest{Scope: in, Symbol: "dial", Depth: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 net.Dial calls 0.98 at net.toy:2",
		"2 kgo.conn.Write calls 0.98 at pkg/kgo/conn.toy:3 via net.Dial",
		"3 kgo.Writer.Write implements 0.70 at pkg/kgo/conn.toy:3 via kgo.conn.Write",
	}
	if diff := cmp.Diff(want, lines(r.Calls, callLine)); diff != "" {
		t.Errorf("callers (-want +got):\n%s", diff)
	}
	if r.Calls[1].Repo != shop || r.Revision.Repo != "github.com/acme/net" {
		t.Errorf("repositories: %+v", r.Calls)
	}
	f, err := code.Flow(t.Context(), m.s, code.FlowRequest{Scope: code.Scope{Repo: "shop"}, From: "main", To: "net:dial"})
	if err != nil {
		t.Fatal(err)
	}
	names := lines(f.Paths[0].Steps, func(h code.Hop) string { return h.Name })
	if diff := cmp.Diff([]string{"cmd.main", "cmd.run", "kgo.Client.Produce", "kgo.Client.flush", "kgo.Writer.Write", "kgo.conn.Write", "net.Dial", "net.dial"}, names); diff != "" {
		t.Errorf("flow (-want +got):\n%s", diff)
	}
	if len(f.Paths) != 2 || f.Paths[0].Confidence != 0.7 || f.Paths[1].Confidence != 0.5 {
		t.Errorf("the surest path comes first: %+v", f.Paths)
	}
	i, err := code.Impact(t.Context(), m.s, code.ImpactRequest{Scope: in, Symbol: "Dial"})
	if err != nil || len(i.Groups) == 0 || i.Groups[0].Repo != shop {
		t.Errorf("impact: %+v %v", i.Groups, err)
	}
}

func affectedLine(a code.Affected) string {
	return fmt.Sprintf("%s %.2f %d", a.Name, a.Confidence, a.Distance)
}

func TestImpact(t *testing.T) {
	m := newShop(t)
	r, err := code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: "Client.flush"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range r.Groups {
		got = append(got, fmt.Sprintf("%s %d %.2f", g.Package, g.Count, g.Least))
		got = append(got, lines(g.Symbols, affectedLine)...)
	}
	want := []string{
		"github.com/acme/shop/cmd 2 0.98", "cmd.run 0.98 2", "cmd.main 0.98 3",
		"github.com/acme/shop/pkg/kgo 2 0.98", "kgo.Client.Close 0.98 1", "kgo.Client.Produce 0.98 1",
		"github.com/acme/shop/web 2 0.98", "web.listOrders 0.98 3", "web.GET_/orders 0.98 4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kgo.TestProduce 0.98 2"}, lines(r.Tests, affectedLine)); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	if r, err = code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: "Client.Close"}); err != nil || r.Groups[0].Least != 0.5 {
		t.Errorf("a guess on the way lowers what follows: %+v %v", r.Groups, err)
	}
	if r, err = code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: "Client.flush", Limit: 3}); err != nil || r.Total != 6 || r.TestCount != 1 || r.Truncated != 3 || len(r.Groups) != 3 {
		t.Errorf("cut to 3: %d and %d tests, %d left out in %d groups (%v)", r.Total, r.TestCount, r.Truncated, len(r.Groups), err)
	}
	if r, err = code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: "Client.flush", Depth: 1}); err != nil || r.Total != 2 {
		t.Errorf("one edge: %d (%v)", r.Total, err)
	}
}

func TestImpactOfADiff(t *testing.T) {
	m := newShop(t)
	m.commit(shop, "Bob", `flush differently
-- pkg/kgo/client.toy --
package github.com/acme/shop/pkg/kgo
struct Client
method Client.Produce -> Client.flush log#Print
method Client.flush -> Writer.Write = twice
method Client.Close -> Client.flush
interface Writer
method Writer.Write
`)
	r, err := code.Impact(t.Context(), m.s, code.ImpactRequest{Diff: "HEAD~1..HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Changed) != 1 || r.Changed[0].Name != "kgo.Client.flush" || r.Total != 6 || r.TestCount != 1 {
		t.Errorf("changed %+v, reaches %d and %d tests", r.Changed, r.Total, r.TestCount)
	}
	ts, err := code.Tests(t.Context(), m.s, code.TestsRequest{Diff: "HEAD~1.."})
	if err != nil || ts.Total != 1 || ts.Packages[0].Dir != "pkg/kgo" || ts.Packages[0].Tests[0].Name != "kgo.TestProduce" || ts.UncoveredCount != 0 {
		t.Errorf("tests: %+v %v", ts, err)
	}
	ts, err = code.Tests(t.Context(), m.s, code.TestsRequest{Symbol: "Close"})
	if err != nil || ts.Status != query.StatusEmpty || ts.UncoveredCount != 1 {
		t.Errorf("tests of what none reaches: %+v %v", ts, err)
	}
	for _, diff := range []string{"HEAD", "..", "a...b"} {
		var re *query.RequestError
		if _, err := code.Impact(t.Context(), m.s, code.ImpactRequest{Diff: diff}); !errors.As(err, &re) || re.Field != "diff" {
			t.Errorf("%q: %v", diff, err)
		}
	}
}

func TestSymbols(t *testing.T) {
	m := newShop(t)
	for _, tt := range []struct {
		name, text string
		kinds      []string
		want       string
	}{
		{"a name", "Produce", nil, "kgo.Client.Produce exact, kgo.TestProduce words"},
		{"a qualified name", "kgo.Client.Produce", nil, "kgo.Client.Produce name"},
		{"its beginning", "prod", nil, "kgo.Client.Produce prefix, kgo.TestProduce words"},
		{"words", "client close", nil, "kgo.Client.Close words"},
		{"humps", "ClientFlush", nil, "kgo.Client.flush words"},
		{"letters", "cltclo", nil, "kgo.Client.Close letters"},
		{"a place", "client.toy:4", nil, "kgo.Client.flush place"},
		{"one kind", "client", []string{"struct"}, "kgo.Client case"},
		{"nothing", "zzz", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: tt.text, Kinds: tt.kinds})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(lines(r.Symbols, func(h code.SymbolHit) string { return h.Name + " " + h.Match }), ", ")
			if got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			if (r.Status == query.StatusEmpty) != (tt.want == "") {
				t.Errorf("status %s", r.Status)
			}
		})
	}
	r, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: "e", Limit: 2})
	if err != nil || len(r.Symbols) != 2 || r.Truncated == 0 || r.Symbols[0].Signature == "" {
		t.Errorf("cut: %+v %v", r, err)
	}
	var re *query.RequestError
	if _, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: "x", Kinds: []string{"gadget"}}); !errors.As(err, &re) || re.Field != "kinds" {
		t.Errorf("an unknown kind: %v", err)
	}
}

func TestFlow(t *testing.T) {
	m := newShop(t)
	r, err := code.Flow(t.Context(), m.s, code.FlowRequest{From: "listOrders", To: "Client.flush"})
	if err != nil {
		t.Fatal(err)
	}
	got := lines(r.Paths, func(p code.Path) string {
		return strings.Join(lines(p.Steps, func(h code.Hop) string { return h.Name }), " > ") + fmt.Sprintf(" %.2f", p.Confidence)
	})
	want := []string{
		"web.listOrders > cmd.run > kgo.Client.Produce > kgo.Client.flush 0.98",
		"web.listOrders > cmd.run > kgo.Client.Close > kgo.Client.flush 0.50",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	// A file contains its functions, but that is not a flow.
	r, err = code.Flow(t.Context(), m.s, code.FlowRequest{From: "Client.flush", To: "main"})
	if err != nil || r.Status != query.StatusEmpty || r.Hint == "" {
		t.Errorf("against the calls: %+v %v", r.Paths, err)
	}
}

// TestSecondDeclarations checks a name with two declarations. In the maps the edges of the second
// precede those of the first, since the key of the first is a prefix of that of the second.
func TestSecondDeclarations(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `twice
-- a.toy --
package a
function init -> one log#One
function init -> two log#Two
function one
function two
`)
	for name, want := range map[string]string{"a.toy:2": "a.one", "a.toy:init#2": "a.two"} {
		r, err := code.Callees(t.Context(), m.s, code.CallsRequest{Symbol: name})
		if err != nil || len(r.Calls) != 1 || r.Calls[0].Name != want || len(r.Outside) != 1 {
			t.Errorf("%s calls %+v %+v (%v)", name, r.Calls, r.Outside, err)
		}
	}
	r, err := code.Callers(t.Context(), m.s, code.CallsRequest{Symbol: "two"})
	if err != nil || len(r.Calls) != 1 || r.Calls[0].Variant != "#2" {
		t.Errorf("callers of two: %+v (%v)", r.Calls, err)
	}
}

// TestCallersThroughRoutes checks that the direction in which a resolver created the edge between a
// route and its handler does not matter: a caller of an endpoint is a caller of its handler, and a
// handler does not call those who request its route.
func TestCallersThroughRoutes(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `two routes
-- web/a.toy --
package web
route GET_/one -> handles_route:one
route GET_/two
function one
function two -> handles_route:GET_/two
function client -> consumes_endpoint:GET_/one consumes_endpoint:GET_/two
`)
	for _, c := range []struct {
		symbol  string
		callers bool
		want    string
	}{
		{"one", true, "web.GET_/one web.client"},
		{"two", true, "web.GET_/two web.client"},
		{"one", false, ""},
		{"client", false, "web.GET_/one web.GET_/two web.one web.two"},
	} {
		ask := code.Callees
		if c.callers {
			ask = code.Callers
		}
		r, err := ask(t.Context(), m.s, code.CallsRequest{Symbol: c.symbol, Depth: 4})
		if err != nil {
			t.Fatal(err)
		}
		got := lines(r.Calls, func(x code.Call) string { return x.Name })
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, callers %v: %q; want %q", c.symbol, c.callers, got, c.want)
		}
	}
}
