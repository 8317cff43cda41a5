package csharp

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// transformed reads new RouteTokenTransformerConvention(new Slugify()): the class changes what stands for [controller],
// [action] and [area] in all routes of the application.
func (c *walker) transformed(n extract.Ref, s state) {
	if _, name := extract.SplitLast(extract.Erased(c.typePath(c.Field(n, "type")))); name != "RouteTokenTransformerConvention" {
		return
	}
	class := extract.Unknown
	if of := c.Child(c.Child(c.Field(n, "arguments"), 0), 0); c.Kind(of) == "object_creation_expression" {
		class = c.typePath(c.Field(of, "type"))
	}
	c.AddRoute(&recountv1.RouteFact{Group: true, Role: "transform", Handler: class, Framework: "aspnetcore", In: s.in}, n)
}

// transformer reads the method TransformOutbound of such a class: what it replaces, and whether it makes letters small.
// One that does something else gives no fact.
func (c *walker) transformer(method extract.Ref, in uint32) {
	result := c.Child(c.FirstOf(method, "arrow_expression_clause"), 0)
	if body := c.Field(method, "body"); c.Kind(body) == "arrow_expression_clause" {
		result = c.Child(body, 0)
	} else if body != extract.None {
		for statement := range c.Children(body) {
			if c.Kind(statement) == "return_statement" {
				result = c.Child(statement, 0)
			}
		}
	}
	r := &recountv1.RouteFact{Group: true, Role: "transformer", Framework: "aspnetcore", In: in}
	if parameter := c.Child(c.Field(method, "parameters"), 0); c.outbound(result, c.Text(c.Field(parameter, "name")), r, 0) {
		c.AddRoute(r, method)
	}
}

// outbound reads an expression of a transformer, and reports whether all of it is known.
func (c *walker) outbound(n extract.Ref, parameter string, r *recountv1.RouteFact, depth int) bool {
	args := c.Field(n, "arguments")
	fn := c.Field(n, "function")
	switch c.Kind(n) {
	case "identifier":
		of := c.assigned(n)
		return c.Text(n) == parameter || of != extract.None && depth < maxLists && c.outbound(of, parameter, r, depth+1)
	case "parenthesized_expression", "postfix_unary_expression", "as_expression", "cast_expression":
		for k := range c.Children(n) {
			if c.outbound(k, parameter, r, depth) {
				return true
			}
		}
	case "conditional_expression": // value == null ? null : …
		yes, no := c.Field(n, "consequence"), c.Field(n, "alternative")
		if c.Kind(yes) == "null_literal" || c.Text(yes) == "string.Empty" || c.Text(yes) == `""` {
			return c.outbound(no, parameter, r, depth)
		}
		return (c.Kind(no) == "null_literal" || c.Text(no) == "string.Empty") && c.outbound(yes, parameter, r, depth)
	case "conditional_access_expression": // value?.ToString()
		return c.Text(c.Child(n, 0)) == parameter && c.Text(c.Child(n, 1)) == ".ToString()"
	case "invocation_expression":
		switch on := c.Field(fn, "expression"); c.Text(c.Field(fn, "name")) {
		case "ToString":
			return c.Child(args, 0) == extract.None && c.outbound(on, parameter, r, depth)
		case "ToLower", "ToLowerInvariant":
			known := c.outbound(on, parameter, r, depth)
			r.Handler = "lower"
			return known
		case "Replace":
			pattern, is := c.literal(c.Child(c.Child(args, 1), 0))
			with, also := c.literal(c.Child(c.Child(args, 2), 0))
			if !is || !also || !strings.HasSuffix(c.Text(on), "Regex") || !c.outbound(c.Child(c.Child(args, 0), 0), parameter, r, depth) || r.Pattern != "" || r.Handler != "" {
				return false
			}
			r.Pattern, r.Method = pattern, with
			return true
		}
	}
	return false
}
