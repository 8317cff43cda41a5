package code

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protowire"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// readNodes reads the map nodes into a graph, and returns their numbers by key.
func (g *Graph) readNodes(ctx context.Context, s *snapshots.Snapshot) (map[schemas.NodeKey]int32, error) {
	m, err := s.Nodes()
	if err != nil {
		return nil, err
	}
	n := int(m.Len())
	g.keys, g.nodes = make([]schemas.NodeKey, 0, n), make([]node, 0, n)
	byKey := make(map[schemas.NodeKey]int32, n)
	packages, languages := internedOf([]string{""}), internedOf([]string{""})
	for e, err := range s.Range(snapshots.NodesMap, nil, nil) {
		if err != nil {
			return nil, err
		}
		if len(g.keys)&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		key := schemas.NodeKey(e.Key)
		byKey[key] = int32(len(g.keys))
		if err := g.addNode(key, e.Value, &packages, &languages); err != nil {
			return nil, err
		}
	}
	g.packages, g.languages = packages.names, languages.names
	return byKey, nil
}

// addNode adds the next node from its value in the map.
func (g *Graph) addNode(key schemas.NodeKey, value []byte, packages, languages *interned) error {
	nd := node{kind: uint8(key.Kind())}
	// The numbers are those of the fields of CodeNode.
	err := fields(value, func(number protowire.Number, v uint64, b []byte) {
		switch number {
		case 2:
			nd.lang = uint16(languages.number(b))
		case 3:
			nd.pkg = packages.number(b)
		case 4:
			nd.ownerLen = uint16(min(len(b), 1<<16-1))
		case 10:
			nd.end = placeLine(b)
		case 11:
			nd.exported = v != 0
		case 12:
			nd.test = v != 0
		case 14:
			if key.Kind() == recountv1.SymbolKind_SYMBOL_KIND_RPC {
				if stubs, ok := attribute(b, "stubs"); ok {
					g.stubs[int32(len(g.keys))] = strings.Fields(stubs)
				}
			}
		}
	})
	if err != nil {
		return fmt.Errorf("node %q: %w", key, err)
	}
	g.keys, g.nodes = append(g.keys, key), append(g.nodes, nd)
	return nil
}

// readLines sets the lines of nodes: until then the last line of each is relative to its first.
func (g *Graph) readLines(ctx context.Context, s *snapshots.Snapshot) error {
	for e, err := range s.Range(snapshots.LinesMap, nil, nil) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		path, from, lines, err := snapshots.CutLines(e)
		if err != nil {
			return err
		}
		first, _ := g.find(schemas.NodeKey(path + "\x00"))
		at := int(first) + from
		if end := at + len(lines); end > len(g.keys) || g.keys[end-1].Path() != path {
			return fmt.Errorf("snapshot %s of %s: lines for more nodes than %q has", g.hash, g.repo, path)
		}
		for i, line := range lines {
			g.nodes[at+i].line = line
			g.nodes[at+i].end += line
		}
	}
	return nil
}

func (g *Graph) readEdges(ctx context.Context, s *snapshots.Snapshot, byKey map[schemas.NodeKey]int32) error {
	m, err := s.Out()
	if err != nil {
		return err
	}
	g.edges = make([]edge, m.Len())
	return inHalves(ctx, s, snapshots.OutMap, m, func() func(int, prolly.Entry) error {
		sources := found{find: func(k schemas.NodeKey) (n int32, ok bool) { n, ok = byKey[k]; return }}
		return func(rank int, e prolly.Entry) error {
			from, kind, to, ok := snapshots.CutEdge(e.Key)
			source, begins := sources.indexOf(from)
			target, ends := byKey[to]
			if !ok || !begins || !ends {
				return fmt.Errorf("snapshot %s of %s: edge %q has an end that is not a node", g.hash, g.repo, e.Key)
			}
			ed, err := decodeEdge(e.Value)
			if err != nil {
				return fmt.Errorf("edge %q: %w", e.Key, err)
			}
			ed.from, ed.to, ed.kind = source, target, uint8(kind)
			ed.count(g.anchor(&ed))
			g.edges[rank] = ed
			return nil
		}
	})
}

