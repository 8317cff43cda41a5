package scope

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// program is a snapshot's files of one language, while they are resolved.
type program struct {
	lang    *language
	layout  layout
	modules []*module // that are files, by path
	byPlace map[string]*module
	// outside are the modules of elsewhere that an import names.
	outside map[string]bool
	values  map[valueID]*value

	queue []*flow
	depth int
	subs  map[*decl][]*decl // classes by base, direct
	// rules are how the language looks names up in its own way; nil is the default.
	rules nameRules
}

// module is a file, or the directory of a package.
type module struct {
	place     string // the file's path, or the package's directory
	dir       string // of a package
	isPackage bool
	test      bool
	name      string // dotted
	file      resolve.File
	facts     *recountv1.FileFacts // nil: a directory without __init__.py
	names     resolve.Declared
	scope     *scope
	// scopes and decls are by index plus 1, as `in` has it; scopes[0] is the module's.
	scopes []*scope
	decls  []*decl
	stars  []imported
	// exports are what other files see, where the language says so.
	exports map[string]*variable
	// up is the module around a module of a typed language, root the file of its crate.
	up, root *module
	// calls are the calls of a path in a declaration.
	calls map[callSite][]*recountv1.Reference
	paths map[string]path
}

type callSite struct {
	in   uint32
	path string
}

// imported is what an import gives a name: a module, or a name in it.
type imported struct {
	mod     *module // nil: of elsewhere, then outside is its name
	outside string
	name    string
}

// scope is where names are bound: a module, a class, a function.
type scope struct {
	mod   *module
	outer *scope
	decl  *decl // nil: the module's
	vars  map[string]*variable
	// elsewhere are the names declared global or nonlocal.
	elsewhere map[string]string
	// inline is the module inside of a file whose names these are.
	inline *module
}

func (s *scope) isClass() bool { return s.decl != nil && s.decl.isClass() }

// decl is a declaration.
type decl struct {
	*recountv1.Declaration
	mod   *module
	in    uint32
	key   schemas.NodeKey
	scope *scope // its own, of a function or class
	outer *scope
	// results are what a function returns, yields what it yields.
	results, yields variable
	// through are the parameters, by place, that it returns as they came.
	through    []int
	decorators []*recountv1.Reference
	overload   bool
	object     bool // a value with members of its own
	lang       *language
	generator  bool
	typed      *decl // the class that its results are declared to be of
	of         *decl // the type that it is a member of, where that is not outer's

	bases []base
	order []base // of a class and its bases, as attributes are looked up
	// attributes are those of the class's instances, and what is assigned to the
	// class from outside.
	attributes map[string]*variable
}

// base is a class of the repository, or one of elsewhere (external), or nil and "":
// not known.
type base struct {
	decl     *decl
	external *value
}

// isClass reports whether it has members that its instances have, or it itself.
func (d *decl) isClass() bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_CLASS, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, recountv1.SymbolKind_SYMBOL_KIND_ENUM,
		recountv1.SymbolKind_SYMBOL_KIND_STRUCT, recountv1.SymbolKind_SYMBOL_KIND_TRAIT:
		return true
	}
	return d.object
}

func (d *decl) isFunction() bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, recountv1.SymbolKind_SYMBOL_KIND_METHOD,
		recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY:
		return true
	}
	return false
}

// isMethod reports whether its first parameter is the receiver, "self" in paths.
func (d *decl) isMethod() bool {
	return d.isFunction() && d.class() != nil && !d.is("staticmethod")
}

// class is the class that a declaration is a member of.
func (d *decl) class() *decl {
	if d.of == nil && d.outer.isClass() {
		return d.outer.decl
	}
	return d.of
}

func (d *decl) is(modifier string) bool {
	for _, m := range d.Modifiers {
		if m == modifier {
			return true
		}
	}
	return false
}

