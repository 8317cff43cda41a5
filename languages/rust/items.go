package rust

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// chain returns the names of the enclosing declarations, joined with dots.
func (r *walker) chain(in uint32) string {
	d := r.Decl(in)
	if d == nil {
		return ""
	}
	up := d.OwnerPath
	if up == "" {
		up = r.chain(d.Owner)
	}
	if up != "" {
		up += "."
	}
	return up + d.Name
}

// impl reads an implementation. It is no declaration; its members are.
func (r *walker) impl(n extract.Ref, s state) {
	typ, trait := r.Field(n, "type"), r.Field(n, "trait")
	s = r.withGenerics(n, s, false)
	r.boundReferences(n, s)
	self := r.typeText(typ, s)
	path := self
	if i := strings.IndexAny(path, "<+"); i >= 0 {
		path = path[:i]
	}
	if path == "" || strings.ContainsAny(path, "([?") {
		path = extract.Unknown
	}
	_, name := extract.SplitLast(path)
	blanket := r.blanket(typ, s)
	if blanket {
		path, name = extract.Unknown, strings.TrimLeft(r.Text(typ), "&* ")
	}
	of := &implementedType{self: self, path: path, name: name, chain: name, reference: r.Kind(typ) == "reference_type"}
	if up := r.chain(s.in); up != "" {
		of.chain = up + "." + name
	}
	s.of, s.exported = of, trait != extract.None
	if trait != extract.None {
		of.trait = r.typeText(trait, s)
		if i := strings.IndexByte(of.trait, '<'); i >= 0 {
			of.trait = of.trait[:i]
		}
		if path != extract.Unknown && of.trait != extract.Unknown {
			ref := r.Refer(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS, s.in, of.trait, r.lastName(trait))
			ref.Attributes = map[string]string{"type": path}
		}
		if r.Kind(trait) == "generic_type" {
			r.annotation(r.Field(trait, "type_arguments"), s)
		}
	}
	r.annotation(typ, s)
	body := r.Field(n, "body")
	s.generics = &generic{"Self", self, s.generics}
	for c := range r.Children(body) {
		if r.Kind(c) == "type_item" {
			s.generics = &generic{"Self::" + r.Text(r.Field(c, "name")), r.typeText(r.Field(c, "type"), s), s.generics}
		}
	}
	r.items(body, s)
}

// blanket reports whether an impl is for a type parameter.
func (r *walker) blanket(typ extract.Ref, s state) bool {
	for r.Kind(typ) == "reference_type" {
		typ = r.Field(typ, "type")
	}
	_, ok := s.generics.find(r.Text(typ))
	return ok
}

// trait declares a trait and its members.
func (r *walker) trait(n extract.Ref, s state) {
	body := r.Field(n, "body")
	in, d := r.item(n, recountv1.SymbolKind_SYMBOL_KIND_TRAIT, r.Start(extract.FirstRef(body, n)), s)
	inner := r.withGenerics(n, state{in: in, test: s.test, exported: d.Exported}, true)
	r.boundReferences(n, inner)
	inner.of = &implementedType{self: d.Name, path: d.Name, name: d.Name, isTrait: true}
	inner.generics = &generic{"Self", d.Name, inner.generics}
	for c := range r.Children(body) { // Self::Name is what its bounds say
		if r.Kind(c) == "associated_type" {
			if bounds := r.boundsText(r.all(r.Field(c, "bounds")), inner); bounds != extract.Unknown {
				inner.generics = &generic{"Self::" + r.Text(r.Field(c, "name")), bounds, inner.generics}
			}
		}
	}
	for b := range r.Children(r.Field(n, "bounds")) {
		if text := r.bound(b, inner); text != "" {
			path, _, _ := strings.Cut(text, "<")
			r.Refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, path, r.lastName(b))
		}
	}
	r.items(body, inner)
}

// typeItem declares a struct, a union or an enum with its fields and variants.
func (r *walker) typeItem(n extract.Ref, kind recountv1.SymbolKind, s state) {
	body := r.Field(n, "body")
	head := r.End(n)
	if body != extract.None {
		head = r.Start(body)
	}
	in, d := r.item(n, kind, head, s)
	inner := r.withGenerics(n, state{in: in, test: s.test}, true)
	r.boundReferences(n, inner)
	for c := range r.Children(r.Field(n, "type_parameters")) {
		if name := r.typeParameter(c); name != "" {
			bounds, _ := r.withGenerics(n, state{}, false).generics.find(name)
			d.Parameters = append(d.Parameters, &recountv1.Parameter{Name: extract.Clip(name, extract.MaxName), Type: extract.KnownPath(bounds)})
		}
	}
	inner.generics = &generic{"Self", d.Name, inner.generics}
	if kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM {
		for v := range r.Children(body) {
			if r.Kind(v) != "enum_variant" {
				continue
			}
			fields := r.Field(v, "body")
			head := r.End(v)
			variant, vd := r.item(v, recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, head, inner)
			vd.Exported = d.Exported
			in := inner
			in.in = variant
			r.fields(fields, in)
			r.visit(r.Field(v, "value"), in)
		}
		return
	}
	r.fields(body, inner)
}

