package script

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// class declares a class and walks its members; whole is its statement. An anonymous one belongs
// to the enclosing declaration.
func (j *walker) class(n, whole extract.Ref, name string, s state) {
	if name == "" {
		name = j.Text(j.Field(n, "name"))
	}
	if name == "" && s.exported {
		name = "default"
	}
	if name == "" {
		name = "<class>"
	}
	body := j.Field(n, "body")
	in, decl := j.Declare(extract.Declaration{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_CLASS, Name: name, In: s.in, Node: whole, Whole: s.statement,
		Head: j.Start(body), Doc: j.doc(whole, s),
	})
	j.Declared[extract.NameIn{In: s.in, Name: name}] = true
	j.Locals[extract.NameIn{In: s.in, Name: name}] = true
	decl.Exported, decl.Test = s.exported, s.test
	innerOf(decl, s)
	decl.Modifiers = j.modifiers(n)
	if j.Kind(n) == "abstract_class_declaration" && len(decl.Modifiers) == 0 {
		decl.Modifiers = []string{"abstract"}
	}
	defer j.documentBounds(decl.Doc)()
	inner := state{in: in, test: s.test}
	j.typeParameters(n, in, inner)
	if h := j.FirstOf(n, "class_heritage"); h != extract.None {
		j.heritage(h, in, s.plain())
	}
	j.symbolKeys(body)
	controller := false
	for _, owner := range []extract.Ref{n, s.statement} {
		for c := j.First(owner); owner > 0 && c != extract.None; c = j.Next(c) {
			if j.Kind(c) == "decorator" {
				j.decorate(c, in, s.plain())
				controller = j.controller(c, in, name, s) || controller
				j.module(c, in, s)
			}
		}
		if owner == s.statement {
			break
		}
	}
	if controller {
		j.mixed(n, in, s.plain())
	}
	var decorators []extract.Ref
	for c := range j.Children(body) {
		if j.Kind(c) == "decorator" {
			decorators = append(decorators, c)
			continue
		}
		j.member(c, decorators, controller, name, inner)
		decorators = nil
	}
}

// heritage adds references to what a class extends and implements.
func (j *walker) heritage(h extract.Ref, in uint32, outside state) {
	for clause := range j.Children(h) {
		switch j.Kind(clause) {
		case "implements_clause":
			for t := range j.Children(clause) {
				j.Refer(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS, in, j.typePath(t, outside), j.lastName(t))
				j.annotation(j.Field(t, "type_arguments"), state{in: in})
			}
		case "extends_clause":
			for c := j.First(clause); c != extract.None; c = j.Next(c) {
				switch j.FieldOf(c) {
				case "value":
					j.Refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, j.path(c, outside), j.lastName(c))
					if j.Kind(c) == "call_expression" {
						j.visit(c, outside)
					}
				case "type_arguments":
					j.annotation(c, state{in: in})
				}
			}
		}
	}
}

// decorate adds a reference to a decorator of the declaration in.
func (j *walker) decorate(n extract.Ref, in uint32, outside state) {
	e := j.Child(n, 0)
	if e == extract.None {
		return
	}
	j.Refer(recountv1.EdgeKind_EDGE_KIND_DECORATES, in, j.path(e, outside), j.lastName(e))
	if j.Kind(e) == "call_expression" {
		j.visit(e, outside)
	}
}

