// Package java extracts and resolves Java.
package java

import (
	"strings"

	"github.com/smacker/go-tree-sitter/java"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads Java files. A constructor has the name "<init>", as in a stack trace; an
// anonymous class has "$1", "$2" and so on by its place in the enclosing declaration. What the
// initializer of a field does belongs to the field.
var extractor = extract.Language{
	Name: "java", Version: 13, Matches: extract.Suffixed(".java"),
	Extract: extract.Parsed(extract.LoadGrammar(java.GetLanguage), func(f *extract.File) {
		j := &walker{File: f, anonymous: map[uint32]int{}}
		j.setOnce = j.SetOnce(j.setting)
		j.block(0, state{names: extract.Inner(nil)})
	}),
}

type walker struct {
	*extract.File
	extract.Blocks
	// anonymous counts the anonymous classes of each declaration.
	anonymous map[uint32]int
	// setOnce returns the value of a name that the file sets once.
	setOnce func(name string) extract.Ref
	// round is what the names of loops stand for in the round that is read.
	round extract.Round
}

// state is the context of the walk.
type state struct {
	in    uint32
	names *extract.Block
	// class is the enclosing class; exported is set if that is exported.
	class    uint32
	exported bool
	// public is set in the body of an interface or annotation, whose members are public;
	// lambda in a function without a name, whose results do not belong to `in`.
	public, lambda, test bool
	// client is set in a class whose methods make requests; prefix is the client's.
	client    bool
	prefix    string
	framework string
}

func (s state) nested() state {
	s.names = extract.Inner(s.names)
	return s
}

func (j *walker) block(n extract.Ref, s state) {
	for c := range j.Children(n) {
		j.visit(c, s)
	}
}

// visit walks a declaration, a statement or an expression.
func (j *walker) visit(n extract.Ref, s state) {
	switch j.Kind(n) {
	case "package_declaration":
		j.Facts.Package = extract.Clip(extract.Compact(j.Text(j.Child(n, 0))), extract.MaxName)
		for c := range j.Children(n) {
			if strings.Contains(j.Kind(c), "identifier") {
				j.Facts.Package = extract.Clip(extract.Compact(j.Text(c)), extract.MaxName)
			}
		}
	case "import_declaration":
		j.importing(n)
	case "class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration":
		j.class(n, s)
	case "method_declaration", "constructor_declaration", "compact_constructor_declaration", "annotation_type_element_declaration":
		j.method(n, s)
	case "field_declaration", "constant_declaration":
		j.fieldsOf(n, s)
	case "enum_constant":
		j.enumConstant(n, s)
	case "block", "static_initializer", "constructor_body", "switch_block_statement_group", "switch_rule", "for_statement", "finally_clause":
		j.block(n, s.nested())
	case "local_variable_declaration":
		j.locals(n, s)
	case "enhanced_for_statement":
		s = s.nested()
		value := j.Field(n, "value")
		j.visit(value, s)
		j.local(j.Field(n, "name"), j.Field(n, "type"), extract.Element(j.path(value, s), ""), s)
		j.visit(j.Field(n, "body"), s)
	case "try_with_resources_statement":
		body := s.nested()
		j.visit(j.Field(n, "resources"), body)
		j.visit(j.Field(n, "body"), body)
		for c := range j.Children(n) {
			if k := j.Kind(c); k == "catch_clause" || k == "finally_clause" {
				j.visit(c, s)
			}
		}
	case "resource":
		if name := j.Field(n, "name"); name != extract.None {
			j.visit(j.Field(n, "value"), s)
			j.local(name, j.Field(n, "type"), j.path(j.Field(n, "value"), s), s)
			return
		}
		j.block(n, s)
	case "catch_clause":
		s = s.nested()
		p := j.FirstOf(n, "catch_formal_parameter")
		j.local(j.Field(p, "name"), j.FirstOf(p, "catch_type"), extract.Unknown, s)
		j.visit(j.Field(n, "body"), s)
	case "instanceof_expression":
		j.visit(j.Field(n, "left"), s)
		typ := j.Field(n, "right")
		if name := j.Field(n, "name"); name != extract.None {
			j.local(name, typ, extract.Unknown, s)
		} else {
			j.annotation(typ, s)
		}
		j.visit(j.Field(n, "pattern"), s)
	case "type_pattern", "record_pattern_component":
		j.local(j.Child(n, 1), j.Child(n, 0), extract.Unknown, s)
	case "record_pattern":
		j.annotation(j.Child(n, 0), s)
		j.visit(j.FirstOf(n, "record_pattern_body"), s)
	case "throw_statement":
		if thrown := j.Child(n, 0); j.Kind(thrown) == "object_creation_expression" {
			t := j.Field(thrown, "type")
			j.Refer(recountv1.EdgeKind_EDGE_KIND_THROWS, s.in, extract.MadeBy(extract.Erased(j.typePath(t))), j.typeName(t))
		}
		j.block(n, s)
	case "method_invocation":
		j.call(n, s)
	case "object_creation_expression":
		j.creation(n, s)
	case "explicit_constructor_invocation":
		j.constructed(n, s)
	case "method_reference":
		j.methodReference(n, s)
	case "lambda_expression":
		j.lambda(n, extract.Unknown, -1, s)
	case "assignment_expression":
		right := j.Field(n, "right")
		j.visit(j.Field(n, "left"), s)
		j.argument(right, j.path(j.Field(n, "left"), s), -1, s)
		j.fieldText(j.Field(n, "left"), right, s)
	case "return_statement":
		if v := j.Child(n, 0); v != extract.None {
			j.argument(v, j.resultType(s), -1, s)
		}
	case "cast_expression":
		j.annotation(j.Field(n, "type"), s)
		j.argument(j.Field(n, "value"), extract.OfType(j.typePath(j.Field(n, "type"))), -1, s)
	case "class_literal":
		j.annotation(j.Child(n, 0), s)
	case "array_creation_expression":
		j.annotation(j.Field(n, "type"), s)
		for c := range j.Children(n) {
			if f := j.FieldOf(c); f != "type" {
				j.visit(c, s)
			}
		}
	case "field_access":
		j.fieldUse(n, s)
	case "identifier":
		if _, local := s.names.Path(j.Text(n)); !local {
			j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(j.Text(n)), n)
		}
	case "marker_annotation", "annotation":
		for c := range j.Children(j.Field(n, "arguments")) {
			j.visit(c, s)
		}
	case "element_value_pair":
		j.visit(j.Field(n, "value"), s)
	case "labeled_statement":
		for c := range j.Children(n) {
			if j.Kind(c) != "identifier" {
				j.visit(c, s)
			}
		}
	case "generic_type", "type_identifier", "scoped_type_identifier", "array_type", "type_arguments", "throws", "dimensions":
		j.annotation(n, s)
	case "", "break_statement", "continue_statement", "module_declaration", "type_parameters", "string_fragment", "escape_sequence":
	default:
		j.block(n, s)
	}
}