// fields declares the fields of a struct or variant. Those of a tuple are named 0, 1 and so on.
func (r *walker) fields(body extract.Ref, s state) {
	place, public := 0, false
	for c := range r.Children(body) {
		switch {
		case r.Kind(c) == "visibility_modifier":
			public = true
		case r.Kind(c) == "field_declaration":
			typ := r.Field(c, "type")
			_, d := r.item(c, recountv1.SymbolKind_SYMBOL_KIND_FIELD, 0, s)
			d.Type = extract.KnownPath(r.typeText(typ, s))
			r.annotation(typ, s)
		case r.FieldOf(c) == "type":
			_, d := r.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, Name: extract.Decimal(place), In: s.in, Node: c})
			d.Type, d.Exported, d.Test = extract.KnownPath(r.typeText(c, s)), public, s.test
			r.annotation(c, s)
			place, public = place+1, false
		}
	}
}

// constant declares a const or a static.
func (r *walker) constant(n extract.Ref, kind recountv1.SymbolKind, s state) {
	in, d := r.item(n, kind, r.LineEnd(n), s)
	typ := r.Field(n, "type")
	d.Type = extract.KnownPath(r.typeText(typ, s))
	r.annotation(typ, s)
	inner := s.block()
	inner.in = in
	value := r.Field(n, "value")
	if text, ok := r.literal(value); ok && len(text) < 256 && (strings.HasPrefix(text, "/") || r.framework != "" && text != "" && !strings.ContainsAny(text, " \n")) { // the beginning of a route's path
		r.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Pattern: text, In: in}, value)
	}
	r.visit(value, inner)
}

// alias declares another name of a type.
func (r *walker) alias(n extract.Ref, s state) {
	_, d := r.item(n, recountv1.SymbolKind_SYMBOL_KIND_TYPE, 0, s)
	inner := r.withGenerics(n, s, true)
	for c := range r.Children(r.Field(n, "type_parameters")) {
		if name := r.typeParameter(c); name != "" {
			d.Parameters = append(d.Parameters, &recountv1.Parameter{Name: extract.Clip(name, extract.MaxName)})
		}
	}
	typ := r.Field(n, "type")
	d.Type = extract.KnownPath(r.typeText(typ, inner))
	r.annotation(typ, inner)
}

// function declares a function or a member of an impl or trait, and walks it.
func (r *walker) function(n extract.Ref, s state) {
	body := r.Field(n, "body")
	head := uint32(0)
	if body != extract.None {
		head = r.Start(body)
	}
	kind := recountv1.SymbolKind_SYMBOL_KIND_FUNCTION
	if s.of != nil {
		kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
	}
	in, d := r.item(n, kind, head, s)
	d.Test = s.test || r.isTest(n)
	inner := r.withGenerics(n, state{in: in, test: d.Test, generics: s.generics}, false).block()
	r.boundReferences(n, inner)
	if m := r.FirstOf(n, "function_modifiers"); m != extract.None {
		for word := range strings.FieldsSeq(r.Text(m)) {
			if extract.IsName(word) { // not the "C" of extern "C"
				d.Modifiers = append(d.Modifiers, word)
			}
		}
	}
	method := false
	for c := range r.Children(r.Field(n, "parameters")) {
		p := &recountv1.Parameter{}
		switch k := r.Kind(c); {
		case k == "self_parameter" || k == "parameter" && r.Text(r.Field(c, "pattern")) == "self":
			method = true
			p.Name = "self"
			if s.of != nil {
				p.Type = extract.KnownPath(s.of.self)
			}
		case k == "parameter":
			typ, pattern := r.Field(c, "type"), r.Field(c, "pattern")
			p.Type = extract.KnownPath(r.typeText(typ, inner))
			r.annotation(typ, inner)
			if r.Kind(pattern) == "identifier" {
				p.Name = extract.Clip(r.local(r.Text(pattern), inner), extract.MaxName)
			} else {
				p.Name = "<" + extract.Decimal(len(d.Parameters)) + ">"
				r.bindPattern(pattern, p.Name, inner, nil)
			}
		case k == "variadic_parameter":
			p.Name, p.Variadic = "...", true
		default:
			continue
		}
		d.Parameters = append(d.Parameters, p)
	}
	if s.of != nil && !method {
		d.Modifiers = append(d.Modifiers, "static")
	}
	if typ := r.Field(n, "return_type"); typ != extract.None {
		d.Type = extract.KnownPath(r.typeText(typ, inner))
		r.annotation(typ, inner)
	}
	r.attributeRoutes(n, in, d.Name)
	r.documentedRoutes(n, in, d.Name)
	if body != extract.None {
		r.valueInto(body, "return", inner)
	}
}
