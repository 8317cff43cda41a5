package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// declared declares n and decorates it.
func (c *csharpFile) declared(n ref, d declaration, s csharpScope) (uint32, *recountv1.Declaration, []ref) {
	var attributes []ref
	var words []string
	start := none
	for k := c.first(n); k != none; k = c.next(k) {
		switch c.kind(k) {
		case "attribute_list":
			for a := range c.children(k) {
				if c.kind(a) == "attribute" {
					attributes = append(attributes, a)
				}
			}
			continue
		case "modifier":
			words = append(words, c.text(k))
		case "comment":
			continue
		}
		if start == none {
			start = k
		}
	}
	d.in, d.doc, d.start, d.end, d.from = s.in, summary(c.commentBefore(n)), c.start(firstRef(start, n)), c.end(n), c.start(n)
	if body := firstRef(c.field(n, "body"), c.field(n, "accessors")); body != none && d.head == 0 {
		d.head = c.start(body)
	}
	in, decl := c.builder.declare(d)
	decl.Modifiers = words
	for _, a := range attributes {
		name := c.field(a, "name")
		c.refer(recountv1.EdgeKind_EDGE_KIND_DECORATES, in, erased(c.typePath(name)), c.typeName(name))
		for k := range c.children(c.firstOf(a, "attribute_argument_list")) {
			c.visit(k, csharpScope{in: in, names: s.names})
		}
	}
	decl.Exported = (s.class == 0 || s.exported) && (s.public || hasWord(words, "public") || hasWord(words, "protected"))
	return in, decl, attributes
}

// summary takes the marks of XML documentation off.
func summary(doc string) string {
	if !strings.Contains(doc, "<summary>") {
		return doc
	}
	doc = strings.NewReplacer("<summary>", "", "</summary>", "").Replace(doc)
	return strings.TrimSpace(dedent(doc))
}

var csharpKinds = map[string]recountv1.SymbolKind{
	"class_declaration": recountv1.SymbolKind_SYMBOL_KIND_CLASS, "record_declaration": recountv1.SymbolKind_SYMBOL_KIND_CLASS,
	"interface_declaration": recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, "struct_declaration": recountv1.SymbolKind_SYMBOL_KIND_STRUCT,
	"enum_declaration": recountv1.SymbolKind_SYMBOL_KIND_ENUM,
}

// class declares a class, struct, interface, record or enum and walks it.
func (c *csharpFile) class(n ref, s csharpScope) {
	name, body := c.text(c.field(n, "name")), c.field(n, "body")
	if name == "" {
		c.block(n, s)
		return
	}
	kind := csharpKinds[c.kind(n)]
	if c.kind(n) == "record_declaration" && c.has(n, "struct") {
		kind = recountv1.SymbolKind_SYMBOL_KIND_STRUCT
	}
	in, decl, attributes := c.declared(n, declaration{kind: kind, name: name}, s)
	if c.kind(n) == "record_declaration" {
		decl.Modifiers = append(decl.Modifiers, "record")
	}
	of := csharpScope{
		in: in, class: in, names: &block{up: s.names, names: map[string]string{}, members: c.fieldNames(body)}, exported: decl.Exported,
		public: kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE || kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM,
	}
	c.typeParameters(n, decl, of)
	decl.Test = s.test || c.isTestClass(attributes, body)
	of.test = decl.Test
	if params := c.firstOf(n, "parameter_list"); params != none {
		decl.Parameters = c.parameters(params, of)
		if hasWord(decl.Modifiers, "record") {
			c.components(params, of)
		}
	}
	c.basesOf(n, kind, of)
	c.classRoutes(attributes, in, name, &of)
	c.block(body, of)
}

// fieldNames are the fields and properties that a body declares.
func (c *csharpFile) fieldNames(body ref) map[string]bool {
	names := map[string]bool{}
	for k := range c.children(body) {
		switch c.kind(k) {
		case "field_declaration", "event_field_declaration":
			for d := range c.children(c.firstOf(k, "variable_declaration")) {
				if c.kind(d) == "variable_declarator" {
					names[c.text(c.field(d, "name"))] = true
				}
			}
		case "property_declaration":
			names[c.text(c.field(k, "name"))] = true
		}
	}
	return names
}

// components declares the properties that a record's parameters are.
func (c *csharpFile) components(params ref, s csharpScope) {
	for p := range c.children(params) {
		name := c.text(c.field(p, "name"))
		if name == "" {
			continue
		}
		s := s
		s.public = true
		_, decl, _ := c.declared(p, declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, name: name}, s)
		decl.Type = knownPath(c.typePath(c.field(p, "type")))
	}
}