// member declares a member of a class.
func (j *walker) member(n extract.Ref, decorators []extract.Ref, controller bool, class string, s state) {
	name := j.propertyName(j.Field(n, "name"))
	whole := extract.None
	if len(decorators) > 0 {
		whole = decorators[0]
	}
	for c := j.First(n); c != extract.None; c = j.Next(c) {
		if j.Kind(c) == "decorator" {
			decorators = append(decorators, c)
		}
	}
	first := n
	if whole != extract.None {
		first = whole
	}
	s.statement = 0
	var in uint32
	switch j.Kind(n) {
	case "method_definition", "method_signature", "abstract_method_signature":
		if name == "" {
			j.inline(n, s)
			return
		}
		kind := recountv1.SymbolKind_SYMBOL_KIND_METHOD
		switch {
		case name == "constructor":
			kind = recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR
		case j.Has(n, "get") || j.Has(n, "set"):
			kind = recountv1.SymbolKind_SYMBOL_KIND_PROPERTY
		}
		var decl *recountv1.Declaration
		in, decl = j.function(n, n, name, kind, s)
		if doc := j.CommentBefore(first); doc != "" {
			decl.Doc = doc
		}
		if kind == recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR {
			j.parameterFields(n, in, s)
		}
	case "public_field_definition", "property_signature":
		if name == "" {
			j.visit(j.Field(n, "value"), s)
			return
		}
		value := j.Field(n, "value")
		if j.Kind(value) == "class" && j.Text(j.Field(value, "name")) == "" { // Name = class …
			j.memberClass(value, n, name, s)
			return
		}
		if k := j.Kind(value); k == "arrow_function" || k == "function_expression" {
			var decl *recountv1.Declaration
			in, decl = j.function(value, n, name, recountv1.SymbolKind_SYMBOL_KIND_METHOD, s)
			decl.Modifiers = append(j.modifiers(n), decl.Modifiers...)
			decl.Doc = j.CommentBefore(first)
			j.typedFunction(in, j.Field(n, "type"), value)
			break
		}
		var decl *recountv1.Declaration
		in, decl = j.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, Name: name, In: s.in, Node: n, Head: j.LineEnd(n), Doc: j.CommentBefore(first)})
		decl.Modifiers = j.modifiers(n)
		decl.Test = s.test
		if t := j.Field(n, "type"); t != extract.None {
			decl.Type = j.typeOf(t, s)
			j.annotation(t, state{in: s.in})
			j.callable(decl, t, s)
		} else if decl.Type = j.madeType(value, s); decl.Type == "" {
			decl.Type = j.statedType(first)
		}
		if value != extract.None {
			j.bindValue("self."+name, value, decl.Type, n, s, 0)
			j.constants(extract.Member("self", name), value, s)
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
		if controller || j.framework == "nestjs" {
			j.controllerRoute(d, in, class, controller, s)
		}
	}
}

// callable notes what a member of an interface or a type returns that is declared with the type of a function:
// interface Guard { is: (value: unknown) => boolean }.
func (j *walker) callable(decl *recountv1.Declaration, t extract.Ref, s state) {
	function := j.Child(t, 0)
	owner := j.Decl(s.in)
	if owner == nil || j.Kind(function) != "function_type" {
		return
	}
	switch owner.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_INTERFACE:
	case recountv1.SymbolKind_SYMBOL_KIND_TYPE:
		if j.Has(j.Parent(t), "?") {
			return // it is an option, which who calls gives
		}
	default:
		return
	}
	decl.Attributes = map[string]string{scope.Returns: extract.FirstOf(j.signatureType(function, s), extract.Unknown)}
}

// parameterFields declares the fields that the parameters of a constructor are:
// constructor(private readonly db: Database).
func (j *walker) parameterFields(n extract.Ref, constructor uint32, s state) {
	for c := range j.Children(j.Field(n, "parameters")) {
		pattern := j.Field(c, "pattern")
		if j.Kind(pattern) != "identifier" || !j.Has(c, "accessibility_modifier") && !j.Has(c, "readonly") {
			continue
		}
		name := j.Text(pattern)
		_, decl := j.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, Name: name, In: s.in, Node: c})
		decl.Modifiers = j.modifiers(c)
		if t := j.Field(c, "type"); t != extract.None {
			decl.Type = j.typeOf(t, s)
		}
		j.Bind(constructor, "self."+name, name, decl.Type, pattern)
	}
}

