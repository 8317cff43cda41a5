package csharp

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// declared adds the declaration of n and its decorators.
func (c *walker) declared(n extract.Ref, d extract.Declaration, s state) (uint32, *recountv1.Declaration, []extract.Ref) {
	var attributes []extract.Ref
	var words []string
	start := extract.None
	for k := c.First(n); k != extract.None; k = c.Next(k) {
		switch c.Kind(k) {
		case "attribute_list":
			for a := range c.Children(k) {
				if c.Kind(a) == "attribute" {
					attributes = append(attributes, a)
				}
			}
			continue
		case "modifier":
			words = append(words, c.Text(k))
		case "comment":
			continue
		}
		if start == extract.None {
			start = k
		}
	}
	d.In, d.Doc, d.Start, d.End, d.From = s.in, summary(c.CommentBefore(n)), c.Start(extract.FirstRef(start, n)), c.End(n), c.Start(n)
	if body := extract.FirstRef(c.Field(n, "body"), c.Field(n, "accessors")); body != extract.None {
		if d.Head == 0 {
			d.Head = c.Start(body)
		}
		if c.Src[c.Start(body)] == ';' { // see withBodies
			d.End = c.Start(body) + 1
		}
	}
	in, decl := c.Builder.Declare(d)
	decl.Modifiers = words
	for _, a := range attributes {
		name := c.Field(a, "name")
		c.Refer(recountv1.EdgeKind_EDGE_KIND_DECORATES, in, extract.Erased(c.typePath(name)), c.typeName(name))
		for k := range c.Children(c.FirstOf(a, "attribute_argument_list")) {
			c.visit(k, state{in: in, names: s.names})
		}
	}
	decl.Exported = (s.class == 0 || s.exported) && (s.public || extract.HasWord(words, "public") || extract.HasWord(words, "protected"))
	return in, decl, attributes
}

// summary removes the markup of XML documentation.
func summary(doc string) string {
	if !strings.Contains(doc, "<summary>") {
		return doc
	}
	doc = strings.NewReplacer("<summary>", "", "</summary>", "").Replace(doc)
	return strings.TrimSpace(extract.Dedent(doc))
}

var csharpKinds = map[string]recountv1.SymbolKind{
	"class_declaration": recountv1.SymbolKind_SYMBOL_KIND_CLASS, "record_declaration": recountv1.SymbolKind_SYMBOL_KIND_CLASS,
	"interface_declaration": recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, "struct_declaration": recountv1.SymbolKind_SYMBOL_KIND_STRUCT,
	"enum_declaration": recountv1.SymbolKind_SYMBOL_KIND_ENUM,
}

// class declares a class, struct, interface, record or enum and walks it.
func (c *walker) class(n extract.Ref, s state) {
	name, body := c.Text(c.Field(n, "name")), c.Field(n, "body")
	if name == "" {
		c.block(n, s)
		return
	}
	if c.isExtensions(n) {
		c.extensions(n, s)
		return
	}
	kind := csharpKinds[c.Kind(n)]
	if c.Kind(n) == "record_declaration" && c.Has(n, "struct") {
		kind = recountv1.SymbolKind_SYMBOL_KIND_STRUCT
	}
	in, decl, attributes := c.declared(n, extract.Declaration{Kind: kind, Name: name}, s)
	if c.Kind(n) == "record_declaration" {
		decl.Modifiers = append(decl.Modifiers, "record")
	}
	of := state{
		in: in, class: in, names: &extract.Block{Up: s.names, Names: map[string]string{}, Members: c.fieldNames(body)}, exported: decl.Exported,
		public: kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE || kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM,
	}
	c.typeParameters(n, decl, of)
	decl.Test = s.test || c.isTestClass(attributes, body)
	of.test = decl.Test
	if params := c.FirstOf(n, "parameter_list"); params != extract.None {
		decl.Parameters = c.parameters(params, of)
		if extract.HasWord(decl.Modifiers, "record") {
			c.components(params, of)
		}
	}
	c.basesOf(n, kind, of)
	c.classRoutes(attributes, in, name, &of)
	c.block(body, of)
}

