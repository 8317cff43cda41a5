package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// call refers to what is called and walks the rest of the expression.
func (c *csharpFile) call(n ref, s csharpScope) {
	fn, args := c.field(n, "function"), c.field(n, "arguments")
	if c.kind(fn) == "identifier" && c.text(fn) == "nameof" {
		return
	}
	path := c.path(fn, s)
	r := c.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, c.calleeName(fn))
	c.calleeRest(fn, s)
	c.arguments(r, args, s)
	c.effects(n, path, args, s)
	c.mapRoute(n, path, args, s)
}

// calleeName is the node of a callee's last name.
func (c *csharpFile) calleeName(fn ref) ref {
	switch c.kind(fn) {
	case "member_access_expression":
		return c.lastName(c.field(fn, "name"))
	case "conditional_access_expression":
		for k := range c.children(fn) {
			if c.kind(k) == "member_binding_expression" {
				return c.lastName(c.field(k, "name"))
			}
		}
	case "generic_name":
		return c.child(fn, 0)
	}
	return fn
}

// calleeRest walks what a callee's path goes through.
func (c *csharpFile) calleeRest(fn ref, s csharpScope) {
	switch c.kind(fn) {
	case "identifier":
	case "generic_name":
		c.annotation(c.firstOf(fn, "type_argument_list"), s)
	case "member_access_expression":
		c.rest(c.field(fn, "expression"), s)
		c.annotation(c.firstOf(c.field(fn, "name"), "type_argument_list"), s)
	case "conditional_access_expression":
		c.rest(c.field(fn, "condition"), s)
	default:
		c.visit(fn, s)
	}
}

// rest walks an object whose member is named: what its path does not say.
func (c *csharpFile) rest(object ref, s csharpScope) {
	switch c.kind(object) {
	case "", "identifier", "this", "base", "predefined_type", "generic_name":
	case "member_access_expression":
		if path := c.path(object, s); strings.ContainsAny(path, "([?<") || strings.HasPrefix(path, "self.") {
			c.visit(object, s)
		}
	default:
		c.visit(object, s)
	}
}

// use refers to a field or property that is named.
func (c *csharpFile) use(n ref, s csharpScope) {
	c.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, c.path(n, s), c.calleeName(n))
	c.rest(firstRef(c.field(n, "expression"), c.field(n, "condition")), s)
	for k := range c.children(n) { // a?.B() where the grammar puts the call behind
		if c.kind(n) == "conditional_access_expression" && c.kind(k) == "invocation_expression" {
			c.visit(k, s)
		}
	}
}

// arguments adds to a call what its arguments are, and walks them.
func (c *csharpFile) arguments(r *recountv1.Reference, args ref, s csharpScope) {
	var values []ref
	for k := range c.children(args) {
		value := none
		for v := range c.children(k) {
			if c.fieldOf(v) != "name" || c.next(v) == none {
				value = v
			}
		}
		a := &recountv1.Argument{Index: r.Count, Path: c.value(value, s)}
		if name := c.field(k, "name"); name != none && name != value {
			a.Name = c.text(name)
		}
		if a.Path != unknown {
			r.Args = append(r.Args, a)
		}
		r.Count++
		values = append(values, value)
	}
	for i, v := range values {
		c.argument(v, r.Path, i, s)
	}
}

// value is the path of an expression that is handed on: a function too has one.
func (c *csharpFile) value(n ref, s csharpScope) string {
	switch c.kind(n) {
	case "lambda_expression", "anonymous_method_expression":
		return functionOf(len(c.lambdaNames(n)), c.gives(n, s))
	case "parenthesized_expression":
		return c.value(c.child(n, 0), s)
	}
	return c.path(n, s)
}

// gives is what a lambda with an expression as its body gives, see javaFile.gives.
func (c *csharpFile) gives(n ref, s csharpScope) string {
	body := c.field(n, "body")
	if body == none || c.kind(body) == "block" {
		return unknown
	}
	preview := s.nested()
	before := map[nameIn]int{}
	for _, p := range c.lambdaNames(n) {
		key := nameIn{s.in, c.text(p)}
		before[key] = c.times[key]
		c.blocks.local(preview.names, s.in, c.text(p))
	}
	path := c.path(body, preview)
	for key, times := range before {
		c.times[key] = times
	}
	return path
}

