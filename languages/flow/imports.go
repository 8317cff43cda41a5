package flow

import (
	"cmp"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// addImports binds what a file imports.
func (p *Engine) addImports(m *scope.Module) {
	for _, i := range m.Facts.Imports {
		s, what := m.ScopeOf(i.In), p.Imports(m, i)
		if what.Outside != "" {
			for d := what.Outside; d != ""; {
				p.Outside[d] = true
				d = d[:max(0, strings.LastIndexByte(d, '.'))]
			}
		}
		if p.Lang.Exports {
			addExportingImport(m, s, i, what)
			continue
		}
		switch {
		case i.Wildcard:
			m.Stars = append(m.Stars, what)
		case len(i.Names) > 0:
			for _, n := range i.Names {
				v := s.Bound(cmp.Or(n.Alias, n.Name))
				v.Imports = append(v.Imports, scope.Imported{Mod: what.Mod, Outside: what.Outside, Name: n.Name})
			}
		case i.Alias != "":
			v := s.Bound(i.Alias)
			v.Imports = append(v.Imports, what)
		default:
			name, _, _ := strings.Cut(i.Path, ".")
			v := s.Bound(name)
			v.Imports = append(v.Imports, p.First(m, i, what))
		}
	}
}

// addExportingImport binds what an import imports, or exports again, in a language with exports.
func addExportingImport(m *scope.Module, s *scope.Scope, i *recountv1.Import, what scope.Imported) {
	bind := s.Own
	if i.Export {
		bind = m.Export
	}
	if i.Wildcard {
		m.Stars = append(m.Stars, what)
	}
	for _, n := range i.Names {
		v := bind(cmp.Or(n.Alias, n.Name))
		v.Imports = append(v.Imports, scope.Imported{Mod: what.Mod, Outside: what.Outside, Name: n.Name})
	}
	if i.Alias != "" {
		v := bind(i.Alias)
		v.Imports = append(v.Imports, what)
	}
}

// importEdges makes the edges from a file to what it imports.
func (l *Linker) importEdges() {
	for _, i := range l.Module.Facts.Imports {
		const kind = recountv1.EdgeKind_EDGE_KIND_IMPORTS
		what := l.e.Imports(l.Module, i)
		if what.Mod == nil {
			if what.Outside != "" {
				l.External(kind, 0, what.Outside, "", i.At)
			} else {
				l.Unresolved(kind, 0, i.Path, i.At)
			}
			continue
		}
		whole := i.Wildcard || len(i.Names) == 0
		for _, n := range i.Names {
			if l.e.Exported(what.Mod, n.Name) == nil {
				if sub := l.e.Submodule(what.Mod, n.Name); sub != nil {
					l.ToModule(kind, sub, i.At)
					continue
				}
			}
			whole = true
		}
		if whole && !l.ToModule(kind, what.Mod, i.At) && len(i.Names) > 0 {
			l.Unresolved(kind, 0, i.Path, i.At)
		}
	}
}

func (l *Linker) ToModule(kind recountv1.EdgeKind, m *scope.Module, at *recountv1.Place) bool {
	if m.Facts == nil {
		return false
	}
	if m != l.Module {
		l.Edge(kind, 0, scope.FileKey(m), scope.ScopeResolved, at)
	}
	return true
}
