package flow

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/scope"
)

// documented returns what a name in a documentation comment says that is none of the code around it: a type that a comment
// of the file, or of the file from which it is imported, declares; or the only class of that name, since the names of
// JSDoc are those of a whole program. class is set if the class itself is meant.
func (p *Engine) documented(m *scope.Module, name scope.Path, class bool) (out scope.Set) {
	if !p.Lang.Exports || len(name.Steps) > 1 {
		return nil
	}
	of, at := m, name.Head
	if len(name.Steps) == 1 {
		v := m.Scope.Vars[name.Head]
		if of, at = nil, name.Last(); v != nil && len(v.Imports) == 1 && v.Imports[0].Name == "" {
			of = v.Imports[0].Mod
		}
	}
	if of == nil {
		return nil
	}
	if of.Typedefs[at] != nil && !class {
		return p.typedef(of, at)
	}
	if of != m || m.Facts.Language != "javascript" || p.Lang.Typenames[at] {
		return nil
	}
	switch d := p.onlyClass(at); {
	case d == nil:
	case class:
		return scope.Set{{Value: p.Intern(scope.ValueID{Kind: scope.ClassValue, Decl: d}), Sure: true}}
	default:
		return scope.Set{{Value: p.Instance(d, true), Sure: true}}
	}
	return nil
}

// typedef returns the values of a type that a comment of a module declares. Its properties are those of one object.
func (p *Engine) typedef(m *scope.Module, name string) scope.Set {
	object := p.Typedef(m.Scope, name)
	if known, ok := p.typedefs[object]; ok {
		return known
	}
	p.typedefs[object] = nil
	depth := p.Depth
	p.Depth = 0
	defer func() { p.Depth = depth }()
	var rest []string
	for _, typ := range m.Typedefs[name] {
		if i := strings.LastIndexByte(typ, '['); i < 0 || scope.IsParameter(typ[i+1:]) {
			rest = append(rest, typ)
		} else {
			p.typedefs[object] = scope.Set{{Value: object, Sure: true}}
		}
	}
	for _, typ := range m.Typedefs[name] {
		if i := strings.LastIndexByte(typ, '['); i >= 0 && !scope.IsParameter(typ[i+1:]) {
			p.addAll(object.Element(strings.TrimSuffix(typ[i+1:], "]")), p.declared(m.Scope, m, typ[:i]), true)
		}
	}
	out := append(p.declared(m.Scope, m, strings.Trim(strings.Join(rest, "|"), "|")), p.typedefs[object]...)
	p.typedefs[object] = out
	return out
}

// onlyClass returns the class that is the only one of its name besides those of tests and files of types, and whose name
// no comment declares, nil if there is none.
func (p *Engine) onlyClass(name string) *scope.Decl {
	if p.onlyClasses == nil {
		p.onlyClasses = map[string]*scope.Decl{}
		for _, m := range p.Modules {
			if m.Test || m.Example || m.Facts.Language != "javascript" {
				continue
			}
			for name := range m.Typedefs {
				p.onlyClasses[name] = nil
			}
			for _, d := range m.Decls {
				if !d.IsClass() || d.Object || d.Test || d.Whole != nil {
					continue
				}
				name := d.Name
				if _, other := p.onlyClasses[name]; other {
					d = nil
				}
				p.onlyClasses[name] = d
			}
		}
	}
	return p.onlyClasses[name]
}

// isTypes reports whether a file has types only, of what other files have.
func isTypes(m *scope.Module) bool { return strings.HasSuffix(m.File.Path, ".d.ts") }

// withoutTypes returns the values of what a call in JavaScript may mean without those of which a file of types only says
// that they exist.
func (l *Linker) withoutTypes(values scope.Set) scope.Set {
	if l.Module.Facts.Language != "javascript" {
		return values
	}
	return slices.DeleteFunc(values, func(m scope.Member) bool {
		return m.Value.Decl != nil && m.Value.Kind == scope.BoundValue && isTypes(m.Value.Decl.Mod)
	})
}
