package extract

import (
	"strings"

	"github.com/smacker/go-tree-sitter/java"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Java: what its files say. A constructor is called "<init>", as in a stack trace; an
// anonymous class "$1", "$2" and so on by its place in the declaration around it.
// What a field's initializer does, the field does.
var javaLanguage = Language{
	Name: "java", Version: 1, Matches: suffixed(".java"),
	Extract: parsed(loadGrammar(java.GetLanguage), func(f *file) {
		j := &javaFile{file: f, anonymous: map[uint32]int{}}
		j.block(0, javaScope{names: inner(nil)})
	}),
}

type javaFile struct {
	*file
	blocks
	// anonymous counts the anonymous classes of each declaration.
	anonymous map[uint32]int
}

// javaScope is where the walk stands.
type javaScope struct {
	in    uint32
	names *block
	// class is the declaration of the class around; exported says that it is.
	class    uint32
	exported bool
	// member: directly in a class's body, that of an interface or annotation with
	// public. lambda: in a function without a name, whose results are not those of `in`.
	public, lambda, test bool
	// controller and client: the class around is one of Spring or JAX-RS, or a client
	// whose methods make requests; prefix is the client's.
	controller, client bool
	prefix             string
	framework          string
}

func (s javaScope) nested() javaScope {
	s.names = inner(s.names)
	return s
}

func (j *javaFile) block(n ref, s javaScope) {
	for c := range j.children(n) {
		j.visit(c, s)
	}
}

// visit walks a declaration, a statement or an expression.
func (j *javaFile) visit(n ref, s javaScope) {
	switch j.kind(n) {
	case "package_declaration":
		j.facts.Package = clip(compact(j.text(j.child(n, 0))), maxName)
		for c := range j.children(n) {
			if strings.Contains(j.kind(c), "identifier") {
				j.facts.Package = clip(compact(j.text(c)), maxName)
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
	case "static_initializer":
		j.block(n, s.nested())
	case "block", "constructor_body", "switch_block_statement_group", "for_statement", "finally_clause":
		j.block(n, s.nested())
	case "switch_rule":
		j.block(n, s.nested())
	case "local_variable_declaration":
		j.locals(n, s)
	case "enhanced_for_statement":
		s = s.nested()
		value := j.field(n, "value")
		j.visit(value, s)
		j.local(j.field(n, "name"), j.field(n, "type"), element(j.path(value, s), ""), s)
		j.visit(j.field(n, "body"), s)
	case "try_with_resources_statement":
		body := s.nested()
		j.visit(j.field(n, "resources"), body)
		j.visit(j.field(n, "body"), body)
		for c := range j.children(n) {
			if k := j.kind(c); k == "catch_clause" || k == "finally_clause" {
				j.visit(c, s)
			}
		}
	case "resource":
		if name := j.field(n, "name"); name != none {
			j.visit(j.field(n, "value"), s)
			j.local(name, j.field(n, "type"), j.path(j.field(n, "value"), s), s)
			return
		}
		j.block(n, s)
	case "catch_clause":
		s = s.nested()
		p := j.firstOf(n, "catch_formal_parameter")
		j.local(j.field(p, "name"), j.firstOf(p, "catch_type"), unknown, s)
		j.visit(j.field(n, "body"), s)
	case "instanceof_expression":
		j.visit(j.field(n, "left"), s)
		typ := j.field(n, "right")
		if name := j.field(n, "name"); name != none {
			j.local(name, typ, unknown, s)
		} else {
			j.annotation(typ, s)
		}
		j.visit(j.field(n, "pattern"), s)
	case "type_pattern", "record_pattern_component":
		j.local(j.child(n, 1), j.child(n, 0), unknown, s)
	case "record_pattern":
		j.annotation(j.child(n, 0), s)
		j.visit(j.firstOf(n, "record_pattern_body"), s)
	case "throw_statement":
		if thrown := j.child(n, 0); j.kind(thrown) == "object_creation_expression" {
			t := j.field(thrown, "type")
			j.refer(recountv1.EdgeKind_EDGE_KIND_THROWS, s.in, madeBy(erased(j.typePath(t))), j.typeName(t))
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
		j.lambda(n, unknown, -1, s)
	case "assignment_expression":
		right := j.field(n, "right")
		j.visit(j.field(n, "left"), s)
		j.argument(right, j.path(j.field(n, "left"), s), -1, s)
	case "return_statement":
		if v := j.child(n, 0); v != none {
			j.argument(v, j.resultType(s), -1, s)
		}
	case "cast_expression":
		j.annotation(j.field(n, "type"), s)
		j.argument(j.field(n, "value"), ofType(j.typePath(j.field(n, "type"))), -1, s)
	case "class_literal":
		j.annotation(j.child(n, 0), s)
	case "array_creation_expression":
		j.annotation(j.field(n, "type"), s)
		for c := range j.children(n) {
			if f := j.fieldOf(c); f != "type" {
				j.visit(c, s)
			}
		}
	case "field_access":
		j.fieldUse(n, s)
	case "identifier":
		if _, local := s.names.path(j.text(n)); !local {
			j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(j.text(n)), n)
		}
	case "marker_annotation", "annotation":
		for c := range j.children(j.field(n, "arguments")) {
			j.visit(c, s)
		}
	case "element_value_pair":
		j.visit(j.field(n, "value"), s)
	case "labeled_statement":
		for c := range j.children(n) {
			if j.kind(c) != "identifier" {
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

func compact(text string) string { return strings.Join(strings.Fields(text), "") }

// importing reads `import [static] a.b.C[.*];`: the path of a type or, with a
// wildcard, of a package or type; of a static one the type, and the member as name.
func (j *javaFile) importing(n ref) {
	name := j.child(n, 0)
	path, at := compact(j.text(name)), name
	if j.kind(name) == "scoped_identifier" {
		at = j.field(name, "name")
	}
	wildcard := j.has(n, "asterisk")
	if wildcard || !j.has(n, "static") {
		j.addImport(0, path, at).Wildcard = wildcard
		return
	}
	of, member := splitLast(path)
	j.addImport(0, of, at).Names = []*recountv1.ImportedName{{Name: member}}
}

// annotationsOf are those in front of a declaration, and its other modifiers. start is
// where it begins behind them.
func (j *javaFile) annotationsOf(n ref) (annotations []ref, words []string, start uint32) {
	start = j.start(n)
	mods := j.firstOf(n, "modifiers")
	if mods == none {
		return nil, nil, start
	}
	for c := j.first(mods); c != none; c = j.next(c) {
		switch k := j.kind(c); k {
		case "annotation", "marker_annotation":
			annotations = append(annotations, c)
		case "line_comment", "block_comment":
		default:
			if len(words) == 0 {
				start = j.start(c)
			}
			words = append(words, k)
		}
	}
	if len(words) == 0 {
		for c := j.next(mods); c != none; c = j.next(c) {
			if !strings.Contains(j.kind(c), "comment") {
				start = j.start(c)
				break
			}
		}
	}
	return annotations, words, start
}

func hasWord(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// declared declares n and decorates it.
func (j *javaFile) declared(n ref, d declaration, s javaScope) (uint32, *recountv1.Declaration, []ref) {
	annotations, words, start := j.annotationsOf(n)
	d.in, d.doc, d.start, d.end, d.from = s.in, j.commentBefore(n), start, j.end(n), j.start(n)
	if body := j.field(n, "body"); body != none && d.head == 0 {
		d.head = j.start(body)
	}
	in, decl := j.builder.declare(d)
	decl.Modifiers = words
	for _, a := range annotations {
		name := j.field(a, "name")
		switch path := compact(j.text(name)); path {
		case "Override":
			decl.Modifiers = append(decl.Modifiers, "override")
		case "SuppressWarnings":
		default:
			j.refer(recountv1.EdgeKind_EDGE_KIND_DECORATES, in, checked(path), j.typeName(name))
			j.visit(a, javaScope{in: in, names: s.names})
		}
	}
	decl.Exported = (s.class == 0 || s.exported) && s.in == s.class && (s.public || hasWord(words, "public") || hasWord(words, "protected"))
	return in, decl, annotations
}

var javaKinds = map[string]recountv1.SymbolKind{
	"class_declaration": recountv1.SymbolKind_SYMBOL_KIND_CLASS, "record_declaration": recountv1.SymbolKind_SYMBOL_KIND_CLASS,
	"interface_declaration": recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, "annotation_type_declaration": recountv1.SymbolKind_SYMBOL_KIND_INTERFACE,
	"enum_declaration": recountv1.SymbolKind_SYMBOL_KIND_ENUM,
}

// class declares a class, interface, enum, record or annotation and walks it.
func (j *javaFile) class(n ref, s javaScope) {
	name := j.text(j.field(n, "name"))
	body := j.field(n, "body")
	if name == "" {
		j.block(n, s)
		return
	}
	kind := j.kind(n)
	in, decl, annotations := j.declared(n, declaration{kind: javaKinds[kind], name: name}, s)
	switch kind {
	case "record_declaration":
		decl.Modifiers = append(decl.Modifiers, "record")
	case "annotation_type_declaration":
		decl.Modifiers = append(decl.Modifiers, "annotation")
	case "class_declaration":
	case "interface_declaration", "enum_declaration":
	}
	if s.in == s.class && s.in != 0 && kind != "class_declaration" && !hasWord(decl.Modifiers, "static") {
		decl.Modifiers = append(decl.Modifiers, "static") // without saying so
	}
	of := javaScope{
		in: in, class: in, names: &block{up: s.names, members: j.fieldNames(n, body)}, exported: decl.Exported,
		public: kind == "interface_declaration" || kind == "annotation_type_declaration",
	}
	j.typeParameters(n, decl, of)
	extends := recountv1.EdgeKind_EDGE_KIND_EXTENDS
	j.base(extends, j.child(j.field(n, "superclass"), 0), of)
	for c := range j.children(j.child(j.firstOf(n, "extends_interfaces"), 0)) {
		j.base(extends, c, of)
	}
	for c := range j.children(j.child(j.field(n, "interfaces"), 0)) {
		j.base(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS, c, of)
	}
	decl.Test = s.test || j.isTestClass(n, body, annotations)
	of.test = decl.Test
	if kind == "record_declaration" {
		j.components(n, decl, of)
	}
	j.classRoutes(annotations, in, name, &of)
	j.block(body, of)
}

// base refers to a base class or interface; its type arguments stand in an attribute.
func (j *javaFile) base(edge recountv1.EdgeKind, typ ref, s javaScope) {
	if typ == none {
		return
	}
	full := j.typePath(typ)
	r := j.refer(edge, s.in, erased(full), j.typeName(typ))
	if erased(full) != full {
		r.Attributes = map[string]string{"type": full}
		j.annotation(j.firstOf(typ, "type_arguments"), s)
	}
}

// fieldNames are the fields that a class's body declares.
func (j *javaFile) fieldNames(n, body ref) map[string]bool {
	names := map[string]bool{}
	var read func(body ref)
	read = func(body ref) {
		for c := range j.children(body) {
			switch j.kind(c) {
			case "field_declaration", "constant_declaration":
				for d := range j.children(c) {
					if j.kind(d) == "variable_declarator" {
						names[j.text(j.field(d, "name"))] = true
					}
				}
			case "enum_constant":
				names[j.text(j.field(c, "name"))] = true
			case "enum_body_declarations":
				read(c)
			}
		}
	}
	read(body)
	for c := range j.children(j.field(n, "parameters")) {
		names[j.text(j.field(c, "name"))] = true
	}
	return names
}

// components declares the fields that a record's parameters are.
func (j *javaFile) components(n ref, record *recountv1.Declaration, s javaScope) {
	record.Parameters = j.parameters(j.field(n, "parameters"), javaScope{in: s.in, names: inner(nil)})
	for c := range j.children(j.field(n, "parameters")) {
		name := j.text(j.field(c, "name"))
		if name == "" {
			continue
		}
		_, decl, _ := j.declared(c, declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, name: name}, s)
		decl.Modifiers = append(decl.Modifiers, "component")
		decl.Type = knownPath(j.typePath(j.field(c, "type")))
		decl.Exported = s.exported
	}
}

func (j *javaFile) enumConstant(n ref, s javaScope) {
	name := j.text(j.field(n, "name"))
	enum := j.decl(s.in)
	if name == "" || enum == nil {
		return
	}
	s.public = true
	in, decl, _ := j.declared(n, declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, name: name}, s)
	decl.Type = enum.Name
	args, body := j.field(n, "arguments"), j.field(n, "body")
	inside := s
	inside.in = in
	r := j.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, in, madeBy(enum.Name), j.field(n, "name"))
	j.arguments(r, args, inside)
	if body != none {
		j.anonymousClass(body, enum.Name, j.field(n, "name"), inside)
	}
}

// anonymousClass declares the body of new T() { … } as a class that extends T.
func (j *javaFile) anonymousClass(body ref, typ string, at ref, s javaScope) {
	j.anonymous[s.in]++
	in, decl := j.builder.declare(declaration{
		kind: recountv1.SymbolKind_SYMBOL_KIND_CLASS, name: "$" + decimal(j.anonymous[s.in]), in: s.in,
		start: j.start(body), end: j.end(body), head: j.start(body) + 1, prefix: "new " + typ + " ",
	})
	decl.Modifiers, decl.Test = []string{"anonymous"}, s.test
	r := j.refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, erased(typ), at)
	if erased(typ) != typ {
		r.Attributes = map[string]string{"type": typ}
	}
	j.block(body, javaScope{in: in, class: in, test: s.test, names: &block{up: s.names, members: j.fieldNames(none, body)}})
}

// method declares a method or constructor and walks it.
func (j *javaFile) method(n ref, s javaScope) {
	name := j.text(j.field(n, "name"))
	if name == "" {
		j.block(n, s)
		return
	}
	d := declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_METHOD, name: name}
	if strings.HasSuffix(j.kind(n), "constructor_declaration") {
		d.kind, d.name = recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, "<init>"
	}
	in, decl, annotations := j.declared(n, d, s)
	if s.public && !hasWord(decl.Modifiers, "default") && !hasWord(decl.Modifiers, "static") && !hasWord(decl.Modifiers, "private") {
		decl.Modifiers = append(decl.Modifiers, "abstract") // without saying so
	}
	decl.Test = s.test || j.isTest(annotations)
	inside := javaScope{in: in, class: s.class, names: inner(s.names), test: decl.Test}
	j.typeParameters(n, decl, inside)
	if t := j.field(n, "type"); t != none {
		decl.Type = knownPath(j.typePath(t) + j.dimensions(n))
		j.annotation(t, inside)
	}
	params := j.field(n, "parameters")
	if j.kind(n) == "compact_constructor_declaration" {
		params = j.field(j.parent(j.parent(n)), "parameters")
	}
	decl.Parameters = j.parameters(params, inside)
	for c := range j.children(j.firstOf(n, "throws")) {
		j.refer(recountv1.EdgeKind_EDGE_KIND_THROWS, in, erased(j.typePath(c)), j.typeName(c))
	}
	j.methodRoutes(annotations, in, s)
	j.block(j.field(n, "body"), inside)
	j.visit(j.field(n, "value"), inside) // an annotation's default
}

// dimensions are the brackets behind a name: int a[].
func (j *javaFile) dimensions(n ref) string {
	return strings.Repeat("[]", strings.Count(j.text(j.field(n, "dimensions")), "["))
}

// typeParameters notes them with their bounds, and refers to these.
func (j *javaFile) typeParameters(n ref, decl *recountv1.Declaration, s javaScope) {
	var all []string
	params := firstRef(j.field(n, "type_parameters"), j.firstOf(n, "type_parameters"))
	for c := range j.children(params) {
		name := j.text(j.firstOf(c, "type_identifier"))
		j.locals1(s.in, name)
		bound := j.firstOf(c, "type_bound")
		if first := j.child(bound, 0); first != none {
			all = append(all, name+" extends "+j.typePath(first))
		} else {
			all = append(all, name)
		}
	}
	for c := range j.children(params) {
		for b := range j.children(j.firstOf(c, "type_bound")) {
			j.annotation(b, s)
		}
	}
	if len(all) > 0 {
		decl.Attributes = map[string]string{typeParametersKey: clip(strings.Join(all, ", "), maxValue)}
	}
}

// typeParametersKey is the attribute of a declaration's type parameters:
// "K, V extends a.Base<K>".
const typeParametersKey = "type_parameters"

// locals1 hides the name of a type parameter.
func (j *javaFile) locals1(in uint32, name string) { j.file.names.locals[nameIn{in, name}] = true }

// parameters reads those of a method, which are local to s.in.
func (j *javaFile) parameters(params ref, s javaScope) []*recountv1.Parameter {
	var all []*recountv1.Parameter
	for c := range j.children(params) {
		p := &recountv1.Parameter{}
		typ, name := j.field(c, "type"), j.field(c, "name")
		switch j.kind(c) {
		case "formal_parameter":
		case "spread_parameter":
			d := j.firstOf(c, "variable_declarator")
			p.Variadic, name = true, j.field(d, "name")
			for t := range j.children(c) {
				if k := j.kind(t); k != "modifiers" && k != "variable_declarator" {
					typ = t
				}
			}
		default:
			continue // the receiver
		}
		p.Name = clip(firstOf(j.text(name), unknown), maxName)
		p.Type = knownPath(j.typePath(typ) + j.dimensions(c))
		j.blocks.parameter(s.names, s.in, p.Name)
		j.annotation(typ, s)
		for a := range j.children(j.firstOf(c, "modifiers")) {
			name := j.field(a, "name")
			j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(compact(j.text(name))), j.typeName(name))
			j.visit(a, s)
		}
		all = append(all, p)
	}
	return all
}

// fieldsOf declares the fields of a declaration, each with its initializer.
func (j *javaFile) fieldsOf(n ref, s javaScope) {
	typ := j.field(n, "type")
	first := true
	for d := range j.children(n) {
		if j.kind(d) != "variable_declarator" {
			continue
		}
		name := j.text(j.field(d, "name"))
		if name == "" {
			continue
		}
		head := uint32(0)
		if value := j.field(d, "value"); value != none {
			head = j.start(value)
		}
		in, decl, _ := j.declared(n, declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, name: name, head: head}, s)
		decl.Signature = strings.TrimSuffix(strings.TrimRight(decl.Signature, " ;"), " =")
		if s.public && !hasWord(decl.Modifiers, "static") {
			decl.Modifiers = append(decl.Modifiers, "static")
		}
		if !first { // its own place, not the first one's
			decl.Start = j.place(j.start(d))
		}
		first = false
		decl.Type, decl.Test = knownPath(j.typePath(typ)+j.dimensions(d)), s.test
		inside := s
		inside.in = in
		j.annotation(typ, inside)
		j.argument(j.field(d, "value"), ofType(decl.Type), -1, inside)
	}
}
