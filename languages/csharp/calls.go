package csharp

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/typed"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// call adds a call and walks the rest of the expression.
func (c *walker) call(n extract.Ref, s state) {
	fn, args := c.Field(n, "function"), c.Field(n, "arguments")
	if c.Kind(fn) == "identifier" && c.Text(fn) == "nameof" {
		return
	}
	path := c.path(fn, s)
	r := c.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, c.calleeName(fn))
	if types := c.typeArguments(fn); types != "" {
		r.Attributes = map[string]string{typed.TypeArguments: types}
	}
	c.calleeRest(fn, s)
	c.arguments(r, args, s)
	c.effects(n, path, args, s)
	c.mapRoute(n, path, args, s)
}

// typeArguments returns the type arguments that a call states, as "Item,List<Item>".
func (c *walker) typeArguments(fn extract.Ref) string {
	switch c.Kind(fn) {
	case "member_access_expression", "member_binding_expression":
		fn = c.Field(fn, "name")
	case "conditional_access_expression":
		return c.typeArguments(c.FirstOf(fn, "member_binding_expression"))
	}
	if c.Kind(fn) != "generic_name" {
		return ""
	}
	var args []string
	for k := range c.Children(c.FirstOf(fn, "type_argument_list")) {
		args = append(args, c.typePath(k))
	}
	return extract.Checked(strings.Join(args, ","))
}

// calleeName returns the node of the last name of a callee.
func (c *walker) calleeName(fn extract.Ref) extract.Ref {
	switch c.Kind(fn) {
	case "member_access_expression":
		return c.lastName(c.Field(fn, "name"))
	case "conditional_access_expression":
		for k := range c.Children(fn) {
			if c.Kind(k) == "member_binding_expression" {
				return c.lastName(c.Field(k, "name"))
			}
		}
	case "generic_name":
		return c.Child(fn, 0)
	}
	return fn
}

// calleeRest walks what the path of a callee goes through.
func (c *walker) calleeRest(fn extract.Ref, s state) {
	switch c.Kind(fn) {
	case "identifier":
	case "generic_name":
		c.annotation(c.FirstOf(fn, "type_argument_list"), s)
	case "member_access_expression":
		c.rest(c.Field(fn, "expression"), s)
		c.annotation(c.FirstOf(c.Field(fn, "name"), "type_argument_list"), s)
	case "conditional_access_expression":
		c.rest(c.Field(fn, "condition"), s)
	default:
		c.visit(fn, s)
	}
}

// rest walks an object whose member is named, for what its path does not contain.
func (c *walker) rest(object extract.Ref, s state) {
	switch c.Kind(object) {
	case "", "identifier", "this", "base", "predefined_type", "generic_name":
	case "member_access_expression":
		if path := c.path(object, s); strings.ContainsAny(path, "([?<") || strings.HasPrefix(path, "self.") {
			c.visit(object, s)
		}
	default:
		c.visit(object, s)
	}
}

// use adds a reference to a field or property.
func (c *walker) use(n extract.Ref, s state) {
	c.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, c.path(n, s), c.calleeName(n))
	c.rest(extract.FirstRef(c.Field(n, "expression"), c.Field(n, "condition")), s)
	for k := range c.Children(n) { // a?.B(), which the grammar makes a call of the whole
		if c.Kind(n) == "conditional_access_expression" && c.Kind(k) == "invocation_expression" {
			c.visit(k, s)
		}
	}
}

// arguments adds the arguments of a call, and walks them.
func (c *walker) arguments(r *recountv1.Reference, args extract.Ref, s state) {
	var values []extract.Ref
	for k := range c.Children(args) {
		value := extract.None
		for v := range c.Children(k) {
			if c.FieldOf(v) != "name" || c.Next(v) == extract.None {
				value = v
			}
		}
		a := &recountv1.Argument{Index: r.Count, Path: c.value(value, s)}
		if name := c.Field(k, "name"); name != extract.None && name != value {
			a.Name = c.Text(name)
		}
		if a.Path != extract.Unknown {
			r.Args = append(r.Args, a)
		}
		r.Count++
		values = append(values, value)
	}
	for i, v := range values {
		c.argument(v, r.Path, i, s)
	}
}

// value returns the path of an expression that is passed on. A function has one too, and so has a whole
// number, which is converted to smaller types if they have it.
func (c *walker) value(n extract.Ref, s state) string {
	switch c.Kind(n) {
	case "lambda_expression", "anonymous_method_expression":
		return extract.FunctionOf(len(c.lambdaNames(n)), c.resultPath(n, s))
	case "parenthesized_expression":
		return c.value(c.Child(n, 0), s)
	case "integer_literal":
		if path := wholeType(c.Text(n)); path != "<int>" {
			return path
		}
		return extract.OfType(c.Text(n))
	case "prefix_unary_expression":
		if digits := c.Child(n, 0); c.Has(n, "-") && c.Kind(digits) == "integer_literal" && wholeType(c.Text(digits)) == "<int>" {
			return extract.OfType("-" + c.Text(digits))
		}
	}
	return c.path(n, s)
}

