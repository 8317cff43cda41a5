package scope

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Program holds the files of one language in a snapshot while they are resolved.
type Program struct {
	Lang    *Language
	Layout  Layout
	Modules []*Module // the files, by path
	ByPlace map[string]*Module
	// Outside has the names of modules outside the repository that are imported.
	Outside map[string]bool
	values  map[ValueID]*Value

	queue []*Flow
	Depth int
	Subs  map[*Decl][]*Decl // the direct subclasses of each class
	// Rules are the language's own rules for looking names up; nil stands for the default.
	Rules Rules
}

// Module is a file, or the directory of a package.
type Module struct {
	Place     string // the path of the file, or of the package's directory
	dir       string // of the package
	isPackage bool
	Test      bool
	Name      string // with dots
	File      resolve.File
	Facts     *recountv1.FileFacts // nil for a directory without __init__.py
	names     resolve.Declared
	Scope     *Scope
	// Scopes and Decls are indexed as `in` of the facts, less 1 for Decls; Scopes[0] is the
	// module's.
	Scopes []*Scope
	Decls  []*Decl
	Stars  []Imported
	// Exports are the variables that other files see, if the language has exports.
	Exports map[string]*Variable
	// Up is the module around this one and Root the file of its crate, if modules form a tree.
	Up, Root *Module
	// Calls has the calls of each path in each declaration.
	Calls map[CallSite][]*recountv1.Reference
	paths map[string]Path
}

// CallSite is a path that is called in a declaration.
type CallSite struct {
	In   uint32
	Path string
}

// Imported is what an import binds a name to: a module, or a name in it.
type Imported struct {
	Mod     *Module // nil if the module is outside the repository; Outside is its name then
	Outside string
	Name    string
}

// Scope is a region that binds names: a module, a class or a function.
type Scope struct {
	Mod   *Module
	Outer *Scope
	Decl  *Decl // nil for the module's scope
	Vars  map[string]*Variable
	// outerNames has the names that are declared global or nonlocal.
	outerNames map[string]string
	// Inline is the module inside a file that this scope belongs to.
	Inline *Module
}

// IsClass reports whether the scope is that of a class.
func (s *Scope) IsClass() bool { return s.Decl != nil && s.Decl.IsClass() }

// Decl is a declaration and what is known of it.
type Decl struct {
	*recountv1.Declaration
	Mod   *Module
	Index uint32
	Key   schemas.NodeKey
	Scope *Scope // its own scope, if it is a function or a class
	Outer *Scope
	// Results has the values that a function returns, Yields those that it yields.
	Results, Yields Variable
	// Through has the indexes of the parameters that the function returns unchanged; -1 is the
	// receiver.
	Through    []int
	Decorators []*recountv1.Reference
	Overload   bool
	Object     bool // a value that has members of its own
	lang       *Language
	Generator  bool
	Typed      *Decl // the class that its results are declared to have
	Of         *Decl // the type that it is a member of, if that is not the one around it

	Bases []Base
	Order []Base // the class and its bases, in the order in which attributes are looked up
	// Assigned has the attributes of instances, and those assigned to the class outside its body.
	Assigned map[string]*Variable
}

// Base is a base of a class: one of the repository (Decl), one outside it (External), or, if both
// are nil, an unknown one.
type Base struct {
	Decl     *Decl
	External *Value
}

// IsClass reports whether d has members that belong to it or to its instances.
func (d *Decl) IsClass() bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_CLASS, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, recountv1.SymbolKind_SYMBOL_KIND_ENUM,
		recountv1.SymbolKind_SYMBOL_KIND_STRUCT, recountv1.SymbolKind_SYMBOL_KIND_TRAIT:
		return true
	}
	return d.Object
}

// IsFunction reports whether d is a function, method, constructor or property.
func (d *Decl) IsFunction() bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, recountv1.SymbolKind_SYMBOL_KIND_METHOD,
		recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY:
		return true
	}
	return false
}

// IsMethod reports whether d has a receiver, which paths call "self".
func (d *Decl) IsMethod() bool {
	return d.IsFunction() && d.Class() != nil && !d.HasModifier("staticmethod")
}

// Class returns the class that d is a member of, nil if there is none.
func (d *Decl) Class() *Decl {
	if d.Of == nil && d.Outer.IsClass() {
		return d.Outer.Decl
	}
	return d.Of
}

// HasModifier reports whether d is declared with a modifier.
func (d *Decl) HasModifier(modifier string) bool {
	for _, m := range d.Modifiers {
		if m == modifier {
			return true
		}
	}
	return false
}

