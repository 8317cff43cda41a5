package java

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// callee returns the path of what a method invocation calls.
func (j *walker) callee(n extract.Ref, s state) string {
	name, object := j.Text(j.Field(n, "name")), j.Field(n, "object")
	switch {
	case object == extract.None:
		return extract.Checked(name)
	case j.Has(n, "super") && j.Kind(object) != "super": // Interface.super.name()
		return extract.Member(extract.OfType(extract.Compact(j.Text(object))), name)
	}
	return j.memberOf(j.path(object, s), name)
}

// call adds a call and walks the rest of the expression.
func (j *walker) call(n extract.Ref, s state) {
	path := j.callee(n, s)
	r := j.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, j.Field(n, "name"))
	object := j.Field(n, "object")
	switch j.Kind(object) {
	case "", "identifier", "this", "super":
	case "field_access":
		if strings.ContainsAny(j.path(object, s), "([?<") {
			j.visit(object, s)
		}
	default:
		j.visit(object, s)
	}
	j.annotation(j.Field(n, "type_arguments"), s)
	args := j.Field(n, "arguments")
	j.arguments(r, args, s)
	j.effects(n, path, args, s)
	j.contextRoute(n, args, s)
	j.functionalRoute(n, args, s)
	j.builtRoute(n, args, s)
	j.served(n, args, s)
	j.given(j.Field(n, "name"), args, s)
}

// arguments adds the arguments of a call, and walks them.
func (j *walker) arguments(r *recountv1.Reference, args extract.Ref, s state) {
	for c := range j.Children(args) {
		a := &recountv1.Argument{Index: r.Count, Path: j.value(c, s)}
		if a.Path != extract.Unknown {
			r.Args = append(r.Args, a)
		}
		r.Count++
	}
	i := 0
	for c := range j.Children(args) {
		j.argument(c, r.Path, i, s)
		i++
	}
}

// value returns the path of an expression that is passed on. A function has one too.
func (j *walker) value(n extract.Ref, s state) string {
	switch j.Kind(n) {
	case "lambda_expression":
		return extract.FunctionOf(len(j.lambdaNames(n)), j.resultPath(n, s))
	case "method_reference":
		return extract.FunctionOf(-1, extract.Result(j.referred(n, s)))
	case "parenthesized_expression":
		return j.value(j.Child(n, 0), s)
	}
	return j.path(n, s)
}

// resultPath returns the path of the result of a lambda whose body is an expression. Its parameters
// are not declared yet when this is called, so the path has the names that they will have.
func (j *walker) resultPath(n extract.Ref, s state) string {
	body := j.Field(n, "body")
	if j.Kind(body) == "block" {
		return extract.Unknown
	}
	preview := s.nested()
	ahead := map[extract.NameIn]int{}
	for _, p := range j.lambdaNames(n) {
		name := j.Text(p)
		key := extract.NameIn{In: s.in, Name: name}
		ahead[key] = j.Times[key]
		j.Blocks.Local(preview.names, s.in, name)
	}
	path := j.path(body, preview)
	for key, n := range ahead {
		j.Times[key] = n
	}
	return path
}

// argument walks an expression that is assigned to base, or passed to base as its argument `at`
// if that is not -1.
func (j *walker) argument(n extract.Ref, base string, at int, s state) {
	switch j.Kind(n) {
	case "":
	case "lambda_expression":
		j.lambda(n, base, at, s)
	case "parenthesized_expression":
		j.argument(j.Child(n, 0), base, at, s)
	case "ternary_expression":
		j.visit(j.Field(n, "condition"), s)
		j.argument(j.Field(n, "consequence"), base, at, s)
		j.argument(j.Field(n, "alternative"), base, at, s)
	default:
		j.visit(n, s)
	}
}

