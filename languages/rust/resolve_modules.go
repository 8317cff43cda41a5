package rust

import (
	"cmp"
	"strings"

	"github.com/recountdb/recount/languages/scope"
)

// use is a wildcard import of the names of a module or an enum.
type use struct {
	in   *scope.Scope
	path scope.Path
	mod  *scope.Module // the module that it leads to
	enum *scope.Decl
}

// BindNames implements flow.Rules. It builds the tree of modules, and finds what is imported and
// which type each impl is for.
func (p *items) BindNames() {
	for _, n := range p.otherPlatforms {
		if v := n.Outer.Own(n.Name); len(v.Decls) == 0 {
			v.Decls = append(v.Decls, n)
		}
	}
	for _, m := range p.Modules {
		p.addModule(m)
	}
	for _, m := range p.Modules { // a file that no crate contains is a module by itself
		if m.Root == nil {
			m.Root = m
			p.inlineModules(m)
		}
	}
	for _, m := range p.Modules {
		p.addUses(m)
	}
	for range 8 { // a wildcard import may lead to what another one brings
		changed := false
		for _, u := range p.uses {
			changed = p.follow(u) || changed
		}
		if !changed {
			break
		}
	}
	p.addMembers()
	p.addImplementations()
}

// addModule adds the root of a crate and all modules below it to the tree.
func (p *items) addModule(m *scope.Module) {
	if p.layout.roots[m.File.Path] == nil || m.Root != nil {
		return
	}
	m.Root = m
	queue := []*scope.Module{m}
	for len(queue) > 0 {
		m, queue = queue[0], queue[1:]
		p.inlineModules(m)
		for _, i := range m.Facts.Imports {
			name, ok := strings.CutPrefix(i.Path, "mod ")
			if !ok {
				continue
			}
			s := m.ScopeOf(i.In)
			var inline []string
			for o := s; o != nil; o = o.Outer {
				if o.Inline != nil {
					inline = append([]string{o.Decl.Name}, inline...)
				}
			}
			file, ok := p.layout.moduleFile(m.File.Path, m.Root == m, inline, name)
			child := p.ByPlace[file]
			if !ok || child == nil || child == m {
				continue
			}
			v := s.Own(i.Alias)
			v.Imports = append(v.Imports, scope.Imported{Mod: child})
			if child.Root == nil {
				up := moduleOf(s)
				child.Root, child.Up, child.Name = m.Root, up, up.Name+"."+i.Alias
				child.Test = child.Test || up.Test
				queue = append(queue, child)
			}
		}
	}
}

// inlineModules adds the modules inside a file to the tree.
func (p *items) inlineModules(m *scope.Module) {
	for _, d := range m.Decls {
		if d.Scope != nil && d.Scope.Inline != nil {
			in := d.Scope.Inline
			in.Root, in.Up = m.Root, moduleOf(d.Outer)
			in.Name = in.Up.Name + "." + d.Name
		}
	}
}

// moduleOf returns the module that contains a scope.
func moduleOf(s *scope.Scope) *scope.Module {
	for ; s.Outer != nil; s = s.Outer {
		if s.Inline != nil {
			return s.Inline
		}
	}
	return s.Mod
}

// addUses binds what a file imports.
func (p *items) addUses(m *scope.Module) {
	for _, i := range m.Facts.Imports {
		if strings.HasPrefix(i.Path, "mod ") {
			continue
		}
		s := m.ScopeOf(i.In)
		if i.Wildcard {
			p.uses = append(p.uses, &use{in: s, path: scope.ParsePath(usePath(i, ""))})
			continue
		}
		if len(i.Names) == 0 && i.Alias != "" && i.Alias != "_" {
			v := s.Own(i.Alias)
			v.Aliases = append(v.Aliases, scope.ParsePath(usePath(i, "")))
			v.Used = true
		}
		for _, n := range i.Names {
			name := cmp.Or(n.Alias, n.Name)
			if name == "_" {
				continue
			}
			v := s.Own(name)
			v.Aliases = append(v.Aliases, scope.ParsePath(usePath(i, n.Name)))
			v.Used = true
		}
	}
}

// follow finds what a wildcard import leads to, and reports whether it found it now.
func (p *items) follow(u *use) bool {
	if u.mod != nil || u.enum != nil {
		return false
	}
	at := scope.Symbol{Mod: moduleOf(u.in)}
	if u.path.Head != "" {
		at = p.Lookup(u.in, u.path)
	}
	switch {
	case at.Rest != 0:
	case at.Mod != nil:
		u.mod = at.Mod
	case at.Decl != nil && at.Decl.IsClass():
		u.enum = at.Decl
	}
	if u.mod == nil && u.enum == nil {
		return false
	}
	s := u.in
	p.globs[s] = append(p.globs[s], u)
	return true
}

// moduleVariable returns the variable that stands for a module.
func (p *items) moduleVariable(m *scope.Module) *scope.Variable {
	if m == nil {
		return nil
	}
	v := p.itself[m]
	if v == nil {
		v = &scope.Variable{Imports: []scope.Imported{{Mod: m}}}
		p.itself[m] = v
		p.Add(v, p.Intern(scope.ValueID{Kind: scope.ModuleValue, Mod: m}), true)
	}
	return v
}

// extern returns the variable of the name of a crate, of the repository or outside it.
func (p *items) extern(m *scope.Module, name string) *scope.Variable {
	l := p.layout
	c := l.crateOf(m.File.Path)
	to := name
	known := name == "std" || name == "core" || name == "alloc"
	if c != nil {
		if dep, ok := c.deps[name]; ok {
			to, known = dep, true
		}
	}
	if file, ok := l.libs[to]; ok && p.ByPlace[file] != nil {
		return p.moduleVariable(p.ByPlace[file])
	}
	if !known {
		return nil
	}
	v := p.externs[to]
	if v == nil {
		v = &scope.Variable{Imports: []scope.Imported{{Outside: to}}}
		p.Add(v, p.External(to, ""), true)
		p.externs[to] = v
	}
	return v
}
