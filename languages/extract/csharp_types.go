package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// csharpWrappers are types that stand for their argument, as await sees it.
var csharpWrappers = map[string]bool{
	"Task": true, "ValueTask": true, "Nullable": true, "System.Threading.Tasks.Task": true,
	"System.Threading.Tasks.ValueTask": true,
}

// typePath is a type as it is written, without white space: "List<Item>[]".
func (c *csharpFile) typePath(n ref) string {
	switch c.kind(n) {
	case "identifier", "predefined_type":
		return checked(c.text(n))
	case "qualified_name", "alias_qualified_name":
		var parts []string
		for k := range c.children(n) {
			if p := c.typePath(k); p != "global" {
				parts = append(parts, p)
			}
		}
		return checked(strings.Join(parts, "."))
	case "generic_name":
		name := c.text(c.child(n, 0))
		var args []string
		for k := range c.children(c.firstOf(n, "type_argument_list")) {
			args = append(args, c.typePath(k))
		}
		if len(args) == 1 && csharpWrappers[name] {
			return args[0]
		}
		return checked(name + "<" + strings.Join(args, ",") + ">")
	case "nullable_type", "ref_type", "scoped_type":
		return c.typePath(firstRef(c.field(n, "type"), c.child(n, 0)))
	case "array_type":
		dims := ""
		for k := range c.children(n) {
			if c.kind(k) == "array_rank_specifier" {
				dims += "[]"
			}
		}
		return checked(c.typePath(c.field(n, "type")) + dims)
	case "type_constraint", "type":
		return c.typePath(c.child(n, 0))
	}
	return unknown
}

// typeName is the node of a type's last name.
func (c *csharpFile) typeName(n ref) ref {
	switch c.kind(n) {
	case "qualified_name", "alias_qualified_name":
		return c.typeName(firstRef(c.field(n, "name"), n+1))
	case "generic_name":
		return c.child(n, 0)
	case "nullable_type", "array_type":
		return c.typeName(firstRef(c.field(n, "type"), c.child(n, 0)))
	}
	return n
}

// annotation refers to every name in a type.
func (c *csharpFile) annotation(n ref, s csharpScope) {
	switch c.kind(n) {
	case "", "predefined_type", "implicit_type":
	case "identifier":
		if name := c.text(n); !c.hidden(s.in, name) && !csharpWrappers[name] {
			c.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(name), n)
		}
	case "qualified_name":
		c.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, erased(c.typePath(n)), c.typeName(n))
	case "array_rank_specifier":
		c.block(n, s)
	case "tuple_element":
		c.annotation(c.field(n, "type"), s)
	default:
		for k := range c.children(n) {
			c.annotation(k, s)
		}
	}
}

// path is the access path of an expression.
func (c *csharpFile) path(n ref, s csharpScope) string {
	switch c.kind(n) {
	case "identifier":
		p, _ := s.names.path(c.text(n))
		return checked(p)
	case "predefined_type":
		return c.text(n)
	case "generic_name":
		p, _ := s.names.path(c.text(c.child(n, 0)))
		return checked(p)
	case "this":
		return "self"
	case "base":
		return "super"
	case "parenthesized_expression", "await_expression", "checked_expression":
		return c.path(c.child(n, 0), s)
	case "postfix_unary_expression":
		return c.path(c.child(n, 0), s)
	case "prefix_unary_expression":
		if c.has(n, "!") {
			return "<bool>"
		}
		return c.path(c.child(n, 0), s)
	case "member_access_expression":
		return c.memberOf(c.path(c.field(n, "expression"), s), c.text(c.lastName(c.field(n, "name"))))
	case "alias_qualified_name", "qualified_name":
		return erased(c.typePath(n))
	case "conditional_access_expression":
		return c.conditional(n, s)
	case "invocation_expression":
		return result(c.path(c.field(n, "function"), s))
	case "object_creation_expression":
		return c.created(n)
	case "array_creation_expression":
		return ofType(c.typePath(c.field(n, "type")))
	case "element_access_expression":
		return element(c.path(c.field(n, "expression"), s), c.indexOf(n))
	case "cast_expression", "default_expression":
		return ofType(c.typePath(c.field(n, "type")))
	case "as_expression":
		return ofType(c.typePath(c.field(n, "right")))
	case "typeof_expression":
		return "<Type>"
	case "assignment_expression":
		return c.path(c.field(n, "left"), s)
	case "conditional_expression":
		return sameOf(c.path(c.field(n, "consequence"), s), c.path(c.field(n, "alternative"), s))
	case "is_expression", "is_pattern_expression", "boolean_literal":
		return "<bool>"
	case "binary_expression":
		return c.binary(n, s)
	case "string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression":
		return "<string>"
	case "character_literal":
		return "<char>"
	case "integer_literal":
		if strings.HasSuffix(strings.ToLower(c.text(n)), "l") {
			return "<long>"
		}
		return "<int>"
	case "real_literal":
		switch t := strings.ToLower(c.text(n)); {
		case strings.HasSuffix(t, "f"):
			return "<float>"
		case strings.HasSuffix(t, "m"):
			return "<decimal>"
		}
		return "<double>"
	case "null_literal":
		return "<null>"
	}
	return unknown
}

// created is the path of new T(…); new T[n] is an array.
func (c *csharpFile) created(n ref) string {
	typ := c.field(n, "type")
	if c.kind(typ) == "array_type" {
		return ofType(c.typePath(typ))
	}
	return made(c.typePath(typ))
}

// conditional is the path of a?.b.
func (c *csharpFile) conditional(n ref, s csharpScope) string {
	base := c.path(c.field(n, "condition"), s)
	for k := range c.children(n) {
		switch c.kind(k) {
		case "member_binding_expression":
			return c.memberOf(base, c.text(c.lastName(c.field(k, "name"))))
		case "element_binding_expression":
			return element(base, "_")
		case "invocation_expression":
			return unknown
		}
	}
	return unknown
}

// indexOf is an index's literal, or "_", which tells it from what a loop gives.
func (c *csharpFile) indexOf(n ref) string {
	arg := c.child(c.child(c.field(n, "subscript"), 0), 0)
	if c.kind(arg) == "integer_literal" {
		return c.text(arg)
	}
	return "_"
}

// lastName is the node of a member's name.
func (c *csharpFile) lastName(n ref) ref {
	if c.kind(n) == "generic_name" {
		return c.child(n, 0)
	}
	return n
}

func (c *csharpFile) memberOf(base, name string) string {
	if name == "" {
		return unknown
	}
	return member(base, name)
}

// binary is the type of an operation.
func (c *csharpFile) binary(n ref, s csharpScope) string {
	left, right := c.path(c.field(n, "left"), s), c.path(c.field(n, "right"), s)
	switch op := c.text(c.field(n, "operator")); op {
	case "==", "!=", "<", ">", "<=", ">=", "&&", "||":
		return "<bool>"
	case "??":
		return sameOf(left, right)
	case "+":
		if left == "<string>" || right == "<string>" {
			return "<string>"
		}
	}
	if left == right && isNumber(left) {
		return left
	}
	return unknown
}

// resultType is the path of what the method or property around gives.
func (c *csharpFile) resultType(s csharpScope) string {
	if d := c.decl(s.in); d != nil && !s.lambda {
		return ofType(d.Type)
	}
	return unknown
}