// importing reads `import [static] a.b.C[.*];`: the path of a type or, with a wildcard, of a
// package or type. A static import has the path of the type and the name of the member.
func (j *walker) importing(n extract.Ref) {
	name := j.Child(n, 0)
	path, at := extract.Compact(j.Text(name)), name
	if j.Kind(name) == "scoped_identifier" {
		at = j.Field(name, "name")
	}
	wildcard := j.Has(n, "asterisk")
	if wildcard || !j.Has(n, "static") {
		j.AddImport(0, path, at).Wildcard = wildcard
		return
	}
	of, member := extract.SplitLast(path)
	j.AddImport(0, of, at).Names = []*recountv1.ImportedName{{Name: member}}
}

// annotationsOf returns the annotations in front of a declaration, its other modifiers, and where
// the declaration begins after them.
func (j *walker) annotationsOf(n extract.Ref) (annotations []extract.Ref, words []string, start uint32) {
	start = j.Start(n)
	mods := j.FirstOf(n, "modifiers")
	if mods == extract.None {
		return nil, nil, start
	}
	for c := j.First(mods); c != extract.None; c = j.Next(c) {
		switch k := j.Kind(c); k {
		case "annotation", "marker_annotation":
			annotations = append(annotations, c)
		case "line_comment", "block_comment":
		default:
			if len(words) == 0 {
				start = j.Start(c)
			}
			words = append(words, k)
		}
	}
	if len(words) == 0 {
		for c := j.Next(mods); c != extract.None; c = j.Next(c) {
			if !strings.Contains(j.Kind(c), "comment") {
				start = j.Start(c)
				break
			}
		}
	}
	return annotations, words, start
}