func newProgram(lang *Language, files []string, manifests []Manifest) *Program {
	return &Program{
		Lang: lang, Layout: lang.Layout(files, manifests), ByPlace: map[string]*Module{}, Outside: map[string]bool{},
		values: map[ValueID]*Value{}, Subs: map[*Decl][]*Decl{},
	}
}

// addFile adds a file's module with its scopes and declarations.
func (p *Program) addFile(f resolve.File, facts *recountv1.FileFacts) {
	m := &Module{
		Place: f.Path, File: f, Facts: facts, Name: p.Layout.NameOf(f.Path),
		Calls: map[CallSite][]*recountv1.Reference{}, paths: map[string]Path{},
	}
	if m.Facts == nil {
		m.Facts = &recountv1.FileFacts{}
	}
	if p.Lang.Typed {
		m.Name = m.Facts.Package
	}
	m.Test = p.Layout.IsTest(f.Path)
	if dir, ok := p.Layout.PackageOf(f.Path); ok {
		m.dir, m.isPackage = dir, true
		p.ByPlace[packagePlace(dir)] = m
	}
	m.names = resolve.Declare(f.Path, m.Facts)
	p.Modules = append(p.Modules, m)
	p.ByPlace[f.Path] = m

	m.Scope = &Scope{Mod: m, Vars: map[string]*Variable{}}
	m.Scopes = []*Scope{m.Scope}
	members := map[uint32]bool{}
	for _, d := range m.Facts.Declarations {
		members[d.Owner] = true
	}
	for i, d := range m.Facts.Declarations {
		outer := m.Scope
		if o := int(d.Owner); o > 0 && o <= i {
			outer = m.Scopes[o]
		} else if d.OwnerPath != "" {
			outer = m.Scope
			if p.Rules != nil {
				outer = p.Rules.Around(m, d)
			}
		}
		n := &Decl{Declaration: d, Mod: m, Index: uint32(i + 1), Key: m.names.Keys[i], Outer: outer, lang: p.Lang}
		n.Object = members[n.Index] && !n.IsFunction() && !n.IsClass() && !p.Lang.Typed &&
			(p.Rules == nil || n.Kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER)
		s := outer
		if n.IsClass() || n.IsFunction() {
			s = &Scope{Mod: m, Outer: outer, Decl: n, Vars: map[string]*Variable{}}
			n.Scope = s
		}
		if n.IsClass() {
			n.Assigned = map[string]*Variable{}
		}
		if p.Rules != nil {
			if n.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
				s = p.Rules.Inline(n)
			}
			m.Decls, m.Scopes = append(m.Decls, n), append(m.Scopes, s)
			p.Rules.AddItem(n)
			continue
		}
		m.Decls, m.Scopes = append(m.Decls, n), append(m.Scopes, s)
		v := outer.Own(d.Name)
		if p.Lang.Exports && n.IsFunction() && len(v.Decls) > 0 && v.Decls[len(v.Decls)-1].Kind == n.Kind {
			v.Decls[len(v.Decls)-1].Overload = true
		}
		v.Decls = append(v.Decls, n)
		if n.IsFunction() {
			for i, prm := range d.Parameters {
				n.Scope.Own(n.ParameterName(i, prm.Name)).Parameter = true
			}
		}
	}
	for _, r := range m.Facts.References {
		switch r.Edge {
		case recountv1.EdgeKind_EDGE_KIND_CALLS:
			at := CallSite{r.In, r.Path}
			m.Calls[at] = append(m.Calls[at], r)
		case recountv1.EdgeKind_EDGE_KIND_DECORATES:
			if d := m.Decl(r.In); d != nil {
				switch name := r.Path[strings.LastIndexByte(r.Path, '.')+1:]; name {
				case "overload":
					d.Overload = true
				case "staticmethod", "classmethod", "property", "cached_property", "abstractmethod", "setter", "deleter":
				default:
					d.Decorators = append(d.Decorators, r)
				}
			}
		}
	}
	for _, b := range m.Facts.Bindings {
		p.declareBinding(m, b)
	}
}

// packagePlace returns the key in byPlace of the package in a directory.
func packagePlace(dir string) string { return dir + "/" }

// Decl returns the declaration with an index as `in` of the facts has it, nil for 0.
func (m *Module) Decl(in uint32) *Decl {
	if in == 0 || int(in) > len(m.Decls) {
		return nil
	}
	return m.Decls[in-1]
}