// fieldNames returns the fields and properties that a body declares.
func (c *walker) fieldNames(body extract.Ref) map[string]bool {
	names := map[string]bool{}
	for k := range c.Children(body) {
		switch c.Kind(k) {
		case "field_declaration", "event_field_declaration":
			for d := range c.Children(c.FirstOf(k, "variable_declaration")) {
				if c.Kind(d) == "variable_declarator" {
					names[c.Text(c.Field(d, "name"))] = true
				}
			}
		case "property_declaration":
			names[c.Text(c.Field(k, "name"))] = true
		}
	}
	return names
}

// components declares the properties that the parameters of a record are.
func (c *walker) components(params extract.Ref, s state) {
	for p := range c.Children(params) {
		name := c.Text(c.Field(p, "name"))
		if name == "" {
			continue
		}
		s := s
		s.public = true
		_, decl, _ := c.declared(p, extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, Name: name}, s)
		decl.Type = extract.KnownPath(c.typePath(c.Field(p, "type")))
	}
}

// basesOf adds references to the bases of a type. By convention a base with a name like IName is
// an interface.
func (c *walker) basesOf(n extract.Ref, kind recountv1.SymbolKind, s state) {
	list := c.FirstOf(n, "base_list")
	if kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM {
		return
	}
	for b := range c.Children(list) {
		if c.Kind(b) == "argument_list" {
			r := c.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, "super.ctor", b)
			c.arguments(r, b, s)
			continue
		}
		typ, args := b, extract.None
		if c.Kind(b) == "primary_constructor_base_type" {
			typ, args = extract.FirstRef(c.Field(b, "type"), c.Child(b, 0)), c.FirstOf(b, "argument_list")
		}
		full := c.typePath(typ)
		_, name := extract.SplitLast(extract.Erased(full))
		edge := recountv1.EdgeKind_EDGE_KIND_EXTENDS
		if kind == recountv1.SymbolKind_SYMBOL_KIND_STRUCT ||
			kind != recountv1.SymbolKind_SYMBOL_KIND_INTERFACE && len(name) > 1 && name[0] == 'I' && name[1] >= 'A' && name[1] <= 'Z' {
			edge = recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS
		}
		r := c.Refer(edge, s.in, extract.Erased(full), c.typeName(typ))
		if extract.Erased(full) != full {
			r.Attributes = map[string]string{"type": full}
			c.annotation(c.FirstOf(typ, "type_argument_list"), s)
		}
		if args != extract.None {
			r := c.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, "super.ctor", args)
			c.arguments(r, args, s)
		}
	}
}

// typeParameters returns the type parameters with their first bounds.
func (c *walker) typeParameters(n extract.Ref, decl *recountv1.Declaration, s state) {
	bounds := map[string]string{}
	for k := range c.Children(n) {
		if c.Kind(k) != "type_parameter_constraints_clause" {
			continue
		}
		name := c.Text(c.Child(k, 0))
		for b := range c.Children(k) {
			if typ := c.Field(b, "type"); typ != extract.None {
				if bounds[name] == "" {
					bounds[name] = c.typePath(typ)
				}
				c.annotation(typ, s)
			}
		}
	}
	var all []string
	for p := range c.Children(extract.FirstRef(c.FirstOf(n, "type_parameter_list"), c.Field(n, "type_parameters"))) {
		name := c.Text(c.Field(p, "name"))
		c.File.Names.Locals[extract.NameIn{In: s.in, Name: name}] = true
		if b := extract.KnownPath(bounds[name]); b != "" {
			name += " extends " + b
		}
		all = append(all, name)
	}
	if len(all) > 0 {
		decl.Attributes = map[string]string{extract.TypeParametersKey: extract.Clip(strings.Join(all, ", "), extract.MaxValue)}
	}
}

