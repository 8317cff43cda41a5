package rust

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/flow"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// items looks names up and follows values by the rules of Rust. It implements flow.Rules.
type items struct {
	*flow.Engine
	layout *crates
	// implMembers has the declarations in impls until their types are known.
	implMembers []*scope.Decl
	uses        []*use
	externs     map[string]*scope.Variable
	macros      []*scope.Decl
	// otherPlatforms has the items for other platforms. They have their names only if no item for this
	// platform has them.
	otherPlatforms []*scope.Decl
	// implements has the impls of traits.
	implements []implementation
	types      map[typeKey]scope.Set
	methods    map[string][]*scope.Decl // by name: the methods that a call may mean of which only the name is known
	// open has the modules and functions of a file that may contain its next declaration.
	open map[*scope.Module][]*scope.Decl
	// itself has the variable that stands for each module.
	itself map[*scope.Module]*scope.Variable
	// globs has what `use …::*` brings into each scope.
	globs map[*scope.Scope][]*use
}

// use is a wildcard import of the names of a module or an enum.
type use struct {
	in   *scope.Scope
	path scope.Path
	mod  *scope.Module // the module that it leads to
	enum *scope.Decl
}

type implementation struct {
	class, trait *scope.Decl
	file         *scope.Module
	at           *recountv1.Place
}

func newItems(e *flow.Engine) *items {
	return &items{
		Engine: e, layout: e.Layout.(*crates), externs: map[string]*scope.Variable{}, types: map[typeKey]scope.Set{}, methods: map[string][]*scope.Decl{},
		open: map[*scope.Module][]*scope.Decl{}, itself: map[*scope.Module]*scope.Variable{}, globs: map[*scope.Scope][]*use{},
	}
}

// Inline implements scope.Rules.
func (p *items) Inline(n *scope.Decl) *scope.Scope {
	file := n.Mod
	m := &scope.Module{Place: file.Place, Name: file.Name + "." + n.Name, File: file.File, Facts: file.Facts, Test: file.Test || n.Test}
	s := &scope.Scope{Mod: file, Outer: n.Outer, Decl: n, Vars: map[string]*scope.Variable{}, Inline: m}
	m.Scope = s
	n.Scope = s
	return s
}