// typeDeclaration declares an interface or a type alias and its members.
func (j *walker) typeDeclaration(n extract.Ref, kind recountv1.SymbolKind, s state) {
	name := j.Text(j.Field(n, "name"))
	if name == "" {
		return
	}
	d := extract.Declaration{Kind: kind, Name: name, In: s.in, Node: n, Whole: s.statement, Doc: j.doc(n, s)}
	body := extract.FirstRef(j.Field(n, "body"), j.Field(n, "value"))
	if k := j.Kind(body); k == "interface_body" || k == "object_type" {
		d.Head = j.Start(body)
	}
	in, decl := j.Declare(d)
	j.types[extract.NameIn{In: s.in, Name: name}] = !j.Declared[extract.NameIn{In: s.in, Name: name}]
	j.Declared[extract.NameIn{In: s.in, Name: name}] = true
	decl.Exported = s.exported
	inner := state{in: in}
	j.typeParameters(n, in, inner)
	for c := range j.Children(j.FirstOf(n, "extends_type_clause")) {
		j.Refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, j.typePath(c, s), j.lastName(c))
		j.annotation(j.Field(c, "type_arguments"), inner)
	}
	if d.Head == 0 {
		decl.Type = j.typeOf(body, s)
		if j.Kind(body) == "function_type" {
			decl.Attributes = map[string]string{scope.Returns: extract.FirstOf(j.signatureType(body, inner), extract.Unknown)}
		}
		j.annotation(body, inner)
		return
	}
	for c := range j.Children(body) {
		if j.Kind(c) == "call_signature" {
			decl.Type = j.signatureType(c, inner)
			continue
		}
		if j.Kind(c) == "construct_signature" && decl.Type == "" {
			decl.Type = j.signatureType(c, inner)
			continue
		}
		j.member(c, nil, false, "", inner)
	}
}

// signatureType returns the type that a call signature returns, "" if it is one of its type parameters.
func (j *walker) signatureType(n extract.Ref, s state) string {
	result := extract.FirstRef(j.Field(n, "return_type"), j.Field(n, "type"))
	typ := j.typeOf(result, s)
	for c := range j.Children(j.Field(n, "type_parameters")) {
		if j.Text(j.Field(c, "name")) == typ {
			return ""
		}
	}
	if _, is := j.boundOf(j.Text(j.Child(result, 0)), s.in); is {
		return ""
	}
	return typ
}

func (j *walker) enum(n extract.Ref, s state) {
	name := j.Text(j.Field(n, "name"))
	if name == "" {
		return
	}
	body := j.Field(n, "body")
	d := extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM, Name: name, In: s.in, Node: n, Whole: s.statement, Doc: j.doc(n, s)}
	if body != extract.None {
		d.Head = j.Start(body)
	}
	in, decl := j.Declare(d)
	j.Declared[extract.NameIn{In: s.in, Name: name}] = true
	decl.Exported = s.exported
	for c := range j.Children(body) {
		member := j.propertyName(extract.FirstRef(j.Field(c, "name"), c))
		if member == "" {
			continue
		}
		j.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, Name: member, In: in, Node: c, Doc: j.CommentBefore(c)})
		j.visit(j.Field(c, "value"), state{in: in})
		if text, ok := j.literal(j.Field(c, "value")); ok && s.in == 0 && (strings.HasPrefix(text, "/") && len(text) < 128 || partOfPath.MatchString(text)) {
			j.AddRoute(&recountv1.RouteFact{Group: true, Role: "const", Handler: name + "." + member, Pattern: text, In: s.in}, c)
		}
	}
}

// namespace declares `namespace A.B { … }` and `declare module "x" { … }`.
func (j *walker) namespace(n extract.Ref, s state) {
	nameNode := j.Field(n, "name")
	name := strings.Trim(j.Text(nameNode), "\"'")
	body := j.Field(n, "body")
	if name == "" || body == extract.None {
		return
	}
	in, decl := j.Declare(extract.Declaration{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_MODULE, Name: extract.OneLine(name), In: s.in, Node: n, Whole: s.statement,
		Head: j.Start(body), Doc: j.doc(n, s),
	})
	j.Declared[extract.NameIn{In: s.in, Name: name}] = true
	decl.Exported = s.exported
	j.block(body, state{in: in, test: s.test})
}

