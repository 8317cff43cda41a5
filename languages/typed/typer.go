package typed

import (
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Typer computes types in a program whose sources declare them. What a path stands for has one
// type, which is computed when it is asked for; nothing flows.
type Typer struct {
	p    *scope.Program
	lang *Language
	// Library has the classes outside the repository that are known, by simple name.
	Library  map[string]*Class
	all      []*Class // of the repository, in the order of declarations
	classes  map[*scope.Decl]*Class
	methods  map[*scope.Decl]*Method
	members  map[*scope.Decl][]*scope.Decl
	bases    map[*scope.Decl][]*recountv1.Reference
	Packages map[string]map[string][]*Class // by package, then by name
	Prefixes map[string]bool                // packages of the repository, and the beginnings of their names
	locals   map[localName]*Class
	params   map[*scope.Decl][]*typeParam
	bounds   []pendingBound
	// variables has the first binding of each name in each declaration.
	variables map[localName]*recountv1.Binding
	types     map[*recountv1.Binding]*Type
	open      map[*recountv1.Binding]bool
	Imports   map[*scope.Module]*FileImports
	parsed    map[string]*typeExpr
	args      map[*recountv1.Reference][]*Type
	byName    map[string][]*Method // extension methods
	global    []*scope.Module      // modules that export what they import
	depth     int
	// cut counts the searches that a cycle or the limit of depth ended. What such a search found
	// may be incomplete and is not kept.
	cut int
}

// Language describes a language to the engine.
type Language struct {
	scope.Language
	// Library declares classes outside the repository; parseLibrary describes its format.
	Library string
	// Object is the class in Library that all others extend. Constructor is the name that facts
	// give to constructors.
	Object, Constructor string
	// VariadicArrays is set if the type of a variadic parameter is written as an array.
	VariadicArrays bool
	// Iterable is the class in Library of the values that loops go through.
	Iterable string
	// ExplicitOverride is set if a method overrides that of a class only if it says so.
	ExplicitOverride bool
	// PrivateByDefault is set if a member of a class is private unless it says otherwise.
	PrivateByDefault bool
	// Attribute is what may be left out at the end of the name of an annotation.
	Attribute string
	// SmallPackages is set if, by convention, packages begin with a small letter and classes do
	// not, so that a name says where its class begins.
	SmallPackages bool
	// ByArity has the types that differ by their number of arguments. In Library that number is
	// at the end of the name.
	ByArity map[string]bool
	// Names finds a type by a simple name: in the file's imports, its package, or the language.
	Names func(t *Typer, m *scope.Module, in uint32, name string) *Type
	// Implied returns the base that a class has without declaring it, nil if it has none.
	Implied func(t *Typer, c *Class) *Type
	// Complete adds the members that a class has without declaring them.
	Complete func(t *Typer, c *Class)
	// ReadImports reads the imports of a file into Typer.Imports.
	ReadImports func(t *Typer, m *scope.Module)
	// Statics returns the types whose static members a file can use by a name.
	Statics func(t *Typer, m *scope.Module, name string) []*Type
	// Extensions returns the extension methods of a name that are visible at a place.
	Extensions func(t *Typer, at Spot, name string) []*Method
	RPC        RPC
}

// FileImports has what the imports of a file bring into it.
type FileImports struct {
	Types    map[string]*Type // by simple name
	Packages []string         // packages all of whose types are imported
	// Members has the types of which a static member is imported, by its name; All those of which
	// all members are.
	Members map[string][]*Type
	All     []*Type
}

// localName is a name in a declaration.
type localName struct {
	m    *scope.Module
	in   uint32
	name string
}

// Spot is where a path or a type is written.
type Spot struct {
	Module *scope.Module
	In     uint32
	// at is the place. For a call it is that of the call: calls inside the callee come before it.
	// If after is set, the calls of a path come after the place.
	at    *recountv1.Place
	after bool
	// base is set for a base of the declaration In, whose members are not known yet.
	base bool
}

func newTyper(p *scope.Program, lang *Language) *Typer {
	t := &Typer{
		p: p, lang: lang, Library: map[string]*Class{}, classes: map[*scope.Decl]*Class{}, methods: map[*scope.Decl]*Method{},
		members: map[*scope.Decl][]*scope.Decl{}, bases: map[*scope.Decl][]*recountv1.Reference{}, Packages: map[string]map[string][]*Class{},
		Prefixes: map[string]bool{}, locals: map[localName]*Class{}, params: map[*scope.Decl][]*typeParam{},
		variables: map[localName]*recountv1.Binding{}, types: map[*recountv1.Binding]*Type{}, open: map[*recountv1.Binding]bool{},
		Imports: map[*scope.Module]*FileImports{}, parsed: map[string]*typeExpr{}, args: map[*recountv1.Reference][]*Type{},
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

// TypeOf returns the type that a text means at a place.
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
	if _, _, ok := t.lang.service("", t.lang.RPC.Client, name); of == nil && ok {
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

// named returns the type of a dotted name.
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

// Nested returns the type of a dotted name inside another type.
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

// Qualified returns the type of a name that begins with its package, as the file from means it.
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
	if of := t.external(pkg, class); pkg != "" && class != "" && !t.Prefixes[pkg] && (t.lang.SmallPackages || of.Class != nil) {
		return of
	}
	return nil
}

// external returns the type of a class outside the repository: one of the library, or one of
// which only the name is known.
func (t *Typer) external(pkg, name string) *Type {
	_, last := CutLast(name)
	if c := t.Library[last]; c != nil && c.Pkg == pkg && c.Name == name {
		return &Type{Class: c}
	}
	return &Type{Pkg: pkg, Name: name}
}

// splitPackage cuts a qualified name where its class begins: at the first name with a capital
// letter, or, if packages have those too, at the last name.
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

// simple returns the type of a single name: a type parameter, an enclosing class or a member of
// one, a class of the declaration, or what Language.Names finds.
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

// memberType returns the class of a name inside a class or one of its bases.
func (t *Typer) memberType(c *Class, name string) (found *Class) {
	t.inherited(&Type{Class: c}, func(s *Type) bool {
		if s.Class != nil {
			found = s.Class.types[name]
		}
		return found == nil
	})
	return found
}

// Nearest returns the class whose path has the most directories in common with a file, nil if
// several have.
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

// self returns the type of the class around a place.
func (t *Typer) self(at Spot) *Type {
	for d := at.Module.Decl(at.In); d != nil; d = at.Module.Decl(d.Owner) {
		if c := t.classes[d]; c != nil {
			return c.own()
		}
	}
	return nil
}

// super returns the class that the class around a place extends.
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

// variable returns the type of a variable: a local one, a parameter or a field, and the field if
// it is one. known reports whether there is such a variable.
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

// bound returns the type of a local variable.
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

// maxNesting limits how deep variables are followed through the values of others.
const maxNesting = 24

// field returns a field of a type and the type that it has there.
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

// Reexporting returns the files that export what they import.
func (t *Typer) Reexporting() []*scope.Module {
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

// ExtensionMethods returns the extension methods of a name, in the order of declarations.
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
