package context

import (
	"math"
	"slices"

	"github.com/recountdb/recount/query/code"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// fileGraph joins files by the edges between their symbols, in both directions.
type fileGraph struct {
	start []int32
	links []fileLink
	sum   []float64 // of the weights at each file
}

type fileLink struct {
	to     int32
	weight float32
	// out is the part of the weight of edges from this file to the other.
	out float32
}

// weightOf is how much an edge says about two files belonging together.
func weightOf(k recountv1.EdgeKind) float64 {
	switch k {
	case recountv1.EdgeKind_EDGE_KIND_CALLS, recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS, recountv1.EdgeKind_EDGE_KIND_OVERRIDES:
		return 1
	case recountv1.EdgeKind_EDGE_KIND_CONTAINS, recountv1.EdgeKind_EDGE_KIND_UNSPECIFIED:
		return 0
	case recountv1.EdgeKind_EDGE_KIND_MAY_CALL:
		return 0.3
	case recountv1.EdgeKind_EDGE_KIND_IMPORTS:
		return 0.7
	}
	return 0.8
}

// joinFiles builds the graph of files. A symbol that many use says little about each of them, so an
// edge counts less the more its target has.
func joinFiles(st *code.Study, x *corpus) *fileGraph {
	type pair struct{ from, to int32 }
	sums := map[pair]float64{}
	for n := range x.ofNode {
		from := x.ofNode[n]
		if from < 0 {
			continue
		}
		for l := range st.Out(int32(n)) {
			to := x.ofNode[l.To]
			if to < 0 || to == from {
				continue
			}
			if w := weightOf(l.Kind); w > 0 {
				sums[pair{from, to}] += w * l.Confidence / math.Log2(2+float64(x.users[l.To]))
			}
		}
	}
	g := &fileGraph{start: make([]int32, len(x.files)+1), sum: make([]float64, len(x.files))}
	at := make([][]fileLink, len(x.files))
	for p, w := range sums {
		w = math.Log1p(w)
		back := 0.0
		if r, ok := sums[pair{p.to, p.from}]; ok {
			back = math.Log1p(r)
			if p.from > p.to {
				continue // done from the other side
			}
		}
		at[p.from] = append(at[p.from], fileLink{p.to, float32(w + back), float32(w)})
		at[p.to] = append(at[p.to], fileLink{p.from, float32(w + back), float32(back)})
	}
	for i, links := range at {
		slices.SortFunc(links, func(a, b fileLink) int { return int(a.to) - int(b.to) })
		for _, l := range links {
			g.sum[i] += float64(l.weight)
		}
		g.links = append(g.links, links...)
		g.start[i+1] = int32(len(g.links))
	}
	return g
}

func (g *fileGraph) at(i int32) []fileLink { return g.links[g.start[i]:g.start[i+1]] }

// walk is a random walk that restarts at the seeds with the given probability at each step: the share
// of its time at each file after a few steps.
func (g *fileGraph) walk(seeds map[int32]float64, restart float64, steps int) []float64 {
	now, next := make([]float64, len(g.sum)), make([]float64, len(g.sum))
	var order []int32
	for i := range seeds {
		order = append(order, i)
	}
	slices.Sort(order) // so that sums of floats are the same every time
	total := 0.0
	for _, i := range order {
		total += seeds[i]
	}
	if total == 0 {
		return now
	}
	for _, i := range order {
		now[i] = seeds[i] / total
	}
	for range steps {
		clear(next)
		lost := 0.0
		for i := range now {
			if now[i] == 0 {
				continue
			}
			if g.sum[i] == 0 {
				lost += now[i]
				continue
			}
			lost += now[i] * restart
			flow := now[i] * (1 - restart) / g.sum[i]
			for _, l := range g.at(int32(i)) {
				next[l.to] += flow * float64(l.weight)
			}
		}
		for _, i := range order {
			next[i] += lost * seeds[i] / total
		}
		now, next = next, now
	}
	return now
}
