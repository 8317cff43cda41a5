package wire

import "github.com/recountdb/recount/query/code"

// exported has the symbols of a graph and the edges between them; what a file or a type contains is
// seen from places and names.
func (p *Payload) exported(a code.Exported) {
	p.revision("at", a.Revision)
	p.basis(a.RestsOn)
	l := p.List("communities", "size")
	for _, c := range a.Communities {
		l.Add(Node{ID: count(c.ID), Kind: "community", Name: c.Label}, count(c.Size))
	}
	nodes := map[string]Node{}
	l = p.List("symbols", "community")
	for _, n := range a.Nodes {
		nodes[n.ID] = symbol(n.Symbol, a.Revision)
		l.Add(nodes[n.ID], count(n.Community))
	}
	l = p.List("edges", "site", "edge", "provenance", "confidence", "more_sites")
	for _, e := range a.Edges {
		from, known := nodes[e.From]
		to, also := nodes[e.To]
		if !known {
			from = Node{Name: e.From}
		}
		if !also {
			to = Node{Name: e.To}
		}
		l.Join([]Node{from, to}, e.Site, e.Edge, e.Provenance, number(e.Confidence), count(max(0, e.Sites-1)))
	}
}