// ScopeOf returns the scope inside a declaration, the module's for 0.
func (m *Module) ScopeOf(in uint32) *Scope {
	if int(in) >= len(m.Scopes) {
		return m.Scope
	}
	return m.Scopes[in]
}

// Key returns the key of the node of a declaration, the file's for 0.
func (m *Module) Key(in uint32) schemas.NodeKey {
	if d := m.Decl(in); d != nil {
		return d.Key
	}
	return resolve.FileKey(m.File.Path)
}

// Path returns the parsed form of a path.
func (m *Module) Path(text string) Path {
	p, ok := m.paths[text]
	if !ok {
		p = ParsePath(text)
		m.paths[text] = p
	}
	return p
}

// Own returns the variable of a name that the scope itself binds. It creates the variable if
// there is none.
func (s *Scope) Own(name string) *Variable {
	v := s.Vars[name]
	if v == nil {
		v = &Variable{Scope: s}
		s.Vars[name] = v
	}
	return v
}

// ParameterName returns the name by which paths call the parameter i.
func (d *Decl) ParameterName(i int, name string) string {
	if i == 0 && d.lang.ReceiverFirst && d.IsMethod() {
		return "self"
	}
	return name
}

// declareBinding adds the name that a binding binds to its scope.
func (p *Program) declareBinding(m *Module, b *recountv1.Binding) {
	s := m.ScopeOf(b.In)
	if word, name, ok := strings.Cut(b.Target, " "); ok {
		if s.outerNames == nil {
			s.outerNames = map[string]string{}
		}
		s.outerNames[name] = word
		return
	}
	target := m.Path(b.Target)
	switch {
	case p.Lang.Exports && target.Exports() != "":
		v := m.Export(target.Exports())
		v.Aliases = append(v.Aliases, m.Path(b.Value))
	case target.Head == "return":
	case target.Head == "yield":
		if s.Decl != nil {
			s.Decl.Generator = true
		}
	case target.Plain() && target.Head != "?" && target.Head != "self":
		v := s.Bound(target.Head)
		v.Aliases = append(v.Aliases, m.Path(b.Value))
	}
}

// Bound returns the variable that an assignment in the scope sets, which may be a global or
// nonlocal one.
func (s *Scope) Bound(name string) *Variable {
	switch s.outerNames[name] {
	case "global":
		return s.Mod.Scope.Own(name)
	case "nonlocal":
		for o := s.Outer; o != nil; o = o.Outer {
			if v := o.Vars[name]; v != nil && !o.IsClass() {
				return v
			}
		}
	}
	return s.Own(name)
}

// Find returns the variable that a name means in a scope, nil if nothing binds the name.
func (p *Program) Find(s *Scope, name string) *Variable {
	if p.Rules != nil {
		return p.Rules.FindItem(s, name)
	}
	inner := true
	for ; s.Outer != nil; s = s.Outer {
		if s.IsClass() && (!inner || p.Lang.MembersHidden && name != "self") {
			inner = false
			continue
		}
		inner = false
		if word := s.outerNames[name]; word == "global" {
			return p.Global(s.Mod, name, 0)
		} else if word == "nonlocal" {
			continue
		}
		if v := s.Vars[name]; v != nil {
			return v
		}
	}
	return p.Global(s.Mod, name, 0)
}

// Global returns the variable of a name of a module: its own, or one that a wildcard import
// brings.
func (p *Program) Global(m *Module, name string, depth int) *Variable {
	if m.Scope == nil {
		return nil
	}
	if v := m.Scope.Vars[name]; v != nil || depth > MaxDepth || strings.HasPrefix(name, "_") {
		return v
	}
	if p.Rules != nil {
		return p.Rules.FromGlobs(m, name)
	}
	for i := len(m.Stars) - 1; i >= 0; i-- {
		if from := m.Stars[i].Mod; from != nil {
			if v := p.Global(from, name, depth+1); v != nil {
				return v
			}
		}
	}
	return nil
}

// SiteIn returns a place in the file m as the site of an edge from d. It returns nil if d is in
// another file, because the sites of an edge are places in the file where the edge begins.
func (d *Decl) SiteIn(m *Module, at *recountv1.Place) *recountv1.Place {
	if d.Mod != m {
		return nil
	}
	return at
}

// In returns the index of the scope's declaration plus 1, 0 for a module's scope.
func (s *Scope) In() uint32 {
	if s.Decl == nil {
		return 0
	}
	return s.Decl.Index
}