// argument walks an expression that goes where base says, see javaFile.argument. A
// new() makes an instance of base's type.
func (c *csharpFile) argument(n ref, base string, at int, s csharpScope) {
	switch c.kind(n) {
	case "":
	case "lambda_expression", "anonymous_method_expression":
		c.lambda(n, base, at, s)
	case "parenthesized_expression":
		c.argument(c.child(n, 0), base, at, s)
	case "conditional_expression":
		c.visit(c.field(n, "condition"), s)
		c.argument(c.field(n, "consequence"), base, at, s)
		c.argument(c.field(n, "alternative"), base, at, s)
	case "arrow_expression_clause":
		c.argument(c.child(n, 0), base, at, s)
	case "implicit_object_creation_expression":
		if typ, ok := strings.CutPrefix(base, "<"); ok && at < 0 {
			r := c.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, madeBy(erased(strings.TrimSuffix(typ, ">"))), n)
			c.arguments(r, c.firstOf(n, "argument_list"), s)
			c.visit(c.firstOf(n, "initializer_expression"), s)
			return
		}
		c.visit(n, s)
	default:
		c.visit(n, s)
	}
}

// lambdaNames are the nodes of a lambda's parameters' names.
func (c *csharpFile) lambdaNames(n ref) []ref {
	params := firstRef(c.field(n, "parameters"), c.firstOf(n, "parameter_list"))
	switch c.kind(params) {
	case "identifier", "implicit_parameter":
		return []ref{params}
	case "parameter_list":
		var all []ref
		for p := range c.children(params) {
			if name := c.field(p, "name"); name != none {
				all = append(all, name)
			}
		}
		return all
	}
	return nil
}

// lambda walks a function without a name: it belongs to the declaration around it.
func (c *csharpFile) lambda(n ref, base string, at int, s csharpScope) {
	inside := s.nested()
	inside.lambda = true
	for i, name := range c.lambdaNames(n) {
		typ := none
		if p := c.parent(name); c.kind(p) == "parameter" {
			typ = c.field(p, "type")
		}
		value := unknown
		if base != unknown {
			value = handed(base, at, i)
		}
		c.local(name, typ, value, inside)
	}
	if body := c.field(n, "body"); body != none {
		c.visit(body, inside)
		return
	}
	c.visit(c.firstOf(n, "block"), inside)
}

// local binds a local variable: to its type, or where that is left out to the value.
func (c *csharpFile) local(name, typ ref, value string, s csharpScope) {
	if name == none || c.text(name) == "" || c.text(name) == "_" {
		return
	}
	target := c.blocks.local(s.names, s.in, c.text(name))
	t := ""
	if typ != none && c.kind(typ) != "implicit_type" {
		t = knownPath(c.typePath(typ))
		c.annotation(typ, s)
	}
	c.bind(s.in, checked(target), value, t, name)
}

// designate binds a name, or the names that take a value apart.
func (c *csharpFile) designate(name, typ ref, value string, s csharpScope) {
	switch c.kind(name) {
	case "identifier":
		c.local(name, typ, value, s)
	case "tuple_pattern", "parenthesized_variable_designation":
		for k := range c.children(name) {
			c.designate(k, none, unknown, s)
		}
	case "tuple_expression":
		for k := range c.children(name) {
			c.visit(k, s)
		}
	}
}

func (c *csharpFile) locals(n ref, s csharpScope) {
	typ := c.field(n, "type")
	for d := range c.children(n) {
		if c.kind(d) != "variable_declarator" {
			continue
		}
		value := c.valueOf(d)
		path := unknown
		if value != none {
			path = c.path(value, s)
		}
		name := firstRef(c.field(d, "name"), c.firstOf(d, "tuple_pattern"))
		base := unknown
		if typ != none && c.kind(typ) != "implicit_type" {
			base = ofType(c.typePath(typ))
		}
		if c.kind(name) == "tuple_pattern" {
			path = unknown
		}
		c.designate(name, typ, path, s)
		if c.kind(name) == "identifier" {
			c.mapGroup(c.path(name, s), value, s)
		}
		c.argument(value, base, -1, s)
	}
}

