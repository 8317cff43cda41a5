package typed

import (
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Typer resolves a language whose sources declare the types of what they name: what a
// path stands for has one type, found where it is asked for. Nothing flows.
type Typer struct {
	p    *scope.Program
	lang *Language
	// Library are the classes of elsewhere that the resolver knows, by simple name.
	Library  map[string]*Class
	all      []*Class // of the repository, as declared
	classes  map[*scope.Decl]*Class
	methods  map[*scope.Decl]*Method
	members  map[*scope.Decl][]*scope.Decl
	bases    map[*scope.Decl][]*recountv1.Reference
	Packages map[string]map[string][]*Class // by package, then name
	Prefixes map[string]bool                // of packages of the repository
	locals   map[localName]*Class
	params   map[*scope.Decl][]*typeParam
	bounds   []pendingBound
	// variables are the bindings of a declaration's names.
	variables map[localName]*recountv1.Binding
	types     map[*recountv1.Binding]*Type
	open      map[*recountv1.Binding]bool
	Imports   map[*scope.Module]*typeImports
	parsed    map[string]*typeExpr
	args      map[*recountv1.Reference][]*Type
	byName    map[string][]*Method // those that extend types
	global    []*scope.Module      // that hand on what they import
	depth     int
	// cut counts how often a circle or the depth ended a search: what was found then
	// may be less than there is, and is not kept.
	cut int
}

// Language is what must be known of a language of declared types.
type Language struct {
	scope.Language
	// Library declares classes of elsewhere, see parseLibrary.
	Library string
	// Object is the class that all others extend, in library; constructor is what
	// facts call a constructor.
	Object, Constructor string
	// VariadicArrays: a variadic parameter's type is written as the array that it is.
	VariadicArrays bool
	// Iterable is the class in library that loops go through.
	Iterable string
	// ExplicitOverride: a method overrides that of a class only where it says so.
	ExplicitOverride bool
	// PrivateByDefault: a class's member that does not say who may name it is private.
	PrivateByDefault bool
	// Attribute is what may be left out at the end of an annotation's name.
	Attribute string
	// SmallPackages: by custom packages begin with a small letter and classes do not, so
	// that a name says where its class begins.
	SmallPackages bool
	// ByArity are the types that are told apart by how many arguments they have; in
	// library that number stands behind the name.
	ByArity map[string]bool
	// Names finds a type of the file's imports, package or language.
	Names func(t *Typer, m *scope.Module, in uint32, name string) *Type
	// Implied is the base that a class has without saying so, or nil.
	Implied func(t *Typer, c *Class) *Type
	// Complete adds the members that a class has without saying so.
	Complete func(t *Typer, c *Class)
	// Bring notes what a file imports.
	Bring func(t *Typer, m *scope.Module)
	// Statics are the methods and fields that imports bring to a file by a name.
	Statics func(t *Typer, m *scope.Module, name string) []*Type
	// Extensions are the extension methods of a name that a file knows.
	Extensions func(t *Typer, at Spot, name string) []*Method
	Rpc        RPC
}

// typeImports is what a file's imports bring.
type typeImports struct {
	Types    map[string]*Type // by simple name
	Packages []string         // all types of these
	// Members are the types whose static members are there by a name, all those of
	// whom every member is.
	Members map[string][]*Type
	All     []*Type
}

// localName is a name in a declaration.
type localName struct {
	m    *scope.Module
	in   uint32
	name string
}

// Spot is where a path or a type stands.
type Spot struct {
	Module *scope.Module
	In     uint32
	// at is where: of a call, whose callee's calls stand before it, or with after, of
	// what stands before the calls.
	at    *recountv1.Place
	after bool
	// base: the type is a base of the declaration `in`, whose members are not known yet.
	base bool
}

func newTyper(p *scope.Program, lang *Language) *Typer {
	t := &Typer{
		p: p, lang: lang, Library: map[string]*Class{}, classes: map[*scope.Decl]*Class{}, methods: map[*scope.Decl]*Method{},
		members: map[*scope.Decl][]*scope.Decl{}, bases: map[*scope.Decl][]*recountv1.Reference{}, Packages: map[string]map[string][]*Class{},
		Prefixes: map[string]bool{}, locals: map[localName]*Class{}, params: map[*scope.Decl][]*typeParam{},
		variables: map[localName]*recountv1.Binding{}, types: map[*recountv1.Binding]*Type{}, open: map[*recountv1.Binding]bool{},
		Imports: map[*scope.Module]*typeImports{}, parsed: map[string]*typeExpr{}, args: map[*recountv1.Reference][]*Type{},
	}
	t.parseLibrary(t.lang.Library)
	for _, m := range p.Modules {
		for _, b := range m.Facts.Bindings {
			name := localName{m, b.In, b.Target}
			if t.variables[name] == nil {
				t.variables[name] = b
			}
		}
	}
	t.addClasses()
	return t
}

// TypeOf is the type that a text means at a place.
func (t *Typer) TypeOf(at Spot, text string) *Type {
	if text == "" || text == "?" {
		return nil
	}
	e := t.parsed[text]
	if e == nil {
		e = parseType(text)
		t.parsed[text] = e
	}
	return t.typeAs(at, e)
}

func (t *Typer) typeAs(at Spot, e *typeExpr) *Type {
	name := e.name
	if t.lang.ByArity[name] && len(e.args) > 0 {
		name += strconv.Itoa(len(e.args))
	}
	of := t.named(at, name)
	if _, _, ok := t.lang.service("", t.lang.Rpc.Client, name); of == nil && ok {
		of = &Type{Name: name} // generated, in a namespace that is not known
	}
	if of != nil && len(e.args) > 0 {
		with := *of
		with.Args = nil
		for _, a := range e.args {
			with.Args = append(with.Args, t.typeAs(at, a))
		}
		of = &with
	}
	for range e.dims {
		of = &Type{elem: of}
	}
	return of
}

// named is the type of a dotted name.
func (t *Typer) named(at Spot, name string) *Type {
	if name == "" {
		return nil
	}
	first, rest, nested := strings.Cut(name, ".")
	of := t.simple(at, first)
	if of == nil {
		return t.Qualified(at.Module.File.Path, name)
	}
	if nested {
		return t.Nested(of, rest)
	}
	return of
}

// Nested is the type of a dotted name in another.
func (t *Typer) Nested(of *Type, rest string) *Type {
	for name := range strings.SplitSeq(rest, ".") {
		switch {
		case of == nil:
			return nil
		case of.Class != nil:
			c := t.memberType(of.Class, name)
			if c == nil {
				return nil
			}
			of = &Type{Class: c}
		case of.Pkg != "":
			of = &Type{Pkg: of.Pkg, Name: of.Name + "." + name}
		default:
			return nil
		}
	}
	return of
}

// Qualified is the type of a name that begins with its package, as a file means it.
func (t *Typer) Qualified(from, name string) *Type {
	for pkg, last := CutLast(name); pkg != ""; {
		first, rest, nested := strings.Cut(last, ".")
		if found := Nearest(from, t.Packages[pkg][first]); found != nil {
			of := &Type{Class: found}
			if nested {
				return t.Nested(of, rest)
			}
			return of
		}
		var more string
		pkg, more = CutLast(pkg)
		last = more + "." + last
	}
	pkg, class := t.lang.splitPackage(name)
	if of := t.elsewhere(pkg, class); pkg != "" && class != "" && !t.Prefixes[pkg] && (t.lang.SmallPackages || of.Class != nil) {
		return of
	}
	return nil
}

// elsewhere is a class of another repository: one of the library, or only a name.
func (t *Typer) elsewhere(pkg, name string) *Type {
	_, last := CutLast(name)
	if c := t.Library[last]; c != nil && c.Pkg == pkg && c.Name == name {
		return &Type{Class: c}
	}
	return &Type{Pkg: pkg, Name: name}
}

// splitPackage cuts a qualified name where its class begins: at the first name with a
// capital letter, or where packages have those too, at the last.
func (l *Language) splitPackage(name string) (pkg, class string) {
	if !l.SmallPackages {
		return CutLast(name)
	}
	at := 0
	for part := range strings.SplitSeq(name, ".") {
		if part != "" && part[0] >= 'A' && part[0] <= 'Z' {
			return strings.TrimSuffix(name[:at], "."), name[at:]
		}
		at += len(part) + 1
	}
	return name, ""
}

// simple is the type of a single name: a type parameter, a class around or a member of
// one, one of the declaration, or what the file knows.
func (t *Typer) simple(at Spot, name string) *Type {
	for in := at.In; in != 0; {
		d := at.Module.Decl(in)
		for _, p := range t.params[d] {
			if p.name == name {
				return &Type{param: p}
			}
		}
		if c := t.classes[d]; c != nil {
			if c.Decl.Name == name {
				return &Type{Class: c}
			}
			if !(at.base && in == at.In) {
				if m := t.memberType(c, name); m != nil {
					return &Type{Class: m}
				}
			}
		} else if c := t.locals[localName{at.Module, in, name}]; c != nil {
			return &Type{Class: c}
		}
		in = d.Owner
	}
	if at.In == 0 {
		if c := t.locals[localName{at.Module, 0, name}]; c != nil {
			return &Type{Class: c}
		}
	}
	return t.lang.Names(t, at.Module, at.In, name)
}

// memberType is a class in another, or in one of its bases.
func (t *Typer) memberType(c *Class, name string) (found *Class) {
	t.inherited(&Type{Class: c}, func(s *Type) bool {
		if s.Class != nil {
			found = s.Class.types[name]
		}
		return found == nil
	})
	return found
}

// Nearest picks of classes of one name the one nearest to a file: that shares most of
// its path; nil where several do.
func Nearest(from string, of []*Class) *Class {
	if len(of) < 2 {
		if len(of) == 0 {
			return nil
		}
		return of[0]
	}
	var best *Class
	most, tied := -1, false
	for _, c := range of {
		n := 0
		for to := c.Decl.Mod.File.Path; n < len(from) && n < len(to) && from[n] == to[n]; n++ {
		}
		n = strings.LastIndexByte(from[:n], '/') + 1
		if n > most {
			best, most, tied = c, n, false
		} else if n == most {
			tied = true
		}
	}
	if tied {
		return nil
	}
	return best
}

// self is the type of the class around a place.
func (t *Typer) self(at Spot) *Type {
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		if c := t.classes[d]; c != nil {
			return c.own()
		}
	}
	return nil
}

