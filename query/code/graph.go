package code

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protowire"

	snapshots "github.com/recountdb/recount/projections/graph/code"
	"github.com/recountdb/recount/projections/graph/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Graph is a snapshot as walks need it: nodes by number, in the order of their
// keys, and the edges of each, both ways, side by side. It is not changed once
// made.
type Graph struct {
	repo string
	hash schemas.Hash
	// of is the snapshot as the projection has it: what differs from it makes the
	// graphs of others.
	of    *recountv1.CodeSnapshot
	keys  []schemas.NodeKey
	nodes []node
	// packages are the names that node.pkg counts.
	packages, languages []string

	// edges are by source, kind and target, and behind those of a source the ones that
	// are joined; those of node n are from out[n] up to out[n+1].
	edges []edge
	out   []int32
	// into are the numbers of edges by target, those of node n from in[n] on.
	into, in []int32

	// outside are the edges that leave the repository, by source; symbols what they
	// lead to, and users the numbers of the edges of each.
	outside   []edge // to is a number of symbols
	outStart  []int32
	symbols   []symbol
	users     []int32
	userStart []int32

	// requests are the symbols of HTTP requests, routes the nodes of routes.
	requests []request
	routes   []route
	// stubs are the packages by which languages know a procedure that is declared here.
	stubs map[int32][]string

	declaredOnce sync.Once
	declared     map[symbol][]int32
	bySymbolOnce sync.Once
	bySymbol     map[symbol]int32

	bytes int64
}

// node is what walks and names need; the rest is read of the snapshot where an
// answer shows it.
type node struct {
	pkg       int32
	line, end uint32
	ownerLen  uint16
	lang      uint16
	kind      uint8
	exported  bool
	test      bool
}

// edge is 20 bytes: a big repository has a million.
type edge struct {
	from, to   int32
	line       uint32 // of the first site, in the source's file
	sites      uint16
	confidence uint16 // in thousandths
	kind       uint8
	provenance uint8
	// joined says that it is no edge of the snapshot, but was made of an external.
	joined bool
}

// symbol names something of elsewhere.
type symbol struct{ language, pkg, name string }

// load reads a snapshot's maps.
func load(ctx context.Context, s *snapshots.Snapshot) (*Graph, error) {
	g := newGraph(s)
	byKey, err := g.readNodes(ctx, s)
	if err == nil {
		err = g.readLines(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return g.readEdges(ctx, s, byKey) })
	all.Go(func() error { return g.readOutside(ctx, s, byKey) })
	if err := all.Wait(); err != nil {
		return nil, err
	}
	g.finish()
	return g, nil
}

func newGraph(s *snapshots.Snapshot) *Graph {
	return &Graph{repo: s.Repo().Name, hash: s.Hash(), of: s.CodeSnapshot, stubs: map[int32][]string{}}
}

// finish makes the rest of a graph out of its nodes, edges and externals: the same
// of the same ones, whatever their packages, languages and symbols were numbered by.
func (g *Graph) finish() {
	g.outStart = sortBySource(g.outside, len(g.nodes))
	packages, languages, symbols := renumbered{names: []string{""}, was: g.packages, now: map[int32]int32{0: 0}}, renumbered{was: g.languages, now: map[int32]int32{}}, make([]int32, len(g.symbols))
	for i := range g.nodes {
		n := &g.nodes[i]
		n.pkg, n.lang = packages.of(n.pkg), uint16(languages.of(int32(n.lang)))
		g.bytes += int64(len(g.keys[i]))
	}
	g.packages, g.languages = packages.names, languages.names
	var used []symbol
	for i := range g.outside {
		to := &g.outside[i].to
		if symbols[*to] == 0 {
			used = append(used, g.symbols[*to])
			symbols[*to] = int32(len(used))
		}
		*to = symbols[*to] - 1
	}
	g.symbols = used
	g.userStart = make([]int32, len(g.symbols)+1)
	for _, e := range g.outside {
		g.userStart[e.to+1]++
	}
	g.users = sortInto(g.outside, g.userStart)
	g.join()
	g.index()
	g.bytes += int64(len(g.nodes))*(24+16) + int64(len(g.edges)+len(g.outside))*28 + int64(len(g.symbols))*128
}