// resultPath returns the path of the result of a lambda; see resultPath of package java.
func (c *walker) resultPath(n extract.Ref, s state) string {
	body := c.Field(n, "body")
	if body == extract.None || c.Kind(body) == "block" {
		return extract.Unknown
	}
	preview := s.nested()
	before := map[extract.NameIn]int{}
	for _, p := range c.lambdaNames(n) {
		key := extract.NameIn{In: s.in, Name: c.Text(p)}
		before[key] = c.Times[key]
		c.Blocks.Local(preview.names, s.in, c.Text(p))
	}
	path := c.path(body, preview)
	for key, times := range before {
		c.Times[key] = times
	}
	return path
}

// argument walks an expression that is assigned or passed to base; see argument of package java.
// new() makes an instance of the type of base.
func (c *walker) argument(n extract.Ref, base string, at int, s state) {
	switch c.Kind(n) {
	case "":
	case "lambda_expression", "anonymous_method_expression":
		c.lambda(n, base, at, s)
	case "parenthesized_expression":
		c.argument(c.Child(n, 0), base, at, s)
	case "conditional_expression":
		c.visit(c.Field(n, "condition"), s)
		c.argument(c.Field(n, "consequence"), base, at, s)
		c.argument(c.Field(n, "alternative"), base, at, s)
	case "declaration_expression": // out var x
		if c.isProduct(n) {
			c.visit(n, s)
			return
		}
		value := extract.Unknown
		if at >= 0 {
			value = extract.Passed(base, at)
		}
		c.designate(c.Field(n, "name"), c.Field(n, "type"), value, s)
	case "arrow_expression_clause":
		c.argument(c.Child(n, 0), base, at, s)
	case "implicit_object_creation_expression":
		if typ, ok := strings.CutPrefix(base, "<"); ok && at < 0 {
			r := c.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, extract.MadeBy(named(strings.TrimSuffix(typ, ">"))), n)
			c.arguments(r, c.FirstOf(n, "argument_list"), s)
			c.visit(c.FirstOf(n, "initializer_expression"), s)
			return
		}
		c.visit(n, s)
	default:
		c.visit(n, s)
	}
}

// isProduct reports whether a declaration is the product a * b of an argument, which the grammar takes for
// the declaration of a pointer b. Only an out argument declares one.
func (c *walker) isProduct(n extract.Ref) bool {
	return c.Kind(c.Field(n, "type")) == "pointer_type" && !c.Has(c.Parent(n), "out")
}

// lambdaNames returns the nodes of the names of a lambda's parameters.
func (c *walker) lambdaNames(n extract.Ref) []extract.Ref {
	params := extract.FirstRef(c.Field(n, "parameters"), c.FirstOf(n, "parameter_list"))
	switch c.Kind(params) {
	case "identifier", "implicit_parameter":
		return []extract.Ref{params}
	case "parameter_list":
		var all []extract.Ref
		for p := range c.Children(params) {
			if name := c.Field(p, "name"); name != extract.None {
				all = append(all, name)
			}
		}
		return all
	}
	return nil
}

// lambda walks a function without a name. It belongs to the enclosing declaration.
func (c *walker) lambda(n extract.Ref, base string, at int, s state) {
	inside := s.nested()
	inside.lambda = true
	for i, name := range c.lambdaNames(n) {
		typ := extract.None
		if p := c.Parent(name); c.Kind(p) == "parameter" {
			typ = c.Field(p, "type")
		}
		value := extract.Unknown
		if base != extract.Unknown {
			value = extract.Handed(base, at, i)
		}
		c.local(name, typ, value, inside)
	}
	if body := c.Field(n, "body"); body != extract.None {
		c.visit(body, inside)
		return
	}
	c.visit(c.FirstOf(n, "block"), inside)
}

// local binds a local variable to its type, or, without one, to its value.
func (c *walker) local(name, typ extract.Ref, value string, s state) {
	if name == extract.None || c.Text(name) == "" || c.Text(name) == "_" {
		return
	}
	target := c.Blocks.Local(s.names, s.in, c.Text(name))
	t := ""
	if typ != extract.None && c.Kind(typ) != "implicit_type" {
		t = extract.KnownPath(c.typePath(typ))
		c.annotation(typ, s)
	}
	c.Bind(s.in, extract.Checked(target), value, t, name)
}

// designate binds a name, or the names of a deconstruction.
func (c *walker) designate(name, typ extract.Ref, value string, s state) {
	switch c.Kind(name) {
	case "identifier":
		c.local(name, typ, value, s)
	case "tuple_pattern", "parenthesized_variable_designation":
		for k := range c.Children(name) {
			c.designate(k, extract.None, extract.Unknown, s)
		}
	case "tuple_expression":
		for k := range c.Children(name) {
			c.visit(k, s)
		}
	}
}

