package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
)

// path returns the access path of an expression.
func (j *walker) path(n extract.Ref, s state) string {
	switch j.Kind(n) {
	case "identifier", "shorthand_property_identifier":
		of := s.shadows.Path(j.Text(n))
		if i := strings.LastIndex(of, "["+scope.Guarded); i > 0 && j.Kind(j.Parent(n)) != "member_expression" && j.Kind(j.Parent(n)) != "non_null_expression" {
			return of[:i] // what is passed on is what it was
		}
		return of
	case "function_expression", "arrow_function":
		return extract.FirstOf(j.registered[n], extract.Unknown)
	case "this":
		if s.noThis {
			return extract.Unknown
		}
		return "self"
	case "super":
		return "super"
	case "member_expression":
		if of := j.inheritedMember(n, s); of != "" {
			return of
		}
		if of := j.literalThis(n, s); of != extract.Unknown {
			return of
		}
		return extract.Member(j.path(j.Field(n, "object"), s), j.Text(j.Field(n, "property")))
	case "subscript_expression":
		base, index := j.path(j.Field(n, "object"), s), j.Field(n, "index")
		if j.isSymbol(index) {
			return extract.Member(base, j.Text(index))
		}
		if key, ok := j.literal(index); ok && base != extract.Unknown {
			return memberOrElement(base, key)
		}
		if j.Kind(index) == "number" {
			return extract.Element(base, j.Text(index))
		}
		return extract.Element(base, "")
	case "call_expression":
		return j.callPath(n, s)
	case "new_expression":
		return narrowedBy(extract.Result(j.path(j.Field(n, "constructor"), s)), scope.Cast, j.madeType(n, s))
	case "as_expression", "type_assertion":
		of, typ := j.Child(n, 0), j.Child(n, 1)
		if j.Kind(n) == "type_assertion" {
			of, typ = j.Child(n, 1), j.Child(j.Child(n, 0), 0)
		}
		return narrowedBy(j.path(of, s), scope.Cast, j.castType(typ, s))
	case "augmented_assignment_expression":
		if operator := j.Text(j.Field(n, "operator")); operator == "??=" || operator == "||=" {
			return j.path(j.Field(n, "right"), s)
		}
	case "parenthesized_expression":
		return narrowedBy(j.path(j.Child(n, 0), s), scope.Cast, j.statedType(n))
	case "await_expression", "non_null_expression", "satisfies_expression", "instantiation_expression":
		return j.path(j.Child(n, 0), s)
	case "sequence_expression":
		return j.path(j.Field(n, "right"), s)
	case "meta_property":
		return extract.Checked(j.Text(n))
	}
	return extract.Unknown
}

// callPath returns the path of a call's result; for require and import with a literal it is the
// module.
func (j *walker) callPath(n extract.Ref, s state) string {
	fn := j.Field(n, "function")
	if module, ok := j.moduleOf(n, s); ok {
		return j.InlineImport(s.in, module, n)
	}
	path := j.path(fn, s)
	if name, ok := strings.CutSuffix(path, ".bind"); ok {
		return name // a bound function is the function
	}
	if args := j.Field(n, "arguments"); path == "Object.values" || path == "Object.entries" || path == "Array.from" && j.Child(args, 1) == extract.None {
		return j.path(j.Child(args, 0), s) // they have its elements
	}
	if path == "Object.assign" || path == "Object.freeze" || path == "Object.seal" {
		return j.path(j.Child(j.Field(n, "arguments"), 0), s) // they return their first argument
	}
	if path == "Object.create" { // what is made has the members of the object that it is made of; of this, it overrides some
		if of := j.path(j.Child(j.Field(n, "arguments"), 0), s); of != extract.Unknown && of != "self" && !strings.HasSuffix(of, ".prototype") {
			return of
		}
	}
	if types := j.Field(n, "type_arguments"); types != extract.None && j.Child(types, 1) == extract.None {
		return narrowedBy(extract.Result(path), scope.Perhaps, j.castType(j.Child(types, 0), s))
	}
	return extract.Result(path)
}

// castType returns the type that a value is said to be of, "" if the repository does not declare it for sure.
func (j *walker) castType(n extract.Ref, s state) string {
	var known []string
	for _, of := range j.typesOf(n, s) {
		if of != extract.Unknown && !plainTypes[of] && !libraryTypes[of] && of != "const" && !j.hiddenType(s.in, extract.Root(of)) {
			known = append(known, of)
		}
	}
	return extract.AnyOf(known)
}

// moduleOf returns the module that require("x") or import("x") loads.
func (j *walker) moduleOf(n extract.Ref, s state) (string, bool) {
	if j.Kind(n) != "call_expression" {
		return "", false
	}
	fn := j.Field(n, "function")
	if j.Kind(fn) != "import" && (j.Kind(fn) != "identifier" || j.Text(fn) != "require" || j.Hidden(s.in, "require")) {
		return "", false
	}
	return j.literal(j.Child(j.Field(n, "arguments"), 0))
}

// lastName returns the node of the last name in a path.
func (j *walker) lastName(n extract.Ref) extract.Ref {
	next := extract.None
	switch j.Kind(n) {
	case "member_expression":
		return j.Field(n, "property")
	case "nested_type_identifier":
		return j.Field(n, "name")
	case "call_expression":
		next = j.Field(n, "function")
	case "new_expression":
		next = j.Field(n, "constructor")
	case "subscript_expression":
		if index := j.Field(n, "index"); j.isSymbol(index) {
			return index
		}
		next = j.Field(n, "object")
	case "generic_type":
		next = j.Field(n, "name")
	case "parenthesized_expression", "await_expression", "non_null_expression", "as_expression", "satisfies_expression", "instantiation_expression":
		next = j.Child(n, 0)
	}
	if next == extract.None {
		return n
	}
	return j.lastName(next)
}

// literal returns the value of a string literal. What is inserted into a template is {}.
func (j *walker) literal(n extract.Ref) (string, bool) {
	k := j.Kind(n)
	switch k {
	case "string", "template_string":
	case "parenthesized_expression":
		return j.literal(j.Child(n, 0))
	case "as_expression":
		return j.literal(j.Child(n, 0))
	default:
		return "", false
	}
	text := j.Text(n)
	if k == "string" || len(text) < 2 {
		return strings.Trim(text, text[:min(1, len(text))]), true
	}
	var b strings.Builder
	at := j.Start(n) + 1
	for c := range j.Children(n) {
		if j.Kind(c) == "template_substitution" {
			b.Write(j.Src[at:max(j.Start(c), at)])
			b.WriteString("{}")
			at = j.End(c)
		}
	}
	b.Write(j.Src[at:max(j.End(n)-1, at)])
	return b.String(), true
}

// use adds a reference to an expression of names that is not called.
func (j *walker) use(n extract.Ref, s state) {
	path := j.path(n, s)
	j.environment(n, path, s)
	if strings.ContainsAny(path, "([?") {
		j.block(n, s)
		return
	}
	if path != "undefined" {
		j.Loads = append(j.Loads, extract.Load{In: s.in, Path: path, At: j.lastName(n)})
	}
}