// lambdaNames returns the nodes of the names of a lambda's parameters.
func (j *walker) lambdaNames(n extract.Ref) []extract.Ref {
	params := j.Field(n, "parameters")
	switch j.Kind(params) {
	case "identifier":
		return []extract.Ref{params}
	case "inferred_parameters", "formal_parameters":
		var all []extract.Ref
		for c := range j.Children(params) {
			switch j.Kind(c) {
			case "identifier":
				all = append(all, c)
			case "formal_parameter":
				all = append(all, j.Field(c, "name"))
			}
		}
		return all
	}
	return nil
}

// lambda walks a function without a name. It belongs to the enclosing declaration, and its
// parameters are what base passes to its argument `at`.
func (j *walker) lambda(n extract.Ref, base string, at int, s state) {
	inside := s.nested()
	inside.lambda = true
	for i, name := range j.lambdaNames(n) {
		typ := extract.None
		if p := j.Parent(name); j.Kind(p) == "formal_parameter" {
			typ = j.Field(p, "type")
		}
		value := extract.Unknown
		if base != extract.Unknown {
			value = extract.Handed(base, at, i)
		}
		j.local(name, typ, value, inside)
	}
	j.visit(j.Field(n, "body"), inside)
}

// local binds a local variable to its type, or, without one, to its value.
func (j *walker) local(name, typ extract.Ref, value string, s state) {
	if name == extract.None || j.Text(name) == "" {
		return
	}
	target := j.Blocks.Local(s.names, s.in, j.Text(name))
	t := ""
	if typ != extract.None && j.Text(typ) != "var" {
		t = extract.KnownPath(j.typePath(typ) + j.dimensions(j.Parent(name)))
		j.annotation(typ, s)
	}
	j.Bind(s.in, extract.Checked(target), value, t, name)
}

func (j *walker) locals(n extract.Ref, s state) {
	typ := j.Field(n, "type")
	for d := range j.Children(n) {
		if j.Kind(d) != "variable_declarator" {
			continue
		}
		name, value := j.Field(d, "name"), j.Field(d, "value")
		path := extract.Unknown
		if value != extract.None {
			path = j.path(value, s)
		}
		j.local(name, typ, path, s)
		base := extract.Unknown
		if typ != extract.None && j.Text(typ) != "var" {
			base = extract.OfType(j.typePath(typ))
		}
		j.argument(value, base, -1, s)
	}
}

// creation adds a reference to the constructor that new calls; a body is an anonymous class.
func (j *walker) creation(n extract.Ref, s state) {
	typ, args := j.Field(n, "type"), j.Field(n, "arguments")
	full := j.typePath(typ)
	r := j.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, extract.MadeBy(extract.Erased(full)), j.typeName(typ))
	j.annotation(j.FirstOf(typ, "type_arguments"), s)
	for c := range j.Children(n) {
		switch j.FieldOf(c) {
		case "type", "arguments":
		default:
			if j.Kind(c) == "class_body" {
				continue
			}
			j.visit(c, s) // outer.new Inner()
		}
	}
	j.arguments(r, args, s)
	j.given(j.typeName(typ), args, s)
	if extract.Erased(full) == "ProcessBuilder" {
		j.process(r.Path, j.typeName(typ), args, 0, s)
	}
	if body := j.FirstOf(n, "class_body"); body != extract.None {
		j.anonymousClass(body, full, j.typeName(typ), s)
	}
}

// constructed adds a reference to the constructor that this(…) or super(…) calls.
func (j *walker) constructed(n extract.Ref, s state) {
	word := j.Field(n, "constructor")
	path := "self.<init>"
	if j.Kind(word) == "super" {
		path = "super.<init>"
	}
	r := j.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, word)
	j.arguments(r, j.Field(n, "arguments"), s)
	j.given(word, j.Field(n, "arguments"), s)
}

// methodReference adds a reference to a method or constructor that is passed on.
func (j *walker) methodReference(n extract.Ref, s state) {
	path := j.referred(n, s)
	if k := j.Kind(j.Child(n, 0)); k != "identifier" && !strings.Contains(k, "type") {
		j.visit(j.Child(n, 0), s)
	}
	if path != extract.Unknown {
		r := j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, path, j.referredName(n))
		r.Attributes = map[string]string{"method": "true"}
	}
}

