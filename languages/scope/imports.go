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
