package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// typePath is a type as it is written, without annotations and white space, wildcards
// replaced by their bounds: "Map.Entry<K,List<V>>[]". Of several (catch) it is not known.
func (j *javaFile) typePath(n ref) string {
	switch j.kind(n) {
	case "type_identifier", "identifier", "integral_type", "floating_point_type", "boolean_type", "void_type":
		return checked(j.text(n))
	case "scoped_type_identifier", "scoped_identifier", "field_access":
		var parts []string
		for c := range j.children(n) {
			if k := j.kind(c); k == "marker_annotation" || k == "annotation" {
				continue
			}
			parts = append(parts, erased(j.typePath(c)))
		}
		return checked(strings.Join(parts, "."))
	case "generic_type":
		args := j.firstOf(n, "type_arguments")
		var all []string
		for c := range j.children(args) {
			all = append(all, j.typePath(c))
		}
		if name := j.typePath(j.child(n, 0)); len(all) > 0 {
			return checked(name + "<" + strings.Join(all, ",") + ">")
		} else {
			return name
		}
	case "wildcard":
		for c := range j.children(n) {
			if k := j.kind(c); k != "annotation" && k != "marker_annotation" && k != "super" {
				return j.typePath(c)
			}
		}
	case "array_type":
		return checked(j.typePath(j.field(n, "element")) + j.dimensions(n))
	case "annotated_type":
		last := none
		for c := range j.children(n) {
			last = c
		}
		return j.typePath(last)
	case "catch_type":
		if j.child(n, 1) == none {
			return j.typePath(j.child(n, 0))
		}
	}
	return unknown
}

// typeName is the node of a type's last name.
func (j *javaFile) typeName(n ref) ref {
	switch j.kind(n) {
	case "generic_type":
		return j.typeName(j.child(n, 0))
	case "scoped_type_identifier", "scoped_identifier", "annotated_type":
		last := n
		for c := range j.children(n) {
			last = c
		}
		if last == n {
			return n
		}
		return j.typeName(last)
	case "array_type":
		return j.typeName(j.field(n, "element"))
	}
	return n
}

// javaLang are types of java.lang that are no references worth keeping.
var javaLang = map[string]bool{
	"String": true, "Object": true, "Integer": true, "Long": true, "Boolean": true, "Double": true, "Float": true,
	"Character": true, "Byte": true, "Short": true, "Void": true, "Number": true, "CharSequence": true, "var": true,
}

// annotation refers to every name in a type.
func (j *javaFile) annotation(n ref, s javaScope) {
	switch j.kind(n) {
	case "":
	case "type_identifier":
		if name := j.text(n); !javaLang[name] && !j.hidden(s.in, name) {
			j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(name), n)
		}
	case "scoped_type_identifier":
		j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, j.typePath(n), j.typeName(n))
	case "marker_annotation", "annotation":
	case "identifier":
		j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(j.text(n)), n)
	default:
		for c := range j.children(n) {
			j.annotation(c, s)
		}
	}
}

// path is the access path of an expression.
func (j *javaFile) path(n ref, s javaScope) string {
	switch j.kind(n) {
	case "identifier":
		p, _ := s.names.path(j.text(n))
		return checked(p)
	case "this":
		return "self"
	case "super":
		return "super"
	case "parenthesized_expression":
		return j.path(j.child(n, 0), s)
	case "field_access":
		object, name := j.field(n, "object"), j.field(n, "field")
		if j.kind(name) == "this" { // of the class around
			return ofType(compact(j.text(object)))
		}
		return j.memberOf(j.path(object, s), j.text(name))
	case "method_invocation":
		return result(j.callee(n, s))
	case "object_creation_expression":
		return made(j.typePath(j.field(n, "type")))
	case "array_creation_expression":
		dims := ""
		for c := range j.children(n) {
			switch j.kind(c) {
			case "dimensions_expr":
				dims += "[]"
			case "dimensions":
				dims += strings.Repeat("[]", strings.Count(j.text(c), "["))
			}
		}
		return ofType(j.typePath(j.field(n, "type")) + dims)
	case "array_access":
		key := ""
		if index := j.field(n, "index"); j.kind(index) == "decimal_integer_literal" {
			key = j.text(index)
		}
		return element(j.path(j.field(n, "array"), s), key)
	case "cast_expression":
		return ofType(j.typePath(j.field(n, "type")))
	case "assignment_expression":
		return j.path(j.field(n, "left"), s)
	case "update_expression":
		return j.path(j.child(n, 0), s)
	case "class_literal":
		return ofType("Class<" + j.typePath(j.child(n, 0)) + ">")
	case "ternary_expression":
		return sameOf(j.path(j.field(n, "consequence"), s), j.path(j.field(n, "alternative"), s))
	case "unary_expression":
		if j.text(j.field(n, "operator")) == "!" {
			return "<boolean>"
		}
		return j.path(j.field(n, "operand"), s)
	case "instanceof_expression", "true", "false":
		return "<boolean>"
	case "binary_expression":
		return j.binary(n, s)
	case "string_literal":
		return "<String>"
	case "character_literal":
		return "<char>"
	case "decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal":
		if strings.HasSuffix(strings.ToLower(j.text(n)), "l") {
			return "<long>"
		}
		return "<int>"
	case "decimal_floating_point_literal", "hex_floating_point_literal":
		if strings.HasSuffix(strings.ToLower(j.text(n)), "f") {
			return "<float>"
		}
		return "<double>"
	case "null_literal":
		return "<null>"
	}
	return unknown
}

// memberOf is base.name; of an unknown base only the name is known.
func (j *javaFile) memberOf(base, name string) string {
	if name == "" {
		return unknown
	}
	return member(base, name)
}

// sameOf is the path of one of two alternatives, where they are alike or one is null.
func sameOf(a, b string) string {
	switch {
	case a == "<null>":
		return b
	case b == "<null>" || a == b:
		return a
	}
	return unknown
}

// binary is the type of an operation.
func (j *javaFile) binary(n ref, s javaScope) string {
	left, right := j.path(j.field(n, "left"), s), j.path(j.field(n, "right"), s)
	switch op := j.text(j.field(n, "operator")); op {
	case "==", "!=", "<", ">", "<=", ">=", "&&", "||":
		return "<boolean>"
	case "+":
		if left == "<String>" || right == "<String>" {
			return "<String>"
		}
		fallthrough
	default:
		if left == right && isNumber(left) {
			return left
		}
		if left == "<int>" && (op == "<<" || op == ">>" || op == ">>>") {
			return left
		}
	}
	return unknown
}

func isNumber(path string) bool {
	switch path {
	case "<int>", "<long>", "<float>", "<double>":
		return true
	}
	return false
}

// resultType is the path of what the method around gives.
func (j *javaFile) resultType(s javaScope) string {
	if d := j.decl(s.in); d != nil && !s.lambda {
		return ofType(d.Type)
	}
	return unknown
}