// delegate declares a function type.
func (c *walker) delegate(n extract.Ref, s state) {
	name := c.Text(c.Field(n, "name"))
	if name == "" {
		return
	}
	in, decl, _ := c.declared(n, extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_TYPE, Name: name}, s)
	decl.Modifiers = append(decl.Modifiers, "delegate")
	of := state{in: in, class: in, names: extract.Inner(nil)}
	c.typeParameters(n, decl, of)
	decl.Parameters = c.parameters(c.Field(n, "parameters"), of)
	decl.Type = extract.KnownPath(c.typePath(c.Field(n, "type")))
	c.annotation(c.Field(n, "type"), of)
}

// method declares a method, constructor, operator or local function and walks it.
func (c *walker) method(n extract.Ref, s state) {
	name := c.Text(c.Field(n, "name"))
	d := extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_METHOD, Name: name}
	typ := extract.FirstRef(c.Field(n, "returns"), c.Field(n, "type"))
	switch c.Kind(n) {
	case "constructor_declaration":
		d.Kind, d.Name = recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, "ctor"
	case "destructor_declaration":
		d.Name = "~" + name
	case "operator_declaration":
		d.Name = "operator " + c.Text(c.Field(n, "operator"))
	case "conversion_operator_declaration":
		d.Name = "operator " + c.typePath(typ)
	case "local_function_statement":
		d.Kind = recountv1.SymbolKind_SYMBOL_KIND_FUNCTION
	}
	if d.Name == "" {
		c.block(n, s)
		return
	}
	outer := s
	if d.Kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION {
		outer.class, outer.public = 0, false
	}
	in, decl, attributes := c.declared(n, d, outer)
	if extract.HasWord(decl.Modifiers, "static") && d.Kind == recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR {
		decl.Name = "static ctor"
	}
	body := c.Field(n, "body")
	if c.FirstOf(n, "explicit_interface_specifier") != extract.None {
		decl.Modifiers = append(decl.Modifiers, "explicit")
	}
	if s.public && body == extract.None {
		decl.Modifiers = append(decl.Modifiers, "abstract") // implied
	}
	decl.Test = s.test || c.isTest(attributes)
	inside := state{in: in, class: s.class, names: extract.Inner(s.names), test: decl.Test}
	c.typeParameters(n, decl, inside)
	if typ != extract.None {
		decl.Type = extract.KnownPath(c.typePath(typ))
		c.annotation(typ, inside)
	}
	params := c.Field(n, "parameters")
	decl.Parameters = c.parameters(params, inside)
	if s.receiver > 0 && d.Kind == recountv1.SymbolKind_SYMBOL_KIND_METHOD {
		c.receive(decl, s, inside)
	}
	if extract.HasWord(c.wordsOf(c.Child(params, 0)), "this") {
		decl.Modifiers = append(decl.Modifiers, "extension")
	}
	if init := c.FirstOf(n, "constructor_initializer"); init != extract.None {
		path := "self.ctor"
		at := c.FirstOf(init, "this")
		if c.Has(init, "base") {
			path, at = "super.ctor", c.FirstOf(init, "base")
		}
		r := c.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, in, path, extract.FirstRef(at, init))
		c.arguments(r, c.FirstOf(init, "argument_list"), inside)
	}
	c.methodRoutes(attributes, in, c.Field(n, "name"), s)
	if decl.Name == "TransformOutbound" {
		c.transformer(n, s.class)
	}
	c.visit(body, inside)
}

// wordsOf returns the modifiers of n.
func (c *walker) wordsOf(n extract.Ref) []string {
	var words []string
	for k := range c.Children(n) {
		if c.Kind(k) == "modifier" {
			words = append(words, c.Text(k))
		}
	}
	return words
}

