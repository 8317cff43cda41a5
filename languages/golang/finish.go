package golang

import (
	"cmp"
	"go/ast"
	"maps"
	"slices"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
)

// finish builds the graphs of a package's files, and keeps what the next step needs of them.
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
			if k.source != nil {
				w.gone = append(w.gone, k.source.position(p.fset))
			}
		}
	}
	w.files, w.local = files, local
	w.drop(p)
	s.spare.giveBack(units)
}

// keep returns what the next step needs of a file that was checked.
func (u *unit) keep(i int) *kept {
	f := u.files[i]
	if f.kept != nil {
		return f.kept
	}
	g := u.graphs[i]
	g.Normalize()
	k := &kept{
		blob: f.Blob, graph: g, local: hashGraph(&g), facts: factsOf(u, i),
		routing: routed(u.files[i : i+1]), pkg: f.pkg, external: f.external(),
		head: f.head(u.fset), parts: map[schemas.NodeKey]*functionPart{},
	}
	u.part(i, k)
	if !u.failed {
		k.skeleton = f.skeleton(u.fset)
	}
	return k
}

// found has what a file's functions use and what flows in them, separately for each declaration,
// and together for the rest. Functions that are carried over are left out.
type found struct {
	uses     [][]mark
	rest     []mark
	flows    []*flow
	restFlow *flow
}

// separately reports whether the j-th declaration of a file is examined by itself.
func (u *unit) separately(i, j int) bool {
	f := u.files[i]
	return f.problem == "" && separable(u.names[i], f.syntax.Decls[j])
}

func (u *unit) findUses(i int) {
	used, rest, found := newUses(u), newUses(u), &u.found[i]
	found.uses = make([][]mark, len(u.files[i].syntax.Decls))
	rest.below(u.files[i].syntax.Name)
	if routed(u.files) {
		rest.members["ServeHTTP"] = true // a type with this method is a handler
	}
	for j, decl := range u.files[i].syntax.Decls {
		switch {
		case u.files[i].carries(j) != nil:
		case u.separately(i, j):
			used.below(decl)
			found.uses[j] = used.take()
		default:
			rest.below(decl)
		}
	}
	found.rest = rest.take()
}

func (u *unit) findFlows(i int) {
	flows, rest, found := newFlowing(u), newFlowing(u), &u.found[i]
	found.flows = make([]*flow, len(u.files[i].syntax.Decls))
	for j, decl := range u.files[i].syntax.Decls {
		switch {
		case u.files[i].carries(j) != nil:
		case u.separately(i, j):
			flows.declaration(decl, u.names[i])
			found.flows[j] = flows.take()
		default:
			rest.declaration(decl, u.names[i])
		}
	}
	found.restFlow = rest.take()
}

// part keeps what was found in a file's functions, and what is carried over.
func (u *unit) part(i int, k *kept) {
	f, found := u.files[i], &u.found[i]
	all := marks{}
	keep := func(uses []mark) {
		for _, m := range uses {
			all[m] = struct{}{}
		}
	}
	for j, decl := range f.syntax.Decls {
		c, at := f.carries(j), f.place(u.fset, decl)
		if c == nil {
			if found.flows[j] == nil {
				continue
			}
			key := u.names[i].ofName[decl.(*ast.FuncDecl).Name]
			c = &carried{functionPart: &functionPart{text: f.text(u.fset, decl), column: at.Column, uses: found.uses[j], flow: found.flows[j]}, key: key}
			c.flow.line = at.Line
		}
		p := *c.functionPart
		p.line = at.Line
		k.parts[c.key] = &p
		k.facts.flows = append(k.facts.flows, flowAt{p.flow, p.line - p.flow.line})
		keep(p.uses)
	}
	k.facts.flows = append(k.facts.flows, flowAt{flow: found.restFlow})
	keep(found.rest)
	k.uses = slices.Sorted(maps.Keys(all))
}
