package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// chain is the names of the declarations around, joined with dots.
func (r *rustFile) chain(in uint32) string {
	d := r.decl(in)
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

// impl reads an implementation: it is no declaration, its members are.
func (r *rustFile) impl(n ref, s rustScope) {
	typ, trait := r.field(n, "type"), r.field(n, "trait")
	s = r.withGenerics(n, s, false)
	r.boundReferences(n, s)
	self := r.typeText(typ, s)
	path := self
	if i := strings.IndexAny(path, "<+"); i >= 0 {
		path = path[:i]
	}
	if path == "" || strings.ContainsAny(path, "([?") {
		path = unknown
	}
	_, name := splitLast(path)
	blanket := r.blanket(typ, s)
	if blanket {
		path, name = unknown, strings.TrimLeft(r.text(typ), "&* ")
	}
	of := &rustImpl{self: self, path: path, name: name, chain: name}
	if up := r.chain(s.in); up != "" {
		of.chain = up + "." + name
	}
	s.of, s.exported = of, trait != none
	if trait != none {
		of.trait = r.typeText(trait, s)
		if i := strings.IndexByte(of.trait, '<'); i >= 0 {
			of.trait = of.trait[:i]
		}
		if path != unknown && of.trait != unknown {
			ref := r.refer(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS, s.in, of.trait, r.lastName(trait))
			ref.Attributes = map[string]string{"type": path}
		}
		if r.kind(trait) == "generic_type" {
			r.annotation(r.field(trait, "type_arguments"), s)
		}
	}
	r.annotation(typ, s)
	body := r.field(n, "body")
	s.generics = &generic{"Self", self, s.generics}
	for c := range r.children(body) {
		if r.kind(c) == "type_item" {
			s.generics = &generic{"Self::" + r.text(r.field(c, "name")), r.typeText(r.field(c, "type"), s), s.generics}
		}
	}
	r.items(body, s)
}

// blanket reports whether an impl is for a type parameter.
func (r *rustFile) blanket(typ ref, s rustScope) bool {
	for r.kind(typ) == "reference_type" {
		typ = r.field(typ, "type")
	}
	_, ok := s.generics.find(r.text(typ))
	return ok
}

// trait declares a trait and what is in it.
func (r *rustFile) trait(n ref, s rustScope) {
	body := r.field(n, "body")
	in, d := r.item(n, recountv1.SymbolKind_SYMBOL_KIND_TRAIT, r.start(firstRef(body, n)), s)
	inner := r.withGenerics(n, rustScope{in: in, test: s.test, exported: d.Exported}, true)
	r.boundReferences(n, inner)
	inner.of = &rustImpl{self: d.Name, path: d.Name, name: d.Name, isTrait: true}
	inner.generics = &generic{"Self", d.Name, inner.generics}
	for b := range r.children(r.field(n, "bounds")) {
		if text := r.bound(b, inner); text != "" {
			path, _, _ := strings.Cut(text, "<")
			r.refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, path, r.lastName(b))
		}
	}
	r.items(body, inner)
}

// typeItem declares a struct, a union or an enum with its fields and variants.
func (r *rustFile) typeItem(n ref, kind recountv1.SymbolKind, s rustScope) {
	body := r.field(n, "body")
	head := r.end(n)
	if body != none {
		head = r.start(body)
	}
	in, d := r.item(n, kind, head, s)
	inner := r.withGenerics(n, rustScope{in: in, test: s.test}, true)
	r.boundReferences(n, inner)
	for c := range r.children(r.field(n, "type_parameters")) {
		if name := r.typeParameter(c); name != "" {
			bounds, _ := r.withGenerics(n, rustScope{}, false).generics.find(name)
			d.Parameters = append(d.Parameters, &recountv1.Parameter{Name: clip(name, maxName), Type: knownPath(bounds)})
		}
	}
	inner.generics = &generic{"Self", d.Name, inner.generics}
	if kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM {
		for v := range r.children(body) {
			if r.kind(v) != "enum_variant" {
				continue
			}
			fields := r.field(v, "body")
			head := r.end(v)
			variant, vd := r.item(v, recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, head, inner)
			vd.Exported = d.Exported
			in := inner
			in.in = variant
			r.fields(fields, in)
			r.visit(r.field(v, "value"), in)
		}
		return
	}
	r.fields(body, inner)
}

