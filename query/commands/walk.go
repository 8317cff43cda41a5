package commands

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/schemas"
)

// graphReader reads the commands that are visible to one query, and the edges between them.
type graphReader interface {
	// stop returns a command, or false if no command with that id is visible.
	stop(id schemas.EventID) (stop, bool, error)
	// incoming and outgoing return the edges that end and that begin at a command.
	incoming(id schemas.EventID) ([]narrative.Edge, error)
	outgoing(id schemas.EventID) ([]narrative.Edge, error)
}

// stop is a command on a walk.
type stop struct{ narrative.Node }

// compareOlder orders stops: by the clock that orders commands across partitions, then by position.
func (s stop) compareOlder(o stop) int {
	return cmp.Or(cmp.Compare(s.Clock, o.Clock), s.Position.Compare(o.Position))
}

// maxFan is the maximum number of edges of one command that a walk follows in each
// direction, those with the highest factors, so that a file that everything reads does not
// make a walk endless.
const maxFan = 64

// walk visits a narrative from a root, best first: the next command is always the one with
// the highest score among those that edges lead to from visited ones (edge_factors.go). So
// each is reached on its best path, and of a narrative that is too large the best part is
// visited. Equal scores are ordered by depth, then the later command first.
type walk struct {
	n         graphReader
	factors   edgeFactors
	back, on  bool // which ways edges are followed: to earlier commands, to later ones
	depth     int
	nodes     int // the root included
	minWeight float64
	least     float64 // the lowest standing that is taken

	// The result. taken is in the order of scores, the root first.
	taken []*reached
	// followed counts edges by kind, weak those that min_weight or least excluded.
	followed map[narrative.EdgeKind]int64
	weak     map[narrative.EdgeKind]int64
	// edges are those followed, in order.
	edges []weightedEdge
	// Which limits left commands out.
	cutDepth, cutNodes, cutFan bool
}

// reached is a command that a walk reached.
type reached struct {
	stop
	score float64
	depth int
	from  *reached       // the one before it on its path, nil for the root
	via   narrative.Edge // the edge between the two
}

// run performs the walk. The error is the context's or the narrative's.
func (w *walk) run(ctx context.Context, root stop) error {
	w.followed, w.weak = map[narrative.EdgeKind]int64{}, map[narrative.EdgeKind]int64{}
	known := map[schemas.EventID]bool{} // taken
	best := map[schemas.EventID]float64{root.ID: 1}
	var beyond []schemas.EventID // what edges lead to at the depth's end
	open := frontier{{stop: root, score: 1}}
	for len(open) > 0 {
		r := heap.Pop(&open).(*reached)
		if known[r.ID] {
			continue
		}
		if len(w.taken) == w.nodes {
			w.cutNodes = true
			return nil
		}
		known[r.ID] = true
		w.taken = append(w.taken, r)
		if err := ctx.Err(); err != nil {
			return err
		}
		edges, err := w.edgesOf(r.stop, w.back, w.on)
		if err != nil {
			return err
		}
		for _, e := range edges {
			to := other(e.Edge, r.ID)
			score, depth := r.score*e.carries, r.depth+1
			if w.factors.chains && e.Kind == narrative.Retry && r.via.Kind == narrative.Retry {
				score, depth = r.score*e.Weight, r.depth
			}
			if score < w.least {
				w.weak[e.Kind]++
				continue
			}
			if depth > w.depth {
				beyond = append(beyond, to)
				continue
			}
			w.followed[e.Kind]++
			w.edges = append(w.edges, e)
			if known[to] || score < best[to] {
				continue
			}
			next := &reached{score: score, depth: depth, from: r, via: e.Edge}
			if next.stop, err = w.end(e.Edge, to); err != nil {
				return err
			}
			best[to] = score
			heap.Push(&open, next)
		}
	}
	w.cutDepth = slices.ContainsFunc(beyond, func(id schemas.EventID) bool { return !known[id] })
	return nil
}

// weightedEdge is an edge and its factor times weight.
type weightedEdge struct {
	narrative.Edge
	carries float64
}

// edgesOf returns the edges of a command that may be followed, those with the highest
// product of factor and weight first.
func (w *walk) edgesOf(s stop, back, on bool) ([]weightedEdge, error) {
	var all []weightedEdge
	for _, way := range []struct {
		ask   bool
		edges func(schemas.EventID) ([]narrative.Edge, error)
	}{{back, w.n.incoming}, {on, w.n.outgoing}} {
		if !way.ask {
			continue
		}
		edges, err := way.edges(s.ID)
		if err != nil {
			return nil, err
		}
		kept := make([]weightedEdge, 0, len(edges))
		for _, e := range edges {
			if w.factors.factor[e.Kind] == 0 {
				continue
			}
			if e.Weight < w.minWeight {
				w.weak[e.Kind]++
				continue
			}
			o, err := w.end(e, other(e, s.ID))
			if err != nil {
				return nil, err
			}
			from, to := &o.Node, &s.Node
			if e.From == s.ID {
				from, to = to, from
			}
			kept = append(kept, weightedEdge{e, w.factors.forEdge(e, from, to)})
		}
		// Stable, so that equal ones stay in the narrative's order.
		slices.SortStableFunc(kept, func(a, b weightedEdge) int { return cmp.Compare(b.carries, a.carries) })
		if len(kept) > maxFan {
			kept, w.cutFan = kept[:maxFan], true
		}
		all = append(all, kept...)
	}
	return all, nil
}

// end returns one end of an edge.
func (w *walk) end(e narrative.Edge, id schemas.EventID) (stop, error) {
	s, found, err := w.n.stop(id)
	if err == nil && !found {
		err = fmt.Errorf("edge %s from %s to %s: a bug: an end of it is not in the graph", e.Kind, e.From, e.To)
	}
	return s, err
}

// other returns the end of an edge that is not id.
func other(e narrative.Edge, id schemas.EventID) schemas.EventID {
	if e.From == id {
		return e.To
	}
	return e.From
}

// path returns the commands from the root to this one, both included.
func (r *reached) path() []schemas.EventID {
	var p []schemas.EventID
	for ; r != nil; r = r.from {
		p = append(p, r.ID)
	}
	slices.Reverse(p)
	return p
}

// frontier is a heap of the commands that may be visited next, the best first.
type frontier []*reached

func (f frontier) Len() int { return len(f) }
func (f frontier) Less(i, j int) bool {
	a, b := f[i], f[j]
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.depth, b.depth), b.stop.compareOlder(a.stop)) < 0
}
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)   { *f = append(*f, x.(*reached)) }
func (f *frontier) Pop() any {
	last := len(*f) - 1
	r := (*f)[last]
	*f = (*f)[:last]
	return r
}