// renumbered numbers names again, in the order in which they are met.
type renumbered struct {
	was, names []string
	now        map[int32]int32
}

func (r *renumbered) of(was int32) int32 {
	n, ok := r.now[was]
	if !ok {
		n = int32(len(r.names))
		r.names, r.now[was] = append(r.names, r.was[was]), n
	}
	return n
}

// find is the number of a node, and whether there is one.
func (g *Graph) find(k schemas.NodeKey) (int32, bool) {
	n, ok := slices.BinarySearch(g.keys, k)
	return int32(n), ok
}

// numberOf is the number of a symbol of elsewhere, and whether an edge leads to it.
func (g *Graph) numberOf(s symbol) (int32, bool) {
	g.bySymbolOnce.Do(func() {
		g.bySymbol = make(map[symbol]int32, len(g.symbols))
		for i, s := range g.symbols {
			g.bySymbol[s] = int32(i)
		}
	})
	n, ok := g.bySymbol[s]
	return n, ok
}

// interned numbers strings.
type interned struct {
	byName map[string]int32
	names  []string
}

func (i *interned) of(b []byte) int32 {
	if n, ok := i.byName[string(b)]; ok {
		return n
	}
	n := int32(len(i.names))
	i.names = append(i.names, string(b))
	i.byName[i.names[n]] = n
	return n
}

func internedOf(names []string) interned {
	i := interned{make(map[string]int32, len(names)), slices.Clone(names)}
	for n, name := range names {
		i.byName[name] = int32(n)
	}
	return i
}

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