// propertyName returns the name of a member: an identifier, a string, a number.
func (j *walker) propertyName(n extract.Ref) string {
	switch j.Kind(n) {
	case "property_identifier", "private_property_identifier", "identifier", "number", "shorthand_property_identifier":
		return j.Text(n)
	case "string":
		name, _ := j.literal(n)
		return extract.OneLine(name)
	case "computed_property_name":
		if name, ok := j.literal(j.Child(n, 0)); ok {
			return extract.OneLine(name)
		} else if j.isSymbol(j.Child(n, 0)) {
			return j.Text(j.Child(n, 0))
		}
	}
	return ""
}

// wrappers are types that stand for their type argument, as await and the compiler see it.
var wrappers = map[string]bool{
	"Promise": true, "PromiseLike": true, "Awaited": true, "Readonly": true, "Partial": true, "Required": true, "NonNullable": true,
	"Pick": true, "Omit": true, "Exclude": true,
}

// lists are types whose values contain those of their first argument, mappings those of the second.
var (
	lists = scope.WordSet(`Array ReadonlyArray ArrayLike Set ReadonlySet WeakSet Iterable Iterator IterableIterator AsyncIterable
AsyncIterator AsyncIterableIterator Generator AsyncGenerator`)
	mappings = scope.WordSet("Map ReadonlyMap WeakMap Record")
)

// libraryTypes are too common to be references.
var libraryTypes = map[string]bool{
	"Promise": true, "PromiseLike": true, "Awaited": true, "Readonly": true, "Partial": true, "Required": true, "NonNullable": true,
	"Array": true, "ReadonlyArray": true, "Record": true, "Map": true, "Set": true, "Pick": true, "Omit": true, "Exclude": true,
	"Extract": true, "ReturnType": true, "Parameters": true, "Date": true, "Error": true, "RegExp": true, "Function": true, "Object": true,
}

// typePath returns the access path of a type that is a name. Type arguments are left out; Promise<T> is T.
func (j *walker) typePath(n extract.Ref, s state) string {
	switch j.Kind(n) {
	case "type_identifier", "identifier", "predefined_type":
		return extract.Checked(j.Text(n))
	case "nested_type_identifier", "member_expression", "nested_identifier":
		return extract.Checked(strings.Join(strings.Fields(j.Text(n)), ""))
	case "generic_type":
		name := j.typePath(j.Field(n, "name"), s)
		if wrappers[name] {
			return j.typePath(j.Child(j.Field(n, "type_arguments"), 0), s)
		}
		return name
	case "this_type":
		return "self"
	}
	return extract.Unknown
}

// typeOf returns what a type says of its values, as Declaration.type in code.proto says, "" if it says nothing.
func (j *walker) typeOf(n extract.Ref, s state) string { return extract.AnyOf(j.typesOf(n, s)) }

// typesOf returns the alternatives of a type. An intersection has the members of all its parts, as if it were any of them.
func (j *walker) typesOf(n extract.Ref, s state) (all []string) {
	switch j.Kind(n) {
	case "type_annotation", "parenthesized_type", "readonly_type":
		return j.typesOf(j.Child(n, 0), s)
	case "type_identifier":
		if of, is := j.boundOf(j.Text(n), s.in); is {
			return of
		}
	case "object_type":
		for c := range j.Children(n) {
			of := j.typesOf(j.Field(c, "type"), s)
			switch name := j.propertyName(j.Field(c, "name")); {
			case j.Kind(c) == "property_signature" && extract.IsName(name):
				all = append(all, extract.ElementTypes(of, name)...)
			case j.Kind(c) == "index_signature":
				all = append(all, extract.ElementTypes(of, "")...)
			}
		}
		return all
	case "union_type", "intersection_type":
		for c := range j.Children(n) {
			all = append(all, j.typesOf(c, s)...)
		}
		return all
	case "array_type":
		return extract.ElementTypes(j.typesOf(j.Child(n, 0), s), "")
	case "tuple_type":
		i := 0
		for c := range j.Children(n) {
			all = append(all, extract.ElementTypes(j.typesOf(c, s), extract.Decimal(i))...)
			i++
		}
		return all
	case "function_type", "constructor_type":
		return j.functionTypes(n, s)
	case "type_query": // typeof Type
		if of := j.path(j.Child(n, 0), s); isTarget(of) {
			return []string{of + scope.ClassOf}
		}
		return []string{extract.Unknown}
	case "generic_type":
		if j.Text(j.Field(n, "name")) == "InstanceType" {
			for _, of := range j.typesOf(j.Child(j.Field(n, "type_arguments"), 0), s) {
				all = append(all, strings.TrimSuffix(of, scope.ClassOf))
			}
			return all
		}
		if name, args := j.typePath(j.Field(n, "name"), s), j.Field(n, "type_arguments"); ofArguments(name) {
			return j.genericTypes(name, args, s)
		}
	}
	return []string{j.typePath(n, s)}
}