// basesOf refers to the bases of a type. Which of them are interfaces their names say,
// as is the custom: IName.
func (c *csharpFile) basesOf(n ref, kind recountv1.SymbolKind, s csharpScope) {
	list := c.firstOf(n, "base_list")
	if kind == recountv1.SymbolKind_SYMBOL_KIND_ENUM {
		return
	}
	for b := range c.children(list) {
		if c.kind(b) == "argument_list" {
			r := c.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, "super.ctor", b)
			c.arguments(r, b, s)
			continue
		}
		typ, args := b, none
		if c.kind(b) == "primary_constructor_base_type" {
			typ, args = firstRef(c.field(b, "type"), c.child(b, 0)), c.firstOf(b, "argument_list")
		}
		full := c.typePath(typ)
		_, name := splitLast(erased(full))
		edge := recountv1.EdgeKind_EDGE_KIND_EXTENDS
		if kind == recountv1.SymbolKind_SYMBOL_KIND_STRUCT ||
			kind != recountv1.SymbolKind_SYMBOL_KIND_INTERFACE && len(name) > 1 && name[0] == 'I' && name[1] >= 'A' && name[1] <= 'Z' {
			edge = recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS
		}
		r := c.refer(edge, s.in, erased(full), c.typeName(typ))
		if erased(full) != full {
			r.Attributes = map[string]string{"type": full}
			c.annotation(c.firstOf(typ, "type_argument_list"), s)
		}
		if args != none {
			r := c.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, "super.ctor", args)
			c.arguments(r, args, s)
		}
	}
}

// typeParameters notes them with their first bounds.
func (c *csharpFile) typeParameters(n ref, decl *recountv1.Declaration, s csharpScope) {
	bounds := map[string]string{}
	for k := range c.children(n) {
		if c.kind(k) != "type_parameter_constraints_clause" {
			continue
		}
		name := c.text(c.child(k, 0))
		for b := range c.children(k) {
			if typ := c.field(b, "type"); typ != none {
				if bounds[name] == "" {
					bounds[name] = c.typePath(typ)
				}
				c.annotation(typ, s)
			}
		}
	}
	var all []string
	for p := range c.children(firstRef(c.firstOf(n, "type_parameter_list"), c.field(n, "type_parameters"))) {
		name := c.text(c.field(p, "name"))
		c.file.names.locals[nameIn{s.in, name}] = true
		if b := knownPath(bounds[name]); b != "" {
			name += " extends " + b
		}
		all = append(all, name)
	}
	if len(all) > 0 {
		decl.Attributes = map[string]string{typeParametersKey: clip(strings.Join(all, ", "), maxValue)}
	}
}

// delegate declares a type of functions.
func (c *csharpFile) delegate(n ref, s csharpScope) {
	name := c.text(c.field(n, "name"))
	if name == "" {
		return
	}
	in, decl, _ := c.declared(n, declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_TYPE, name: name}, s)
	decl.Modifiers = append(decl.Modifiers, "delegate")
	of := csharpScope{in: in, class: in, names: inner(nil)}
	c.typeParameters(n, decl, of)
	decl.Parameters = c.parameters(c.field(n, "parameters"), of)
	decl.Type = knownPath(c.typePath(c.field(n, "type")))
	c.annotation(c.field(n, "type"), of)
}

// method declares a method, constructor, operator or local function and walks it.
func (c *csharpFile) method(n ref, s csharpScope) {
	name := c.text(c.field(n, "name"))
	d := declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_METHOD, name: name}
	typ := firstRef(c.field(n, "returns"), c.field(n, "type"))
	switch c.kind(n) {
	case "constructor_declaration":
		d.kind, d.name = recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, "ctor"
	case "destructor_declaration":
		d.name = "~" + name
	case "operator_declaration":
		d.name = "operator " + c.text(c.field(n, "operator"))
	case "conversion_operator_declaration":
		d.name = "operator " + c.typePath(typ)
	case "local_function_statement":
		d.kind = recountv1.SymbolKind_SYMBOL_KIND_FUNCTION
	}
	if d.name == "" {
		c.block(n, s)
		return
	}
	outer := s
	if d.kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION {
		outer.class, outer.public = 0, false
	}
	in, decl, attributes := c.declared(n, d, outer)
	if hasWord(decl.Modifiers, "static") && d.kind == recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR {
		decl.Name = "static ctor"
	}
	body := c.field(n, "body")
	if s.public && body == none {
		decl.Modifiers = append(decl.Modifiers, "abstract") // without saying so
	}
	decl.Test = s.test || c.isTest(attributes)
	inside := csharpScope{in: in, class: s.class, names: inner(s.names), test: decl.Test}
	c.typeParameters(n, decl, inside)
	if typ != none {
		decl.Type = knownPath(c.typePath(typ))
		c.annotation(typ, inside)
	}
	params := c.field(n, "parameters")
	decl.Parameters = c.parameters(params, inside)
	if hasWord(c.wordsOf(c.child(params, 0)), "this") {
		decl.Modifiers = append(decl.Modifiers, "extension")
	}
	if init := c.firstOf(n, "constructor_initializer"); init != none {
		path := "self.ctor"
		at := c.firstOf(init, "this")
		if c.has(init, "base") {
			path, at = "super.ctor", c.firstOf(init, "base")
		}
		r := c.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, in, path, firstRef(at, init))
		c.arguments(r, c.firstOf(init, "argument_list"), inside)
	}
	c.methodRoutes(attributes, in, decl.Name, s)
	c.visit(body, inside)
}

