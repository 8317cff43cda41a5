package scope

import (
	"cmp"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// addImports binds what a file imports.
func (p *engine) addImports(m *module) {
	for _, i := range m.facts.Imports {
		s, what := m.scopeOf(i.In), p.imports(m, i)
		if what.outside != "" {
			for d := what.outside; d != ""; {
				p.outside[d] = true
				d = d[:max(0, strings.LastIndexByte(d, '.'))]
			}
		}
		if p.lang.exports {
			addExportingImport(m, s, i, what)
			continue
		}
		switch {
		case i.Wildcard:
			m.stars = append(m.stars, what)
		case len(i.Names) > 0:
			for _, n := range i.Names {
				v := s.bound(cmp.Or(n.Alias, n.Name))
				v.imports = append(v.imports, imported{what.mod, what.outside, n.Name})
			}
		case i.Alias != "":
			v := s.bound(i.Alias)
			v.imports = append(v.imports, what)
		default:
			name, _, _ := strings.Cut(i.Path, ".")
			v := s.bound(name)
			v.imports = append(v.imports, p.first(m, i, what))
		}
	}
}

// addExportingImport binds what an import takes, or hands on.
func addExportingImport(m *module, s *scope, i *recountv1.Import, what imported) {
	bind := s.own
	if i.Export {
		bind = m.export
	}
	if i.Wildcard {
		m.stars = append(m.stars, what)
	}
	for _, n := range i.Names {
		v := bind(cmp.Or(n.Alias, n.Name))
		v.imports = append(v.imports, imported{what.mod, what.outside, n.Name})
	}
	if i.Alias != "" {
		v := bind(i.Alias)
		v.imports = append(v.imports, what)
	}
}

// importEdges lead from a file to what it imports.
func (l *flowLinker) importEdges() {
	for _, i := range l.m.facts.Imports {
		const kind = recountv1.EdgeKind_EDGE_KIND_IMPORTS
		what := l.e.imports(l.m, i)
		if what.mod == nil {
			if what.outside != "" {
				l.external(kind, 0, what.outside, "", i.At)
			} else {
				l.unresolved(kind, 0, i.Path, i.At)
			}
			continue
		}
		whole := i.Wildcard || len(i.Names) == 0
		for _, n := range i.Names {
			if l.e.exported(what.mod, n.Name, 0) == nil {
				if sub := l.e.submodule(what.mod, n.Name); sub != nil {
					l.toModule(kind, sub, i.At)
					continue
				}
			}
			whole = true
		}
		if whole && !l.toModule(kind, what.mod, i.At) && len(i.Names) > 0 {
			l.unresolved(kind, 0, i.Path, i.At)
		}
	}
}

func (l *flowLinker) toModule(kind recountv1.EdgeKind, m *module, at *recountv1.Place) bool {
	if m.facts == nil {
		return false
	}
	if m != l.m {
		l.edge(kind, 0, fileKey(m), scopeResolved, at)
	}
	return true
}