// declared adds the declaration of n and its decorators.
func (j *walker) declared(n extract.Ref, d extract.Declaration, s state) (uint32, *recountv1.Declaration, []extract.Ref) {
	annotations, words, start := j.annotationsOf(n)
	d.In, d.Doc, d.Start, d.End, d.From = s.in, j.CommentBefore(n), start, j.End(n), j.Start(n)
	if body := j.Field(n, "body"); body != extract.None && d.Head == 0 {
		d.Head = j.Start(body)
	}
	in, decl := j.Builder.Declare(d)
	decl.Modifiers = words
	for _, a := range annotations {
		name := j.Field(a, "name")
		switch path := extract.Compact(j.Text(name)); path {
		case "Override":
			decl.Modifiers = append(decl.Modifiers, "override")
		case "SuppressWarnings":
		default:
			j.Refer(recountv1.EdgeKind_EDGE_KIND_DECORATES, in, extract.Checked(path), j.typeName(name))
			j.visit(a, state{in: in, names: s.names})
		}
	}
	decl.Exported = (s.class == 0 || s.exported) && s.in == s.class && (s.public || extract.HasWord(words, "public") || extract.HasWord(words, "protected"))
	return in, decl, annotations
}

var javaKinds = map[string]recountv1.SymbolKind{
	"class_declaration": recountv1.SymbolKind_SYMBOL_KIND_CLASS, "record_declaration": recountv1.SymbolKind_SYMBOL_KIND_CLASS,
	"interface_declaration": recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, "annotation_type_declaration": recountv1.SymbolKind_SYMBOL_KIND_INTERFACE,
	"enum_declaration": recountv1.SymbolKind_SYMBOL_KIND_ENUM,
}

// class declares a class, interface, enum, record or annotation and walks it.
func (j *walker) class(n extract.Ref, s state) {
	name := j.Text(j.Field(n, "name"))
	body := j.Field(n, "body")
	if name == "" {
		j.block(n, s)
		return
	}
	kind := j.Kind(n)
	in, decl, annotations := j.declared(n, extract.Declaration{Kind: javaKinds[kind], Name: name}, s)
	switch kind {
	case "record_declaration":
		decl.Modifiers = append(decl.Modifiers, "record")
	case "annotation_type_declaration":
		decl.Modifiers = append(decl.Modifiers, "annotation")
	case "class_declaration":
	case "interface_declaration", "enum_declaration":
	}
	if s.in == s.class && s.in != 0 && kind != "class_declaration" && !extract.HasWord(decl.Modifiers, "static") {
		decl.Modifiers = append(decl.Modifiers, "static") // implied
	}
	of := state{
		in: in, class: in, names: &extract.Block{Up: s.names, Members: j.fieldNames(n, body)}, exported: decl.Exported,
		public: kind == "interface_declaration" || kind == "annotation_type_declaration",
	}
	j.typeParameters(n, decl, of)
	extends := recountv1.EdgeKind_EDGE_KIND_EXTENDS
	j.base(extends, j.Child(j.Field(n, "superclass"), 0), of)
	for c := range j.Children(j.Child(j.FirstOf(n, "extends_interfaces"), 0)) {
		j.base(extends, c, of)
	}
	for c := range j.Children(j.Child(j.Field(n, "interfaces"), 0)) {
		j.base(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS, c, of)
	}
	decl.Test = s.test || j.isTestClass(n, body, annotations)
	of.test = decl.Test
	if kind == "record_declaration" {
		j.components(n, decl, of)
	}
	if kind == "annotation_type_declaration" {
		j.composed(annotations, in)
	} else {
		j.classRoutes(annotations, in, name, &of)
	}
	j.block(body, of)
}

// base adds a reference to a base class or interface. Its type arguments are in an attribute.
func (j *walker) base(edge recountv1.EdgeKind, typ extract.Ref, s state) {
	if typ == extract.None {
		return
	}
	full := j.typePath(typ)
	r := j.Refer(edge, s.in, extract.Erased(full), j.typeName(typ))
	if extract.Erased(full) != full {
		r.Attributes = map[string]string{"type": full}
		j.annotation(j.FirstOf(typ, "type_arguments"), s)
	}
}