func (c *walker) locals(n extract.Ref, s state) {
	typ := c.Field(n, "type")
	for d := range c.Children(n) {
		if c.Kind(d) != "variable_declarator" {
			continue
		}
		value := c.valueOf(d)
		path := extract.Unknown
		if value != extract.None {
			path = c.path(value, s)
		}
		name := extract.FirstRef(c.Field(d, "name"), c.FirstOf(d, "tuple_pattern"))
		base := extract.Unknown
		if typ != extract.None && c.Kind(typ) != "implicit_type" {
			base = extract.OfType(c.typePath(typ))
		}
		if c.Kind(name) == "tuple_pattern" {
			path = extract.Unknown
		}
		c.designate(name, typ, path, s)
		if c.Kind(name) == "identifier" {
			c.mapGroup(c.path(name, s), value, s)
			if k := c.Kind(value); k == "string_literal" || k == "binary_expression" || k == "interpolated_string_expression" {
				if extract.HasWord(c.wordsOf(c.Parent(n)), "const") || c.setOnce(c.Text(name)) == value {
					c.textConstant(c.path(name, s), value, s.in)
				}
			}
		}
		c.argument(value, base, -1, s)
	}
}

// queryVariable binds the variable of a query clause: from x in items.
func (c *walker) queryVariable(n extract.Ref, s state) {
	name, value := c.Field(n, "name"), extract.None
	for k := range c.Children(n) {
		if f := c.FieldOf(k); f != "name" && f != "type" && value == extract.None {
			value = k
		}
	}
	path := c.path(value, s)
	if c.Kind(n) != "let_clause" {
		path = extract.Element(path, "")
	}
	for k := range c.Children(n) {
		if f := c.FieldOf(k); f != "name" && f != "type" {
			c.visit(k, s)
		}
	}
	c.local(name, c.Field(n, "type"), path, s)
}

// creation adds a reference to the constructor that new calls.
func (c *walker) creation(n extract.Ref, s state) {
	typ, args := c.Field(n, "type"), c.Field(n, "arguments")
	if c.Kind(typ) == "array_type" {
		c.annotation(typ, s)
		c.visit(c.Field(n, "initializer"), s)
		return
	}
	full := c.typePath(typ)
	r := c.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, extract.MadeBy(named(full)), c.typeName(typ))
	c.annotation(c.FirstOf(typ, "type_argument_list"), s)
	c.arguments(r, args, s)
	if extract.Erased(full) == "ProcessStartInfo" {
		c.process(r.Path, c.typeName(typ), args, s)
	}
	c.visit(c.Field(n, "initializer"), s)
}

// initializer walks { A = 1, B = { 2 } }. The names on the left are members of the new object.
func (c *walker) initializer(n extract.Ref, s state) {
	for k := range c.Children(n) {
		if c.Kind(k) == "assignment_expression" && c.Kind(c.Field(k, "left")) == "identifier" {
			c.argument(c.Field(k, "right"), extract.Unknown, -1, s)
			continue
		}
		c.visit(k, s)
	}
}

func (c *walker) assignment(n extract.Ref, s state) {
	left, right := c.Field(n, "left"), c.Field(n, "right")
	c.visit(left, s)
	c.argument(right, c.path(left, s), -1, s)
}

// effects reads what a call does outside the program.
func (c *walker) effects(n extract.Ref, path string, args extract.Ref, s state) {
	at := c.calleeName(c.Field(n, "function"))
	switch strings.TrimPrefix(strings.TrimPrefix(path, "System."), "Diagnostics.") {
	case "Environment.GetEnvironmentVariable":
		if v, ok := c.literal(c.Child(c.Child(args, 0), 0)); ok {
			r := c.Refer(recountv1.EdgeKind_EDGE_KIND_READS_ENV, s.in, path, at)
			r.Attributes = map[string]string{"variable": extract.Clip(v, extract.MaxValue)}
		}
	case "Process.Start":
		c.process(path, at, args, s)
	}
}

// process adds the process that a call starts.
func (c *walker) process(path string, at, args extract.Ref, s state) {
	var words []string
	for a := range c.Children(args) {
		word, ok := c.literal(c.Child(a, 0))
		if !ok {
			word = "{}"
		}
		words = append(words, word)
	}
	if len(words) == 0 || words[0] == "{}" && len(words) == 1 {
		return // the process is given elsewhere
	}
	r := c.Refer(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, s.in, path, at)
	r.Attributes = map[string]string{"command": extract.Clip(strings.Join(words, " "), extract.MaxValue)}
}

// literal returns the text of a string literal.
func (c *walker) literal(n extract.Ref) (string, bool) {
	switch c.Kind(n) {
	case "string_literal":
		var b strings.Builder
		for k := range c.Children(n) {
			switch c.Kind(k) {
			case "string_literal_content":
				b.WriteString(c.Text(k))
			case "escape_sequence":
				b.WriteString(extract.Unescaped(c.Text(k)))
			}
		}
		return b.String(), true
	case "verbatim_string_literal":
		return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(c.Text(n), `@"`), `"`), `""`, `"`), true
	}
	return "", false
}
