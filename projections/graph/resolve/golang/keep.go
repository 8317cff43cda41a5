package golang

import (
	"cmp"
	"go/ast"
	"maps"
	"slices"

	"github.com/recountdb/recount/projections/graph/resolve"
	"github.com/recountdb/recount/schemas"
)

// finish makes the graphs of a package's files, and what is kept of them.
func (s *step) finish(w *work) {
	p, units := w.parsed, w.units
	w.parsed = nil
	w.uncheck()
	w.graphs = []resolve.FileGraph{packageGraph(w.dir, w.primary, p)}
	for _, f := range p.skipped {
		w.graphs = append(w.graphs, resolve.Base(f, nil, w.importPath))
	}
	for i, f := range p.files {
		if !f.built {
			w.graphs = append(w.graphs, syntaxGraph(f, p.names[i]))
		}
	}
	files := map[string]*kept{}
	local := map[string]uint64{}
	for _, u := range units {
		all := make([]*kept, len(u.files))
		spread(len(all), func(i int) { all[i] = u.keep(i) })
		for i, k := range all {
			files[u.files[i].Path], local[u.files[i].Path] = k, k.local
			w.graphs = append(w.graphs, k.graph)
		}
	}
	slices.SortFunc(w.graphs, func(a, b resolve.FileGraph) int { return cmp.Compare(a.Path, b.Path) })
	for i := range w.graphs {
		g := &w.graphs[i]
		if _, done := local[g.Path]; !done {
			g.Normalize()
			local[g.Path] = hashGraph(g)
		}
	}
	for path, k := range w.files {
		if files[path] != k {
			k.drop(p.fset)
		}
	}
	w.files, w.local = files, local
	p.drop()
}

// keep is what is kept of a file that was checked.
func (u *unit) keep(i int) *kept {
	f := u.files[i]
	if f.kept != nil {
		return f.kept
	}
	g := u.graphs[i]
	g.Normalize()
	k := &kept{
		blob: f.Blob, graph: g, local: hashGraph(&g), facts: factsOf(u, i),
		routing: routed(u.files[i : i+1]), external: f.external(),
		head: f.head(u.fset), parts: map[schemas.NodeKey]*part{},
	}
	u.separate(i, k)
	if !u.failed {
		k.skeleton = f.skeleton(u.fset)
	}
	return k
}

// separate finds what a file's functions use and what flows in them, each by itself,
// and of the rest together.
func (u *unit) separate(i int, k *kept) {
	f, names := u.files[i], u.names[i]
	flow, used := newFlowing(u), newUses(u)
	restFlow, rest := newFlowing(u), newUses(u)
	all := marks{}
	keep := func(uses []mark) {
		for _, m := range uses {
			all[m] = struct{}{}
		}
	}
	rest.below(f.syntax.Name)
	if routed(u.files) {
		rest.members["ServeHTTP"] = true // what has it is a handler
	}
	for j, decl := range f.syntax.Decls {
		c := f.carries(j)
		if c == nil && (f.problem != "" || !separable(names, decl)) {
			rest.below(decl)
			restFlow.declaration(decl, names)
			continue
		}
		at := f.place(u.fset, decl)
		if c == nil {
			used.below(decl)
			flow.declaration(decl, names)
			key := names.ofName[decl.(*ast.FuncDecl).Name]
			c = &carried{part: &part{text: f.text(u.fset, decl), column: at.Column, uses: used.take(), flow: flow.take()}, key: key}
			c.flow.line = at.Line
		}
		p := *c.part
		p.line = at.Line
		k.parts[c.key] = &p
		k.facts.flows = append(k.facts.flows, flowAt{p.flow, p.line - p.flow.line})
		keep(p.uses)
	}
	k.facts.flows = append(k.facts.flows, flowAt{flow: restFlow.take()})
	keep(rest.take())
	k.uses = slices.Sorted(maps.Keys(all))
}
