package code

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
)

// maxCommunityNodes is the number of symbols up to which communities consist of symbols; above it
// they consist of files. The running time grows with the square of a community's size.
const maxCommunityNodes = 20_000

// communities groups the chosen nodes by all exported edges between them, except contains. The same
// part gives the same communities.
func (p *part) communities() {
	number := make([]int64, len(p.in)) // of the node or its file, from 1
	byFile := p.count > maxCommunityNodes
	files := map[string]int64{}
	n := int64(0)
	for i, in := range p.in {
		if !in {
			continue
		}
		if byFile {
			path := p.g.keys[i].Path()
			if files[path] == 0 {
				n++
				files[path] = n
			}
			number[i] = files[path]
			continue
		}
		n++
		number[i] = n
	}
	net := &network{weights: make([]map[int64]float64, n+1)}
	for i := range p.g.edges {
		e := &p.g.edges[i]
		if from, to := number[e.from], number[e.to]; from != 0 && to != 0 && from != to && p.follows(e) && !kindsOf(eContains).has(e.kind) {
			net.add(from, to)
			net.add(to, from)
		}
	}
	net.sort()
	found := community.Modularize(net, 1, rand.NewPCG(1, 1)).Communities()
	of := make([]int32, n+1)
	sizes := make([]int, len(found))
	for c, members := range found {
		for _, m := range members {
			of[m.ID()] = int32(c)
		}
	}
	first := make([]int, len(found))
	dirs := make([]map[string]int, len(found))
	for i, in := range p.in {
		if !in {
			continue
		}
		c := of[number[i]]
		if sizes[c] == 0 {
			first[c], dirs[c] = i, map[string]int{}
		}
		sizes[c]++
		dirs[c][directory(p.g.keys[i].Path())]++
	}
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(sizes[y], sizes[x]), cmp.Compare(first[x], first[y])) })
	rank := make([]int32, len(found))
	p.groups = []Community{}
	for i, c := range order {
		rank[c] = int32(i + 1)
		p.groups = append(p.groups, Community{ID: i + 1, Size: sizes[c], Label: most(dirs[c])})
	}
	p.of = make([]int32, len(p.in))
	for i, in := range p.in {
		if in {
			p.of[i] = rank[of[number[i]]]
		}
	}
}

// most returns the name with the highest count, the first in order of equals.
func most(counts map[string]int) string {
	best := ""
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if best == "" || counts[name] > counts[best] {
			best = name
		}
	}
	return best
}

// network is an undirected graph for gonum. Weights are whole numbers and neighbours are sorted, so
// that its sums do not depend on the order.
type network struct {
	weights    []map[int64]float64 // by node, from 1
	neighbours [][]graph.Node
}

func (n *network) add(from, to int64) {
	if n.weights[from] == nil {
		n.weights[from] = map[int64]float64{}
	}
	n.weights[from][to]++
}

func (n *network) sort() {
	n.neighbours = make([][]graph.Node, len(n.weights))
	for i, w := range n.weights {
		for _, id := range slices.Sorted(maps.Keys(w)) {
			n.neighbours[i] = append(n.neighbours[i], simple.Node(id))
		}
	}
}

func (n *network) Node(id int64) graph.Node {
	if id < 1 || id >= int64(len(n.weights)) {
		return nil
	}
	return simple.Node(id)
}

func (n *network) Nodes() graph.Nodes {
	all := make([]graph.Node, 0, len(n.weights))
	for id := int64(1); id < int64(len(n.weights)); id++ {
		all = append(all, simple.Node(id))
	}
	return iterator.NewOrderedNodes(all)
}

func (n *network) From(id int64) graph.Nodes { return iterator.NewOrderedNodes(n.neighbours[id]) }

func (n *network) HasEdgeBetween(x, y int64) bool { return n.weights[x][y] > 0 }

func (n *network) Edge(x, y int64) graph.Edge { return n.EdgeBetween(x, y) }

func (n *network) EdgeBetween(x, y int64) graph.Edge { return n.WeightedEdgeBetween(x, y) }

func (n *network) WeightedEdge(x, y int64) graph.WeightedEdge { return n.WeightedEdgeBetween(x, y) }

func (n *network) WeightedEdgeBetween(x, y int64) graph.WeightedEdge {
	w, ok := n.weights[x][y]
	if !ok {
		return nil
	}
	return simple.WeightedEdge{F: simple.Node(x), T: simple.Node(y), W: w}
}

func (n *network) Weight(x, y int64) (w float64, ok bool) {
	w, ok = n.weights[x][y]
	return w, ok || x == y
}