// fieldNames returns the fields that the body of a class declares.
func (j *walker) fieldNames(n, body extract.Ref) map[string]bool {
	names := map[string]bool{}
	var read func(body extract.Ref)
	read = func(body extract.Ref) {
		for c := range j.Children(body) {
			switch j.Kind(c) {
			case "field_declaration", "constant_declaration":
				for d := range j.Children(c) {
					if j.Kind(d) == "variable_declarator" {
						names[j.Text(j.Field(d, "name"))] = true
					}
				}
			case "enum_constant":
				names[j.Text(j.Field(c, "name"))] = true
			case "enum_body_declarations":
				read(c)
			}
		}
	}
	read(body)
	for c := range j.Children(j.Field(n, "parameters")) {
		names[j.Text(j.Field(c, "name"))] = true
	}
	return names
}

// components declares the fields that the parameters of a record are.
func (j *walker) components(n extract.Ref, record *recountv1.Declaration, s state) {
	record.Parameters = j.parameters(j.Field(n, "parameters"), state{in: s.in, names: extract.Inner(nil)})
	for c := range j.Children(j.Field(n, "parameters")) {
		name := j.Text(j.Field(c, "name"))
		if name == "" {
			continue
		}
		_, decl, _ := j.declared(c, extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, Name: name}, s)
		decl.Modifiers = append(decl.Modifiers, "component")
		decl.Type = extract.KnownPath(j.typePath(j.Field(c, "type")))
		decl.Exported = s.exported
	}
}

func (j *walker) enumConstant(n extract.Ref, s state) {
	name := j.Text(j.Field(n, "name"))
	enum := j.Decl(s.in)
	if name == "" || enum == nil {
		return
	}
	s.public = true
	in, decl, _ := j.declared(n, extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, Name: name}, s)
	decl.Type = enum.Name
	args, body := j.Field(n, "arguments"), j.Field(n, "body")
	inside := s
	inside.in = in
	r := j.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, in, extract.MadeBy(enum.Name), j.Field(n, "name"))
	j.arguments(r, args, inside)
	if body != extract.None {
		j.anonymousClass(body, enum.Name, j.Field(n, "name"), inside)
	}
}

// anonymousClass declares the body of new T() { … } as a class that extends T.
func (j *walker) anonymousClass(body extract.Ref, typ string, at extract.Ref, s state) {
	j.anonymous[s.in]++
	in, decl := j.Builder.Declare(extract.Declaration{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_CLASS, Name: "$" + extract.Decimal(j.anonymous[s.in]), In: s.in,
		Start: j.Start(body), End: j.End(body), Head: j.Start(body) + 1, Prefix: "new " + typ + " ",
	})
	decl.Modifiers, decl.Test = []string{"anonymous"}, s.test
	r := j.Refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, extract.Erased(typ), at)
	if extract.Erased(typ) != typ {
		r.Attributes = map[string]string{"type": typ}
	}
	j.block(body, state{in: in, class: in, test: s.test, names: &extract.Block{Up: s.names, Members: j.fieldNames(extract.None, body)}})
}

// method declares a method or constructor and walks it.
func (j *walker) method(n extract.Ref, s state) {
	name := j.Text(j.Field(n, "name"))
	if name == "" {
		j.block(n, s)
		return
	}
	d := extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_METHOD, Name: name}
	if strings.HasSuffix(j.Kind(n), "constructor_declaration") {
		d.Kind, d.Name = recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, "<init>"
	}
	in, decl, annotations := j.declared(n, d, s)
	if s.public && !extract.HasWord(decl.Modifiers, "default") && !extract.HasWord(decl.Modifiers, "static") && !extract.HasWord(decl.Modifiers, "private") {
		decl.Modifiers = append(decl.Modifiers, "abstract") // implied
	}
	decl.Test = s.test || j.isTest(annotations)
	inside := state{in: in, class: s.class, names: extract.Inner(s.names), test: decl.Test}
	j.typeParameters(n, decl, inside)
	if t := j.Field(n, "type"); t != extract.None {
		decl.Type = extract.KnownPath(j.typePath(t) + j.dimensions(n))
		j.annotation(t, inside)
	}
	params := j.Field(n, "parameters")
	if j.Kind(n) == "compact_constructor_declaration" {
		params = j.Field(j.Parent(j.Parent(n)), "parameters")
	}
	decl.Parameters = j.parameters(params, inside)
	for c := range j.Children(j.FirstOf(n, "throws")) {
		j.Refer(recountv1.EdgeKind_EDGE_KIND_THROWS, in, extract.Erased(j.typePath(c)), j.typeName(c))
	}
	j.methodRoutes(annotations, in, decl.Type, s)
	j.block(j.Field(n, "body"), inside)
	j.visit(j.Field(n, "value"), inside) // the default of an annotation's element
}

