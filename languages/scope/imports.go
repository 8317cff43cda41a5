package scope

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// moduleAt returns the module at a place that the layout found.
func (p *Program) moduleAt(place string) *Module {
	if m := p.ByPlace[place]; m != nil {
		return m
	}
	m := p.ByPlace[packagePlace(place)]
	if m == nil { // a directory of modules that has no __init__.py
		m = &Module{Place: place, dir: place, isPackage: true, Name: strings.ReplaceAll(place, "/", ".")}
		p.ByPlace[packagePlace(place)] = m
	}
	return m
}

// Imports returns what the path of an import means in a file: a module, or one outside the
// repository. It returns the zero value if the module should be in the repository and is not.
func (p *Program) Imports(m *Module, i *recountv1.Import) Imported {
	place, found, ours := p.Layout.Resolve(m.File.Path, i)
	switch {
	case found:
		return Imported{Mod: p.moduleAt(place)}
	case ours:
		return Imported{}
	}
	return Imported{Outside: strings.TrimPrefix(i.Path, "node:")}
}

// First returns what `import a.b` binds, which is a. whole is what the path a.b means.
func (p *Program) First(m *Module, i *recountv1.Import, whole Imported) Imported {
	name, _, nested := strings.Cut(i.Path, ".")
	switch {
	case !nested:
		return whole
	case whole.Mod == nil && whole.Outside != "":
		return Imported{Outside: name}
	}
	if place, ok := p.Layout.First(m.File.Path, i); ok {
		return Imported{Mod: p.moduleAt(place)}
	}
	return Imported{}
}

// Submodule returns the module of a name in a package, nil if there is none.
func (p *Program) Submodule(m *Module, name string) *Module {
	if m.Facts != nil && !m.isPackage {
		return nil
	}
	if name == "" || strings.ContainsAny(name, "/") {
		return nil
	}
	if place, ok := p.Layout.Below(m.dir, name); ok && place != m.dir {
		return p.moduleAt(place)
	}
	return nil
}