// wordsOf are the modifiers of n.
func (c *csharpFile) wordsOf(n ref) []string {
	var words []string
	for k := range c.children(n) {
		if c.kind(k) == "modifier" {
			words = append(words, c.text(k))
		}
	}
	return words
}

// parameters reads those of a method, which are local to s.in. An optional one has a
// default, "?" where it is not known.
func (c *csharpFile) parameters(params ref, s csharpScope) []*recountv1.Parameter {
	var all []*recountv1.Parameter
	add := func(name, typ ref) *recountv1.Parameter {
		p := &recountv1.Parameter{Name: clip(firstOf(c.text(name), unknown), maxName), Type: knownPath(c.typePath(typ))}
		c.blocks.parameter(s.names, s.in, p.Name)
		c.annotation(typ, s)
		all = append(all, p)
		return p
	}
	for k := range c.children(params) {
		switch {
		case c.kind(k) == "parameter":
			name := c.field(k, "name")
			p := add(name, c.field(k, "type"))
			for v := range c.children(k) {
				if f := c.fieldOf(v); f == "" && c.kind(v) != "modifier" && c.kind(v) != "attribute_list" {
					p.Default = c.path(v, s)
					c.visit(v, s)
				}
			}
		case c.fieldOf(k) == "type": // params T[] names, which stand in the list itself
			add(c.field(params, "name"), k).Variadic = true
		}
	}
	return all
}

// property declares a property, indexer or event, and walks its accessors.
func (c *csharpFile) property(n ref, s csharpScope) {
	name := c.text(c.field(n, "name"))
	if c.kind(n) == "indexer_declaration" {
		name = "this[]"
	}
	if name == "" {
		return
	}
	head := uint32(0)
	if v := c.field(n, "value"); v != none {
		head = c.start(v)
	}
	in, decl, _ := c.declared(n, declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, name: name, head: head}, s)
	decl.Signature = strings.TrimSuffix(strings.TrimRight(decl.Signature, " ;"), " =")
	typ := c.field(n, "type")
	decl.Type, decl.Test = knownPath(c.typePath(typ)), s.test
	inside := csharpScope{in: in, class: s.class, names: inner(s.names), test: s.test}
	decl.Parameters = c.parameters(c.field(n, "parameters"), inside)
	c.annotation(typ, inside)
	for a := range c.children(c.field(n, "accessors")) {
		accessor := inside.nested()
		if c.has(a, "set") || c.has(a, "init") {
			if body := c.field(a, "body"); body != none && decl.Type != "" {
				accessor.names.names["value"] = "value"
				c.bind(in, "value", unknown, decl.Type, body)
			}
		}
		c.visit(c.field(a, "body"), accessor)
	}
	c.argument(c.field(n, "value"), ofType(decl.Type), -1, inside)
}

// fieldsOf declares the fields of a declaration, each with its initializer.
func (c *csharpFile) fieldsOf(n ref, s csharpScope) {
	list := c.firstOf(n, "variable_declaration")
	typ := c.field(list, "type")
	first := true
	for d := range c.children(list) {
		name := c.text(c.field(d, "name"))
		if c.kind(d) != "variable_declarator" || name == "" {
			continue
		}
		value := c.valueOf(d)
		head := uint32(0)
		if value != none {
			head = c.start(value)
		}
		in, decl, _ := c.declared(n, declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, name: name, head: head}, s)
		decl.Signature = strings.TrimSuffix(strings.TrimRight(decl.Signature, " ;"), " =")
		if !first {
			decl.Start = c.place(c.start(d))
		}
		first = false
		decl.Type, decl.Test = knownPath(c.typePath(typ)), s.test
		inside := s
		inside.in = in
		c.annotation(typ, inside)
		c.argument(value, ofType(decl.Type), -1, inside)
	}
}

// valueOf is the initializer of a variable: the last expression behind its name.
func (c *csharpFile) valueOf(d ref) ref {
	value := none
	for k := range c.children(d) {
		if c.fieldOf(k) != "name" && c.kind(k) != "tuple_pattern" && c.kind(k) != "bracketed_argument_list" {
			value = k
		}
	}
	return value
}
