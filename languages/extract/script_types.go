package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// class declares a class and walks its members; whole is its statement. An
// anonymous one belongs to what is around it.
func (j *scriptFile) class(n, whole ref, name string, s scriptScope) {
	if name == "" {
		name = j.text(j.field(n, "name"))
	}
	if name == "" && s.exported {
		name = "default"
	}
	if name == "" {
		name = "<class>"
	}
	body := j.field(n, "body")
	in, decl := j.declare(declaration{
		kind: recountv1.SymbolKind_SYMBOL_KIND_CLASS, name: name, in: s.in, node: whole, whole: s.statement,
		head: j.start(body), doc: j.doc(whole, s),
	})
	j.declared[nameIn{s.in, name}] = true
	j.locals[nameIn{s.in, name}] = true
	decl.Exported, decl.Test = s.exported, s.test
	decl.Modifiers = j.modifiers(n)
	if j.kind(n) == "abstract_class_declaration" && len(decl.Modifiers) == 0 {
		decl.Modifiers = []string{"abstract"}
	}
	inner := scriptScope{in: in, test: s.test}
	j.typeParameters(n, in, inner)
	if h := j.firstOf(n, "class_heritage"); h != none {
		j.heritage(h, in, s.plain())
	}
	controller := false
	for _, owner := range []ref{n, s.statement} {
		for c := j.first(owner); owner > 0 && c != none; c = j.next(c) {
			if j.kind(c) == "decorator" {
				j.decorate(c, in, s.plain())
				controller = j.controller(c, in, name, s) || controller
			}
		}
		if owner == s.statement {
			break
		}
	}
	var decorators []ref
	for c := range j.children(body) {
		if j.kind(c) == "decorator" {
			decorators = append(decorators, c)
			continue
		}
		j.member(c, decorators, controller, name, inner)
		decorators = nil
	}
}

// heritage refers to what a class extends and implements.
func (j *scriptFile) heritage(h ref, in uint32, outside scriptScope) {
	for clause := range j.children(h) {
		switch j.kind(clause) {
		case "implements_clause":
			for t := range j.children(clause) {
				j.refer(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS, in, j.typePath(t, outside), j.lastName(t))
				j.annotation(j.field(t, "type_arguments"), scriptScope{in: in})
			}
		case "extends_clause":
			for c := j.first(clause); c != none; c = j.next(c) {
				switch j.fieldOf(c) {
				case "value":
					j.refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, j.path(c, outside), j.lastName(c))
					if j.kind(c) == "call_expression" {
						j.visit(c, outside)
					}
				case "type_arguments":
					j.annotation(c, scriptScope{in: in})
				}
			}
		}
	}
}

// decorate refers to a decorator of declaration in.
func (j *scriptFile) decorate(n ref, in uint32, outside scriptScope) {
	e := j.child(n, 0)
	if e == none {
		return
	}
	j.refer(recountv1.EdgeKind_EDGE_KIND_DECORATES, in, j.path(e, outside), j.lastName(e))
	if j.kind(e) == "call_expression" {
		j.visit(e, outside)
	}
}

