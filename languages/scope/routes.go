package scope

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Routing has the prefixes of the routers of a program, by the variable that holds the router.
type Routing struct {
	p *Program
	// own has the prefixes that routers are made with, mounts where they are mounted on other
	// routers.
	own    map[*Variable]string
	mounts map[*Variable][]mount
	// Named finds the method that a path names, for languages with declared types.
	Named func(m *Module, in uint32, of Path) *Decl
}

type mount struct {
	pattern string
	on      *Variable
	// instead is set if the pattern replaces the router's own prefix, as in Flask.
	instead bool
}

// maxPatterns limits the patterns of one route whose router is mounted several times.
const maxPatterns = 16

// NewRouting collects the routers of a program.
func NewRouting(p *Program) *Routing {
	rt := &Routing{p: p, own: map[*Variable]string{}, mounts: map[*Variable][]mount{}}
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

// router returns the variable that a path leads to, through imports; nil if there is none.
func (rt *Routing) router(m *Module, in uint32, text string) *Variable {
	of := m.Path(text)
	s := m.ScopeOf(in)
	if d := m.Decl(in); d != nil && d.IsFunction() {
		s = d.Outer // the router in a handler's decorator is named outside the handler
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

// prefixes returns what comes before the patterns of a router's routes, one for each place where
// it is mounted.
func (rt *Routing) prefixes(v *Variable, open map[*Variable]bool) []string {
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

// Routes adds the nodes of a file's routes to its graph, and the edges from their handlers to the
// graphs of the handlers' files.
func (rt *Routing) Routes(m *Module, graphs map[string]*resolve.FileGraph) {
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
				if r.Handler == "" && r.In == 0 { // the handler is written in place, and its calls belong to the file
					l.Edge(kind, 0, key, ScopeResolved, r.At)
				} else {
					l.Unresolved(kind, 0, r.Handler, r.At)
				}
				continue
			}
			e := resolve.EdgeAt(ScopeResolved, nil)
			if handler.Mod == m { // the sites of an edge are places in the file where it begins
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