// AddItem implements scope.Rules. It keeps a member of an impl until its type is known.
func (p *items) AddItem(n *scope.Decl) {
	switch {
	case n.Kind == recountv1.SymbolKind_SYMBOL_KIND_MACRO:
		p.macros = append(p.macros, n)
		return
	case n.OwnerPath == "" && !conditionHolds(n.Attributes["cfg"]):
		p.otherPlatforms = append(p.otherPlatforms, n)
	case n.OwnerPath != "":
		p.implMembers = append(p.implMembers, n)
	default:
		v := n.Outer.Own(n.Name)
		v.Decls = append(v.Decls, n)
	}
	if n.IsFunction() || n.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
		p.open[n.Mod] = append(p.open[n.Mod], n)
	}
	if n.IsFunction() {
		for _, prm := range n.Parameters {
			n.Scope.Own(prm.Name).Parameter = true
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

// FindItem implements scope.Rules.
func (p *items) FindItem(s *scope.Scope, name string) *scope.Variable {
	switch name {
	case "crate":
		return p.moduleVariable(moduleOf(s).Root)
	case "super":
		return p.moduleVariable(moduleOf(s).Up)
	}
	for o := s; o != nil; o = o.Outer {
		if o.IsClass() && o.Decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_MODULE {
			if o == s && name == "self" {
				return o.Vars[name]
			}
			continue
		}
		if v := o.Vars[name]; v != nil {
			return v
		}
		if v := p.inGlobs(o, name, map[*scope.Module]bool{}); v != nil {
			return v
		}
		if o.Inline != nil {
			break
		}
	}
	return p.extern(moduleOf(s), name)
}

// globbed returns the variable of a name in a module, also through its wildcard imports.
func (p *items) globbed(m *scope.Module, name string, seen map[*scope.Module]bool) *scope.Variable {
	if seen[m] {
		return nil
	}
	seen[m] = true
	if v := m.Scope.Vars[name]; v != nil {
		return v
	}
	return p.inGlobs(m.Scope, name, seen)
}

func (p *items) inGlobs(s *scope.Scope, name string, seen map[*scope.Module]bool) *scope.Variable {
	for _, u := range p.globs[s] {
		switch {
		case u.enum != nil:
			if v := u.enum.Scope.Vars[name]; v != nil {
				return v
			}
		case u.mod != nil:
			if v := p.globbed(u.mod, name, seen); v != nil {
				return v
			}
		}
	}
	return nil
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

// typeNamed returns the type that a path means, through aliases.
func (p *items) typeNamed(s *scope.Scope, of scope.Path) *scope.Decl {
	for range scope.MaxDepth {
		at := p.Lookup(s, of)
		if at.Rest != 0 || at.Decl == nil {
			return nil
		}
		if at.Decl.IsClass() {
			return at.Decl
		}
		if at.Decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_TYPE || at.Decl.Type == "" {
			return nil
		}
		name, _, _ := strings.Cut(at.Decl.Type, "<")
		s, of = at.Decl.Outer, scope.ParsePath(name)
	}
	return nil
}

// addMembers adds the declarations in impls to their types.
func (p *items) addMembers() {
	for _, d := range p.implMembers {
		text := d.Attributes["type"]
		if text == "" {
			text = d.OwnerPath[strings.LastIndexByte(d.OwnerPath, '.')+1:]
		}
		class := p.typeNamed(d.Outer, scope.ParsePath(text))
		if class == nil || class.Scope == nil {
			continue
		}
		d.Of = class
		v := class.Scope.Own(d.Name)
		v.Decls = append(v.Decls, d)
	}
	for _, m := range p.Modules {
		for _, d := range m.Decls {
			if d.IsFunction() && d.Class() != nil {
				p.methods[d.Name] = append(p.methods[d.Name], d)
			}
		}
	}
}

// addImplementations finds the traits of types, and the order in which members are looked up.
func (p *items) addImplementations() {
	for _, m := range p.Modules {
		for _, r := range m.Facts.References {
			extends := r.Edge == recountv1.EdgeKind_EDGE_KIND_EXTENDS
			if !extends && r.Edge != recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS {
				continue
			}
			class, s := m.Decl(r.In), m.ScopeOf(r.In)
			if extends && class != nil {
				s = class.Outer
			}
			if of := r.Attributes["type"]; !extends {
				class = p.typeNamed(s, m.Path(of))
			}
			trait := p.typeNamed(s, m.Path(r.Path))
			if class == nil || trait == nil || class == trait {
				continue
			}
			if b := (scope.Base{Decl: trait}); !slices.Contains(class.Bases, b) {
				class.Bases = append(class.Bases, b)
				p.Subs[trait] = append(p.Subs[trait], class)
			}
			if !extends {
				p.implements = append(p.implements, implementation{class, trait, m, r.At})
			}
		}
	}
	for _, m := range p.Modules {
		for _, d := range m.Decls {
			if d.IsClass() {
				d.Order = d.Linearize(map[*scope.Decl]bool{})
			}
		}
	}
}

// OfItem implements scope.Rules.
func (p *items) OfItem(d *scope.Decl) scope.Symbol {
	if d.Scope != nil && d.Scope.Inline != nil {
		return scope.Symbol{Mod: d.Scope.Inline}
	}
	return scope.Symbol{Decl: d}
}

// ItemBefore implements scope.Rules: it prefers a module or a type to a function of the same
// name.
func (p *items) ItemBefore(v *scope.Variable) (scope.Symbol, bool) {
	for _, d := range v.Decls {
		if d.IsClass() || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE {
			return p.OfItem(d), true
		}
	}
	for _, i := range v.Imports {
		return p.ImportMeaning(i), true
	}
	for _, of := range v.Aliases {
		if !v.Used {
			break
		}
		if s := p.usedSymbol(v, of); s.Rest == 0 && (s.Mod != nil || s.External != nil || s.Decl != nil && !s.Decl.IsFunction()) {
			return s, true
		}
	}
	return scope.Symbol{}, false
}

// Used implements scope.Rules.
func (p *items) Used(v *scope.Variable) scope.Symbol {
	for _, of := range v.Aliases {
		if s := p.usedSymbol(v, of); s != (scope.Symbol{}) && s.Rest == 0 {
			return s
		}
	}
	return scope.Symbol{}
}

// usedSymbol returns what a path means that an import binds to v. The head of the path is not v
// itself.
func (p *items) usedSymbol(v *scope.Variable, of scope.Path) scope.Symbol {
	return p.usedSymbolBefore(v, of, nil)
}

// usedSymbolBefore is usedSymbol for a path that further names follow.
func (p *items) usedSymbolBefore(v *scope.Variable, of scope.Path, behind []scope.Step) scope.Symbol {
	if p.Depth > scope.MaxDepth {
		return scope.Symbol{}
	}
	p.Depth++
	defer func() { p.Depth-- }()
	head := p.FindItem(v.Scope, of.Head)
	if head == v || head == nil {
		head = p.extern(moduleOf(v.Scope), of.Head)
	}
	if head == nil {
		if p.Lang.Builtin[of.Head] {
			return p.Members(scope.Symbol{External: p.External(p.Lang.Builtins, of.Head)}, of.Steps)
		}
		// A crate that no manifest names is outside the repository.
		return p.Members(scope.Symbol{External: p.External(of.Head, "")}, of.Steps)
	}
	if len(of.Steps) == 0 {
		return p.MeaningBefore(head, behind)
	}
	return p.MembersBefore(p.MeaningBefore(head, of.Steps), of.Steps, behind)
}

// Aliased implements scope.Rules.
func (p *items) Aliased(d *scope.Decl) *scope.Decl {
	return p.typeNamed(d.Outer, scope.ParsePath(d.Name))
}

// FromGlobs implements scope.Rules.
func (p *items) FromGlobs(m *scope.Module, name string) *scope.Variable {
	return p.globbed(m, name, map[*scope.Module]bool{})
}

// Around implements scope.Rules: it returns the scope of the module or function around an impl.
func (p *items) Around(m *scope.Module, d *recountv1.Declaration) *scope.Scope {
	for n := len(p.open[m]); n > 0; n-- {
		if o := p.open[m][n-1]; resolve.ComparePlaces(d.Start, o.End) < 0 {
			return o.Scope
		}
		p.open[m] = p.open[m][:n-1]
	}
	return m.Scope
}