// member declares a member of a class.
func (j *scriptFile) member(n ref, decorators []ref, controller bool, class string, s scriptScope) {
	name := j.propertyName(j.field(n, "name"))
	whole := none
	if len(decorators) > 0 {
		whole = decorators[0]
	}
	for c := j.first(n); c != none; c = j.next(c) {
		if j.kind(c) == "decorator" {
			decorators = append(decorators, c)
		}
	}
	first := n
	if whole != none {
		first = whole
	}
	s.statement = 0
	var in uint32
	switch j.kind(n) {
	case "method_definition", "method_signature", "abstract_method_signature":
		if name == "" {
			j.inline(n, s)
			return
		}
		kind := recountv1.SymbolKind_SYMBOL_KIND_METHOD
		switch {
		case name == "constructor":
			kind = recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR
		case j.has(n, "get") || j.has(n, "set"):
			kind = recountv1.SymbolKind_SYMBOL_KIND_PROPERTY
		}
		var decl *recountv1.Declaration
		in, decl = j.function(n, n, name, kind, s)
		if doc := j.commentBefore(first); doc != "" {
			decl.Doc = doc
		}
		if kind == recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR {
			j.parameterFields(n, in, s)
		}
	case "public_field_definition", "property_signature":
		if name == "" {
			j.visit(j.field(n, "value"), s)
			return
		}
		value := j.field(n, "value")
		if k := j.kind(value); k == "arrow_function" || k == "function_expression" {
			var decl *recountv1.Declaration
			in, decl = j.function(value, n, name, recountv1.SymbolKind_SYMBOL_KIND_METHOD, s)
			decl.Modifiers = append(j.modifiers(n), decl.Modifiers...)
			decl.Doc = j.commentBefore(first)
			break
		}
		var decl *recountv1.Declaration
		in, decl = j.declare(declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, name: name, in: s.in, node: n, head: j.lineEnd(n), doc: j.commentBefore(first)})
		decl.Modifiers = j.modifiers(n)
		decl.Test = s.test
		if t := j.field(n, "type"); t != none {
			decl.Type = knownPath(j.typePath(t, s))
			j.annotation(t, scriptScope{in: s.in})
		}
		if value != none {
			j.bindValue("self."+name, value, decl.Type, n, s, 0)
		}
		j.visit(value, s)
	case "class_static_block":
		j.block(n, s)
		return
	default:
		return
	}
	for _, d := range decorators {
		j.decorate(d, in, s)
		if controller {
			j.controllerRoute(d, in, class)
		}
	}
}

// parameterFields declares the fields that a constructor's parameters are:
// constructor(private readonly db: Database).
func (j *scriptFile) parameterFields(n ref, constructor uint32, s scriptScope) {
	for c := range j.children(j.field(n, "parameters")) {
		pattern := j.field(c, "pattern")
		if j.kind(pattern) != "identifier" || !j.has(c, "accessibility_modifier") && !j.has(c, "readonly") {
			continue
		}
		name := j.text(pattern)
		_, decl := j.declare(declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, name: name, in: s.in, node: c})
		decl.Modifiers = j.modifiers(c)
		if t := j.field(c, "type"); t != none {
			decl.Type = knownPath(j.typePath(t, s))
		}
		j.bind(constructor, "self."+name, name, decl.Type, pattern)
	}
}

// typeDeclaration declares an interface or a type alias and its members.
func (j *scriptFile) typeDeclaration(n ref, kind recountv1.SymbolKind, s scriptScope) {
	name := j.text(j.field(n, "name"))
	if name == "" {
		return
	}
	d := declaration{kind: kind, name: name, in: s.in, node: n, whole: s.statement, doc: j.doc(n, s)}
	body := firstRef(j.field(n, "body"), j.field(n, "value"))
	if k := j.kind(body); k == "interface_body" || k == "object_type" {
		d.head = j.start(body)
	}
	in, decl := j.declare(d)
	j.declared[nameIn{s.in, name}] = true
	decl.Exported = s.exported
	inner := scriptScope{in: in}
	j.typeParameters(n, in, inner)
	for c := range j.children(j.firstOf(n, "extends_type_clause")) {
		j.refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, j.typePath(c, s), j.lastName(c))
		j.annotation(j.field(c, "type_arguments"), inner)
	}
	if d.head == 0 {
		decl.Type = knownPath(j.typePath(body, s))
		j.annotation(body, inner)
		return
	}
	for c := range j.children(body) {
		j.member(c, nil, false, "", inner)
	}
}

func (j *scriptFile) enum(n ref, s scriptScope) {
	name := j.text(j.field(n, "name"))
	if name == "" {
		return
	}
	body := j.field(n, "body")
	d := declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM, name: name, in: s.in, node: n, whole: s.statement, doc: j.doc(n, s)}
	if body != none {
		d.head = j.start(body)
	}
	in, decl := j.declare(d)
	j.declared[nameIn{s.in, name}] = true
	decl.Exported = s.exported
	for c := range j.children(body) {
		member := j.propertyName(firstRef(j.field(c, "name"), c))
		if member == "" {
			continue
		}
		j.declare(declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, name: member, in: in, node: c, doc: j.commentBefore(c)})
		j.visit(j.field(c, "value"), scriptScope{in: in})
	}
}