// inHalves reads the two halves of a map concurrently. reader is called once per half; the function
// it returns is called with the entries in order, and with the rank of each in the map.
func inHalves(ctx context.Context, s *snapshots.Snapshot, w snapshots.Which, m *prolly.Map, reader func() func(rank int, e prolly.Entry) error) error {
	middle, some, err := m.At(m.Len() / 2)
	if err != nil || !some {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	half := func(rank int, from, to []byte) {
		use := reader()
		all.Go(func() error {
			for e, err := range s.Range(w, from, to) {
				if err == nil && rank&0xfff == 0 {
					err = ctx.Err()
				}
				if err == nil {
					err = use(rank, e)
				}
				if err != nil {
					return err
				}
				rank++
			}
			return nil
		})
	}
	half(0, nil, middle.Key)
	half(int(m.Len()/2), middle.Key, nil)
	return all.Wait()
}

// found caches the last result of find, since edges of one source are adjacent.
type found struct {
	find func(schemas.NodeKey) (int32, bool)
	key  schemas.NodeKey
	n    int32
	ok   bool
}

func (f *found) indexOf(k schemas.NodeKey) (int32, bool) {
	if !f.ok || f.key != k {
		f.key = k
		f.n, f.ok = f.find(k)
	}
	return f.n, f.ok
}

// index computes the adjacency of edges in both directions.
func (g *Graph) index() {
	g.out = sortBySource(g.edges, len(g.nodes))
	g.in = make([]int32, len(g.nodes)+1)
	for _, e := range g.edges {
		g.in[e.to+1]++
	}
	g.into = sortInto(g.edges, g.in)
}

// sortBySource orders edges by source, and returns where those of each source begin. The order of
// the map differs if the key of a node is a prefix of another's.
func sortBySource(edges []edge, nodes int) []int32 {
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.from, b.from) })
	start := make([]int32, nodes+1)
	for _, e := range edges {
		start[e.from+1]++
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	return start
}

// sortInto returns the numbers of edges ordered by target. On entry start has the number of edges
// of each target, shifted by one; on return it has where those of each begin.
func sortInto(edges []edge, start []int32) []int32 {
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	next := make([]int32, len(start))
	copy(next, start)
	into := make([]int32, len(edges))
	for i, e := range edges {
		into[next[e.to]] = int32(i)
		next[e.to]++
	}
	return into
}

func (g *Graph) readOutside(ctx context.Context, s *snapshots.Snapshot, byKey map[schemas.NodeKey]int32) error {
	bySymbol := map[symbol]int32{}
	for e, err := range s.Range(snapshots.ExternalsMap, nil, nil) {
		if err != nil {
			return err
		}
		if len(g.outside)&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		from, kind, to, ok := snapshots.CutEdge(e.Key)
		source, begins := byKey[from]
		sym, named := symbolOfElsewhere(to)
		if !ok || !named || !begins {
			return fmt.Errorf("snapshot %s of %s: external %q does not start from a node", g.hash, g.repo, e.Key)
		}
		ed, err := decodeEdge(e.Value)
		if err != nil {
			return fmt.Errorf("external %q: %w", e.Key, err)
		}
		n, seen := bySymbol[sym]
		if !seen {
			n = int32(len(g.symbols))
			g.symbols = append(g.symbols, sym)
			bySymbol[sym] = n
		}
		ed.from, ed.to, ed.kind = source, n, uint8(kind)
		ed.count(g.nodes[source].line)
		g.outside = append(g.outside, ed)
	}
	return nil
}

// symbolOfElsewhere decodes an external symbol in place of a node's key.
func symbolOfElsewhere(k schemas.NodeKey) (s symbol, ok bool) {
	language, rest, one := strings.Cut(string(k), "\x00")
	pkg, name, two := strings.Cut(rest, "\x00")
	return symbol{language, pkg, name}, one && two
}

// fields calls use with the number of each field of a message, and with the value of a varint or
// the content of a length-delimited field.
func fields(b []byte, use func(number protowire.Number, v uint64, bytes []byte)) error {
	for len(b) > 0 {
		number, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		switch typ {
		case protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(b); n >= 0 {
				use(number, v, nil)
			}
		case protowire.BytesType:
			var v []byte
			if v, n = protowire.ConsumeBytes(b); n >= 0 {
				use(number, 0, v)
			}
		default:
			n = protowire.ConsumeFieldValue(number, typ, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
	}
	return nil
}

// anchor returns the line to which the lines of an edge's sites are relative in the maps.
func (g *Graph) anchor(e *edge) uint32 {
	if recountv1.EdgeKind(e.kind) == eContains && g.keys[e.from].Path() == g.keys[e.to].Path() {
		return g.nodes[e.to].line
	}
	return g.nodes[e.from].line
}

// count adds a number of lines, modulo 2^32, to the line of an edge.
func (e *edge) count(from uint32) {
	if e.sites > 0 {
		e.line += from
	}
}

// decodeEdge decodes the part of a CodeEdge that a walk needs. Its line is relative to that of its
// anchor.
func decodeEdge(value []byte) (e edge, err error) {
	first := true
	err = fields(value, func(number protowire.Number, v uint64, b []byte) {
		switch number {
		case 1:
			e.provenance = uint8(v)
		case 2:
			e.confidence = uint16(min(v, 1000))
		case 3:
			if first {
				e.line, first = placeLine(b), false
			}
		case 4:
			e.sites = uint16(min(v, 1<<16-1))
		}
	})
	return e, err
}

// attribute returns the value of an entry of CodeNode.attributes if it has the name.
func attribute(b []byte, name string) (value string, ok bool) {
	_ = fields(b, func(number protowire.Number, _ uint64, b []byte) {
		switch number {
		case 1:
			ok = string(b) == name
		case 2:
			value = string(b)
		}
	})
	return value, ok
}

// placeLine returns the line of a Place.
func placeLine(b []byte) (line uint32) {
	_ = fields(b, func(number protowire.Number, v uint64, _ []byte) {
		if number == 1 {
			line = uint32(v)
		}
	})
	return line
}
