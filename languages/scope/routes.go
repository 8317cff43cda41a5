package scope

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// routing is which prefixes the routers of a program have: by the variable that a
// router is.
type routing struct {
	p *Program
	// own are prefixes given where a router is made, mounts where it is put on another.
	own    map[*Variable]string
	mounts map[*Variable][]mount
	// Named finds the method that a path names, where types are declared.
	Named func(m *Module, in uint32, of Path) *Decl
}

type mount struct {
	pattern string
	on      *Variable
	// instead: the pattern stands for the router's own prefix, as Flask has it.
	instead bool
}

// maxPatterns is under how many patterns a route is noted, where its router is
// mounted several times.
const maxPatterns = 16

func NewRouting(p *Program) *routing {
	rt := &routing{p: p, own: map[*Variable]string{}, mounts: map[*Variable][]mount{}}
	for _, m := range p.Modules {
		for _, r := range m.Facts.Routes {
			if !r.Group {
				continue
			}
			v := rt.router(m, r.In, r.Handler)
			switch {
			case v == nil:
			case r.Router == "":
				rt.own[v] = r.Pattern
			default:
				rt.mounts[v] = append(rt.mounts[v], mount{r.Pattern, rt.router(m, r.In, r.Router), r.Framework == "flask" && r.Pattern != ""})
			}
		}
	}
	return rt
}

// router is the variable that a path leads to, through imports.
func (rt *routing) router(m *Module, in uint32, text string) *Variable {
	of := m.Path(text)
	s := m.ScopeOf(in)
	if d := m.Decl(in); d != nil && d.IsFunction() {
		s = d.Outer // a decorated handler's router is named outside of it
		if rt.p.Find(s, of.Head) == nil {
			s = d.Scope
		}
	}
	v := rt.p.Find(s, of.Head)
	for depth := 0; v != nil && depth < MaxDepth; depth++ {
		if len(v.Decls) == 0 && len(v.Aliases) == 0 && len(v.Imports) > 0 {
			i := v.Imports[0]
			switch {
			case i.Mod == nil:
				return nil
			case i.Name != "" && rt.p.Exported(i.Mod, i.Name, 0) != nil:
				v = rt.p.Exported(i.Mod, i.Name, 0)
				continue
			}
			mod := i.Mod
			if i.Name != "" {
				mod = rt.p.Submodule(i.Mod, i.Name)
			}
			for n, st := range of.Steps {
				if mod == nil || st.Op != '.' {
					return nil
				}
				if n == len(of.Steps)-1 {
					return rt.p.Exported(mod, st.Name, 0)
				}
				mod = rt.p.Submodule(mod, st.Name)
			}
			return nil
		}
		break
	}
	if !of.Plain() {
		return nil
	}
	return v
}

// prefixes are what stands before a router's routes.
func (rt *routing) prefixes(v *Variable, open map[*Variable]bool) []string {
	if v == nil || open[v] {
		return []string{""}
	}
	if len(rt.mounts[v]) == 0 {
		return []string{rt.own[v]}
	}
	open[v] = true
	defer delete(open, v)
	var out []string
	for _, m := range rt.mounts[v] {
		for _, before := range rt.prefixes(m.on, open) {
			if !m.instead {
				before += m.pattern + rt.own[v]
			} else {
				before += m.pattern
			}
			if len(out) < maxPatterns && !slices.Contains(out, before) {
				out = append(out, before)
			}
		}
	}
	return out
}

// Routes makes a file's route nodes, and the edges from their handlers, which may
// begin in other files.
func (rt *routing) Routes(m *Module, graphs map[string]*resolve.FileGraph) {
	l := &Linker{rt.p, m, graphs[m.File.Path]}
	const kind = recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE
	for _, r := range m.Facts.Routes {
		if r.Group {
			continue
		}
		var handler *Decl
		if r.Handler == "" {
			handler = m.Decl(r.In)
		} else if rt.Named != nil {
			handler = rt.Named(m, r.In, m.Path(r.Handler))
		} else if s := rt.p.Lookup(m.ScopeOf(r.In), m.Path(r.Handler)); s.Rest == 0 {
			handler = s.Decl
		}
		for _, prefix := range rt.prefixes(rt.router(m, r.In, r.Router), map[*Variable]bool{}) {
			pattern := prefix + r.Pattern
			if !strings.HasPrefix(pattern, "/") {
				pattern = "/" + pattern
			}
			name := r.Method + " " + pattern
			key := schemas.NewNodeKey(m.File.Path, "", name, recountv1.SymbolKind_SYMBOL_KIND_ROUTE, "")
			l.Graph.Nodes = append(l.Graph.Nodes, resolve.Node{Key: key, Node: &recountv1.CodeNode{
				Kind: recountv1.SymbolKind_SYMBOL_KIND_ROUTE, Language: m.File.Language, Package: m.Name, Name: name,
				Start: r.At, End: r.At, Exported: true, Attributes: framework(r),
			}})
			l.Edge(recountv1.EdgeKind_EDGE_KIND_CONTAINS, 0, key, recountv1.Provenance_PROVENANCE_DECLARED, r.At)
			if handler == nil {
				if r.Handler == "" && r.In == 0 { // a function written in place, whose calls are the file's
					l.Edge(kind, 0, key, ScopeResolved, r.At)
				} else {
					l.Unresolved(kind, 0, r.Handler, r.At)
				}
				continue
			}
			e := resolve.EdgeAt(ScopeResolved, nil)
			if handler.Mod == m { // an edge's sites are places of the file it begins in
				e = resolve.EdgeAt(ScopeResolved, r.At)
			}
			g := graphs[handler.Mod.File.Path]
			g.Edges = append(g.Edges, resolve.Edge{From: handler.Key, To: key, Kind: kind, Edge: e})
		}
	}
}

func framework(r *recountv1.RouteFact) map[string]string {
	if r.Framework == "" {
		return nil
	}
	return map[string]string{"framework": r.Framework}
}