// addNode adds the next node, as the map has it.
func (g *Graph) addNode(key schemas.NodeKey, value []byte, packages, languages *interned) error {
	nd := node{kind: uint8(key.Kind())}
	// Names of fields are those of CodeNode.
	err := fields(value, func(number protowire.Number, v uint64, b []byte) {
		switch number {
		case 2:
			nd.lang = uint16(languages.of(b))
		case 3:
			nd.pkg = packages.of(b)
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

// readLines puts nodes where they stand: until then the last line of each is counted
// from its first.
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
			return fmt.Errorf("snapshot %s of %s: lines of more nodes than %q has", g.hash, g.repo, path)
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
			source, begins := sources.of(from)
			target, ends := byKey[to]
			if !ok || !begins || !ends {
				return fmt.Errorf("snapshot %s of %s: edge %q leads from or to no node", g.hash, g.repo, e.Key)
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

// inHalves reads a map, its two halves at the same time. Each has what reader makes
// called with its entries in order, and how many of the map stand before each.
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

// found is the node that was found last: edges of one source come together.
type found struct {
	find func(schemas.NodeKey) (int32, bool)
	key  schemas.NodeKey
	n    int32
	ok   bool
}

func (f *found) of(k schemas.NodeKey) (int32, bool) {
	if !f.ok || f.key != k {
		f.key = k
		f.n, f.ok = f.find(k)
	}
	return f.n, f.ok
}

// index puts the edges of each node side by side, both ways.
func (g *Graph) index() {
	g.out = sortBySource(g.edges, len(g.nodes))
	g.in = make([]int32, len(g.nodes)+1)
	for _, e := range g.edges {
		g.in[e.to+1]++
	}
	g.into = sortInto(g.edges, g.in)
}

// sortBySource orders edges by source, and says where those of each begin. In the
// map a node stands behind those whose keys go on where its own ends.
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

// sortInto orders the numbers of edges by target. start has how many each target
// has, one place on; it becomes where each begins.
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
			return fmt.Errorf("snapshot %s of %s: external %q leads from no node", g.hash, g.repo, e.Key)
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

// symbolOfElsewhere is what stands in a key in the place of a node.
func symbolOfElsewhere(k schemas.NodeKey) (s symbol, ok bool) {
	language, rest, one := strings.Cut(string(k), "\x00")
	pkg, name, two := strings.Cut(rest, "\x00")
	return symbol{language, pkg, name}, one && two
}

// fields calls use with the fields of a message: their number, and what of the
// two a varint or a length-delimited one has.
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

// anchor is the line from which the maps count those of an edge's sites.
func (g *Graph) anchor(e *edge) uint32 {
	if recountv1.EdgeKind(e.kind) == eContains && g.keys[e.from].Path() == g.keys[e.to].Path() {
		return g.nodes[e.to].line
	}
	return g.nodes[e.from].line
}

// count counts the line of an edge from another than it was; by how much, modulo 2^32.
func (e *edge) count(from uint32) {
	if e.sites > 0 {
		e.line += from
	}
}

// decodeEdge reads what a walk needs of a CodeEdge. Its line is counted from that of
// its anchor.
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

// attribute is the value of an entry of CodeNode.attributes, if it has that name.
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

// placeLine is the line of a Place.
func placeLine(b []byte) (line uint32) {
	_ = fields(b, func(number protowire.Number, v uint64, _ []byte) {
		if number == 1 {
			line = uint32(v)
		}
	})
	return line
}

func (g *Graph) kind(n int32) recountv1.SymbolKind { return recountv1.SymbolKind(g.nodes[n].kind) }

// chain is a node's name with its owners' before it; empty for files and packages.
func (g *Graph) chain(n int32) string { return g.keys[n].Chain() }

// name is a node's own name.
func (g *Graph) name(n int32) string {
	chain := g.chain(n)
	if o := int(g.nodes[n].ownerLen); o > 0 && o < len(chain) {
		return chain[o+1:]
	}
	return chain
}

// owner is the chain of what encloses a node by name.
func (g *Graph) owner(n int32) string {
	return g.chain(n)[:min(int(g.nodes[n].ownerLen), len(g.chain(n)))]
}

func (g *Graph) pkg(n int32) string { return g.packages[g.nodes[n].pkg] }

func (g *Graph) language(n int32) string { return g.languages[g.nodes[n].lang] }

// declares are the nodes that a symbol means, whoever names it.
func (g *Graph) declares(s symbol) []int32 {
	g.declaredOnce.Do(func() {
		g.declared = map[symbol][]int32{}
		for n := range g.nodes {
			if g.kind(int32(n)) == recountv1.SymbolKind_SYMBOL_KIND_FILE {
				continue
			}
			for _, own := range g.known(int32(n)) {
				g.declared[own] = append(g.declared[own], int32(n))
			}
		}
	})
	return g.declared[s]
}

// symbol is what other repositories know a node by; a package has no name.
func (g *Graph) symbol(n int32) symbol { return symbol{g.language(n), g.pkg(n), g.chain(n)} }

// members are the nodes that belong to a node: what a type, a file or a package
// declares, the node itself first.
func (g *Graph) members(n int32) []int32 {
	all := []int32{n}
	switch kind := g.kind(n); kind {
	case recountv1.SymbolKind_SYMBOL_KIND_PACKAGE, recountv1.SymbolKind_SYMBOL_KIND_FILE:
		seen := map[int32]bool{n: true}
		for i := 0; i < len(all); i++ {
			for _, e := range g.edges[g.out[all[i]]:g.out[all[i]+1]] {
				if recountv1.EdgeKind(e.kind) == recountv1.EdgeKind_EDGE_KIND_CONTAINS && !seen[e.to] {
					seen[e.to] = true
					all = append(all, e.to)
				}
			}
		}
	case recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, recountv1.SymbolKind_SYMBOL_KIND_METHOD:
	default:
		chain := g.chain(n)
		for i := range g.nodes {
			m := int32(i)
			if g.nodes[m].pkg != g.nodes[n].pkg || int(g.nodes[m].ownerLen) < len(chain) || chain == "" {
				continue
			}
			o := g.owner(m)
			if o == chain || strings.HasPrefix(o, chain) && o[len(chain)] == '.' {
				all = append(all, m)
			}
		}
	}
	return all
}