// super is the class that the one around a place extends.
func (t *Typer) super(at Spot) *Type {
	of := t.self(at)
	if of == nil {
		return nil
	}
	for _, s := range of.Class.supers {
		if s.Class == nil || !s.Class.iface {
			return s
		}
	}
	return nil
}

// variable is the type of a name that is a variable: local, a parameter, or a field.
// known says that there is one.
func (t *Typer) variable(at Spot, name string) (of *Type, f *field, known bool) {
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		if c := t.classes[d]; c != nil {
			if of, f := t.field(c.own(), name); f != nil {
				return of, f, true
			}
		}
		for i, p := range d.Parameters {
			if p.Name != name {
				continue
			}
			if m := t.methods[d]; m != nil {
				return m.Params[i], nil, true
			}
			return t.ParameterType(Spot{Module: at.Module, In: d.Index}, p), nil, true
		}
		if b := t.variables[localName{at.Module, d.Index, name}]; b != nil {
			return t.bound(at.Module, b), nil, true
		}
	}
	if b := t.variables[localName{at.Module, 0, name}]; b != nil {
		return t.bound(at.Module, b), nil, true
	}
	for _, c := range t.lang.Statics(t, at.Module, name) {
		if of, f := t.field(c, name); f != nil {
			return of, f, true
		}
	}
	return nil, nil, false
}