// functionTypes returns what the type of a function says of its parameters and its result: "A[<0>]" a function whose first
// parameter is of the type A, "A[<>]" one that returns an A.
func (j *walker) functionTypes(n extract.Ref, s state) (all []string) {
	var own []string
	for c := range j.Children(j.Field(n, "type_parameters")) {
		own = append(own, j.Text(j.Field(c, "name")))
	}
	add := func(t extract.Ref, key string) {
		known := slices.DeleteFunc(j.typesOf(t, s), func(of string) bool { return plainTypes[of] || slices.Contains(own, of) })
		all = append(all, extract.ElementTypes(known, "<"+key+">")...)
	}
	i := 0
	for c := range j.Children(j.Field(n, "parameters")) {
		switch j.Kind(j.Field(c, "pattern")) {
		case "this":
			continue
		case "rest_pattern":
		default:
			add(j.Field(c, "type"), extract.Decimal(i))
		}
		i++
	}
	add(extract.FirstRef(j.Field(n, "return_type"), j.Field(n, "type")), "")
	return all
}

// plainTypes are types without members of the repository.
var plainTypes = scope.WordSet("any unknown void never string number boolean object symbol bigint undefined null")

// ofArguments reports whether a generic type of a name says no more than its arguments.
func ofArguments(name string) bool { return wrappers[name] || lists[name] || mappings[name] }

// genericTypes returns the alternatives of such a type.
func (j *walker) genericTypes(name string, args extract.Ref, s state) []string {
	switch {
	case lists[name]:
		return extract.ElementTypes(j.typesOf(j.Child(args, 0), s), "")
	case mappings[name]:
		return extract.ElementTypes(j.typesOf(j.Child(args, 1), s), "")
	}
	return j.typesOf(j.Child(args, 0), s)
}

// madeType returns the type that an expression states of what it makes: new Map<string, User>(). It returns "" if the
// expression states none.
func (j *walker) madeType(value extract.Ref, s state) string {
	value = j.unwrapped(value)
	name, args := j.Text(j.Field(value, "constructor")), j.Field(value, "type_arguments")
	if j.Kind(value) != "new_expression" || args == extract.None || !ofArguments(name) {
		return ""
	}
	return extract.AnyOf(j.genericTypes(name, args, s))
}

// boundOf returns the types that the values of an enclosing type parameter are of, and whether a name is that of one.
func (j *walker) boundOf(name string, in uint32) (types []string, is bool) {
	for ; in != 0; in = j.Decl(in).Owner {
		if types, is = j.constraints[extract.NameIn{In: in, Name: name}]; is {
			return types, true
		}
	}
	return nil, false
}

// annotation adds references to all names in a type.
func (j *walker) annotation(n extract.Ref, s state) {
	switch j.Kind(n) {
	case "":
	case "type_identifier":
		if name := j.Text(n); !libraryTypes[name] && !j.hiddenType(s.in, name) {
			j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(name), n)
		}
	case "nested_type_identifier":
		j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, j.typePath(n, s), j.Field(n, "name"))
	case "type_query": // typeof value
		j.block(n, s)
	default:
		for c := range j.Children(n) {
			j.annotation(c, s)
		}
	}
}

// hiddenType reports whether a name is that of an enclosing type parameter.
func (j *walker) hiddenType(in uint32, name string) bool {
	for ; in != 0; in = j.Decl(in).Owner {
		if j.Locals[extract.NameIn{In: in, Name: name}] {
			return !j.Declared[extract.NameIn{In: in, Name: name}]
		}
	}
	return false
}
