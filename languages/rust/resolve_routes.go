package rust

import (
	"slices"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Routers implements scope.Routers: a router is known by the variable that holds it, or by the
// function that configures or returns it.
func (p *items) Routers(m *scope.Module, in uint32, of scope.Path) []any {
	if of.Head == ownRouter {
		if d := m.Decl(in); d != nil {
			return []any{d}
		}
		return nil
	}
	if of.Plain() {
		for s := m.ScopeOf(in); s != nil && s.Decl != nil && s.Decl.IsFunction(); s = s.Outer {
			if v := s.Vars[of.Head]; v != nil && len(v.Decls) == 0 {
				return []any{v}
			}
		}
	}
	if d := p.Handler(m, in, of); d != nil {
		return []any{d}
	}
	return nil
}

// Handler implements scope.Routers.
func (p *items) Handler(m *scope.Module, in uint32, of scope.Path) *scope.Decl {
	if s := p.Lookup(m.ScopeOf(in), of); s.Rest == 0 {
		return s.Decl
	}
	return nil
}

// Text implements scope.Routers. The call of a function is the prefix that it gives a router: none, unless it mounts
// something below one.
func (p *items) Text(m *scope.Module, in uint32, of scope.Path) (string, bool) {
	if n := len(of.Steps); n > 0 && of.Steps[n-1].Op == '(' {
		f := p.Handler(m, in, of.Base())
		return "", f == nil || !slices.ContainsFunc(f.Mod.Facts.Routes, func(r *recountv1.RouteFact) bool {
			return r.Group && r.Pattern != "" && f.Mod.Decl(r.In) == f
		})
	}
	s := p.Lookup(m.ScopeOf(in), of)
	if s.Decl == nil || s.Rest > 0 {
		return "", false
	}
	for _, r := range s.Decl.Mod.Facts.Routes {
		if r.Role == "const" && s.Decl.Mod.Decl(r.In) == s.Decl {
			return r.Pattern, true
		}
	}
	return "", false
}
