package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// call refers to what is called and walks the rest of the expression.
func (j *scriptFile) call(n ref, s scriptScope) {
	fn, args := j.field(n, "function"), j.field(n, "arguments")
	if _, ok := j.moduleOf(n, s); ok {
		j.callPath(n, s) // notes the import
		return
	}
	path := j.path(fn, s)
	r := j.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, j.lastName(fn))
	if j.kind(args) == "template_string" { // tag`…`
		r.Count = 1
		j.calleeRest(fn, s)
		j.visit(args, s)
		return
	}
	j.arguments(r, args, s)
	j.annotation(j.field(n, "type_arguments"), s)
	j.effects(n, path, args, s)
	j.calleeRest(fn, s)
	if j.testBlock(n, path, args, s) {
		return
	}
	j.callRoute(n, path, args, s)
	j.block(args, s)
}

// calleeRest walks what a callee's path goes through.
func (j *scriptFile) calleeRest(fn ref, s scriptScope) {
	switch j.kind(fn) {
	case "identifier", "super", "import":
	case "member_expression":
		object := j.field(fn, "object")
		if path := j.path(object, s); !strings.ContainsAny(path, "([?") {
			j.environment(object, path, s)
			return
		}
		j.visit(object, s)
	default:
		j.visit(fn, s)
	}
}

// arguments adds to a call what its arguments name.
func (j *scriptFile) arguments(r *recountv1.Reference, args ref, s scriptScope) {
	for c := range j.children(args) {
		a := &recountv1.Argument{Index: r.Count}
		if j.kind(c) == "spread_element" {
			a.Name, a.Path = "*", j.path(j.child(c, 0), s)
		} else {
			a.Path = j.path(c, s)
		}
		if a.Path != unknown && a.Path != "undefined" {
			r.Args = append(r.Args, a)
		}
		r.Count++
	}
}

// argument is the i-th argument.
func (j *scriptFile) argument(args ref, i int) ref { return j.child(args, i) }

// property is the value of an object literal's property.
func (j *scriptFile) property(object ref, name string) ref {
	if j.kind(object) != "object" {
		return none
	}
	for c := range j.children(object) {
		switch j.kind(c) {
		case "pair":
			if j.propertyName(j.field(c, "key")) == name {
				return j.field(c, "value")
			}
		case "shorthand_property_identifier", "method_definition":
			if j.propertyName(firstRef(j.field(c, "name"), c)) == name {
				return c
			}
		}
	}
	return none
}

// isFunction reports whether an expression is a function.
func (j *scriptFile) isFunction(n ref) bool {
	switch j.kind(n) {
	case "arrow_function", "function_expression", "generator_function":
		return true
	}
	return false
}

// testBlock declares describe("…", () => …), it("…", …) and test("…", …) as tests
// of that title.
func (j *scriptFile) testBlock(n ref, path string, args ref, s scriptScope) bool {
	switch root(path) {
	case "describe", "it", "test", "suite", "context", "specify":
	default:
		return false
	}
	for rest := strings.TrimSuffix(path[len(root(path)):], "()"); rest != ""; {
		var word string
		word, rest, _ = strings.Cut(strings.TrimPrefix(rest, "."), ".")
		switch strings.TrimSuffix(word, "()") {
		case "only", "skip", "each", "concurrent", "todo", "fails", "sequential", "describe", "serial":
		default:
			return false
		}
		if rest != "" {
			rest = "." + rest
		}
	}
	title, ok := j.literal(j.argument(args, 0))
	title = oneLine(title)
	if !ok || title == "" {
		return false
	}
	var body ref = none
	for c := range j.children(args) {
		if j.isFunction(c) {
			body = c
		}
	}
	if body == none {
		return false
	}
	in, decl := j.declare(declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, name: title, in: s.in, node: n, head: j.end(j.argument(args, 0))})
	decl.Test = true
	inner := scriptScope{in: in, function: true, inline: true, test: true}
	j.inline(body, inner)
	return true
}

// effects reads what a call does outside the program.
func (j *scriptFile) effects(n ref, path string, args ref, s scriptScope) {
	full := j.canonical(path)
	module, name := splitLast(full)
	add := func(edge recountv1.EdgeKind, attributes map[string]string) {
		e := j.refer(edge, s.in, path, j.lastName(j.field(n, "function")))
		e.Attributes = attributes
	}
	switch {
	case module == "child_process" || full == "execa" || module == "execa":
		switch name {
		case "exec", "execSync", "spawn", "spawnSync", "execFile", "execFileSync", "fork", "execa", "execaSync", "execaCommand":
			add(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, map[string]string{"command": j.command(args)})
		}
	case name == "addService":
		j.served(args, s)
	case full == "Deno.env.get":
		if v, ok := j.literal(j.argument(args, 0)); ok {
			add(recountv1.EdgeKind_EDGE_KIND_READS_ENV, map[string]string{"variable": clip(v, maxValue)})
		}
	case full == "fetch" && !j.hidden(s.in, "fetch") || full == "window.fetch" || full == "globalThis.fetch" || full == "node-fetch":
		j.request("GET", j.argument(args, 0), j.argument(args, 1), add)
	case full == "axios" || full == "got" || full == "ky" || full == "axios.request":
		first := j.argument(args, 0)
		if j.kind(first) == "object" {
			j.request("GET", j.property(first, "url"), first, add)
		} else {
			j.request("GET", first, j.argument(args, 1), add)
		}
	case module == "axios" || module == "got" || module == "ky" || module == "axios.default":
		switch name {
		case "get", "post", "put", "delete", "patch", "head", "options":
			j.request(strings.ToUpper(name), j.argument(args, 0), none, add)
		}
	}
}

