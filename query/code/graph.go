package code

import (
	"context"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Graph is a snapshot in a form for walks: nodes are numbered in key order, and the edges of each
// node are adjacent, in both directions. It is immutable.
type Graph struct {
	repo string
	hash schemas.Hash
	// of is the snapshot as stored by the projection; graphs of other snapshots are derived from
	// it.
	of    *recountv1.CodeSnapshot
	keys  []schemas.NodeKey
	nodes []node
	// packages and languages are the names to which node.pkg and node.lang refer.
	packages, languages []string

	// edges are ordered by source, kind and target; joined edges follow the others of their source.
	// Those of node n are out[n] to out[n+1].
	edges []edge
	out   []int32
	// into has the numbers of edges ordered by target; those of node n begin at in[n].
	into, in []int32

	// outside has the edges that leave the repository, by source; symbols has their targets, and
	// users the numbers of the edges to each target.
	outside   []edge // to is an index of symbols
	outStart  []int32
	symbols   []symbol
	users     []int32
	userStart []int32

	// requests are the symbols of HTTP requests; routes are the nodes of routes.
	requests []request
	routes   []route
	unplaced int // routes with an unknown prefix, which are joined to nothing
	// stubs maps procedures declared here to the packages by which languages refer to them.
	stubs map[int32][]string

	// named has what the names in the repository's documents mean.
	named map[string][]int32

	declaredOnce sync.Once
	declared     map[symbol][]int32
	bySymbolOnce sync.Once
	bySymbol     map[symbol]int32

	bytes int64
}

// node has what walks and names need; the rest is read from the snapshot when an answer shows it.
type node struct {
	pkg       int32
	line, end uint32
	ownerLen  uint16
	lang      uint16
	kind      uint8
	exported  bool
	test      bool
}

// edge takes 20 bytes, since a large repository has a million.
type edge struct {
	from, to   int32
	line       uint32 // of the first site, in the source's file
	sites      uint16
	confidence uint16 // in thousandths
	kind       uint8
	provenance uint8
	// joined means that it is not an edge of the snapshot, but was derived from an external.
	joined bool
}

// symbol identifies an external symbol.
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

// finish computes the rest of a graph from its nodes, edges and externals. The result does not
// depend on how packages, languages and symbols were numbered before.
func (g *Graph) finish() {
	g.outStart = sortBySource(g.outside, len(g.nodes))
	packages, languages, symbols := renumbered{names: []string{""}, was: g.packages, now: map[int32]int32{0: 0}}, renumbered{was: g.languages, now: map[int32]int32{}}, make([]int32, len(g.symbols))
	for i := range g.nodes {
		n := &g.nodes[i]
		n.pkg, n.lang = packages.newNumber(n.pkg), uint16(languages.newNumber(int32(n.lang)))
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

// renumbered assigns new numbers to names in the order in which they are encountered.
type renumbered struct {
	was, names []string
	now        map[int32]int32
}

func (r *renumbered) newNumber(was int32) int32 {
	n, ok := r.now[was]
	if !ok {
		n = int32(len(r.names))
		r.names, r.now[was] = append(r.names, r.was[was]), n
	}
	return n
}

// find returns the number of a node, and whether it exists.
func (g *Graph) find(k schemas.NodeKey) (int32, bool) {
	n, ok := slices.BinarySearch(g.keys, k)
	return int32(n), ok
}

// numberOf returns the number of an external symbol, and whether an edge leads to it.
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

// interned assigns numbers to strings.
type interned struct {
	byName map[string]int32
	names  []string
}

func (i *interned) number(b []byte) int32 {
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

func (g *Graph) kind(n int32) recountv1.SymbolKind { return recountv1.SymbolKind(g.nodes[n].kind) }

// chain returns a node's name prefixed by those of its owners; it is empty for files and packages.
func (g *Graph) chain(n int32) string { return g.keys[n].Chain() }

// name returns a node's own name.
func (g *Graph) name(n int32) string {
	chain := g.chain(n)
	if o := int(g.nodes[n].ownerLen); o > 0 && o < len(chain) {
		return chain[o+1:]
	}
	return chain
}

// owner returns the chain of the node that encloses a node by name.
func (g *Graph) owner(n int32) string {
	return g.chain(n)[:min(int(g.nodes[n].ownerLen), len(g.chain(n)))]
}

func (g *Graph) pkg(n int32) string { return g.packages[g.nodes[n].pkg] }

func (g *Graph) language(n int32) string { return g.languages[g.nodes[n].lang] }

// declares returns the nodes that a symbol refers to.
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

// symbol returns the symbol by which other repositories refer to a node; that of a package has no
// name.
func (g *Graph) symbol(n int32) symbol { return symbol{g.language(n), g.pkg(n), g.chain(n)} }

// members returns a node and the nodes that belong to it: what a type, a file or a package
// declares.
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
