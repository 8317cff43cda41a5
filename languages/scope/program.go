package scope

import (
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Program is a snapshot's files of one language, while they are resolved.
type Program struct {
	Lang    *Language
	Layout  Layout
	Modules []*Module // that are files, by path
	ByPlace map[string]*Module
	// Outside are the modules of elsewhere that an import names.
	Outside map[string]bool
	values  map[ValueID]*Value

	queue []*Flow
	Depth int
	Subs  map[*Decl][]*Decl // classes by base, direct
	// Rules are how the language looks names up in its own way; nil is the default.
	Rules Rules
}

// Module is a file, or the directory of a package.
type Module struct {
	Place     string // the file's path, or the package's directory
	dir       string // of a package
	isPackage bool
	Test      bool
	Name      string // dotted
	File      resolve.File
	Facts     *recountv1.FileFacts // nil: a directory without __init__.py
	names     resolve.Declared
	Scope     *Scope
	// Scopes and decls are by index plus 1, as `in` has it; scopes[0] is the module's.
	Scopes []*Scope
	Decls  []*Decl
	Stars  []Imported
	// Exports are what other files see, where the language says so.
	Exports map[string]*Variable
	// Up is the module around a module of a typed language, root the file of its crate.
	Up, Root *Module
	// Calls are the calls of a path in a declaration.
	Calls map[CallSite][]*recountv1.Reference
	paths map[string]Path
}

type CallSite struct {
	In   uint32
	Path string
}

// Imported is what an import gives a name: a module, or a name in it.
type Imported struct {
	Mod     *Module // nil: of elsewhere, then outside is its name
	Outside string
	Name    string
}

// Scope is where names are bound: a module, a class, a function.
type Scope struct {
	Mod   *Module
	Outer *Scope
	Decl  *Decl // nil: the module's
	Vars  map[string]*Variable
	// elsewhere are the names declared global or nonlocal.
	elsewhere map[string]string
	// Inline is the module inside of a file whose names these are.
	Inline *Module
}

func (s *Scope) IsClass() bool { return s.Decl != nil && s.Decl.IsClass() }

// Decl is a declaration.
type Decl struct {
	*recountv1.Declaration
	Mod   *Module
	Index uint32
	Key   schemas.NodeKey
	Scope *Scope // its own, of a function or class
	Outer *Scope
	// Results are what a function returns, yields what it yields.
	Results, Yields Variable
	// Through are the parameters, by place, that it returns as they came.
	Through    []int
	Decorators []*recountv1.Reference
	Overload   bool
	Object     bool // a value with members of its own
	lang       *Language
	Generator  bool
	Typed      *Decl // the class that its results are declared to be of
	Of         *Decl // the type that it is a member of, where that is not outer's

	Bases []Base
	Order []Base // of a class and its bases, as attributes are looked up
	// Assigned are those of the class's instances, and what is assigned to the
	// class from outside.
	Assigned map[string]*Variable
}

// Base is a class of the repository, or one of elsewhere (external), or nil and "":
// not known.
type Base struct {
	Decl     *Decl
	External *Value
}

// IsClass reports whether it has members that its instances have, or it itself.
func (d *Decl) IsClass() bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_CLASS, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, recountv1.SymbolKind_SYMBOL_KIND_ENUM,
		recountv1.SymbolKind_SYMBOL_KIND_STRUCT, recountv1.SymbolKind_SYMBOL_KIND_TRAIT:
		return true
	}
	return d.Object
}

func (d *Decl) IsFunction() bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, recountv1.SymbolKind_SYMBOL_KIND_METHOD,
		recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY:
		return true
	}
	return false
}

// IsMethod reports whether its first parameter is the receiver, "self" in paths.
func (d *Decl) IsMethod() bool {
	return d.IsFunction() && d.Class() != nil && !d.HasModifier("staticmethod")
}

// Class is the class that a declaration is a member of.
func (d *Decl) Class() *Decl {
	if d.Of == nil && d.Outer.IsClass() {
		return d.Outer.Decl
	}
	return d.Of
}

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

// addFile declares a file's names.
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

// packagePlace is the key of a package's directory among the modules.
func packagePlace(dir string) string { return dir + "/" }

func (m *Module) Decl(in uint32) *Decl {
	if in == 0 || int(in) > len(m.Decls) {
		return nil
	}
	return m.Decls[in-1]
}

func (m *Module) ScopeOf(in uint32) *Scope {
	if int(in) >= len(m.Scopes) {
		return m.Scope
	}
	return m.Scopes[in]
}

func (m *Module) Key(in uint32) schemas.NodeKey {
	if d := m.Decl(in); d != nil {
		return d.Key
	}
	return resolve.FileKey(m.File.Path)
}

func (m *Module) Path(text string) Path {
	p, ok := m.paths[text]
	if !ok {
		p = ParsePath(text)
		m.paths[text] = p
	}
	return p
}

// Own is the variable of a name that the scope binds.
func (s *Scope) Own(name string) *Variable {
	v := s.Vars[name]
	if v == nil {
		v = &Variable{Scope: s}
		s.Vars[name] = v
	}
	return v
}

// ParameterName is how paths call a parameter.
func (d *Decl) ParameterName(i int, name string) string {
	if i == 0 && d.lang.ReceiverFirst && d.IsMethod() {
		return "self"
	}
	return name
}

// declareBinding notes which name a binding binds.
func (p *Program) declareBinding(m *Module, b *recountv1.Binding) {
	s := m.ScopeOf(b.In)
	if word, name, ok := strings.Cut(b.Target, " "); ok {
		if s.elsewhere == nil {
			s.elsewhere = map[string]string{}
		}
		s.elsewhere[name] = word
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

// Bound is the variable that an assignment in the scope gives a value to.
func (s *Scope) Bound(name string) *Variable {
	switch s.elsewhere[name] {
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

// Find is the variable that a name means in a scope, nil where nothing binds it.
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
		if word := s.elsewhere[name]; word == "global" {
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

// Global is the variable of a module's name, its own or one that a star brings.
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

// SiteIn is a place in a file as the site of an edge from a declaration: edges' sites
// are places of the file that they begin in.
func (d *Decl) SiteIn(m *Module, at *recountv1.Place) *recountv1.Place {
	if d.Mod != m {
		return nil
	}
	return at
}

// In is the index plus 1 of the scope's declaration.
func (s *Scope) In() uint32 {
	if s.Decl == nil {
		return 0
	}
	return s.Decl.Index
}
