package scope

import (
	"cmp"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// class is a class, interface, enum, record or struct: of the repository, or of the
// library that a language's resolver knows (then decl is nil).
type class struct {
	decl *decl
	// parts are all of its declarations (partial classes of C#).
	parts []*decl
	// pkg and name are what it is known by elsewhere: name is the chain of names.
	pkg, name string
	outer     *class
	params    []*typeParam
	supers    []*typ
	// unknown: it has a base of which nothing is known.
	unknown bool
	methods map[string][]*method
	order   []*method // as declared
	fields  map[string]*field
	types   map[string]*class
	iface   bool
}

// method is a method or constructor.
type method struct {
	class   *class
	decl    *decl // nil: of the library
	name    string
	params  []*typ
	least   int // how many arguments it must have
	rest    bool
	result  *typ
	tparams []*typeParam
	static  bool
	// abstract: of an interface or class, without a body.
	abstract bool
	// final: nothing overrides it.
	final     bool
	extension bool
	// over are those that it overrides, by those who override it.
	over, by []*method
}

// field is a field, property or member of an enum.
type field struct {
	decl *decl
	typ  *typ
}

// inherited goes through a class and what it inherits from, each once: the class,
// then its bases depth first.
func (t *typer) inherited(of *typ, visit func(*typ) bool) bool {
	seen := map[*class]bool{}
	var walk func(at *typ, depth int) bool
	walk = func(at *typ, depth int) bool {
		if at == nil || depth > maxBases {
			return true
		}
		if at.class == nil {
			return visit(at)
		}
		if seen[at.class] {
			return true
		}
		seen[at.class] = true
		if !visit(at) {
			return false
		}
		b := at.bind()
		for _, s := range at.class.supers {
			if !walk(s.subst(b), depth+1) {
				return false
			}
		}
		return true
	}
	return walk(of, 0)
}

// maxBases is how many bases deep inheritance is followed.
const maxBases = 64

// as is t as one of its bases, nil where it is none.
func (t *typer) as(of *typ, base *class) (found *typ) {
	t.inherited(of.bounded(), func(s *typ) bool {
		if s.class == base {
			found = s
		}
		return found == nil
	})
	return found
}

// addClasses makes the classes of the program, then what they inherit, then members.
func (t *typer) addClasses() {
	for _, m := range t.p.modules {
		for _, d := range m.decls {
			if isType(d.Declaration) {
				t.addClass(m, d)
			}
			if owner := m.decl(d.Owner); owner != nil {
				t.members[owner] = append(t.members[owner], d)
			}
		}
		for _, r := range m.facts.References {
			if d := m.decl(r.In); d != nil && (r.Edge == recountv1.EdgeKind_EDGE_KIND_EXTENDS || r.Edge == recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS) {
				t.bases[d] = append(t.bases[d], r)
			}
		}
	}
	for _, m := range t.p.modules {
		t.imports[m] = &typeImports{types: map[string]*typ{}, members: map[string][]*typ{}}
		t.lang.bring(t, m)
	}
	for _, c := range t.all {
		for _, part := range c.parts {
			t.typeParams(spot{m: part.mod, in: part.in}, part, &c.params)
		}
	}
	for _, c := range t.all {
		t.addSupers(c)
	}
	for _, c := range t.all {
		for _, part := range c.parts {
			t.addMembers(c, part)
		}
	}
	for _, c := range t.all {
		t.lang.complete(t, c)
	}
	for _, c := range t.all {
		for _, m := range c.order {
			t.addOverrides(m)
		}
	}
}

// isType reports whether a declaration has members and is a type.
func isType(d *recountv1.Declaration) bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_CLASS, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE,
		recountv1.SymbolKind_SYMBOL_KIND_ENUM, recountv1.SymbolKind_SYMBOL_KIND_STRUCT, recountv1.SymbolKind_SYMBOL_KIND_TYPE:
		return true
	}
	return false
}

func (t *typer) addClass(m *module, d *decl) {
	owner := m.decl(d.Owner)
	outer := t.classes[owner]
	pkg := m.name
	for o := owner; o != nil && outer == nil; o = m.decl(o.Owner) {
		if o.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
			pkg = joined(o.Name, pkg)
			if o.Owner == 0 {
				pkg = namespaceOf(m, o)
			}
		}
	}
	var c *class
	local := owner != nil && outer == nil && owner.Kind != recountv1.SymbolKind_SYMBOL_KIND_MODULE
	if d.is("partial") && !local {
		if outer != nil {
			c = outer.types[d.Name]
		} else if same := t.packages[pkg][d.Name]; len(same) > 0 {
			c = same[0]
		}
		if c != nil {
			c.parts = append(c.parts, d)
			t.classes[d] = c
			return
		}
	}
	c = &class{
		decl: d, parts: []*decl{d}, pkg: pkg, name: d.Name, outer: outer,
		methods: map[string][]*method{}, fields: map[string]*field{}, types: map[string]*class{},
		iface: d.Kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE || d.is("delegate"),
	}
	t.classes[d] = c
	t.all = append(t.all, c)
	switch {
	case outer != nil:
		c.name = outer.name + "." + d.Name
		if outer.types[d.Name] == nil {
			outer.types[d.Name] = c
		}
	case local:
		t.locals[localName{m, d.Owner, d.Name}] = c
	default:
		t.addToPackage(c)
	}
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return b + "." + a
}

// namespaceOf is the whole name of a namespace that a file declares at its top.
func namespaceOf(m *module, d *decl) string { return joined(d.Name, m.name) }

