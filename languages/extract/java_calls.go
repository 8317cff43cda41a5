package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// callee is the path of what a method invocation calls.
func (j *javaFile) callee(n ref, s javaScope) string {
	name, object := j.text(j.field(n, "name")), j.field(n, "object")
	switch {
	case object == none:
		return checked(name)
	case j.has(n, "super") && j.kind(object) != "super": // Interface.super.name()
		return member(ofType(compact(j.text(object))), name)
	}
	return j.memberOf(j.path(object, s), name)
}

// call refers to what is called and walks the rest of the expression.
func (j *javaFile) call(n ref, s javaScope) {
	path := j.callee(n, s)
	r := j.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, j.field(n, "name"))
	object := j.field(n, "object")
	switch j.kind(object) {
	case "", "identifier", "this", "super":
	case "field_access":
		if strings.ContainsAny(j.path(object, s), "([?<") {
			j.visit(object, s)
		}
	default:
		j.visit(object, s)
	}
	j.annotation(j.field(n, "type_arguments"), s)
	args := j.field(n, "arguments")
	j.arguments(r, args, s)
	j.effects(n, path, args, s)
}

// arguments adds to a call what its arguments are, and walks them.
func (j *javaFile) arguments(r *recountv1.Reference, args ref, s javaScope) {
	for c := range j.children(args) {
		a := &recountv1.Argument{Index: r.Count, Path: j.value(c, s)}
		if a.Path != unknown {
			r.Args = append(r.Args, a)
		}
		r.Count++
	}
	i := 0
	for c := range j.children(args) {
		j.argument(c, r.Path, i, s)
		i++
	}
}

// value is the path of an expression that is handed on: a function too has one.
func (j *javaFile) value(n ref, s javaScope) string {
	switch j.kind(n) {
	case "lambda_expression":
		return functionOf(len(j.lambdaNames(n)), j.gives(n, s))
	case "method_reference":
		return functionOf(-1, result(j.referred(n, s)))
	case "parenthesized_expression":
		return j.value(j.child(n, 0), s)
	}
	return j.path(n, s)
}

// gives is what a lambda with an expression as its body gives. Its parameters are
// not known yet where it is asked for, so that their names are those they will have.
func (j *javaFile) gives(n ref, s javaScope) string {
	body := j.field(n, "body")
	if j.kind(body) == "block" {
		return unknown
	}
	preview := s.nested()
	ahead := map[nameIn]int{}
	for _, p := range j.lambdaNames(n) {
		name := j.text(p)
		key := nameIn{s.in, name}
		ahead[key] = j.times[key]
		j.blocks.local(preview.names, s.in, name)
	}
	path := j.path(body, preview)
	for key, n := range ahead {
		j.times[key] = n
	}
	return path
}

// argument walks an expression that goes where base says: to its argument `at`, or
// into base itself where that is -1.
func (j *javaFile) argument(n ref, base string, at int, s javaScope) {
	switch j.kind(n) {
	case "":
	case "lambda_expression":
		j.lambda(n, base, at, s)
	case "parenthesized_expression":
		j.argument(j.child(n, 0), base, at, s)
	case "ternary_expression":
		j.visit(j.field(n, "condition"), s)
		j.argument(j.field(n, "consequence"), base, at, s)
		j.argument(j.field(n, "alternative"), base, at, s)
	default:
		j.visit(n, s)
	}
}

// lambdaNames are the nodes of a lambda's parameters' names.
func (j *javaFile) lambdaNames(n ref) []ref {
	params := j.field(n, "parameters")
	switch j.kind(params) {
	case "identifier":
		return []ref{params}
	case "inferred_parameters", "formal_parameters":
		var all []ref
		for c := range j.children(params) {
			switch j.kind(c) {
			case "identifier":
				all = append(all, c)
			case "formal_parameter":
				all = append(all, j.field(c, "name"))
			}
		}
		return all
	}
	return nil
}

// lambda walks a function without a name: it belongs to the declaration around it. Its
// parameters are what base hands to its argument `at`.
func (j *javaFile) lambda(n ref, base string, at int, s javaScope) {
	inside := s.nested()
	inside.lambda = true
	for i, name := range j.lambdaNames(n) {
		typ := none
		if p := j.parent(name); j.kind(p) == "formal_parameter" {
			typ = j.field(p, "type")
		}
		value := unknown
		if base != unknown {
			value = handed(base, at, i)
		}
		j.local(name, typ, value, inside)
	}
	j.visit(j.field(n, "body"), inside)
}

// local binds a local variable: to its type, or where that is left out to the value.
func (j *javaFile) local(name, typ ref, value string, s javaScope) {
	if name == none || j.text(name) == "" {
		return
	}
	target := j.blocks.local(s.names, s.in, j.text(name))
	t := ""
	if typ != none && j.text(typ) != "var" {
		t = knownPath(j.typePath(typ) + j.dimensions(j.parent(name)))
		j.annotation(typ, s)
	}
	j.bind(s.in, checked(target), value, t, name)
}

func (j *javaFile) locals(n ref, s javaScope) {
	typ := j.field(n, "type")
	for d := range j.children(n) {
		if j.kind(d) != "variable_declarator" {
			continue
		}
		name, value := j.field(d, "name"), j.field(d, "value")
		path := unknown
		if value != none {
			path = j.path(value, s)
		}
		j.local(name, typ, path, s)
		base := unknown
		if typ != none && j.text(typ) != "var" {
			base = ofType(j.typePath(typ))
		}
		j.argument(value, base, -1, s)
	}
}

