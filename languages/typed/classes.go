package typed

import (
	"cmp"
	"strings"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// addClasses adds the classes of the program, then what they inherit, then their members.
func (t *Typer) addClasses() {
	for _, m := range t.p.Modules {
		for _, d := range m.Decls {
			if isType(d.Declaration) {
				t.addClass(m, d)
			}
			if owner := m.Decl(d.Owner); owner != nil {
				t.members[owner] = append(t.members[owner], d)
			}
		}
		for _, r := range m.Facts.References {
			if d := m.Decl(r.In); d != nil && (r.Edge == recountv1.EdgeKind_EDGE_KIND_EXTENDS || r.Edge == recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS) {
				t.bases[d] = append(t.bases[d], r)
			}
		}
	}
	for _, m := range t.p.Modules {
		t.Imports[m] = &FileImports{Types: map[string]*Type{}, Members: map[string][]*Type{}}
		t.lang.ReadImports(t, m)
	}
	for _, c := range t.all {
		for _, part := range c.parts {
			t.typeParams(Spot{Module: part.Mod, In: part.Index}, part, &c.params)
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
		t.lang.Complete(t, c)
	}
	for _, c := range t.all {
		for _, m := range c.Order {
			t.addOverrides(m)
		}
	}
}

// isType reports whether a declaration is a type that has members.
func isType(d *recountv1.Declaration) bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_CLASS, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE,
		recountv1.SymbolKind_SYMBOL_KIND_ENUM, recountv1.SymbolKind_SYMBOL_KIND_STRUCT, recountv1.SymbolKind_SYMBOL_KIND_TYPE:
		return true
	}
	return false
}

func (t *Typer) addClass(m *scope.Module, d *scope.Decl) {
	owner := m.Decl(d.Owner)
	outer := t.classes[owner]
	pkg := m.Name
	for o := owner; o != nil && outer == nil; o = m.Decl(o.Owner) {
		if o.Kind == recountv1.SymbolKind_SYMBOL_KIND_MODULE {
			pkg = Joined(o.Name, pkg)
			if o.Owner == 0 {
				pkg = namespaceOf(m, o)
			}
		}
	}
	var c *Class
	name := t.nameOf(d)
	local := owner != nil && outer == nil && owner.Kind != recountv1.SymbolKind_SYMBOL_KIND_MODULE
	if d.HasModifier("partial") && !local {
		if outer != nil {
			c = outer.types[name]
		} else if same := t.Packages[pkg][name]; len(same) > 0 {
			c = same[0]
		}
		if c != nil {
			c.parts = append(c.parts, d)
			t.classes[d] = c
			return
		}
	}
	c = &Class{
		Decl: d, parts: []*scope.Decl{d}, Pkg: pkg, Name: d.Name, outer: outer,
		Methods: map[string][]*Method{}, Fields: map[string]*field{}, types: map[string]*Class{},
		iface: d.Kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE || d.HasModifier("delegate"),
	}
	t.classes[d] = c
	t.all = append(t.all, c)
	switch {
	case outer != nil:
		c.Name = outer.Name + "." + d.Name
		for _, key := range []string{name, d.Name + "`"} {
			if outer.types[key] == nil {
				outer.types[key] = c
			}
		}
	case local:
		t.locals[localName{m, d.Owner, d.Name}] = c
	default:
		t.addToPackage(c, name)
	}
}

// namespaceOf returns the full name of a namespace at the top of a file.
func namespaceOf(m *scope.Module, d *scope.Decl) string { return Joined(d.Name, m.Name) }

func (t *Typer) addToPackage(c *Class, name string) {
	in := t.Packages[c.Pkg]
	if in == nil {
		in = map[string][]*Class{}
		t.Packages[c.Pkg] = in
	}
	in[name] = append(in[name], c)
	if t.lang.Arity {
		in[c.Name+"`"] = append(in[c.Name+"`"], c)
	}
	for p := c.Pkg; p != ""; p, _ = CutLast(p) {
		t.Prefixes[p] = true
	}
}