func (t *typer) addToPackage(c *class) {
	in := t.packages[c.pkg]
	if in == nil {
		in = map[string][]*class{}
		t.packages[c.pkg] = in
	}
	in[c.name] = append(in[c.name], c)
	for p := c.pkg; p != ""; p, _ = cutLast(p) {
		t.prefixes[p] = true
	}
}

// cutLast cuts a dotted name at its last dot.
func cutLast(name string) (before, last string) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name
	}
	return name[:i], name[i+1:]
}

// typeParams reads a declaration's type parameters, and their bounds once they are known.
func (t *typer) typeParams(at spot, d *decl, into *[]*typeParam) {
	text := d.Attributes["type_parameters"]
	if text == "" || len(*into) > 0 {
		return
	}
	var bounds []string
	for _, one := range splitTypes(text) {
		name, bound, _ := strings.Cut(one, " extends ")
		*into = append(*into, &typeParam{name: strings.TrimSpace(name)})
		bounds = append(bounds, bound)
	}
	t.params[d] = *into
	for i, b := range bounds {
		if b != "" {
			t.bounds = append(t.bounds, pendingBound{at, b, (*into)[i]})
		}
	}
}

// pendingBound is a type parameter's bound that is not read yet.
type pendingBound struct {
	at    spot
	text  string
	param *typeParam
}

// settleBounds reads the bounds that came since.
func (t *typer) settleBounds() {
	for _, b := range t.bounds {
		b.param.bound = t.typeOf(b.at, b.text)
	}
	t.bounds = nil
}

// splitTypes cuts a list of types at the commas that stand in no brackets.
func splitTypes(text string) []string {
	var out []string
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, text[from:i])
				from = i + 1
			}
		}
	}
	return append(out, text[from:])
}

// addSupers finds what a class extends and implements.
func (t *typer) addSupers(c *class) {
	for _, part := range c.parts {
		for _, r := range t.bases[part] {
			// A base is named outside of the class, where its parameters are known.
			super := t.typeOf(spot{m: part.mod, in: part.in, base: true}, cmp.Or(r.Attributes["type"], r.Path))
			switch {
			case super == nil || super.param != nil:
				c.unknown = true
			case super.class == c:
			default:
				c.supers = append(c.supers, super)
			}
		}
	}
	if base := t.lang.implied(t, c); base != nil && base.class != c {
		c.supers = append(c.supers, base)
	}
}

// addMembers adds the methods and fields of one of a class's declarations.
func (t *typer) addMembers(c *class, part *decl) {
	t.settleBounds()
	for _, d := range t.members[part] {
		switch d.Kind {
		case recountv1.SymbolKind_SYMBOL_KIND_METHOD, recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR:
			t.addMethod(c, d)
		case recountv1.SymbolKind_SYMBOL_KIND_FIELD, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER,
			recountv1.SymbolKind_SYMBOL_KIND_CONSTANT:
			if c.fields[d.Name] == nil {
				c.fields[d.Name] = &field{d, t.typeOf(spot{m: d.mod, in: d.in}, d.Type)}
			}
		}
	}
}

func (t *typer) addMethod(c *class, d *decl) {
	at := spot{m: d.mod, in: d.in}
	m := &method{class: c, decl: d, name: d.Name, static: d.is("static")}
	t.typeParams(at, d, &m.tparams)
	t.settleBounds()
	for _, p := range d.Parameters {
		m.params = append(m.params, t.parameterType(at, p))
		if p.Default == "" && !p.Variadic {
			m.least++
		}
		m.rest = m.rest || p.Variadic
	}
	m.result = t.typeOf(at, d.Type)
	m.abstract = d.is("abstract")
	m.extension = d.is("extension")
	m.final = m.static || t.isPrivate(m) || d.is("final") || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR
	c.methods[d.Name] = append(c.methods[d.Name], m)
	c.order = append(c.order, m)
	t.methods[d] = m
}

// parameterType is what a parameter is in its method: a variadic one an array.
func (t *typer) parameterType(at spot, p *recountv1.Parameter) *typ {
	of := t.typeOf(at, p.Type)
	if p.Variadic && !t.lang.variadicArrays {
		return &typ{elem: of}
	}
	return of
}

// addOverrides finds what a method overrides in its class's bases.
func (t *typer) addOverrides(m *method) {
	if m.static || m.decl == nil || m.decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR || m.decl.is("private") {
		return
	}
	t.inherited(m.class.own(), func(s *typ) bool {
		if s.class == nil || s.class == m.class {
			return true
		}
		if t.lang.explicitOverride && !s.class.iface && !m.decl.is("override") {
			return true
		}
		b := s.bind()
		for _, o := range s.class.methods[m.name] {
			if !o.static && !t.isPrivate(o) && o.decl != nil && overrides(m, o, b) {
				m.over = append(m.over, o)
				o.by = append(o.by, m)
				break
			}
		}
		return true
	})
}

// overrides reports whether a method stands in the place of one of a base.
func overrides(m, o *method, b bindings) bool {
	if len(m.params) != len(o.params) || m.rest != o.rest {
		return false
	}
	for i, p := range m.params {
		if !same(p, o.params[i].subst(b)) {
			return false
		}
	}
	return true
}

// has reports whether a class declares a method of a name with so many parameters.
func (c *class) has(name string, params int) bool {
	for _, m := range c.methods[name] {
		if len(m.params) == params {
			return true
		}
	}
	return false
}
