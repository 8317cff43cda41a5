package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// call adds a call and walks the rest of the expression.
func (j *walker) call(n extract.Ref, s state) {
	fn, args := j.Field(n, "function"), j.Field(n, "arguments")
	if _, ok := j.moduleOf(n, s); ok {
		j.callPath(n, s) // notes the import
		return
	}
	path := j.path(fn, s)
	j.registersFunction(n, path, args, s)
	j.definesMethod(n, fn, args, s)
	j.wraps(path, s)
	j.constructsAs(path, fn, args, s)
	r := j.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, j.lastName(fn))
	if on := j.calledOn(fn, path, s); on != "" {
		r.Attributes = map[string]string{scope.CalledOn: on}
	}
	if j.Kind(args) == "template_string" { // tag`…`
		r.Count = 1
		j.calleeRest(fn, s)
		j.visit(args, s)
		return
	}
	j.arguments(r, args, s)
	j.annotation(j.Field(n, "type_arguments"), s)
	j.effects(n, path, args, s)
	j.injects(n, path, args, s)
	j.mixes(n, path, args, s)
	if j.defines(n, path, args, s) {
		return
	}
	outside := s
	s.bound = j.Kind(j.Child(args, 1)) == "this"
	if fn := j.Field(fn, "object"); j.isFunction(fn) && j.Kind(j.Child(args, 0)) == "this" { // function () {…}.bind(this)
		outside.bound = true
	}
	j.calleeRest(fn, outside)
	if j.testBlock(n, path, args, s) {
		return
	}
	j.callRoute(n, path, args, s)
	j.give(args, path, s)
}

// give walks the arguments of a call. What is known of the callee says what functions among them are given.
func (j *walker) give(args extract.Ref, path string, s state) {
	s.passed = passedOn(path)
	i := 0
	for c := range j.Children(args) {
		if s.passed == nil {
			s.given = parameterOf(path, i)
		}
		j.visit(c, s)
		i++
	}
}

// parameterOf returns the path of what a function takes as parameter i, "" if nothing is known of the function.
func parameterOf(path string, i int) string {
	if path == "" || strings.HasPrefix(path, extract.Unknown) {
		return ""
	}
	return extract.KnownPath(extract.Checked(path + "[<" + extract.Decimal(i) + ">]"))
}

// visits are the methods of arrays, maps and sets that call a function for their elements, with the
// index of the parameters that are elements. A promise passes its result to then.
var visits = map[string][]int{
	"forEach": {0}, "map": {0}, "filter": {0}, "some": {0}, "every": {0}, "find": {0}, "findIndex": {0}, "findLast": {0},
	"findLastIndex": {0}, "flatMap": {0}, "sort": {0, 1}, "toSorted": {0, 1}, "reduce": {1}, "reduceRight": {1}, "then": {0},
}

// passedOn returns the paths of what the callee of a path passes to a function.
func passedOn(path string) []string {
	object, name := extract.SplitLast(path)
	places := visits[name]
	if places == nil || object == "" || strings.HasPrefix(object, extract.Unknown) {
		return nil
	}
	element := extract.KnownPath(extract.Element(object, ""))
	if name == "then" {
		element = object
	}
	var out []string
	for _, at := range places {
		for len(out) <= at {
			out = append(out, "")
		}
		out[at] = element
	}
	return out
}

// defines reads Object.defineProperty(object, "name", {get: function …}), its like in libraries,
// and util.inherits(Type, Base).
func (j *walker) defines(n extract.Ref, path string, args extract.Ref, s state) bool {
	_, last := extract.SplitLast(path)
	owner := j.path(j.Child(args, 0), s)
	switch extract.FirstOf(last, path) {
	case "inherits", "setPrototypeOf":
		base := j.path(j.Child(args, 1), s)
		if !strings.ContainsAny(owner+base, "([?") {
			j.inherits(strings.TrimSuffix(owner, ".prototype"), strings.TrimSuffix(base, ".prototype"), j.Child(args, 1), s)
		}
		return false
	case "__defineGetter__":
		name, ok := j.literal(j.Child(args, 0))
		owner, _ = extract.SplitLast(path)
		return ok && j.isFunction(j.Child(args, 1)) && j.definedMember(n, j.Child(args, 1), owner, name, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, s)
	case "defineGetter":
		name, ok := j.literal(j.Child(args, 1))
		return ok && j.isFunction(j.Child(args, 2)) && j.definedMember(n, j.Child(args, 2), owner, name, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY, s)
	case "defineProperty":
		name, ok := j.literal(j.Child(args, 1))
		if !ok {
			j.definesComputed(args, s)
			return false
		}
		return j.describes(j.Child(args, 2), owner, name, s)
	case "defineProperties":
		var others []extract.Ref
		found := false
		for c := range j.Children(j.Child(args, 1)) {
			if j.describes(j.Field(c, "value"), owner, j.propertyName(j.Field(c, "key")), s) {
				found = true
			} else {
				others = append(others, c)
			}
		}
		for _, c := range others {
			if found {
				j.visit(c, s)
			}
		}
		return found
	}
	return false
}

