package scope

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// at is the module at a place that the layout found.
func (p *program) at(place string) *module {
	if m := p.byPlace[place]; m != nil {
		return m
	}
	m := p.byPlace[packagePlace(place)]
	if m == nil { // a directory of modules without __init__.py
		m = &module{place: place, dir: place, isPackage: true, name: strings.ReplaceAll(place, "/", ".")}
		p.byPlace[packagePlace(place)] = m
	}
	return m
}

// imports is what an import's path means in a file: a module, or one of elsewhere,
// or neither where it should be of the repository and is not there.
func (p *program) imports(m *module, i *recountv1.Import) imported {
	place, found, ours := p.layout.resolve(m.file.Path, i)
	switch {
	case found:
		return imported{mod: p.at(place)}
	case ours:
		return imported{}
	}
	return imported{outside: strings.TrimPrefix(i.Path, "node:")}
}

// first is what `import a.b` binds: a.
func (p *program) first(m *module, i *recountv1.Import, whole imported) imported {
	name, _, nested := strings.Cut(i.Path, ".")
	switch {
	case !nested:
		return whole
	case whole.mod == nil && whole.outside != "":
		return imported{outside: name}
	}
	if place, ok := p.layout.first(m.file.Path, i); ok {
		return imported{mod: p.at(place)}
	}
	return imported{}
}

// submodule is the module of a name below a package.
func (p *program) submodule(m *module, name string) *module {
	if m.facts != nil && !m.isPackage {
		return nil
	}
	if name == "" || strings.ContainsAny(name, "/") {
		return nil
	}
	if place, ok := p.layout.below(m.dir, name); ok && place != m.dir {
		return p.at(place)
	}
	return nil
}

// addImports binds what a file imports.
func (p *program) addImports(m *module) {
	for _, i := range m.facts.Imports {
		s, what := m.scopeOf(i.In), p.imports(m, i)
		if what.outside != "" {
			for d := what.outside; d != ""; {
				p.outside[d] = true
				d = d[:max(0, strings.LastIndexByte(d, '.'))]
			}
		}
		if p.lang.exports {
			m.addScriptImport(s, i, what)
			continue
		}
		switch {
		case i.Wildcard:
			m.stars = append(m.stars, what)
		case len(i.Names) > 0:
			for _, n := range i.Names {
				v := s.bound(or(n.Alias, n.Name))
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

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// importEdges lead from a file to what it imports.
func (l *linker) importEdges() {
	for _, i := range l.m.facts.Imports {
		const kind = recountv1.EdgeKind_EDGE_KIND_IMPORTS
		what := l.p.imports(l.m, i)
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
			if l.p.exported(what.mod, n.Name, 0) == nil {
				if sub := l.p.submodule(what.mod, n.Name); sub != nil {
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

func (l *linker) toModule(kind recountv1.EdgeKind, m *module, at *recountv1.Place) bool {
	if m.facts == nil {
		return false
	}
	if m != l.m {
		l.edge(kind, 0, fileKey(m), scopeResolved, at)
	}
	return true
}