// parameters reads the parameters of a method, which are local to s.in. An optional one has a
// default, "?" if it is not known.
func (c *walker) parameters(params extract.Ref, s state) []*recountv1.Parameter {
	var all []*recountv1.Parameter
	add := func(name, typ extract.Ref) *recountv1.Parameter {
		p := &recountv1.Parameter{Name: extract.Clip(extract.FirstOf(c.Text(name), extract.Unknown), extract.MaxName), Type: extract.KnownPath(c.typePath(typ))}
		c.Blocks.Parameter(s.names, s.in, p.Name)
		c.annotation(typ, s)
		all = append(all, p)
		return p
	}
	for k := range c.Children(params) {
		switch {
		case c.Kind(k) == "parameter":
			name := c.Field(k, "name")
			p := add(name, c.Field(k, "type"))
			for v := range c.Children(k) {
				if f := c.FieldOf(v); f == "" && c.Kind(v) != "modifier" && c.Kind(v) != "attribute_list" {
					p.Default = c.path(v, s)
					c.visit(v, s)
				}
			}
		case c.FieldOf(k) == "type": // params T[] names, which the grammar puts directly into the list
			add(c.Field(params, "name"), k).Variadic = true
		}
	}
	return all
}

// property declares a property, indexer or event, and walks its accessors.
func (c *walker) property(n extract.Ref, s state) {
	name := c.Text(c.Field(n, "name"))
	if c.Kind(n) == "indexer_declaration" {
		name = "this[]"
	}
	if name == "" {
		return
	}
	head := uint32(0)
	if v := c.Field(n, "value"); v != extract.None {
		head = c.Start(v)
	}
	in, decl, _ := c.declared(n, extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, Name: name, Head: head}, s)
	decl.Signature = strings.TrimSuffix(strings.TrimRight(decl.Signature, " ;"), " =")
	typ := c.Field(n, "type")
	decl.Type, decl.Test = extract.KnownPath(c.typePath(typ)), s.test
	inside := state{in: in, class: s.class, names: extract.Inner(s.names), test: s.test}
	decl.Parameters = c.parameters(c.Field(n, "parameters"), inside)
	c.annotation(typ, inside)
	for a := range c.Children(c.Field(n, "accessors")) {
		accessor := inside.nested()
		if c.Has(a, "set") || c.Has(a, "init") {
			if body := c.Field(a, "body"); body != extract.None && decl.Type != "" {
				accessor.names.Names["value"] = "value"
				c.Bind(in, "value", extract.Unknown, decl.Type, body)
			}
		}
		c.visit(c.Field(a, "body"), accessor)
	}
	c.argument(c.Field(n, "value"), extract.OfType(decl.Type), -1, inside)
}

// fieldsOf declares the fields of a declaration, each with its initializer.
func (c *walker) fieldsOf(n extract.Ref, s state) {
	list := c.FirstOf(n, "variable_declaration")
	typ := c.Field(list, "type")
	first := true
	for d := range c.Children(list) {
		name := c.Text(c.Field(d, "name"))
		if c.Kind(d) != "variable_declarator" || name == "" {
			continue
		}
		value := c.valueOf(d)
		head := uint32(0)
		if value != extract.None {
			head = c.Start(value)
		}
		in, decl, _ := c.declared(n, extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, Name: name, Head: head}, s)
		decl.Signature = strings.TrimSuffix(strings.TrimRight(decl.Signature, " ;"), " =")
		if !first {
			decl.Start = c.Place(c.Start(d))
		}
		first = false
		decl.Type, decl.Test = extract.KnownPath(c.typePath(typ)), s.test
		if extract.HasWord(decl.Modifiers, "const") {
			c.textConstant(name, value, s.in)
		}
		inside := s
		inside.in = in
		c.annotation(typ, inside)
		c.argument(value, extract.OfType(decl.Type), -1, inside)
	}
}

// valueOf returns the initializer of a variable: the last expression after its name.
func (c *walker) valueOf(d extract.Ref) extract.Ref {
	value := extract.None
	for k := range c.Children(d) {
		if c.FieldOf(k) != "name" && c.Kind(k) != "tuple_pattern" && c.Kind(k) != "bracketed_argument_list" {
			value = k
		}
	}
	return value
}