// request adds a request whose URL is a literal; options may give the method.
func (j *scriptFile) request(method string, url, options ref, add func(recountv1.EdgeKind, map[string]string)) {
	u, ok := j.literal(url)
	if !ok || u == "" {
		return
	}
	if m := j.property(options, "method"); m != none {
		if text, ok := j.literal(m); ok {
			method = strings.ToUpper(text)
		} else {
			method = "ANY"
		}
	}
	add(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": clip(method, 16), "url": clip(u, maxValue)})
}

// served refers to the service of server.addService(service, {method: handler, …}),
// for each of the methods.
func (j *scriptFile) served(args ref, s scriptScope) {
	service, methods := j.argument(args, 0), j.argument(args, 1)
	path := j.path(service, s)
	if j.kind(methods) != "object" || strings.HasPrefix(path, unknown) {
		return
	}
	for c := range j.children(methods) {
		var name, handler string
		switch j.kind(c) {
		case "pair":
			name, handler = j.propertyName(j.field(c, "key")), knownPath(j.path(j.field(c, "value"), s))
		case "shorthand_property_identifier":
			name, handler = j.text(c), j.path(c, s)
		case "method_definition":
			name = j.propertyName(j.field(c, "name"))
		}
		if name == "" {
			continue
		}
		r := j.refer(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS_RPC, s.in, path, c)
		r.Attributes = map[string]string{"rpc": clip(name, maxName)}
		if handler = strings.TrimSuffix(handler, ".bind()"); handler != "" {
			r.Attributes["handler"] = handler
		}
	}
}

// command is the literal part of spawn("git", ["log"]).
func (j *scriptFile) command(args ref) string {
	var words []string
	word := func(n ref) {
		text, ok := j.literal(n)
		if !ok {
			text = "{}"
		}
		words = append(words, text)
	}
	word(j.argument(args, 0))
	if list := j.argument(args, 1); j.kind(list) == "array" {
		for c := range j.children(list) {
			word(c)
		}
	}
	return clip(strings.Join(words, " "), maxValue)
}

// environment reads process.env.NAME, and import.meta.env.NAME.
func (j *scriptFile) environment(n ref, path string, s scriptScope) {
	for _, prefix := range []string{"process.env.", "import.meta.env.", "Bun.env."} {
		if name, ok := strings.CutPrefix(path, prefix); ok {
			name, _, _ = strings.Cut(name, ".")
			if !strings.ContainsAny(name, "([") {
				j.readsEnv(name, strings.TrimSuffix(prefix, "."), j.lastName(n), s)
			}
			return
		}
	}
}

// environmentPattern reads const { NAME } = process.env.
func (j *scriptFile) environmentPattern(pattern ref, path string, s scriptScope) {
	if path != "process.env" || j.kind(pattern) != "object_pattern" {
		return
	}
	for c := range j.children(pattern) {
		switch j.kind(c) {
		case "shorthand_property_identifier_pattern":
			j.readsEnv(j.text(c), path, c, s)
		case "object_assignment_pattern":
			j.readsEnv(j.text(j.field(c, "left")), path, c, s)
		case "pair_pattern":
			j.readsEnv(j.propertyName(j.field(c, "key")), path, c, s)
		}
	}
}

func (j *scriptFile) readsEnv(name, path string, at ref, s scriptScope) {
	if name == "" {
		return
	}
	r := j.refer(recountv1.EdgeKind_EDGE_KIND_READS_ENV, s.in, path, at)
	r.Attributes = map[string]string{"variable": clip(name, maxValue)}
}

// jsx refers to the component that an element names, and walks its attributes.
func (j *scriptFile) jsx(n ref, s scriptScope) {
	name := j.field(n, "name")
	for c := range j.children(n) {
		if c != name {
			j.visit(c, s)
		}
	}
	path := strings.Join(strings.Fields(j.text(name)), "")
	if path == "" || !strings.Contains(path, ".") && path[0] >= 'a' && path[0] <= 'z' || !isDotted(strings.ReplaceAll(path, "$", "_")) {
		return // an element of HTML
	}
	j.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(path), name)
}