// referredName returns the node of the name, or of new, in Foo::name.
func (j *walker) referredName(n extract.Ref) extract.Ref {
	name, on := extract.None, j.Child(n, 0)
	for c := j.First(n); c != extract.None; c = j.Next(c) {
		if k := j.Kind(c); c != on && (k == "identifier" || k == "new") {
			name = c
		}
	}
	return name
}

// referred returns the path of what a method reference means.
func (j *walker) referred(n extract.Ref, s state) string {
	on, name := j.Child(n, 0), j.referredName(n)
	base := j.path(on, s)
	switch j.Kind(on) {
	case "generic_type", "scoped_type_identifier", "type_identifier":
		base = extract.Erased(j.typePath(on))
	case "array_type":
		return extract.Unknown
	}
	switch {
	case name == extract.None:
		return extract.Unknown
	case j.Kind(name) == "new":
		return extract.MadeBy(base)
	}
	return extract.Member(base, j.Text(name))
}

// fieldUse adds a reference to a field, and walks what its path goes through.
func (j *walker) fieldUse(n extract.Ref, s state) {
	path := j.path(n, s)
	if j.Kind(j.Field(n, "field")) != "this" {
		j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, path, j.Field(n, "field"))
	}
	switch object := j.Field(n, "object"); j.Kind(object) {
	case "identifier", "this", "super":
	case "field_access":
		if strings.ContainsAny(j.path(object, s), "([?<") || strings.HasPrefix(path, "self.") {
			j.visit(object, s)
		}
	default:
		j.visit(object, s)
	}
}

// effects reads what a call does outside the program.
func (j *walker) effects(n extract.Ref, path string, args extract.Ref, s state) {
	name := j.Field(n, "name")
	switch strings.TrimPrefix(path, "java.lang.") {
	case "System.getenv", "System.getenv().get", "System.getenv().getOrDefault":
		if v, ok := j.literal(j.Child(args, 0)); ok {
			r := j.Refer(recountv1.EdgeKind_EDGE_KIND_READS_ENV, s.in, path, name)
			r.Attributes = map[string]string{"variable": extract.Clip(v, extract.MaxValue)}
		}
	case "Runtime.getRuntime().exec":
		j.process(path, name, args, 1, s)
	}
}

// process adds the process that a call starts. Its words are the first `most` arguments (0: all
// of them), or the elements of a list.
func (j *walker) process(path string, at, args extract.Ref, most int, s state) {
	var words []string
	var add func(n extract.Ref)
	add = func(n extract.Ref) {
		i := 0
		for c := range j.Children(n) {
			if i++; most > 0 && i > most && n == args {
				return
			}
			switch j.Kind(c) {
			case "string_literal":
				text, _ := j.literal(c)
				words = append(words, text)
			case "array_creation_expression", "array_initializer":
				add(extract.FirstRef(j.Field(c, "value"), c))
			case "method_invocation": // List.of("git", "log")
				add(j.Field(c, "arguments"))
			default:
				words = append(words, "{}")
			}
		}
	}
	add(args)
	r := j.Refer(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, s.in, path, at)
	r.Attributes = map[string]string{"command": extract.Clip(strings.Join(words, " "), extract.MaxValue)}
}

// literal returns the text of a string literal, or of several joined by +.
func (j *walker) literal(n extract.Ref) (string, bool) {
	switch j.Kind(n) {
	case "parenthesized_expression":
		return j.literal(j.Child(n, 0))
	case "string_literal":
		var b strings.Builder
		for c := range j.Children(n) {
			switch j.Kind(c) {
			case "string_fragment", "multiline_string_fragment":
				b.WriteString(j.Text(c))
			case "escape_sequence":
				b.WriteString(extract.Unescaped(j.Text(c)))
			default:
				return "", false
			}
		}
		return b.String(), true
	case "binary_expression":
		left, ok := j.literal(j.Field(n, "left"))
		right, also := j.literal(j.Field(n, "right"))
		return left + right, ok && also && j.Text(j.Field(n, "operator")) == "+"
	}
	return "", false
}
