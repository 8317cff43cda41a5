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
