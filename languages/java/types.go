package java

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// typePath returns a type as it is written, without annotations and white space, and with
// wildcards replaced by their bounds: "Map.Entry<K,List<V>>[]". The type of a catch clause with
// several types is not known.
func (j *walker) typePath(n extract.Ref) string {
	switch j.Kind(n) {
	case "type_identifier", "identifier", "integral_type", "floating_point_type", "boolean_type", "void_type":
		return extract.Checked(j.Text(n))
	case "scoped_type_identifier", "scoped_identifier", "field_access":
		var parts []string
		for c := range j.Children(n) {
			if k := j.Kind(c); k == "marker_annotation" || k == "annotation" {
				continue
			}
			parts = append(parts, extract.Erased(j.typePath(c)))
		}
		return extract.Checked(strings.Join(parts, "."))
	case "generic_type":
		args := j.FirstOf(n, "type_arguments")
		var all []string
		for c := range j.Children(args) {
			all = append(all, j.typePath(c))
		}
		if name := j.typePath(j.Child(n, 0)); len(all) > 0 {
			return extract.Checked(name + "<" + strings.Join(all, ",") + ">")
		} else {
			return name
		}
	case "wildcard":
		for c := range j.Children(n) {
			if k := j.Kind(c); k != "annotation" && k != "marker_annotation" && k != "super" {
				return j.typePath(c)
			}
		}
	case "array_type":
		return extract.Checked(j.typePath(j.Field(n, "element")) + j.dimensions(n))
	case "annotated_type":
		last := extract.None
		for c := range j.Children(n) {
			last = c
		}
		return j.typePath(last)
	case "catch_type":
		if j.Child(n, 1) == extract.None {
			return j.typePath(j.Child(n, 0))
		}
	}
	return extract.Unknown
}

// typeName returns the node of the last name of a type.
func (j *walker) typeName(n extract.Ref) extract.Ref {
	switch j.Kind(n) {
	case "generic_type":
		return j.typeName(j.Child(n, 0))
	case "scoped_type_identifier", "scoped_identifier", "annotated_type":
		last := n
		for c := range j.Children(n) {
			last = c
		}
		if last == n {
			return n
		}
		return j.typeName(last)
	case "array_type":
		return j.typeName(j.Field(n, "element"))
	}
	return n
}

// javaLang are types of java.lang that are too common to be references.
var javaLang = map[string]bool{
	"String": true, "Object": true, "Integer": true, "Long": true, "Boolean": true, "Double": true, "Float": true,
	"Character": true, "Byte": true, "Short": true, "Void": true, "Number": true, "CharSequence": true, "var": true,
}

// annotation adds references to all names in a type.
func (j *walker) annotation(n extract.Ref, s state) {
	switch j.Kind(n) {
	case "":
	case "type_identifier":
		if name := j.Text(n); !javaLang[name] && !j.Hidden(s.in, name) {
			j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(name), n)
		}
	case "scoped_type_identifier":
		j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, j.typePath(n), j.typeName(n))
	case "marker_annotation", "annotation":
	case "identifier":
		j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(j.Text(n)), n)
	default:
		for c := range j.Children(n) {
			j.annotation(c, s)
		}
	}
}

// path returns the access path of an expression.
func (j *walker) path(n extract.Ref, s state) string {
	switch j.Kind(n) {
	case "identifier":
		p, _ := s.names.Path(j.Text(n))
		return extract.Checked(p)
	case "this":
		return "self"
	case "super":
		return "super"
	case "parenthesized_expression":
		return j.path(j.Child(n, 0), s)
	case "field_access":
		object, name := j.Field(n, "object"), j.Field(n, "field")
		if j.Kind(name) == "this" { // of the enclosing class
			return extract.OfType(extract.Compact(j.Text(object)))
		}
		return j.memberOf(j.path(object, s), j.Text(name))
	case "method_invocation":
		return extract.Result(j.callee(n, s))
	case "object_creation_expression":
		return extract.Made(j.typePath(j.Field(n, "type")))
	case "array_creation_expression":
		dims := ""
		for c := range j.Children(n) {
			switch j.Kind(c) {
			case "dimensions_expr":
				dims += "[]"
			case "dimensions":
				dims += strings.Repeat("[]", strings.Count(j.Text(c), "["))
			}
		}
		return extract.OfType(j.typePath(j.Field(n, "type")) + dims)
	case "array_access":
		key := ""
		if index := j.Field(n, "index"); j.Kind(index) == "decimal_integer_literal" {
			key = j.Text(index)
		}
		return extract.Element(j.path(j.Field(n, "array"), s), key)
	case "cast_expression":
		return extract.OfType(j.typePath(j.Field(n, "type")))
	case "assignment_expression":
		return j.path(j.Field(n, "left"), s)
	case "update_expression":
		return j.path(j.Child(n, 0), s)
	case "class_literal":
		return extract.OfType("Class<" + j.typePath(j.Child(n, 0)) + ">")
	case "ternary_expression":
		return extract.SameOf(j.path(j.Field(n, "consequence"), s), j.path(j.Field(n, "alternative"), s))
	case "unary_expression":
		if j.Text(j.Field(n, "operator")) == "!" {
			return "<boolean>"
		}
		return j.path(j.Field(n, "operand"), s)
	case "instanceof_expression", "true", "false":
		return "<boolean>"
	case "binary_expression":
		return j.binary(n, s)
	case "string_literal":
		return "<String>"
	case "character_literal":
		return "<char>"
	case "decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal":
		if strings.HasSuffix(strings.ToLower(j.Text(n)), "l") {
			return "<long>"
		}
		return "<int>"
	case "decimal_floating_point_literal", "hex_floating_point_literal":
		if strings.HasSuffix(strings.ToLower(j.Text(n)), "f") {
			return "<float>"
		}
		return "<double>"
	case "null_literal":
		return "<null>"
	}
	return extract.Unknown
}

// memberOf returns base.name; if the base is unknown, only the name.
func (j *walker) memberOf(base, name string) string {
	if name == "" {
		return extract.Unknown
	}
	return extract.Member(base, name)
}

// binary returns the type of an operation.
func (j *walker) binary(n extract.Ref, s state) string {
	left, right := j.path(j.Field(n, "left"), s), j.path(j.Field(n, "right"), s)
	switch op := j.Text(j.Field(n, "operator")); op {
	case "==", "!=", "<", ">", "<=", ">=", "&&", "||":
		return "<boolean>"
	case "+":
		if left == "<String>" || right == "<String>" {
			return "<String>"
		}
		fallthrough
	default:
		if left == right && extract.IsNumber(left) {
			return left
		}
		if left == "<int>" && (op == "<<" || op == ">>" || op == ">>>") {
			return left
		}
	}
	return extract.Unknown
}

// resultType returns the path of the result type of the enclosing method.
func (j *walker) resultType(s state) string {
	if d := j.Decl(s.in); d != nil && !s.lambda {
		return extract.OfType(d.Type)
	}
	return extract.Unknown
}
