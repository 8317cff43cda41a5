package scope

import (
	"slices"
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// typer resolves a language whose sources declare the types of what they name: what a
// path stands for has one type, found where it is asked for. Nothing flows.
type typer struct {
	p    *program
	lang *typedLanguage
	// library are the classes of elsewhere that the resolver knows, by simple name.
	library  map[string]*class
	all      []*class // of the repository, as declared
	classes  map[*decl]*class
	methods  map[*decl]*method
	members  map[*decl][]*decl
	bases    map[*decl][]*recountv1.Reference
	packages map[string]map[string][]*class // by package, then name
	prefixes map[string]bool                // of packages of the repository
	locals   map[localName]*class
	params   map[*decl][]*typeParam
	bounds   []pendingBound
	// variables are the bindings of a declaration's names.
	variables map[localName]*recountv1.Binding
	types     map[*recountv1.Binding]*typ
	open      map[*recountv1.Binding]bool
	imports   map[*module]*typeImports
	parsed    map[string]*typeExpr
	args      map[*recountv1.Reference][]*typ
	byName    map[string][]*method // those that extend types
	global    []*module            // that hand on what they import
	depth     int
	// cut counts how often a circle or the depth ended a search: what was found then
	// may be less than there is, and is not kept.
	cut int
}

// typedLanguage is what must be known of a language of declared types.
type typedLanguage struct {
	language
	// library declares classes of elsewhere, see parseLibrary.
	library string
	// object is the class that all others extend, in library; constructor is what
	// facts call a constructor.
	object, constructor string
	// variadicArrays: a variadic parameter's type is written as the array that it is.
	variadicArrays bool
	// iterable is the class in library that loops go through.
	iterable string
	// explicitOverride: a method overrides that of a class only where it says so.
	explicitOverride bool
	// privateByDefault: a class's member that does not say who may name it is private.
	privateByDefault bool
	// attribute is what may be left out at the end of an annotation's name.
	attribute string
	// smallPackages: by custom packages begin with a small letter and classes do not, so
	// that a name says where its class begins.
	smallPackages bool
	// byArity are the types that are told apart by how many arguments they have; in
	// library that number stands behind the name.
	byArity map[string]bool
	// names finds a type of the file's imports, package or language.
	names func(t *typer, m *module, in uint32, name string) *typ
	// implied is the base that a class has without saying so, or nil.
	implied func(t *typer, c *class) *typ
	// complete adds the members that a class has without saying so.
	complete func(t *typer, c *class)
	// bring notes what a file imports.
	bring func(t *typer, m *module)
	// statics are the methods and fields that imports bring to a file by a name.
	statics func(t *typer, m *module, name string) []*typ
	// extensions are the extension methods of a name that a file knows.
	extensions func(t *typer, at spot, name string) []*method
	rpc        typedRPC
}

// typeImports is what a file's imports bring.
type typeImports struct {
	types    map[string]*typ // by simple name
	packages []string        // all types of these
	// members are the types whose static members are there by a name, all those of
	// whom every member is.
	members map[string][]*typ
	all     []*typ
}

// localName is a name in a declaration.
type localName struct {
	m    *module
	in   uint32
	name string
}

// spot is where a path or a type stands.
type spot struct {
	m  *module
	in uint32
	// at is where: of a call, whose callee's calls stand before it, or with after, of
	// what stands before the calls.
	at    *recountv1.Place
	after bool
	// base: the type is a base of the declaration `in`, whose members are not known yet.
	base bool
}

func newTyper(p *program, lang *typedLanguage) *typer {
	t := &typer{
		p: p, lang: lang, library: map[string]*class{}, classes: map[*decl]*class{}, methods: map[*decl]*method{},
		members: map[*decl][]*decl{}, bases: map[*decl][]*recountv1.Reference{}, packages: map[string]map[string][]*class{},
		prefixes: map[string]bool{}, locals: map[localName]*class{}, params: map[*decl][]*typeParam{},
		variables: map[localName]*recountv1.Binding{}, types: map[*recountv1.Binding]*typ{}, open: map[*recountv1.Binding]bool{},
		imports: map[*module]*typeImports{}, parsed: map[string]*typeExpr{}, args: map[*recountv1.Reference][]*typ{},
	}
	t.parseLibrary(t.lang.library)
	for _, m := range p.modules {
		for _, b := range m.facts.Bindings {
			name := localName{m, b.In, b.Target}
			if t.variables[name] == nil {
				t.variables[name] = b
			}
		}
	}
	t.addClasses()
	return t
}

// typeOf is the type that a text means at a place.
func (t *typer) typeOf(at spot, text string) *typ {
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

func (t *typer) typeAs(at spot, e *typeExpr) *typ {
	name := e.name
	if t.lang.byArity[name] && len(e.args) > 0 {
		name += strconv.Itoa(len(e.args))
	}
	of := t.named(at, name)
	if _, _, ok := t.lang.service("", t.lang.rpc.client, name); of == nil && ok {
		of = &typ{name: name} // generated, in a namespace that is not known
	}
	if of != nil && len(e.args) > 0 {
		with := *of
		with.args = nil
		for _, a := range e.args {
			with.args = append(with.args, t.typeAs(at, a))
		}
		of = &with
	}
	for range e.dims {
		of = &typ{elem: of}
	}
	return of
}

// named is the type of a dotted name.
func (t *typer) named(at spot, name string) *typ {
	if name == "" {
		return nil
	}
	first, rest, nested := strings.Cut(name, ".")
	of := t.simple(at, first)
	if of == nil {
		return t.qualified(at.m.file.Path, name)
	}
	if nested {
		return t.nested(of, rest)
	}
	return of
}

// nested is the type of a dotted name in another.
func (t *typer) nested(of *typ, rest string) *typ {
	for name := range strings.SplitSeq(rest, ".") {
		switch {
		case of == nil:
			return nil
		case of.class != nil:
			c := t.memberType(of.class, name)
			if c == nil {
				return nil
			}
			of = &typ{class: c}
		case of.pkg != "":
			of = &typ{pkg: of.pkg, name: of.name + "." + name}
		default:
			return nil
		}
	}
	return of
}

// qualified is the type of a name that begins with its package, as a file means it.
func (t *typer) qualified(from, name string) *typ {
	for pkg, last := cutLast(name); pkg != ""; {
		first, rest, nested := strings.Cut(last, ".")
		if found := nearest(from, t.packages[pkg][first]); found != nil {
			of := &typ{class: found}
			if nested {
				return t.nested(of, rest)
			}
			return of
		}
		var more string
		pkg, more = cutLast(pkg)
		last = more + "." + last
	}
	pkg, class := t.lang.splitPackage(name)
	if of := t.elsewhere(pkg, class); pkg != "" && class != "" && !t.prefixes[pkg] && (t.lang.smallPackages || of.class != nil) {
		return of
	}
	return nil
}

// elsewhere is a class of another repository: one of the library, or only a name.
func (t *typer) elsewhere(pkg, name string) *typ {
	_, last := cutLast(name)
	if c := t.library[last]; c != nil && c.pkg == pkg && c.name == name {
		return &typ{class: c}
	}
	return &typ{pkg: pkg, name: name}
}

// splitPackage cuts a qualified name where its class begins: at the first name with a
// capital letter, or where packages have those too, at the last.
func (l *typedLanguage) splitPackage(name string) (pkg, class string) {
	if !l.smallPackages {
		return cutLast(name)
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
func (t *typer) simple(at spot, name string) *typ {
	for in := at.in; in != 0; {
		d := at.m.decl(in)
		for _, p := range t.params[d] {
			if p.name == name {
				return &typ{param: p}
			}
		}
		if c := t.classes[d]; c != nil {
			if c.decl.Name == name {
				return &typ{class: c}
			}
			if !(at.base && in == at.in) {
				if m := t.memberType(c, name); m != nil {
					return &typ{class: m}
				}
			}
		} else if c := t.locals[localName{at.m, in, name}]; c != nil {
			return &typ{class: c}
		}
		in = d.Owner
	}
	if at.in == 0 {
		if c := t.locals[localName{at.m, 0, name}]; c != nil {
			return &typ{class: c}
		}
	}
	return t.lang.names(t, at.m, at.in, name)
}

// memberType is a class in another, or in one of its bases.
func (t *typer) memberType(c *class, name string) (found *class) {
	t.inherited(&typ{class: c}, func(s *typ) bool {
		if s.class != nil {
			found = s.class.types[name]
		}
		return found == nil
	})
	return found
}

// nearest picks of classes of one name the one nearest to a file: that shares most of
// its path; nil where several do.
func nearest(from string, of []*class) *class {
	if len(of) < 2 {
		if len(of) == 0 {
			return nil
		}
		return of[0]
	}
	var best *class
	most, tied := -1, false
	for _, c := range of {
		n := 0
		for to := c.decl.mod.file.Path; n < len(from) && n < len(to) && from[n] == to[n]; n++ {
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
func (t *typer) self(at spot) *typ {
	for d := at.m.decl(at.in); d != nil; d = at.m.decl(d.Owner) {
		if c := t.classes[d]; c != nil {
			return c.own()
		}
	}
	return nil
}

// super is the class that the one around a place extends.
func (t *typer) super(at spot) *typ {
	of := t.self(at)
	if of == nil {
		return nil
	}
	for _, s := range of.class.supers {
		if s.class == nil || !s.class.iface {
			return s
		}
	}
	return nil
}

// variable is the type of a name that is a variable: local, a parameter, or a field.
// known says that there is one.
func (t *typer) variable(at spot, name string) (of *typ, f *field, known bool) {
	for d := at.m.decl(at.in); d != nil; d = at.m.decl(d.Owner) {
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
				return m.params[i], nil, true
			}
			return t.parameterType(spot{m: at.m, in: d.in}, p), nil, true
		}
		if b := t.variables[localName{at.m, d.in, name}]; b != nil {
			return t.bound(at.m, b), nil, true
		}
	}
	if b := t.variables[localName{at.m, 0, name}]; b != nil {
		return t.bound(at.m, b), nil, true
	}
	for _, c := range t.lang.statics(t, at.m, name) {
		if of, f := t.field(c, name); f != nil {
			return of, f, true
		}
	}
	return nil, nil, false
}

// bound is the type of a local variable.
func (t *typer) bound(m *module, b *recountv1.Binding) *typ {
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
	at := spot{m: m, in: b.In, at: b.At, after: true}
	of := t.typeOf(at, b.Type)
	if b.Type == "" {
		of = t.eval(at, m.path(b.Value)).value()
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
func (t *typer) field(of *typ, name string) (found *typ, f *field) {
	t.inherited(of.bounded(), func(s *typ) bool {
		if s.class == nil {
			return true
		}
		if g := s.class.fields[name]; g != nil {
			found, f = g.typ.subst(s.bind()), g
		}
		return f == nil
	})
	return found, f
}

// handing are the files that hand on what they import.
func (t *typer) handing() []*module {
	if t.global == nil {
		t.global = []*module{}
		for _, m := range t.p.modules {
			if slices.ContainsFunc(m.facts.Imports, func(i *recountv1.Import) bool { return i.Export }) {
				t.global = append(t.global, m)
			}
		}
	}
	return t.global
}

// extensionMethods are the methods of a name that extend types, as declared.
func (t *typer) extensionMethods(name string) []*method {
	if t.byName == nil {
		t.byName = map[string][]*method{}
		for _, c := range t.all {
			for _, m := range c.order {
				if m.extension {
					t.byName[m.name] = append(t.byName[m.name], m)
				}
			}
		}
	}
	return t.byName[name]
}