// creation refers to the constructor that new calls; a body is an anonymous class.
func (j *javaFile) creation(n ref, s javaScope) {
	typ, args := j.field(n, "type"), j.field(n, "arguments")
	full := j.typePath(typ)
	r := j.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, madeBy(erased(full)), j.typeName(typ))
	j.annotation(j.firstOf(typ, "type_arguments"), s)
	for c := range j.children(n) {
		switch j.fieldOf(c) {
		case "type", "arguments":
		default:
			if j.kind(c) == "class_body" {
				continue
			}
			j.visit(c, s) // outer.new Inner()
		}
	}
	j.arguments(r, args, s)
	if erased(full) == "ProcessBuilder" {
		j.process(r.Path, j.typeName(typ), args, 0, s)
	}
	if body := j.firstOf(n, "class_body"); body != none {
		j.anonymousClass(body, full, j.typeName(typ), s)
	}
}

// constructed refers to the constructor that this(…) or super(…) calls.
func (j *javaFile) constructed(n ref, s javaScope) {
	word := j.field(n, "constructor")
	path := "self.<init>"
	if j.kind(word) == "super" {
		path = "super.<init>"
	}
	r := j.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, word)
	j.arguments(r, j.field(n, "arguments"), s)
}

// methodReference refers to the method or constructor that is handed on.
func (j *javaFile) methodReference(n ref, s javaScope) {
	path := j.referred(n, s)
	if k := j.kind(j.child(n, 0)); k != "identifier" && !strings.Contains(k, "type") {
		j.visit(j.child(n, 0), s)
	}
	if path != unknown {
		r := j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, path, j.referredName(n))
		r.Attributes = map[string]string{"method": "true"}
	}
}

// referredName is the node of the name, or of new, in Foo::name.
func (j *javaFile) referredName(n ref) ref {
	name, on := none, j.child(n, 0)
	for c := j.first(n); c != none; c = j.next(c) {
		if k := j.kind(c); c != on && (k == "identifier" || k == "new") {
			name = c
		}
	}
	return name
}

// referred is the path of what a method reference means.
func (j *javaFile) referred(n ref, s javaScope) string {
	on, name := j.child(n, 0), j.referredName(n)
	base := j.path(on, s)
	switch j.kind(on) {
	case "generic_type", "scoped_type_identifier", "type_identifier":
		base = erased(j.typePath(on))
	case "array_type":
		return unknown
	}
	switch {
	case name == none:
		return unknown
	case j.kind(name) == "new":
		return madeBy(base)
	}
	return member(base, j.text(name))
}

// fieldUse refers to a field that is named, and walks what its path goes through.
func (j *javaFile) fieldUse(n ref, s javaScope) {
	path := j.path(n, s)
	if j.kind(j.field(n, "field")) != "this" {
		j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, path, j.field(n, "field"))
	}
	switch object := j.field(n, "object"); j.kind(object) {
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
func (j *javaFile) effects(n ref, path string, args ref, s javaScope) {
	name := j.field(n, "name")
	switch strings.TrimPrefix(path, "java.lang.") {
	case "System.getenv", "System.getenv().get", "System.getenv().getOrDefault":
		if v, ok := j.literal(j.child(args, 0)); ok {
			r := j.refer(recountv1.EdgeKind_EDGE_KIND_READS_ENV, s.in, path, name)
			r.Attributes = map[string]string{"variable": clip(v, maxValue)}
		}
	case "Runtime.getRuntime().exec":
		j.process(path, name, args, 1, s)
	}
}

// process refers to the process that a call starts: its words are the arguments, the
// first `most` of them (0: all), or the elements of a list.
func (j *javaFile) process(path string, at, args ref, most int, s javaScope) {
	var words []string
	var add func(n ref)
	add = func(n ref) {
		i := 0
		for c := range j.children(n) {
			if i++; most > 0 && i > most && n == args {
				return
			}
			switch j.kind(c) {
			case "string_literal":
				text, _ := j.literal(c)
				words = append(words, text)
			case "array_creation_expression", "array_initializer":
				add(firstRef(j.field(c, "value"), c))
			case "method_invocation": // List.of("git", "log")
				add(j.field(c, "arguments"))
			default:
				words = append(words, "{}")
			}
		}
	}
	add(args)
	r := j.refer(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, s.in, path, at)
	r.Attributes = map[string]string{"command": clip(strings.Join(words, " "), maxValue)}
}

// literal is the text of a string literal, or of several joined by +.
func (j *javaFile) literal(n ref) (string, bool) {
	switch j.kind(n) {
	case "parenthesized_expression":
		return j.literal(j.child(n, 0))
	case "string_literal":
		var b strings.Builder
		for c := range j.children(n) {
			switch j.kind(c) {
			case "string_fragment", "multiline_string_fragment":
				b.WriteString(j.text(c))
			case "escape_sequence":
				b.WriteString(unescaped(j.text(c)))
			default:
				return "", false
			}
		}
		return b.String(), true
	case "binary_expression":
		left, ok := j.literal(j.field(n, "left"))
		right, also := j.literal(j.field(n, "right"))
		return left + right, ok && also && j.text(j.field(n, "operator")) == "+"
	}
	return "", false
}

// unescaped is the character of a simple escape sequence.
func unescaped(text string) string {
	switch text {
	case `\n`:
		return "\n"
	case `\t`:
		return "\t"
	case `\\`, `\"`, `\'`:
		return text[1:]
	}
	return text
}
