package scope

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// items are what a typed language has beside what every language has.
type items struct {
	*engine
	layout *crates
	// implMembers are the declarations of impls, before it is known of what type.
	implMembers []*decl
	uses        []*use
	externs     map[string]*variable
	macros      []*decl
	// elsewhere are the items of other platforms: they have their name where nothing
	// of this one has it.
	elsewhere []*decl
	// implements says where a type is said to have a trait.
	implements []implementation
	types      map[typeKey]set
	methods    map[string][]*decl // by name, those that calls by a name alone could mean
	// open are the modules and functions of a file in which its next declaration may stand.
	open map[*module][]*decl
	// itself is the variable that stands for a module.
	itself map[*module]*variable
	// globs are what `use …::*` brings into a scope.
	globs map[*scope][]*use
}

// use is a star: all names of a module or an enum.
type use struct {
	in   *scope
	path path
	mod  *module // where it leads
	enum *decl
}

type implementation struct {
	class, trait *decl
	file         *module
	at           *recountv1.Place
}

func newItems(e *engine) *items {
	return &items{
		engine: e, layout: e.layout.(*crates), externs: map[string]*variable{}, types: map[typeKey]set{}, methods: map[string][]*decl{},
		open: map[*module][]*decl{}, itself: map[*module]*variable{}, globs: map[*scope][]*use{},
	}
}

// inline is the scope of a module inside of a file.
func (p *items) inline(n *decl) *scope {
	file := n.mod
	m := &module{place: file.place, name: file.name + "." + n.Name, file: file.file, facts: file.facts, test: file.test || n.Test}
	s := &scope{mod: file, outer: n.outer, decl: n, vars: map[string]*variable{}, inline: m}
	m.scope = s
	n.scope = s
	return s
}

// addItem declares an item, or keeps a member until its type is known.
func (p *items) addItem(n *decl) {
	switch {
	case n.Kind == recountv1.SymbolKind_SYMBOL_KIND_MACRO:
		p.macros = append(p.macros, n)
		return
	case n.OwnerPath == "" && !conditionHolds(n.Attributes["cfg"]):
		p.elsewhere = append(p.elsewhere, n)
	case n.OwnerPath != "":
		p.implMembers = append(p.implMembers, n)
	default:
		v := n.outer.own(n.Name)
		v.decls = append(v.decls, n)
	}
	if n.isFunction() || n.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
		p.open[n.mod] = append(p.open[n.mod], n)
	}
	if n.isFunction() {
		for _, prm := range n.Parameters {
			n.scope.own(prm.Name).parameter = true
		}
	}
}

// moduleOf is the module in which a scope stands.
func moduleOf(s *scope) *module {
	for ; s.outer != nil; s = s.outer {
		if s.inline != nil {
			return s.inline
		}
	}
	return s.mod
}

