package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	snapshots "github.com/recountdb/recount/projections/graph/code"
	"github.com/recountdb/recount/projections/graph/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// errFar: two snapshots differ in so much that reading one whole takes less.
var errFar = errors.New("the snapshots have little in common")

// derive makes the graph of a snapshot out of that of another of the repository,
// base, whose graph was: it reads what differs of the maps. The result is what load
// makes.
//
// Nodes keep their order, and so the edges between those that stay do: nodes, edges
// and externals are each merged with what came, in one pass.
func derive(ctx context.Context, was *Graph, base, s *snapshots.Snapshot) (*Graph, error) {
	d := derivation{ctx: ctx, was: was, g: newGraph(s), base: base, s: s}
	if err := d.nodes(); err != nil {
		return nil, err
	}
	if err := d.edges(); err != nil {
		return nil, err
	}
	if err := d.outside(); err != nil {
		return nil, err
	}
	d.g.finish()
	return d.g, nil
}

type derivation struct {
	ctx     context.Context
	was, g  *Graph
	base, s *snapshots.Snapshot
	now     []int32 // the number of each node that was; -1 where it is gone
}

// each calls use with what differs of a map.
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

// unfit is the error for a graph that is not that of the base.
func unfit(what string, key []byte) error {
	return fmt.Errorf("%s %q: the graph in memory is not that of its snapshot", what, key)
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
			g.keys, g.nodes = append(g.keys, was.keys[i]), append(g.nodes, was.nodes[i])
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
	stay(len(was.keys))
	g.packages, g.languages = packages.names, languages.names
	return err
}

// edits are what differs of some edges: gone with the numbers that nodes had, came
// with those that they have.
type edits struct{ gone, came []edge }

// found is the node that was found last: edges of one source come together.
type found struct {
	key schemas.NodeKey
	n   int32
	ok  bool
}

func (f *found) find(g *Graph, k schemas.NodeKey) (int32, bool) {
	if !f.ok || f.key != k {
		f.key = k
		f.n, f.ok = g.find(k)
	}
	return f.n, f.ok
}

// read reads what differs of a map of edges; target numbers what an edge leads to in a
// graph.
func (d *derivation) read(w snapshots.Which, target func(g *Graph, to schemas.NodeKey) (int32, bool), anchor func(g *Graph, e *edge) uint32) (all edits, err error) {
	sources := map[*Graph]*found{d.was: {}, d.g: {}}
	add := func(g *Graph, list *[]edge, c prolly.Change, value []byte) error {
		from, kind, to, ok := snapshots.CutEdge(c.Key)
		source, begins := sources[g].find(g, from)
		end, ends := target(g, to)
		if !ok || !begins || !ends {
			return unfit("edge", c.Key)
		}
		e, err := decodeEdge(value)
		if err != nil {
			return fmt.Errorf("edge %q: %w", c.Key, err)
		}
		e.from, e.to, e.kind = source, end, uint8(kind)
		e.count(anchor(g, &e))
		*list = append(*list, e)
		return nil
	}
	err = d.each(w, func(c prolly.Change) error {
		if c.Kind != prolly.Added {
			if err := add(d.was, &all.gone, c, c.Old); err != nil {
				return err
			}
		}
		if c.Kind != prolly.Deleted {
			return add(d.g, &all.came, c, c.New)
		}
		return nil
	})
	return all, err
}

// merge is the edges that were and stay, with those that came between them: end is the
// number of what one leads to now, order compares what two lead to, and shift is by how
// many lines the anchor of one moved.
func (d *derivation) merge(were []edge, e edits, end func(to int32) int32, order func(a, b int32) int, shift func(was *edge) uint32) ([]edge, error) {
	inOrder := func(a, b edge) int {
		switch {
		case a.from != b.from:
			return cmp.Compare(a.from, b.from)
		case a.kind != b.kind:
			return cmp.Compare(a.kind, b.kind)
		}
		return order(a.to, b.to)
	}
	slices.SortFunc(e.gone, inOrder)
	slices.SortFunc(e.came, inOrder)
	all := make([]edge, 0, len(were)+len(e.came))
	for _, was := range were {
		if was.joined {
			continue
		}
		if len(e.gone) > 0 && inOrder(e.gone[0], was) == 0 {
			e.gone = e.gone[1:]
			continue
		}
		now := was
		now.from, now.to = d.now[was.from], end(was.to)
		if now.from < 0 || now.to < 0 {
			return nil, unfit("edge", nil)
		}
		now.count(shift(&was))
		for len(e.came) > 0 && inOrder(e.came[0], now) < 0 {
			all, e.came = append(all, e.came[0]), e.came[1:]
		}
		all = append(all, now)
	}
	if len(e.gone) > 0 {
		return nil, unfit("edge", nil)
	}
	return append(all, e.came...), nil
}

func (d *derivation) edges() error {
	e, err := d.read(snapshots.OutMap, (*Graph).find, (*Graph).anchor)
	if err != nil {
		return err
	}
	d.g.edges, err = d.merge(d.was.edges, e, func(to int32) int32 { return d.now[to] }, cmp.Compare[int32], func(was *edge) uint32 {
		if by := d.moved(was.from); by == d.moved(was.to) || recountv1.EdgeKind(was.kind) != eContains {
			return by // whichever of the two it is counted from
		}
		now := edge{from: d.now[was.from], to: d.now[was.to], kind: was.kind}
		return d.g.anchor(&now) - d.was.anchor(was)
	})
	return err
}

// outside is edges for those that leave the repository. Symbols keep the numbers
// that they had, and new ones are behind them, until finish numbers them again.
func (d *derivation) outside() error {
	g := d.g
	g.symbols = slices.Clone(d.was.symbols)
	added := map[symbol]int32{}
	e, err := d.read(snapshots.ExternalsMap, func(of *Graph, to schemas.NodeKey) (int32, bool) {
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
	}, func(was *edge) uint32 { return d.moved(was.from) })
	return err
}

// moved is by how many lines a node that was, and is, moved.
func (d *derivation) moved(was int32) uint32 {
	return d.g.nodes[d.now[was]].line - d.was.nodes[was].line
}

// fromSource is the anchor of an external.
func fromSource(g *Graph, e *edge) uint32 { return g.nodes[e.from].line }