func newProgram(lang *language, files []string, manifests []manifest) *program {
	return &program{
		lang: lang, layout: lang.layout(files, manifests), byPlace: map[string]*module{}, outside: map[string]bool{},
		values: map[valueID]*value{}, subs: map[*decl][]*decl{},
	}
}

// addFile declares a file's names.
func (p *program) addFile(f resolve.File, facts *recountv1.FileFacts) {
	m := &module{
		place: f.Path, file: f, facts: facts, name: p.layout.nameOf(f.Path),
		calls: map[callSite][]*recountv1.Reference{}, paths: map[string]path{},
	}
	if m.facts == nil {
		m.facts = &recountv1.FileFacts{}
	}
	if p.lang.typed {
		m.name = m.facts.Package
	}
	m.test = p.layout.isTest(f.Path)
	if dir, ok := p.layout.packageOf(f.Path); ok {
		m.dir, m.isPackage = dir, true
		p.byPlace[packagePlace(dir)] = m
	}
	m.names = resolve.Declare(f.Path, m.facts)
	p.modules = append(p.modules, m)
	p.byPlace[f.Path] = m

	m.scope = &scope{mod: m, vars: map[string]*variable{}}
	m.scopes = []*scope{m.scope}
	members := map[uint32]bool{}
	for _, d := range m.facts.Declarations {
		members[d.Owner] = true
	}
	for i, d := range m.facts.Declarations {
		outer := m.scope
		if o := int(d.Owner); o > 0 && o <= i {
			outer = m.scopes[o]
		} else if d.OwnerPath != "" {
			outer = m.scope
			if p.rules != nil {
				outer = p.rules.around(m, d)
			}
		}
		n := &decl{Declaration: d, mod: m, in: uint32(i + 1), key: m.names.Keys[i], outer: outer, lang: p.lang}
		n.object = members[n.in] && !n.isFunction() && !n.isClass() && !p.lang.typed &&
			(p.rules == nil || n.Kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER)
		s := outer
		if n.isClass() || n.isFunction() {
			s = &scope{mod: m, outer: outer, decl: n, vars: map[string]*variable{}}
			n.scope = s
		}
		if n.isClass() {
			n.attributes = map[string]*variable{}
		}
		if p.rules != nil {
			if n.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
				s = p.rules.inline(n)
			}
			m.decls, m.scopes = append(m.decls, n), append(m.scopes, s)
			p.rules.addItem(n)
			continue
		}
		m.decls, m.scopes = append(m.decls, n), append(m.scopes, s)
		v := outer.own(d.Name)
		if p.lang.exports && n.isFunction() && len(v.decls) > 0 && v.decls[len(v.decls)-1].Kind == n.Kind {
			v.decls[len(v.decls)-1].overload = true
		}
		v.decls = append(v.decls, n)
		if n.isFunction() {
			for i, prm := range d.Parameters {
				n.scope.own(n.parameterName(i, prm.Name)).parameter = true
			}
		}
	}
	for _, r := range m.facts.References {
		switch r.Edge {
		case recountv1.EdgeKind_EDGE_KIND_CALLS:
			at := callSite{r.In, r.Path}
			m.calls[at] = append(m.calls[at], r)
		case recountv1.EdgeKind_EDGE_KIND_DECORATES:
			if d := m.decl(r.In); d != nil {
				switch name := r.Path[strings.LastIndexByte(r.Path, '.')+1:]; name {
				case "overload":
					d.overload = true
				case "staticmethod", "classmethod", "property", "cached_property", "abstractmethod", "setter", "deleter":
				default:
					d.decorators = append(d.decorators, r)
				}
			}
		}
	}
	for _, b := range m.facts.Bindings {
		p.declareBinding(m, b)
	}
}

// packagePlace is the key of a package's directory among the modules.
func packagePlace(dir string) string { return dir + "/" }

func (m *module) decl(in uint32) *decl {
	if in == 0 || int(in) > len(m.decls) {
		return nil
	}
	return m.decls[in-1]
}

