package code_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/languages/documents"
	"github.com/recountdb/recount/languages/resolve"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query/code"
)

// TestDocuments checks what documents say about code: which would become untrue, which are out of date,
// and the words by which a symbol is found. Documents change nothing else that is said of code.
func TestDocuments(t *testing.T) {
	m := memoryOf(t, snapshots.Options{Resolvers: func() []resolve.Resolver { return []resolve.Resolver{toy{}, documents.NewResolver()} }})
	const shopCode = `
-- shop/a.toy --
package shop
struct Router // Has paths.
method Router.Nest
method Router.JSON
struct Cart
method Cart.Nest
function Old
function lonely
function Printf
function Serve -> Router.JSON
-- shop/a_test.toy --
package shop
test TestOne -> Printf
`
	const guide = "-- docs/guide.md --\n# Composition\n\nMount another application below a prefix by `Router.Nest`; see [the code](../shop/a.toy).\n" +
		"Call `Old()`, then `c.JSON()`, `fmt.Printf` or `Nest`, never `lonely` or `Gone.JSON`.\n" +
		"-- docs/serve.md --\nCall `Serve()`, see [composition](guide.md).\n"
	m.commit(shop, "Ada", "shop"+shopCode+guide)
	impact := func(symbol string) []string {
		r, err := code.Impact(t.Context(), m.s, code.ImpactRequest{Symbol: symbol})
		if err != nil {
			t.Fatal(err)
		}
		name := func(a code.Affected) string { return a.Name + " " + a.Edge + " " + a.Site }
		all := append([]string(nil), lines(r.Documents, name)...)
		if r.DocumentCount != len(r.Documents) {
			t.Errorf("impact of %s: %d documents, %d counted", symbol, len(r.Documents), r.DocumentCount)
		}
		symbols := 0
		for _, g := range r.Groups {
			all = append(all, lines(g.Symbols, name)...)
			symbols += len(g.Symbols)
		}
		if symbols != r.Total {
			t.Errorf("impact of %s: %d symbols, %d counted", symbol, symbols, r.Total)
		}
		return all
	}
	for symbol, want := range map[string][]string{
		"shop.Router.Nest": {"docs/guide.md references docs/guide.md:3"},
		"shop.Router.JSON": {"docs/guide.md references docs/guide.md:4", "shop.Serve calls shop/a.toy:10"},
		"shop.Old":         {"docs/guide.md references docs/guide.md:4"},
		"shop/a.toy":       {"docs/guide.md references docs/guide.md:3", "docs/serve.md references docs/serve.md:1"},
		"shop.Cart.Nest":   nil, // `Nest` may be of either
		"shop.Printf":      nil, // of fmt
		"shop.lonely":      nil, // not exported
	} {
		if diff := cmp.Diff(want, impact(symbol)); diff != "" {
			t.Errorf("impact of %s (-want +got):\n%s", symbol, diff)
		}
	}
	found, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: "mount an application under a prefix"})
	if err != nil || len(found.Symbols) == 0 || found.Symbols[0].Name != "shop.Router.Nest" {
		t.Errorf("by the words of a document: %+v %v", found.Symbols, err)
	}

	m.commit(shop, "Bob", "Old is gone"+
		"\n-- shop/a.toy --\npackage shop\nstruct Router // Has paths.\nmethod Router.Nest\nmethod Router.JSON\nstruct Cart\nmethod Cart.Nest\nfunction lonely\nfunction Printf\nfunction Serve -> Router.JSON\n"+
		"-- docs/new.md --\nSee `Router`.\n")
	stale, err := code.Stales(t.Context(), m.s, code.StaleRequest{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"doc docs/guide.md 0.50 at docs/guide.md:4 shop.Old"}
	if diff := cmp.Diff(want, lines(stale.Findings, staleLine)); diff != "" {
		t.Errorf("stale (-want +got):\n%s", diff)
	}
	d, err := code.Diff(t.Context(), m.s, code.GraphDiffRequest{Diff: "HEAD~1..HEAD", Impact: true})
	if err != nil {
		t.Fatal(err)
	}
	changed := lines(d.Symbols, func(s code.SymbolChange) string { return s.Change + " " + s.Name })
	if !slices.Equal(changed, []string{"removed shop.Old"}) || len(d.Dependencies) > 0 || len(d.Edges) > 0 || d.Impact.Before.Symbols > 0 {
		t.Errorf("a document is no code: symbols %q, dependencies %+v, edges %+v, impact %+v", changed, d.Dependencies, d.Edges, d.Impact)
	}
}
