package code

import (
	"github.com/recountdb/recount/projections/graph/resolve"
)

// Procedures have names in a namespace of their own, which no language's resolver
// sees the whole of: a file of one language declares them, others implement and call
// them, here or in other repositories. A snapshot therefore has the uses as
// externals, and they are joined to what declares them when it is loaded: to the
// repository's own nodes here, to other repositories' in world.across.

// join adds an edge for each external that the repository itself declares.
func (g *Graph) join() {
	for _, e := range g.outside {
		s := g.symbols[e.to]
		if !joined(s) {
			continue
		}
		found := g.answers(s)
		for _, n := range found {
			own := e
			own.to, own.confidence = n, unsure(e.confidence, len(found))
			g.edges = append(g.edges, own)
		}
	}
}

// ambiguous bounds the confidence of an edge that could lead to several things, in
// thousandths.
const ambiguous = 500

func unsure(confidence uint16, found int) uint16 {
	if found > 1 {
		return min(confidence, ambiguous)
	}
	return confidence
}

// answers are the nodes that a symbol of elsewhere leads to. Of those that are one
// thing, copies of a .proto file, it is the first by path.
func (g *Graph) answers(s symbol) []int32 {
	all := g.declares(s)
	if !joined(s) {
		return all
	}
	var out []int32
	seen := map[symbol]bool{}
	for _, n := range all {
		if own := g.symbol(n); !seen[own] {
			seen[own] = true
			out = append(out, n)
		}
	}
	if s.pkg == resolve.AnyStub && len(out) > 1 {
		return nil // by its name alone it is none of them
	}
	return out
}

// joined reports whether a symbol is of a namespace that languages share.
func joined(s symbol) bool { return s.language == "proto" && s.name != "" && s.pkg != "" }

// known are the symbols by which externals name a node.
func (g *Graph) known(n int32) []symbol {
	all := []symbol{g.symbol(n)}
	if stubs := g.stubs[n]; len(stubs) > 0 {
		service := g.owner(n)
		name := resolve.StubName(service, g.name(n))
		for _, pkg := range append(stubs[:len(stubs):len(stubs)], resolve.AnyStub) {
			all = append(all, symbol{"proto", pkg, name})
		}
	}
	return all
}

// first is the node that stands for all copies of what a node declares.
func (g *Graph) first(n int32) int32 {
	if s := g.symbol(n); joined(s) {
		return g.answers(s)[0]
	}
	return n
}

// oneOf leaves of nodes that are one thing the first.
func (g *Graph) oneOf(found []int32) []int32 {
	for _, n := range found {
		if own := g.symbol(n); !joined(own) || own != g.symbol(found[0]) || g.kind(n) != g.kind(found[0]) {
			return found
		}
	}
	return found[:min(len(found), 1)]
}