// queryVariable binds the variable of a query's clause: from x in items.
func (c *csharpFile) queryVariable(n ref, s csharpScope) {
	name, value := c.field(n, "name"), none
	for k := range c.children(n) {
		if f := c.fieldOf(k); f != "name" && f != "type" && value == none {
			value = k
		}
	}
	path := c.path(value, s)
	if c.kind(n) != "let_clause" {
		path = element(path, "")
	}
	for k := range c.children(n) {
		if f := c.fieldOf(k); f != "name" && f != "type" {
			c.visit(k, s)
		}
	}
	c.local(name, c.field(n, "type"), path, s)
}

// creation refers to the constructor that new calls.
func (c *csharpFile) creation(n ref, s csharpScope) {
	typ, args := c.field(n, "type"), c.field(n, "arguments")
	if c.kind(typ) == "array_type" {
		c.annotation(typ, s)
		c.visit(c.field(n, "initializer"), s)
		return
	}
	full := c.typePath(typ)
	r := c.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, madeBy(erased(full)), c.typeName(typ))
	c.annotation(c.firstOf(typ, "type_argument_list"), s)
	c.arguments(r, args, s)
	if erased(full) == "ProcessStartInfo" {
		c.process(r.Path, c.typeName(typ), args, s)
	}
	c.visit(c.field(n, "initializer"), s)
}

// initializer walks { A = 1, B = { 2 } }: the names on the left are members of what is
// made.
func (c *csharpFile) initializer(n ref, s csharpScope) {
	for k := range c.children(n) {
		if c.kind(k) == "assignment_expression" && c.kind(c.field(k, "left")) == "identifier" {
			c.argument(c.field(k, "right"), unknown, -1, s)
			continue
		}
		c.visit(k, s)
	}
}

func (c *csharpFile) assignment(n ref, s csharpScope) {
	left, right := c.field(n, "left"), c.field(n, "right")
	c.visit(left, s)
	c.argument(right, c.path(left, s), -1, s)
}

// effects reads what a call does outside the program.
func (c *csharpFile) effects(n ref, path string, args ref, s csharpScope) {
	at := c.calleeName(c.field(n, "function"))
	switch strings.TrimPrefix(strings.TrimPrefix(path, "System."), "Diagnostics.") {
	case "Environment.GetEnvironmentVariable":
		if v, ok := c.literal(c.child(c.child(args, 0), 0)); ok {
			r := c.refer(recountv1.EdgeKind_EDGE_KIND_READS_ENV, s.in, path, at)
			r.Attributes = map[string]string{"variable": clip(v, maxValue)}
		}
	case "Process.Start":
		c.process(path, at, args, s)
	}
}

// process refers to the process that a call starts.
func (c *csharpFile) process(path string, at, args ref, s csharpScope) {
	var words []string
	for a := range c.children(args) {
		word, ok := c.literal(c.child(a, 0))
		if !ok {
			word = "{}"
		}
		words = append(words, word)
	}
	if len(words) == 0 || words[0] == "{}" && len(words) == 1 {
		return // what is started is said elsewhere
	}
	r := c.refer(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, s.in, path, at)
	r.Attributes = map[string]string{"command": clip(strings.Join(words, " "), maxValue)}
}

// literal is the text of a string literal.
func (c *csharpFile) literal(n ref) (string, bool) {
	switch c.kind(n) {
	case "string_literal":
		var b strings.Builder
		for k := range c.children(n) {
			switch c.kind(k) {
			case "string_literal_content":
				b.WriteString(c.text(k))
			case "escape_sequence":
				b.WriteString(unescaped(c.text(k)))
			}
		}
		return b.String(), true
	case "verbatim_string_literal":
		return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(c.text(n), `@"`), `"`), `""`, `"`), true
	}
	return "", false
}
