package resolve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestDeclarationsOfOneNameKeepTheirOwnNodes(t *testing.T) {
	const method, class = recountv1.SymbolKind_SYMBOL_KIND_METHOD, recountv1.SymbolKind_SYMBOL_KIND_CLASS
	facts := &recountv1.FileFacts{Declarations: []*recountv1.Declaration{
		{Kind: class, Name: "Cart"},
		{Kind: method, Name: "add", Owner: 1},
		{Kind: method, Name: "add", Owner: 1},
		{Kind: method, Name: "add", OwnerPath: "Order"},
	}}
	g := Base(File{Path: "shop.py", Language: "python"}, facts, "shop")
	var got []string
	for _, n := range g.Nodes {
		got = append(got, n.Key.Chain()+n.Key.Variant())
	}
	if diff := cmp.Diff([]string{"", "Cart", "Cart.add", "Cart.add#2", "Order.add"}, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if got := g.Edges[1].From.Chain(); got != "Cart" {
		t.Errorf("Cart.add is contained in %q, want Cart", got)
	}
}

func TestNormalizeJoinsEdgesOfOneKey(t *testing.T) {
	from, to := schemas.NodeKey("a.go\x00f\x00\x03"), schemas.NodeKey("a.go\x00g\x00\x03")
	const calls = recountv1.EdgeKind_EDGE_KIND_CALLS
	edge := func(p recountv1.Provenance, line uint32) Edge {
		return Edge{from, to, calls, EdgeAt(p, &recountv1.Place{Line: line})}
	}
	g := FileGraph{Edges: []Edge{
		edge(recountv1.Provenance_PROVENANCE_NAME_MATCHED, 9),
		edge(recountv1.Provenance_PROVENANCE_TYPES_RESOLVED, 4),
		edge(recountv1.Provenance_PROVENANCE_NAME_MATCHED, 4),
	}}
	g.Normalize()
	want := []Edge{{from, to, calls, &recountv1.CodeEdge{
		Provenance: recountv1.Provenance_PROVENANCE_TYPES_RESOLVED, ConfidencePermille: 980,
		Sites: []*recountv1.Place{{Line: 4}, {Line: 9}}, SiteCount: 2,
	}}}
	if diff := cmp.Diff(want, g.Edges, protocmp.Transform()); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}
