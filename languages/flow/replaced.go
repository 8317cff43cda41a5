package flow

import (
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// What is kept of a member before something else is put into its place is not what is put there:
//
//	app.boot = app.ready
//	app.ready = ready

// bindingOf is a path that a declaration binds.
type bindingOf struct {
	in   uint32
	path string
}

// assignedLast returns the indexes of the last bindings of members in a module.
func assignedLast(m *scope.Module) map[bindingOf]int {
	last := map[bindingOf]int{}
	for i, b := range m.Facts.Bindings {
		if strings.Contains(b.Target, ".") {
			last[bindingOf{b.In, b.Target}] = i
		}
	}
	return last
}

// replacing returns the function that a binding puts into the place of what was kept before, nil if that has no declaration of
// its own: a.x = a.y = function () {} keeps nothing.
func (p *Engine) replacing(m *scope.Module, later *recountv1.Binding) *scope.Decl {
	if later == nil || !p.Lang.Exports {
		return nil
	}
	of := m.Path(later.Value)
	if !of.Plain() {
		return nil
	}
	if s := p.Lookup(m.ScopeOf(later.In), of); s.Rest == 0 && s.Decl != nil && s.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION && !s.Decl.HasModifier("lambda") {
		return s.Decl
	}
	return nil
}