// namespace declares `namespace A.B { … }` and `declare module "x" { … }`.
func (j *scriptFile) namespace(n ref, s scriptScope) {
	nameNode := j.field(n, "name")
	name := strings.Trim(j.text(nameNode), "\"'")
	body := j.field(n, "body")
	if name == "" || body == none {
		return
	}
	in, decl := j.declare(declaration{
		kind: recountv1.SymbolKind_SYMBOL_KIND_MODULE, name: oneLine(name), in: s.in, node: n, whole: s.statement,
		head: j.start(body), doc: j.doc(n, s),
	})
	j.declared[nameIn{s.in, name}] = true
	decl.Exported = s.exported
	j.block(body, scriptScope{in: in, test: s.test})
}

// propertyName is the name of a member: an identifier, a string, a number.
func (j *scriptFile) propertyName(n ref) string {
	switch j.kind(n) {
	case "property_identifier", "private_property_identifier", "identifier", "number", "shorthand_property_identifier":
		return j.text(n)
	case "string":
		name, _ := j.literal(n)
		return oneLine(name)
	case "computed_property_name":
		if name, ok := j.literal(j.child(n, 0)); ok {
			return oneLine(name)
		}
	}
	return ""
}

// wrappers are types that stand for their argument, as await and the compiler see it.
var wrappers = map[string]bool{
	"Promise": true, "PromiseLike": true, "Awaited": true, "Readonly": true, "Partial": true, "Required": true, "NonNullable": true,
}

// libraryTypes are no references worth keeping.
var libraryTypes = map[string]bool{
	"Promise": true, "PromiseLike": true, "Awaited": true, "Readonly": true, "Partial": true, "Required": true, "NonNullable": true,
	"Array": true, "ReadonlyArray": true, "Record": true, "Map": true, "Set": true, "Pick": true, "Omit": true, "Exclude": true,
	"Extract": true, "ReturnType": true, "Parameters": true, "Date": true, "Error": true, "RegExp": true, "Function": true, "Object": true,
}

// typePath is the access path of a type: type arguments are left out, of a union it
// is the first that is not null or undefined, of Promise<T> T.
func (j *scriptFile) typePath(n ref, s scriptScope) string {
	switch j.kind(n) {
	case "type_annotation", "parenthesized_type", "readonly_type":
		return j.typePath(j.child(n, 0), s)
	case "type_identifier", "identifier", "predefined_type":
		return checked(j.text(n))
	case "nested_type_identifier", "member_expression", "nested_identifier":
		return checked(strings.Join(strings.Fields(j.text(n)), ""))
	case "generic_type":
		name := j.typePath(j.field(n, "name"), s)
		if wrappers[name] {
			return j.typePath(j.child(j.field(n, "type_arguments"), 0), s)
		}
		return name
	case "union_type", "intersection_type":
		if left := j.typePath(j.child(n, 0), s); left != unknown && left != "undefined" && left != "null" {
			return left
		}
		return j.typePath(j.child(n, 1), s)
	case "this_type":
		return "self"
	}
	return unknown
}

// annotation refers to every name in a type.
func (j *scriptFile) annotation(n ref, s scriptScope) {
	switch j.kind(n) {
	case "":
	case "type_identifier":
		if name := j.text(n); !libraryTypes[name] && !j.hiddenType(s.in, name) {
			j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(name), n)
		}
	case "nested_type_identifier":
		j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, j.typePath(n, s), j.field(n, "name"))
	case "type_query": // typeof value
		j.block(n, s)
	default:
		for c := range j.children(n) {
			j.annotation(c, s)
		}
	}
}

// hiddenType reports whether a type's name is a type parameter around it.
func (j *scriptFile) hiddenType(in uint32, name string) bool {
	for ; in != 0; in = j.decl(in).Owner {
		if j.locals[nameIn{in, name}] {
			return !j.declared[nameIn{in, name}]
		}
	}
	return false
}
