package csharp

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// csharpWrappers are types that stand for their type argument, as await sees it.
var csharpWrappers = map[string]bool{
	"Task": true, "ValueTask": true, "Nullable": true, "System.Threading.Tasks.Task": true,
	"System.Threading.Tasks.ValueTask": true,
}

// typePath returns a type as it is written, without white space: "List<Item>[]".
func (c *walker) typePath(n extract.Ref) string {
	switch c.Kind(n) {
	case "identifier", "predefined_type":
		return extract.Checked(c.Text(n))
	case "qualified_name", "alias_qualified_name":
		var parts []string
		for k := range c.Children(n) {
			if p := c.typePath(k); p != "global" {
				parts = append(parts, p)
			}
		}
		return extract.Checked(strings.Join(parts, "."))
	case "generic_name":
		name := c.Text(c.Child(n, 0))
		var args []string
		for k := range c.Children(c.FirstOf(n, "type_argument_list")) {
			args = append(args, c.typePath(k))
		}
		if len(args) == 1 && csharpWrappers[name] {
			return args[0]
		}
		return extract.Checked(name + "<" + strings.Join(args, ",") + ">")
	case "nullable_type":
		typ := extract.FirstRef(c.Field(n, "type"), c.Child(n, 0))
		if text := c.typePath(typ); c.Kind(typ) == "predefined_type" && widening[text] != nil {
			return text + "?"
		}
		return c.typePath(typ)
	case "ref_type", "scoped_type":
		return c.typePath(extract.FirstRef(c.Field(n, "type"), c.Child(n, 0)))
	case "array_type":
		dims := ""
		for k := range c.Children(n) {
			if c.Kind(k) == "array_rank_specifier" {
				dims += "[]"
			}
		}
		return extract.Checked(c.typePath(c.Field(n, "type")) + dims)
	case "type_constraint", "type":
		return c.typePath(c.Child(n, 0))
	}
	return extract.Unknown
}

// typeName returns the node of the last name of a type.
func (c *walker) typeName(n extract.Ref) extract.Ref {
	switch c.Kind(n) {
	case "qualified_name", "alias_qualified_name":
		return c.typeName(extract.FirstRef(c.Field(n, "name"), n+1))
	case "generic_name":
		return c.Child(n, 0)
	case "nullable_type", "array_type":
		return c.typeName(extract.FirstRef(c.Field(n, "type"), c.Child(n, 0)))
	}
	return n
}

// annotation adds references to all names in a type.
func (c *walker) annotation(n extract.Ref, s state) {
	switch c.Kind(n) {
	case "", "predefined_type", "implicit_type":
	case "identifier":
		if name := c.Text(n); !c.Hidden(s.in, name) && !csharpWrappers[name] {
			c.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(name), n)
		}
	case "qualified_name":
		c.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, named(c.typePath(n)), c.typeName(n))
	case "generic_name":
		if name := c.Text(c.Child(n, 0)); !csharpWrappers[name] {
			c.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, named(c.typePath(n)), c.Child(n, 0))
		}
		c.annotation(c.FirstOf(n, "type_argument_list"), s)
	case "array_rank_specifier":
		c.block(n, s)
	case "tuple_element":
		c.annotation(c.Field(n, "type"), s)
	default:
		for k := range c.Children(n) {
			c.annotation(k, s)
		}
	}
}

// path returns the access path of an expression.
func (c *walker) path(n extract.Ref, s state) string {
	switch c.Kind(n) {
	case "identifier":
		p, _ := s.names.Path(c.Text(n))
		return extract.Checked(p)
	case "predefined_type":
		return c.Text(n)
	case "generic_name":
		p, _ := s.names.Path(c.Text(c.Child(n, 0)))
		return extract.Checked(p)
	case "this":
		return "self"
	case "base":
		return "super"
	case "parenthesized_expression", "await_expression", "checked_expression":
		return c.path(c.Child(n, 0), s)
	case "postfix_unary_expression":
		return c.path(c.Child(n, 0), s)
	case "prefix_unary_expression":
		if c.Has(n, "!") {
			return "<bool>"
		}
		return c.path(c.Child(n, 0), s)
	case "member_access_expression":
		return c.memberOf(c.object(c.Field(n, "expression"), s), c.Text(c.lastName(c.Field(n, "name"))))
	case "alias_qualified_name", "qualified_name":
		return extract.Erased(c.typePath(n))
	case "conditional_access_expression":
		return c.conditional(n, s)
	case "invocation_expression":
		if fn := c.Field(n, "function"); c.Kind(fn) == "member_access_expression" && c.Text(c.Field(fn, "name")) == "ConfigureAwait" {
			return c.path(c.Field(fn, "expression"), s) // a task is its result
		}
		return extract.Result(c.path(c.Field(n, "function"), s))
	case "object_creation_expression":
		return c.created(n)
	case "array_creation_expression":
		return extract.OfType(c.typePath(c.Field(n, "type")))
	case "element_access_expression":
		if arg := c.Child(c.Field(n, "subscript"), 0); c.Kind(c.Child(arg, 0)) == "range_expression" {
			return c.path(c.Field(n, "expression"), s) // a part of it has its type
		}
		return extract.Element(c.path(c.Field(n, "expression"), s), c.indexOf(n))
	case "cast_expression", "default_expression":
		return extract.OfType(c.typePath(c.Field(n, "type")))
	case "as_expression":
		return extract.OfType(c.typePath(c.Field(n, "right")))
	case "typeof_expression":
		return "<Type>"
	case "assignment_expression":
		return c.path(c.Field(n, "left"), s)
	case "throw_expression":
		return "<null>" // its value is never seen
	case "conditional_expression":
		return extract.SameOf(c.path(c.Field(n, "consequence"), s), c.path(c.Field(n, "alternative"), s))
	case "is_expression", "is_pattern_expression", "boolean_literal":
		return "<bool>"
	case "binary_expression":
		return c.binary(n, s)
	case "string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression":
		return "<string>"
	case "character_literal":
		return "<char>"
	case "integer_literal":
		return wholeType(c.Text(n))
	case "real_literal":
		switch t := strings.ToLower(c.Text(n)); {
		case strings.HasSuffix(t, "f"):
			return "<float>"
		case strings.HasSuffix(t, "m"):
			return "<decimal>"
		}
		return "<double>"
	case "null_literal":
		return "<null>"
	}
	return extract.Unknown
}