// bound is the type of a local variable.
func (t *Typer) bound(m *scope.Module, b *recountv1.Binding) *Type {
	if of, ok := t.types[b]; ok {
		return of
	}
	if t.open[b] || t.depth > maxNesting {
		t.cut++
		return nil
	}
	t.open[b] = true
	t.depth++
	cut := t.cut
	at := Spot{Module: m, In: b.In, at: b.At, after: true}
	of := t.TypeOf(at, b.Type)
	if b.Type == "" {
		of = t.eval(at, m.Path(b.Value)).value()
	}
	t.depth--
	delete(t.open, b)
	if t.cut == cut || len(t.open) == 0 {
		t.types[b] = of
	}
	return of
}

// maxNesting is how deep variables are followed through the values of others.
const maxNesting = 24

// field is a field of a type by its name, and its type there.
func (t *Typer) field(of *Type, name string) (found *Type, f *field) {
	t.inherited(of.bounded(), func(s *Type) bool {
		if s.Class == nil {
			return true
		}
		if g := s.Class.Fields[name]; g != nil {
			found, f = g.Typ.subst(s.bind()), g
		}
		return f == nil
	})
	return found, f
}

// Handing are the files that hand on what they import.
func (t *Typer) Handing() []*scope.Module {
	if t.global == nil {
		t.global = []*scope.Module{}
		for _, m := range t.p.Modules {
			if slices.ContainsFunc(m.Facts.Imports, func(i *recountv1.Import) bool { return i.Export }) {
				t.global = append(t.global, m)
			}
		}
	}
	return t.global
}

// ExtensionMethods are the methods of a name that extend types, as declared.
func (t *Typer) ExtensionMethods(name string) []*Method {
	if t.byName == nil {
		t.byName = map[string][]*Method{}
		for _, c := range t.all {
			for _, m := range c.Order {
				if m.extension {
					t.byName[m.Name] = append(t.byName[m.Name], m)
				}
			}
		}
	}
	return t.byName[name]
}