// bindNames builds the tree of modules, and finds what is imported and which type an
// impl is for.
func (p *items) bindNames() {
	for _, n := range p.elsewhere {
		if v := n.outer.own(n.Name); len(v.decls) == 0 {
			v.decls = append(v.decls, n)
		}
	}
	for _, m := range p.modules {
		p.addModule(m)
	}
	for _, m := range p.modules { // what no crate reaches stands alone
		if m.root == nil {
			m.root = m
			p.inlineModules(m)
		}
	}
	for _, m := range p.modules {
		p.addUses(m)
	}
	for range 8 { // a star may lead to what another brings
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

// addModule puts a crate's root and all modules below it in their places.
func (p *items) addModule(m *module) {
	if p.layout.roots[m.file.Path] == nil || m.root != nil {
		return
	}
	m.root = m
	queue := []*module{m}
	for len(queue) > 0 {
		m, queue = queue[0], queue[1:]
		p.inlineModules(m)
		for _, i := range m.facts.Imports {
			name, ok := strings.CutPrefix(i.Path, "mod ")
			if !ok {
				continue
			}
			s := m.scopeOf(i.In)
			var inline []string
			for o := s; o != nil; o = o.outer {
				if o.inline != nil {
					inline = append([]string{o.decl.Name}, inline...)
				}
			}
			file, ok := p.layout.moduleFile(m.file.Path, m.root == m, inline, name)
			child := p.byPlace[file]
			if !ok || child == nil || child == m {
				continue
			}
			v := s.own(i.Alias)
			v.imports = append(v.imports, imported{mod: child})
			if child.root == nil {
				up := moduleOf(s)
				child.root, child.up, child.name = m.root, up, up.name+"."+i.Alias
				child.test = child.test || up.test
				queue = append(queue, child)
			}
		}
	}
}

// inlineModules puts the modules inside of a file in their places.
func (p *items) inlineModules(m *module) {
	for _, d := range m.decls {
		if d.scope != nil && d.scope.inline != nil {
			in := d.scope.inline
			in.root, in.up = m.root, moduleOf(d.outer)
			in.name = in.up.name + "." + d.Name
		}
	}
}

// addUses binds what a file imports.
func (p *items) addUses(m *module) {
	for _, i := range m.facts.Imports {
		if strings.HasPrefix(i.Path, "mod ") {
			continue
		}
		s := m.scopeOf(i.In)
		if i.Wildcard {
			p.uses = append(p.uses, &use{in: s, path: parsePath(usePath(i, ""))})
			continue
		}
		if len(i.Names) == 0 && i.Alias != "" && i.Alias != "_" {
			v := s.own(i.Alias)
			v.aliases = append(v.aliases, parsePath(usePath(i, "")))
			v.used = true
		}
		for _, n := range i.Names {
			name := cmp.Or(n.Alias, n.Name)
			if name == "_" {
				continue
			}
			v := s.own(name)
			v.aliases = append(v.aliases, parsePath(usePath(i, n.Name)))
			v.used = true
		}
	}
}

// follow finds where a star leads.
func (p *items) follow(u *use) bool {
	if u.mod != nil || u.enum != nil {
		return false
	}
	at := symbol{mod: moduleOf(u.in)}
	if u.path.head != "" {
		at = p.symbol(u.in, u.path)
	}
	switch {
	case at.rest != 0:
	case at.mod != nil:
		u.mod = at.mod
	case at.decl != nil && at.decl.isClass():
		u.enum = at.decl
	}
	if u.mod == nil && u.enum == nil {
		return false
	}
	s := u.in
	p.globs[s] = append(p.globs[s], u)
	return true
}

// findItem is the variable that a name means in a scope of a typed language.
func (p *items) findItem(s *scope, name string) *variable {
	switch name {
	case "crate":
		return p.moduleVariable(moduleOf(s).root)
	case "super":
		return p.moduleVariable(moduleOf(s).up)
	}
	for o := s; o != nil; o = o.outer {
		if o.isClass() && o.decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_MODULE {
			if o == s && name == "self" {
				return o.vars[name]
			}
			continue
		}
		if v := o.vars[name]; v != nil {
			return v
		}
		if v := p.inGlobs(o, name, map[*module]bool{}); v != nil {
			return v
		}
		if o.inline != nil {
			break
		}
	}
	return p.extern(moduleOf(s), name)
}

// globbed is what a module's stars bring by a name.
func (p *items) globbed(m *module, name string, seen map[*module]bool) *variable {
	if seen[m] {
		return nil
	}
	seen[m] = true
	if v := m.scope.vars[name]; v != nil {
		return v
	}
	return p.inGlobs(m.scope, name, seen)
}

func (p *items) inGlobs(s *scope, name string, seen map[*module]bool) *variable {
	for _, u := range p.globs[s] {
		switch {
		case u.enum != nil:
			if v := u.enum.scope.vars[name]; v != nil {
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

// moduleVariable is a variable that stands for a module.
func (p *items) moduleVariable(m *module) *variable {
	if m == nil {
		return nil
	}
	v := p.itself[m]
	if v == nil {
		v = &variable{imports: []imported{{mod: m}}}
		p.itself[m] = v
		p.add(v, p.intern(valueID{kind: moduleValue, mod: m}), true)
	}
	return v
}

// extern is the variable of a crate's name: of the repository, or of elsewhere.
func (p *items) extern(m *module, name string) *variable {
	l := p.layout
	c := l.crateOf(m.file.Path)
	to := name
	known := name == "std" || name == "core" || name == "alloc"
	if c != nil {
		if dep, ok := c.deps[name]; ok {
			to, known = dep, true
		}
	}
	if file, ok := l.libs[to]; ok && p.byPlace[file] != nil {
		return p.moduleVariable(p.byPlace[file])
	}
	if !known {
		return nil
	}
	v := p.externs[to]
	if v == nil {
		v = &variable{imports: []imported{{outside: to}}}
		p.add(v, p.external(to, ""), true)
		p.externs[to] = v
	}
	return v
}

// typeNamed is the type that a path means, through aliases.
func (p *items) typeNamed(s *scope, of path) *decl {
	for range maxDepth {
		at := p.symbol(s, of)
		if at.rest != 0 || at.decl == nil {
			return nil
		}
		if at.decl.isClass() {
			return at.decl
		}
		if at.decl.Kind != recountv1.SymbolKind_SYMBOL_KIND_TYPE || at.decl.Type == "" {
			return nil
		}
		name, _, _ := strings.Cut(at.decl.Type, "<")
		s, of = at.decl.outer, parsePath(name)
	}
	return nil
}

// addMembers gives what impls declare to their types.
func (p *items) addMembers() {
	for _, d := range p.implMembers {
		text := d.Attributes["type"]
		if text == "" {
			text = d.OwnerPath[strings.LastIndexByte(d.OwnerPath, '.')+1:]
		}
		class := p.typeNamed(d.outer, parsePath(text))
		if class == nil || class.scope == nil {
			continue
		}
		d.of = class
		v := class.scope.own(d.Name)
		v.decls = append(v.decls, d)
	}
	for _, m := range p.modules {
		for _, d := range m.decls {
			if d.isFunction() && d.class() != nil {
				p.methods[d.Name] = append(p.methods[d.Name], d)
			}
		}
	}
}

// addImplementations finds the traits of types, and the order in which members are
// looked up in them.
func (p *items) addImplementations() {
	for _, m := range p.modules {
		for _, r := range m.facts.References {
			extends := r.Edge == recountv1.EdgeKind_EDGE_KIND_EXTENDS
			if !extends && r.Edge != recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS {
				continue
			}
			class, s := m.decl(r.In), m.scopeOf(r.In)
			if extends && class != nil {
				s = class.outer
			}
			if of := r.Attributes["type"]; !extends {
				class = p.typeNamed(s, m.path(of))
			}
			trait := p.typeNamed(s, m.path(r.Path))
			if class == nil || trait == nil || class == trait {
				continue
			}
			if b := (base{decl: trait}); !slices.Contains(class.bases, b) {
				class.bases = append(class.bases, b)
				p.subs[trait] = append(p.subs[trait], class)
			}
			if !extends {
				p.implements = append(p.implements, implementation{class, trait, m, r.At})
			}
		}
	}
	for _, m := range p.modules {
		for _, d := range m.decls {
			if d.isClass() {
				d.order = d.linearize(map[*decl]bool{})
			}
		}
	}
}

// ofItem is a declaration, or the module that it is.
func (p *items) ofItem(d *decl) symbol {
	if d.scope != nil && d.scope.inline != nil {
		return symbol{mod: d.scope.inline}
	}
	return symbol{decl: d}
}

// itemBefore prefers a module or a type to a function of the same name.
func (p *items) itemBefore(v *variable) (symbol, bool) {
	for _, d := range v.decls {
		if d.isClass() || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_TYPE {
			return p.ofItem(d), true
		}
	}
	for _, i := range v.imports {
		return p.importMeaning(i), true
	}
	for _, of := range v.aliases {
		if !v.used {
			break
		}
		if s := p.usedSymbol(v, of); s.rest == 0 && (s.mod != nil || s.external != nil || s.decl != nil && !s.decl.isFunction()) {
			return s, true
		}
	}
	return symbol{}, false
}

// used is what a name is imported for.
func (p *items) used(v *variable) symbol {
	for _, of := range v.aliases {
		if s := p.usedSymbol(v, of); s != (symbol{}) && s.rest == 0 {
			return s
		}
	}
	return symbol{}
}

// usedSymbol is what a name is imported for: a path whose head is not the name itself.
func (p *items) usedSymbol(v *variable, of path) symbol { return p.usedSymbolBefore(v, of, nil) }

// usedSymbolBefore is the same where further names follow.
func (p *items) usedSymbolBefore(v *variable, of path, behind []step) symbol {
	if p.depth > maxDepth {
		return symbol{}
	}
	p.depth++
	defer func() { p.depth-- }()
	head := p.findItem(v.scope, of.head)
	if head == v || head == nil {
		head = p.extern(moduleOf(v.scope), of.head)
	}
	if head == nil {
		if p.lang.builtin[of.head] {
			return p.members(symbol{external: p.external(p.lang.builtins, of.head)}, of.steps)
		}
		// A crate that no manifest names is one of elsewhere all the same.
		return p.members(symbol{external: p.external(of.head, "")}, of.steps)
	}
	if len(of.steps) == 0 {
		return p.meaningBefore(head, behind)
	}
	return p.membersBefore(p.meaningBefore(head, of.steps), of.steps, behind)
}

// aliased is the class that a type's declaration is another name of.
func (p *items) aliased(d *decl) *decl { return p.typeNamed(d.outer, parsePath(d.Name)) }

// fromGlobs is what a module's stars bring by a name.
func (p *items) fromGlobs(m *module, name string) *variable {
	return p.globbed(m, name, map[*module]bool{})
}

// around is the scope in which an impl stands: of the module or function around it.
func (p *items) around(m *module, d *recountv1.Declaration) *scope {
	for n := len(p.open[m]); n > 0; n-- {
		if o := p.open[m][n-1]; resolve.ComparePlaces(d.Start, o.End) < 0 {
			return o.scope
		}
		p.open[m] = p.open[m][:n-1]
	}
	return m.scope
}