// typeParams adds a declaration's type parameters, which the parts of a class share. settleBounds reads
// their bounds later.
func (t *Typer) typeParams(at Spot, d *scope.Decl, into *[]*typeParam) {
	text := d.Attributes["type_parameters"]
	if text == "" {
		return
	}
	if len(*into) > 0 {
		t.params[d] = *into
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

// pendingBound is the bound of a type parameter that is not read yet.
type pendingBound struct {
	at    Spot
	text  string
	param *typeParam
}

// settleBounds reads the bounds that were added since it last ran.
func (t *Typer) settleBounds() {
	for _, b := range t.bounds {
		b.param.bound = t.TypeOf(b.at, b.text)
	}
	t.bounds = nil
}

// splitTypes cuts a list of types at the commas outside brackets.
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
func (t *Typer) addSupers(c *Class) {
	for _, part := range c.parts {
		for _, r := range t.bases[part] {
			// A base is looked up outside the class, but with its type parameters.
			super := t.TypeOf(Spot{Module: part.Mod, In: part.Index, base: true}, cmp.Or(r.Attributes["type"], r.Path))
			switch {
			case super == nil || super.param != nil || super.isUnplaced():
				c.unknown = true
			case super.Class == c:
			default:
				c.supers = append(c.supers, super)
			}
		}
	}
	if base := t.lang.Implied(t, c); base != nil && base.Class != c {
		c.supers = append(c.supers, base)
	}
}

// addMembers adds the methods and fields of one of a class's declarations.
func (t *Typer) addMembers(c *Class, part *scope.Decl) {
	t.settleBounds()
	for _, d := range t.members[part] {
		switch d.Kind {
		case recountv1.SymbolKind_SYMBOL_KIND_METHOD, recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR:
			t.addMethod(c, d)
		case recountv1.SymbolKind_SYMBOL_KIND_FIELD, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER,
			recountv1.SymbolKind_SYMBOL_KIND_CONSTANT:
			if c.Fields[d.Name] == nil {
				c.Fields[d.Name] = &field{d, t.TypeOf(Spot{Module: d.Mod, In: d.Index}, d.Type)}
			}
		}
	}
}

func (t *Typer) addMethod(c *Class, d *scope.Decl) {
	at := Spot{Module: d.Mod, In: d.Index}
	m := &Method{Class: c, Decl: d, Name: d.Name, static: d.HasModifier("static")}
	t.typeParams(at, d, &m.tparams)
	t.settleBounds()
	for _, p := range d.Parameters {
		m.Params = append(m.Params, t.ParameterType(at, p))
		if p.Default == "" && !p.Variadic {
			m.MinArgs++
		}
		m.rest = m.rest || p.Variadic
	}
	m.Result = t.TypeOf(at, d.Type)
	m.Abstract = d.HasModifier("abstract")
	m.extension = d.HasModifier("extension")
	m.Final = m.static || t.isPrivate(m) || d.HasModifier("final") || d.Kind == recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR
	c.Methods[d.Name] = append(c.Methods[d.Name], m)
	c.Order = append(c.Order, m)
	t.methods[d] = m
}

// ParameterType returns the type of a parameter inside its method; a variadic one is an array.
func (t *Typer) ParameterType(at Spot, p *recountv1.Parameter) *Type {
	of := t.TypeOf(at, p.Type)
	if p.Variadic && !t.lang.VariadicArrays {
		return &Type{elem: of}
	}
	return of
}

// addOverrides finds the methods of bases that a method overrides.
func (t *Typer) addOverrides(m *Method) {
	if m.static || m.Decl == nil || m.Decl.Kind == recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR || m.Decl.HasModifier("private") {
		return
	}
	t.inherited(m.Class.own(), func(s *Type) bool {
		if s.Class == nil || s.Class == m.Class {
			return true
		}
		if t.lang.ExplicitOverride && !s.Class.iface && !m.Decl.HasModifier("override") {
			return true
		}
		b := s.bind()
		for _, o := range s.Class.Methods[m.Name] {
			if !o.static && !t.isPrivate(o) && o.Decl != nil && overrides(m, o, b) {
				m.overridden = append(m.overridden, o)
				o.overriders = append(o.overriders, m)
				break
			}
		}
		return true
	})
}