// dimensions returns the brackets after a name: int a[].
func (j *walker) dimensions(n extract.Ref) string {
	return strings.Repeat("[]", strings.Count(j.Text(j.Field(n, "dimensions")), "["))
}

// typeParameters returns the type parameters with their bounds, and adds references to these.
func (j *walker) typeParameters(n extract.Ref, decl *recountv1.Declaration, s state) {
	var all []string
	params := extract.FirstRef(j.Field(n, "type_parameters"), j.FirstOf(n, "type_parameters"))
	for c := range j.Children(params) {
		name := j.Text(j.FirstOf(c, "type_identifier"))
		j.hideTypeParameter(s.in, name)
		bound := j.FirstOf(c, "type_bound")
		if first := j.Child(bound, 0); first != extract.None {
			all = append(all, name+" extends "+j.typePath(first))
		} else {
			all = append(all, name)
		}
	}
	for c := range j.Children(params) {
		for b := range j.Children(j.FirstOf(c, "type_bound")) {
			j.annotation(b, s)
		}
	}
	if len(all) > 0 {
		decl.Attributes = map[string]string{extract.TypeParametersKey: extract.Clip(strings.Join(all, ", "), extract.MaxValue)}
	}
}

// hideTypeParameter hides the name of a type parameter.
func (j *walker) hideTypeParameter(in uint32, name string) {
	j.File.Names.Locals[extract.NameIn{In: in, Name: name}] = true
}

// parameters reads the parameters of a method, which are local to s.in.
func (j *walker) parameters(params extract.Ref, s state) []*recountv1.Parameter {
	var all []*recountv1.Parameter
	for c := range j.Children(params) {
		p := &recountv1.Parameter{}
		typ, name := j.Field(c, "type"), j.Field(c, "name")
		switch j.Kind(c) {
		case "formal_parameter":
		case "spread_parameter":
			d := j.FirstOf(c, "variable_declarator")
			p.Variadic, name = true, j.Field(d, "name")
			for t := range j.Children(c) {
				if k := j.Kind(t); k != "modifiers" && k != "variable_declarator" {
					typ = t
				}
			}
		default:
			continue // the receiver
		}
		p.Name = extract.Clip(extract.FirstOf(j.Text(name), extract.Unknown), extract.MaxName)
		p.Type = extract.KnownPath(j.typePath(typ) + j.dimensions(c))
		j.Blocks.Parameter(s.names, s.in, p.Name)
		j.annotation(typ, s)
		for a := range j.Children(j.FirstOf(c, "modifiers")) {
			name := j.Field(a, "name")
			j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(extract.Compact(j.Text(name))), j.typeName(name))
			j.visit(a, s)
		}
		all = append(all, p)
	}
	return all
}

// fieldsOf declares the fields of a declaration, each with its initializer.
func (j *walker) fieldsOf(n extract.Ref, s state) {
	typ := j.Field(n, "type")
	first := true
	for d := range j.Children(n) {
		if j.Kind(d) != "variable_declarator" {
			continue
		}
		name := j.Text(j.Field(d, "name"))
		if name == "" {
			continue
		}
		head := uint32(0)
		if value := j.Field(d, "value"); value != extract.None {
			head = j.Start(value)
		}
		in, decl, _ := j.declared(n, extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, Name: name, Head: head}, s)
		decl.Signature = strings.TrimSuffix(strings.TrimRight(decl.Signature, " ;"), " =")
		if s.public && !extract.HasWord(decl.Modifiers, "static") {
			decl.Modifiers = append(decl.Modifiers, "static")
		}
		if !first { // the place of this field, not of the first one
			decl.Start = j.Place(j.Start(d))
		}
		first = false
		decl.Type, decl.Test = extract.KnownPath(j.typePath(typ)+j.dimensions(d)), s.test
		if decl.Type == "String" && extract.HasWord(decl.Modifiers, "static") {
			j.textConstant(name, j.Field(d, "value"), s.in)
		}
		inside := s
		inside.in = in
		j.annotation(typ, inside)
		j.argument(j.Field(d, "value"), extract.OfType(decl.Type), -1, inside)
	}
}