// describes declares the functions of a descriptor, {get: function …, set: function …} or {value: function …}, as a member of an owner.
// It returns false if there are none.
func (j *walker) describes(descriptor extract.Ref, owner, name string, s state) (found bool) {
	for c := range j.Children(descriptor) {
		value, key := j.Field(c, "value"), j.propertyName(j.Field(c, "key"))
		if j.Kind(c) == "method_definition" {
			value, key = c, j.propertyName(j.Field(c, "name"))
		}
		kind := recountv1.SymbolKind_SYMBOL_KIND_PROPERTY
		if key == "value" {
			kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
		}
		own := len(j.Facts.Declarations)
		if (j.isFunction(value) || j.Kind(value) == "method_definition") && j.definedMember(c, value, owner, name, kind, s) {
			if found = true; key == "get" {
				j.Facts.Declarations[own].Modifiers = append(j.Facts.Declarations[own].Modifiers, key)
			}
		} else if found {
			j.visit(c, s)
		}
	}
	return found
}

// definedMember declares a member that a call defines.
func (j *walker) definedMember(n, value extract.Ref, owner, name string, kind recountv1.SymbolKind, s state) bool {
	before := len(j.Facts.Declarations)
	if !j.assignedMember(n, value, owner, name, s) {
		return false
	}
	j.Facts.Declarations[before].Kind = kind
	return true
}

// calleeRest walks what the path of a callee goes through.
func (j *walker) calleeRest(fn extract.Ref, s state) {
	switch j.Kind(fn) {
	case "identifier", "super", "import":
	case "member_expression":
		object := j.Field(fn, "object")
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
func (j *walker) arguments(r *recountv1.Reference, args extract.Ref, s state) {
	named := j.namesFunction(args, s)
	for c := range j.Children(args) {
		a := &recountv1.Argument{Index: r.Count}
		if j.Kind(c) == "spread_element" {
			a.Name, a.Path = "*", j.path(j.Child(c, 0), s)
		} else {
			a.Path = j.path(c, s)
		}
		if name, ok := j.literal(c); ok && named && extract.IsName(name) && len(name) <= maxRegistered {
			a.Path = `"` + name + `"`
		}
		if a.Path != extract.Unknown && a.Path != "undefined" {
			r.Args = append(r.Args, a)
		}
		r.Count++
	}
}

// argument returns argument i.
func (j *walker) argument(args extract.Ref, i int) extract.Ref { return j.Child(args, i) }

// property returns the value of a property of an object literal.
func (j *walker) property(object extract.Ref, name string) extract.Ref {
	if j.Kind(object) != "object" {
		return extract.None
	}
	for c := range j.Children(object) {
		switch j.Kind(c) {
		case "pair":
			if j.propertyName(j.Field(c, "key")) == name {
				return j.Field(c, "value")
			}
		case "shorthand_property_identifier", "method_definition":
			if j.propertyName(extract.FirstRef(j.Field(c, "name"), c)) == name {
				return c
			}
		}
	}
	return extract.None
}

// isFunction reports whether an expression is a function.
func (j *walker) isFunction(n extract.Ref) bool {
	switch j.Kind(n) {
	case "arrow_function", "function_expression", "generator_function":
		return true
	}
	return false
}

// testBlock declares describe("…", () => …), it("…", …) and test("…", …) as tests with that
// title.
func (j *walker) testBlock(n extract.Ref, path string, args extract.Ref, s state) bool {
	switch extract.Root(path) {
	case "describe", "it", "test", "suite", "context", "specify":
	default:
		return false
	}
	for rest := strings.TrimSuffix(path[len(extract.Root(path)):], "()"); rest != ""; {
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
	title = extract.OneLine(title)
	if !ok || title == "" {
		return false
	}
	var body extract.Ref = extract.None
	for c := range j.Children(args) {
		if j.isFunction(c) {
			body = c
		}
	}
	if body == extract.None {
		return false
	}
	in, decl := j.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: title, In: s.in, Node: n, Head: j.End(j.argument(args, 0))})
	decl.Test = true
	inner := state{in: in, function: true, inline: true, test: true}
	j.inline(body, inner)
	return true
}

// effects reads what a call does outside the program.
func (j *walker) effects(n extract.Ref, path string, args extract.Ref, s state) {
	full := j.known.Canonical(path)
	module, name := extract.SplitLast(full)
	add := func(edge recountv1.EdgeKind, attributes map[string]string) {
		e := j.Refer(edge, s.in, path, j.lastName(j.Field(n, "function")))
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
			add(recountv1.EdgeKind_EDGE_KIND_READS_ENV, map[string]string{"variable": extract.Clip(v, extract.MaxValue)})
		}
	case full == "fetch" && !j.Hidden(s.in, "fetch") || full == "window.fetch" || full == "globalThis.fetch" || full == "node-fetch":
		j.request("GET", j.argument(args, 0), j.argument(args, 1), add)
	case full == "axios" || full == "got" || full == "ky" || full == "axios.request":
		first := j.argument(args, 0)
		if j.Kind(first) == "object" {
			j.request("GET", j.property(first, "url"), first, add)
		} else {
			j.request("GET", first, j.argument(args, 1), add)
		}
	case module == "axios" || module == "got" || module == "ky" || module == "axios.default":
		switch name {
		case "get", "post", "put", "delete", "patch", "head", "options":
			j.request(strings.ToUpper(name), j.argument(args, 0), extract.None, add)
		}
	}
}