// wholeType returns the path of the type that the suffix of a whole number gives it.
func wholeType(text string) string {
	text = strings.ToLower(text)
	switch {
	case strings.HasSuffix(text, "ul"), strings.HasSuffix(text, "lu"):
		return "<ulong>"
	case strings.HasSuffix(text, "l"):
		return "<long>"
	case strings.HasSuffix(text, "u"):
		return "<uint>"
	}
	return "<int>"
}

// object returns the path of an expression whose member is named. A generic name is then a type.
func (c *walker) object(n extract.Ref, s state) string {
	switch c.Kind(n) {
	case "generic_name":
		return named(c.typePath(n))
	case "member_access_expression":
		if name := c.Field(n, "name"); c.Kind(name) == "generic_name" {
			return c.memberOf(c.object(c.Field(n, "expression"), s), named(c.typePath(name)))
		}
	}
	return c.path(n, s)
}

// named returns the name of a type without its arguments; the number of those of the last name
// follows it, as in "List`1".
func named(typ string) string {
	typ = strings.TrimSuffix(typ, "[]")
	if !strings.HasSuffix(typ, ">") {
		return extract.Erased(typ)
	}
	depth, args := 0, 1
	for i := len(typ) - 1; i >= 0; i-- {
		switch typ[i] {
		case '>':
			depth++
		case ',':
			if depth == 1 {
				args++
			}
		case '<':
			if depth--; depth == 0 {
				return extract.Checked(extract.Erased(typ[:i]) + "`" + strconv.Itoa(args))
			}
		}
	}
	return extract.Erased(typ)
}

// created returns the path of new T(…); new T[n] is an array.
func (c *walker) created(n extract.Ref) string {
	typ := c.Field(n, "type")
	if c.Kind(typ) == "array_type" {
		return extract.OfType(c.typePath(typ))
	}
	return extract.Made(c.typePath(typ))
}

// conditional returns the path of a?.b.
func (c *walker) conditional(n extract.Ref, s state) string {
	base := c.path(c.Field(n, "condition"), s)
	for k := range c.Children(n) {
		switch c.Kind(k) {
		case "member_binding_expression":
			return c.memberOf(base, c.Text(c.lastName(c.Field(k, "name"))))
		case "element_binding_expression":
			return extract.Element(base, "_")
		case "invocation_expression":
			if fn := c.Field(k, "function"); k != c.Field(n, "condition") && c.Kind(fn) == "member_binding_expression" {
				return extract.Result(c.memberOf(base, c.Text(c.lastName(c.Field(fn, "name")))))
			}
		}
	}
	return extract.Unknown
}

// indexOf returns the literal of an index, or "_", which distinguishes it from the elements of a
// loop.
func (c *walker) indexOf(n extract.Ref) string {
	arg := c.Child(c.Child(c.Field(n, "subscript"), 0), 0)
	if c.Kind(arg) == "integer_literal" {
		return c.Text(arg)
	}
	return "_"
}

// lastName returns the node of the name of a member.
func (c *walker) lastName(n extract.Ref) extract.Ref {
	if c.Kind(n) == "generic_name" {
		return c.Child(n, 0)
	}
	return n
}

func (c *walker) memberOf(base, name string) string {
	if name == "" {
		return extract.Unknown
	}
	return extract.Member(base, name)
}

// binary returns the type of an operation.
func (c *walker) binary(n extract.Ref, s state) string {
	left, right := c.path(c.Field(n, "left"), s), c.path(c.Field(n, "right"), s)
	switch op := c.Text(c.Field(n, "operator")); op {
	case "==", "!=", "<", ">", "<=", ">=", "&&", "||":
		return "<bool>"
	case "??":
		if left != extract.Unknown {
			return left
		}
		return right
	case "+":
		if left == "<string>" || right == "<string>" {
			return "<string>"
		}
	}
	if left == right && extract.IsNumber(left) {
		return left
	}
	return extract.Unknown
}

// resultType returns the path of the result type of the enclosing method or property.
func (c *walker) resultType(s state) string {
	if d := c.Decl(s.in); d != nil && !s.lambda {
		return extract.OfType(d.Type)
	}
	return extract.Unknown
}