func (m *module) scopeOf(in uint32) *scope {
	if int(in) >= len(m.scopes) {
		return m.scope
	}
	return m.scopes[in]
}

func (m *module) key(in uint32) schemas.NodeKey {
	if d := m.decl(in); d != nil {
		return d.key
	}
	return resolve.FileKey(m.file.Path)
}

func (m *module) path(text string) path {
	p, ok := m.paths[text]
	if !ok {
		p = parsePath(text)
		m.paths[text] = p
	}
	return p
}

// own is the variable of a name that the scope binds.
func (s *scope) own(name string) *variable {
	v := s.vars[name]
	if v == nil {
		v = &variable{scope: s}
		s.vars[name] = v
	}
	return v
}

// parameterName is how paths call a parameter.
func (d *decl) parameterName(i int, name string) string {
	if i == 0 && d.lang.receiverFirst && d.isMethod() {
		return "self"
	}
	return name
}

// declareBinding notes which name a binding binds.
func (p *program) declareBinding(m *module, b *recountv1.Binding) {
	s := m.scopeOf(b.In)
	if word, name, ok := strings.Cut(b.Target, " "); ok {
		if s.elsewhere == nil {
			s.elsewhere = map[string]string{}
		}
		s.elsewhere[name] = word
		return
	}
	target := m.path(b.Target)
	switch {
	case p.lang.exports && target.exports() != "":
		v := m.export(target.exports())
		v.aliases = append(v.aliases, m.path(b.Value))
	case target.head == "return":
	case target.head == "yield":
		if s.decl != nil {
			s.decl.generator = true
		}
	case target.plain() && target.head != "?" && target.head != "self":
		v := s.bound(target.head)
		v.aliases = append(v.aliases, m.path(b.Value))
	}
}

// bound is the variable that an assignment in the scope gives a value to.
func (s *scope) bound(name string) *variable {
	switch s.elsewhere[name] {
	case "global":
		return s.mod.scope.own(name)
	case "nonlocal":
		for o := s.outer; o != nil; o = o.outer {
			if v := o.vars[name]; v != nil && !o.isClass() {
				return v
			}
		}
	}
	return s.own(name)
}

// find is the variable that a name means in a scope, nil where nothing binds it.
func (p *program) find(s *scope, name string) *variable {
	if p.rules != nil {
		return p.rules.findItem(s, name)
	}
	inner := true
	for ; s.outer != nil; s = s.outer {
		if s.isClass() && (!inner || p.lang.membersHidden && name != "self") {
			inner = false
			continue
		}
		inner = false
		if word := s.elsewhere[name]; word == "global" {
			return p.global(s.mod, name, 0)
		} else if word == "nonlocal" {
			continue
		}
		if v := s.vars[name]; v != nil {
			return v
		}
	}
	return p.global(s.mod, name, 0)
}

// global is the variable of a module's name, its own or one that a star brings.
func (p *program) global(m *module, name string, depth int) *variable {
	if m.scope == nil {
		return nil
	}
	if v := m.scope.vars[name]; v != nil || depth > maxDepth || strings.HasPrefix(name, "_") {
		return v
	}
	if p.rules != nil {
		return p.rules.fromGlobs(m, name)
	}
	for i := len(m.stars) - 1; i >= 0; i-- {
		if from := m.stars[i].mod; from != nil {
			if v := p.global(from, name, depth+1); v != nil {
				return v
			}
		}
	}
	return nil
}

// siteIn is a place in a file as the site of an edge from a declaration: edges' sites
// are places of the file that they begin in.
func (d *decl) siteIn(m *module, at *recountv1.Place) *recountv1.Place {
	if d.mod != m {
		return nil
	}
	return at
}

// in is the index plus 1 of the scope's declaration.
func (s *scope) in() uint32 {
	if s.decl == nil {
		return 0
	}
	return s.decl.in
}