// request adds a request whose URL is a literal; options may contain the method.
func (j *walker) request(method string, url, options extract.Ref, add func(recountv1.EdgeKind, map[string]string)) {
	u, ok := j.literal(url)
	if !ok || u == "" {
		return
	}
	if m := j.property(options, "method"); m != extract.None {
		if text, ok := j.literal(m); ok {
			method = strings.ToUpper(text)
		} else {
			method = "ANY"
		}
	}
	add(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": extract.Clip(method, 16), "url": extract.Clip(u, extract.MaxValue)})
}

// served adds references to the service of server.addService(service, {method: handler, …}), one
// for each method.
func (j *walker) served(args extract.Ref, s state) {
	service, methods := j.argument(args, 0), j.argument(args, 1)
	path := j.path(service, s)
	if j.Kind(methods) != "object" || strings.HasPrefix(path, extract.Unknown) {
		return
	}
	for c := range j.Children(methods) {
		var name, handler string
		switch j.Kind(c) {
		case "pair":
			name, handler = j.propertyName(j.Field(c, "key")), extract.KnownPath(j.path(j.Field(c, "value"), s))
		case "shorthand_property_identifier":
			name, handler = j.Text(c), j.path(c, s)
		case "method_definition":
			name = j.propertyName(j.Field(c, "name"))
		}
		if name == "" {
			continue
		}
		r := j.Refer(recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS_RPC, s.in, path, c)
		r.Attributes = map[string]string{"rpc": extract.Clip(name, extract.MaxName)}
		if handler = strings.TrimSuffix(handler, ".bind()"); handler != "" {
			r.Attributes["handler"] = handler
		}
	}
}

// command returns the literal part of spawn("git", ["log"]).
func (j *walker) command(args extract.Ref) string {
	var words []string
	word := func(n extract.Ref) {
		text, ok := j.literal(n)
		if !ok {
			text = "{}"
		}
		words = append(words, text)
	}
	word(j.argument(args, 0))
	if list := j.argument(args, 1); j.Kind(list) == "array" {
		for c := range j.Children(list) {
			word(c)
		}
	}
	return extract.Clip(strings.Join(words, " "), extract.MaxValue)
}

// environment reads process.env.NAME and import.meta.env.NAME.
func (j *walker) environment(n extract.Ref, path string, s state) {
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
func (j *walker) environmentPattern(pattern extract.Ref, path string, s state) {
	if path != "process.env" || j.Kind(pattern) != "object_pattern" {
		return
	}
	for c := range j.Children(pattern) {
		switch j.Kind(c) {
		case "shorthand_property_identifier_pattern":
			j.readsEnv(j.Text(c), path, c, s)
		case "object_assignment_pattern":
			j.readsEnv(j.Text(j.Field(c, "left")), path, c, s)
		case "pair_pattern":
			j.readsEnv(j.propertyName(j.Field(c, "key")), path, c, s)
		}
	}
}

func (j *walker) readsEnv(name, path string, at extract.Ref, s state) {
	if name == "" {
		return
	}
	r := j.Refer(recountv1.EdgeKind_EDGE_KIND_READS_ENV, s.in, path, at)
	r.Attributes = map[string]string{"variable": extract.Clip(name, extract.MaxValue)}
}

// jsx adds a reference to the component of an element, and walks its attributes.
func (j *walker) jsx(n extract.Ref, s state) {
	name := j.Field(n, "name")
	for c := range j.Children(n) {
		if c != name {
			j.visit(c, s)
		}
	}
	path := strings.Join(strings.Fields(j.Text(name)), "")
	if path == "" || !strings.Contains(path, ".") && path[0] >= 'a' && path[0] <= 'z' || !extract.IsDotted(strings.ReplaceAll(path, "$", "_")) {
		return // an element of HTML
	}
	j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(path), name)
}
