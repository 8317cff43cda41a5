package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// errFar reports that two snapshots differ so much that reading one whole is faster.
var errFar = errors.New("the snapshots have little in common")

// far reports whether the numbers of edges of two snapshots differ by more than a tenth. Then a
// fifth of the edges or more are likely to differ, and errFar is to be expected.
func far(a, b *snapshots.Snapshot) bool {
	was, err := a.Out()
	if err != nil {
		return true
	}
	is, err := b.Out()
	if err != nil {
		return true
	}
	low, high := min(was.Len(), is.Len()), max(was.Len(), is.Len())
	return high-low > high/10
}

// derive builds the graph of a snapshot from the graph `was` of another snapshot of the repository,
// base. It reads only the difference of the maps. The result is the same as that of load.
//
// Nodes keep their order, and so do the edges between nodes that stay: nodes, edges and externals
// are each merged with the additions in one pass. The maps are read concurrently; edges and
// externals are merged once the nodes have numbers.
func derive(ctx context.Context, was *Graph, base, s *snapshots.Snapshot) (*Graph, error) {
	all, ctx := errgroup.WithContext(ctx)
	d := derivation{ctx: ctx, was: was, g: newGraph(s), base: base, s: s}
	numbered := make(chan struct{})
	all.Go(func() error {
		err := d.nodes()
		if err == nil {
			close(numbered)
		}
		return err
	})
	behind := func(w snapshots.Which, merge func(changes []prolly.Change) error) {
		all.Go(func() error {
			var changes []prolly.Change
			err := d.each(w, func(c prolly.Change) error {
				changes = append(changes, c)
				return nil
			})
			if err != nil {
				return err
			}
			select {
			case <-numbered:
				return merge(changes)
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
	behind(snapshots.OutMap, d.edges)
	behind(snapshots.ExternalsMap, d.outside)
	if err := all.Wait(); err != nil {
		return nil, err
	}
	d.g.finish()
	return d.g, nil
}

// derivation is the state of derive. Edges and externals only read what nodes set.
type derivation struct {
	ctx     context.Context
	was, g  *Graph
	base, s *snapshots.Snapshot
	now     []int32  // new number of each old node; -1 if it was removed
	moved   []uint32 // by how many lines each moved, modulo 2^32; 0 if it was removed
}

// each calls use with the changes of a map.
func (d *derivation) each(w snapshots.Which, use func(c prolly.Change) error) error {
	n := 0
	for c, err := range d.s.Since(d.base, w) {
		if err != nil {
			return err
		}
		if n++; n&0xfff == 0 && d.ctx.Err() != nil {
			return d.ctx.Err()
		}
		if err := use(c); err != nil {
			return err
		}
	}
	return nil
}

// unfit returns the error for a graph that is not that of the base.
func unfit(what string, key []byte) error {
	return fmt.Errorf("%s %q: the graph in memory differs from its snapshot", what, key)
}

func (d *derivation) nodes() error {
	was, g := d.was, d.g
	packages, languages := internedOf(was.packages), internedOf(was.languages)
	g.keys, g.nodes = make([]schemas.NodeKey, 0, len(was.keys)), make([]node, 0, len(was.nodes))
	d.now = make([]int32, len(was.keys))
	i, changed := 0, 0
	stay := func(upTo int) {
		for ; i < upTo; i++ {
			if stubs, ok := was.stubs[int32(i)]; ok {
				g.stubs[int32(len(g.keys))] = stubs
			}
			d.now[i] = int32(len(g.keys))
			n := was.nodes[i]
			n.line, n.end = 0, n.end-n.line // as in the map
			g.keys, g.nodes = append(g.keys, was.keys[i]), append(g.nodes, n)
		}
	}
	err := d.each(snapshots.NodesMap, func(c prolly.Change) error {
		if changed++; changed > len(was.keys)/2 {
			return errFar
		}
		key := schemas.NodeKey(c.Key)
		at, there := was.find(key)
		if there != (c.Kind != prolly.Added) {
			return unfit("node", c.Key)
		}
		stay(int(at))
		if there {
			d.now[i] = -1
			if key = was.keys[i]; c.Kind == prolly.Changed {
				d.now[i] = int32(len(g.keys))
			}
			i++
		}
		if c.Kind == prolly.Deleted {
			return nil
		}
		return g.addNode(key, c.New, &packages, &languages)
	})
	if err != nil {
		return err
	}
	stay(len(was.keys))
	g.packages, g.languages = packages.names, languages.names
	if err := g.readLines(d.ctx, d.s); err != nil {
		return err
	}
	d.moved = make([]uint32, len(was.keys))
	for i, now := range d.now {
		if now >= 0 {
			d.moved[i] = g.nodes[now].line - was.nodes[i].line
		}
	}
	return nil
}

// edits is the difference of some edges: gone has the old numbers of nodes, came the new ones.
type edits struct{ gone, came []edge }

// sorted converts changes of a map of edges. target returns the number of an edge's target in a
// graph, anchor the line of its anchor.
func (d *derivation) sorted(changes []prolly.Change, target func(g *Graph, to schemas.NodeKey) (int32, bool), anchor func(g *Graph, e *edge) uint32) (all edits, err error) {
	sources := map[*Graph]*found{d.was: {find: d.was.find}, d.g: {find: d.g.find}}
	add := func(g *Graph, list *[]edge, key, value []byte) error {
		from, kind, to, ok := snapshots.CutEdge(key)
		source, begins := sources[g].indexOf(from)
		end, ends := target(g, to)
		if !ok || !begins || !ends {
			return unfit("edge", key)
		}
		e, err := decodeEdge(value)
		if err != nil {
			return fmt.Errorf("edge %q: %w", key, err)
		}
		e.from, e.to, e.kind = source, end, uint8(kind)
		e.count(anchor(g, &e))
		*list = append(*list, e)
		return nil
	}
	for _, c := range changes {
		if c.Kind != prolly.Added {
			err = add(d.was, &all.gone, c.Key, c.Old)
		}
		if err == nil && c.Kind != prolly.Deleted {
			err = add(d.g, &all.came, c.Key, c.New)
		}
		if err != nil {
			return edits{}, err
		}
	}
	return all, nil
}

// merge merges the old edges that stay with the new ones. end returns the new number of a target,
// order compares targets, and shift returns by how many lines the anchor of an edge moved.
func (d *derivation) merge(were []edge, e edits, end func(to int32) int32, order func(a, b int32) int, shift func(was, now *edge) uint32) ([]edge, error) {
	inOrder := func(a, b *edge) int {
		switch {
		case a.from != b.from:
			return cmp.Compare(a.from, b.from)
		case a.kind != b.kind:
			return cmp.Compare(a.kind, b.kind)
		}
		return order(a.to, b.to)
	}
	slices.SortFunc(e.gone, func(a, b edge) int { return inOrder(&a, &b) })
	slices.SortFunc(e.came, func(a, b edge) int { return inOrder(&a, &b) })
	all := make([]edge, 0, len(were)+len(e.came))
	for i := range were {
		was := &were[i]
		if was.joined {
			continue
		}
		if len(e.gone) > 0 && inOrder(&e.gone[0], was) == 0 {
			e.gone = e.gone[1:]
			continue
		}
		now := *was
		now.from, now.to = d.now[was.from], end(was.to)
		if now.from < 0 || now.to < 0 {
			return nil, unfit("edge", nil)
		}
		now.count(shift(was, &now))
		for len(e.came) > 0 && inOrder(&e.came[0], &now) < 0 {
			all, e.came = append(all, e.came[0]), e.came[1:]
		}
		all = append(all, now)
	}
	if len(e.gone) > 0 {
		return nil, unfit("edge", nil)
	}
	return append(all, e.came...), nil
}

func (d *derivation) edges(changes []prolly.Change) error {
	e, err := d.sorted(changes, (*Graph).find, (*Graph).anchor)
	if err != nil {
		return err
	}
	d.g.edges, err = d.merge(d.was.edges, e, func(to int32) int32 { return d.now[to] }, cmp.Compare[int32], func(was, now *edge) uint32 {
		if by := d.moved[was.from]; by == d.moved[was.to] || recountv1.EdgeKind(was.kind) != eContains {
			return by // the same for either anchor
		}
		return d.g.anchor(now) - d.was.anchor(was)
	})
	return err
}

// outside is like edges for the edges that leave the repository. Symbols keep their numbers and new
// ones follow, until finish renumbers them.
func (d *derivation) outside(changes []prolly.Change) error {
	g := d.g
	g.symbols = slices.Clone(d.was.symbols)
	added := map[symbol]int32{}
	e, err := d.sorted(changes, func(of *Graph, to schemas.NodeKey) (int32, bool) {
		s, ok := symbolOfElsewhere(to)
		n, known := d.was.numberOf(s)
		if !ok || known || of == d.was {
			return n, ok && known
		}
		if n, known = added[s]; !known {
			n = int32(len(g.symbols))
			g.symbols, added[s] = append(g.symbols, s), n
		}
		return n, true
	}, fromSource)
	if err != nil {
		return err
	}
	g.outside, err = d.merge(d.was.outside, e, func(to int32) int32 { return to }, func(a, b int32) int {
		x, y := &g.symbols[a], &g.symbols[b]
		return cmp.Or(cmp.Compare(x.language, y.language), cmp.Compare(x.pkg, y.pkg), cmp.Compare(x.name, y.name))
	}, func(was, _ *edge) uint32 { return d.moved[was.from] })
	return err
}

// fromSource returns the line of the anchor of an external.
func fromSource(g *Graph, e *edge) uint32 { return g.nodes[e.from].line }
