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
	p *program
	// own are prefixes given where a router is made, mounts where it is put on another.
	own    map[*variable]string
	mounts map[*variable][]mount
	// named finds the method that a path names, where types are declared.
	named func(m *module, in uint32, of path) *decl
}

type mount struct {
	pattern string
	on      *variable
	// instead: the pattern stands for the router's own prefix, as Flask has it.
	instead bool
}

// maxPatterns is under how many patterns a route is noted, where its router is
// mounted several times.
const maxPatterns = 16

func newRouting(p *program) *routing {
	rt := &routing{p: p, own: map[*variable]string{}, mounts: map[*variable][]mount{}}
	for _, m := range p.modules {
		for _, r := range m.facts.Routes {
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
func (rt *routing) router(m *module, in uint32, text string) *variable {
	of := m.path(text)
	s := m.scopeOf(in)
	if d := m.decl(in); d != nil && d.isFunction() {
		s = d.outer // a decorated handler's router is named outside of it
		if rt.p.find(s, of.head) == nil {
			s = d.scope
		}
	}
	v := rt.p.find(s, of.head)
	for depth := 0; v != nil && depth < maxDepth; depth++ {
		if len(v.decls) == 0 && len(v.aliases) == 0 && len(v.imports) > 0 {
			i := v.imports[0]
			switch {
			case i.mod == nil:
				return nil
			case i.name != "" && rt.p.exported(i.mod, i.name, 0) != nil:
				v = rt.p.exported(i.mod, i.name, 0)
				continue
			}
			mod := i.mod
			if i.name != "" {
				mod = rt.p.submodule(i.mod, i.name)
			}
			for n, st := range of.steps {
				if mod == nil || st.op != '.' {
					return nil
				}
				if n == len(of.steps)-1 {
					return rt.p.exported(mod, st.name, 0)
				}
				mod = rt.p.submodule(mod, st.name)
			}
			return nil
		}
		break
	}
	if !of.plain() {
		return nil
	}
	return v
}

// prefixes are what stands before a router's routes.
func (rt *routing) prefixes(v *variable, open map[*variable]bool) []string {
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

// routes makes a file's route nodes, and the edges from their handlers, which may
// begin in other files.
func (rt *routing) routes(m *module, graphs map[string]*resolve.FileGraph) {
	l := &linker{rt.p, m, graphs[m.file.Path]}
	const kind = recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE
	for _, r := range m.facts.Routes {
		if r.Group {
			continue
		}
		var handler *decl
		if r.Handler == "" {
			handler = m.decl(r.In)
		} else if rt.named != nil {
			handler = rt.named(m, r.In, m.path(r.Handler))
		} else if s := rt.p.symbol(m.scopeOf(r.In), m.path(r.Handler)); s.rest == 0 {
			handler = s.decl
		}
		for _, prefix := range rt.prefixes(rt.router(m, r.In, r.Router), map[*variable]bool{}) {
			pattern := prefix + r.Pattern
			if !strings.HasPrefix(pattern, "/") {
				pattern = "/" + pattern
			}
			name := r.Method + " " + pattern
			key := schemas.NewNodeKey(m.file.Path, "", name, recountv1.SymbolKind_SYMBOL_KIND_ROUTE, "")
			l.graph.Nodes = append(l.graph.Nodes, resolve.Node{Key: key, Node: &recountv1.CodeNode{
				Kind: recountv1.SymbolKind_SYMBOL_KIND_ROUTE, Language: m.file.Language, Package: m.name, Name: name,
				Start: r.At, End: r.At, Exported: true, Attributes: framework(r),
			}})
			l.edge(recountv1.EdgeKind_EDGE_KIND_CONTAINS, 0, key, recountv1.Provenance_PROVENANCE_DECLARED, r.At)
			if handler == nil {
				if r.Handler == "" && r.In == 0 { // a function written in place, whose calls are the file's
					l.edge(kind, 0, key, scopeResolved, r.At)
				} else {
					l.unresolved(kind, 0, r.Handler, r.At)
				}
				continue
			}
			e := resolve.EdgeAt(scopeResolved, nil)
			if handler.mod == m { // an edge's sites are places of the file it begins in
				e = resolve.EdgeAt(scopeResolved, r.At)
			}
			g := graphs[handler.mod.file.Path]
			g.Edges = append(g.Edges, resolve.Edge{From: handler.key, To: key, Kind: kind, Edge: e})
		}
	}
}

func framework(r *recountv1.RouteFact) map[string]string {
	if r.Framework == "" {
		return nil
	}
	return map[string]string{"framework": r.Framework}
}