// fields declares the fields of a struct or variant; of a tuple they are named 0, 1, ….
func (r *rustFile) fields(body ref, s rustScope) {
	place, public := 0, false
	for c := range r.children(body) {
		switch {
		case r.kind(c) == "visibility_modifier":
			public = true
		case r.kind(c) == "field_declaration":
			typ := r.field(c, "type")
			_, d := r.item(c, recountv1.SymbolKind_SYMBOL_KIND_FIELD, 0, s)
			d.Type = knownPath(r.typeText(typ, s))
			r.annotation(typ, s)
		case r.fieldOf(c) == "type":
			_, d := r.declare(declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, name: decimal(place), in: s.in, node: c})
			d.Type, d.Exported, d.Test = knownPath(r.typeText(c, s)), public, s.test
			r.annotation(c, s)
			place, public = place+1, false
		}
	}
}

// constant declares a const or a static.
func (r *rustFile) constant(n ref, kind recountv1.SymbolKind, s rustScope) {
	in, d := r.item(n, kind, r.lineEnd(n), s)
	typ := r.field(n, "type")
	d.Type = knownPath(r.typeText(typ, s))
	r.annotation(typ, s)
	inner := s.block()
	inner.in = in
	r.visit(r.field(n, "value"), inner)
}

// alias declares a type of another name.
func (r *rustFile) alias(n ref, s rustScope) {
	_, d := r.item(n, recountv1.SymbolKind_SYMBOL_KIND_TYPE, 0, s)
	inner := r.withGenerics(n, s, true)
	for c := range r.children(r.field(n, "type_parameters")) {
		if name := r.typeParameter(c); name != "" {
			d.Parameters = append(d.Parameters, &recountv1.Parameter{Name: clip(name, maxName)})
		}
	}
	typ := r.field(n, "type")
	d.Type = knownPath(r.typeText(typ, inner))
	r.annotation(typ, inner)
}

// function declares a function or a member of an impl or trait, and walks it.
func (r *rustFile) function(n ref, s rustScope) {
	body := r.field(n, "body")
	head := uint32(0)
	if body != none {
		head = r.start(body)
	}
	kind := recountv1.SymbolKind_SYMBOL_KIND_FUNCTION
	if s.of != nil {
		kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
	}
	in, d := r.item(n, kind, head, s)
	d.Test = s.test || r.isTest(n)
	inner := r.withGenerics(n, rustScope{in: in, test: d.Test, generics: s.generics}, false).block()
	r.boundReferences(n, inner)
	if m := r.firstOf(n, "function_modifiers"); m != none {
		for word := range strings.FieldsSeq(r.text(m)) {
			if isName(word) { // not the "C" of extern "C"
				d.Modifiers = append(d.Modifiers, word)
			}
		}
	}
	method := false
	for c := range r.children(r.field(n, "parameters")) {
		p := &recountv1.Parameter{}
		switch k := r.kind(c); {
		case k == "self_parameter" || k == "parameter" && r.text(r.field(c, "pattern")) == "self":
			method = true
			p.Name = "self"
			if s.of != nil {
				p.Type = knownPath(s.of.self)
			}
		case k == "parameter":
			typ, pattern := r.field(c, "type"), r.field(c, "pattern")
			p.Type = knownPath(r.typeText(typ, inner))
			r.annotation(typ, inner)
			if r.kind(pattern) == "identifier" {
				p.Name = clip(r.local(r.text(pattern), inner), maxName)
			} else {
				p.Name = "<" + decimal(len(d.Parameters)) + ">"
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
	if typ := r.field(n, "return_type"); typ != none {
		d.Type = knownPath(r.typeText(typ, inner))
		r.annotation(typ, inner)
	}
	r.attributeRoutes(n, in, d.Name)
	if body != none {
		r.valueInto(body, "return", inner)
	}
}
