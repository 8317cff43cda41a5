package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// use reads `use a::{b, c as d, e::*};`: an import for each path that names are taken
// from.
func (r *rustFile) use(n ref, s rustScope) {
	r.useTree(r.field(n, "argument"), "", r.isPublic(n), s)
}

func (r *rustFile) useTree(n ref, prefix string, public bool, s rustScope) {
	switch r.kind(n) {
	case "use_list":
		for c := range r.children(n) {
			r.useTree(c, prefix, public, s)
		}
	case "scoped_use_list":
		r.useTree(r.field(n, "list"), joinRust(prefix, r.usePath(r.field(n, "path"))), public, s)
	case "use_wildcard":
		i := r.addImport(s.in, joinRust(prefix, r.usePath(r.child(n, 0))), n)
		i.Wildcard, i.Export = true, public
	case "use_as_clause":
		alias := r.text(r.field(n, "alias"))
		r.useName(joinRust(prefix, r.usePath(r.field(n, "path"))), alias, public, n, s)
	default:
		r.useName(joinRust(prefix, r.usePath(n)), "", public, r.lastName(n), s)
	}
}

// useName imports one name: the path is cut at its last.
func (r *rustFile) useName(path, alias string, public bool, at ref, s rustScope) {
	path = strings.TrimSuffix(path, "::self")
	cut := strings.LastIndex(path, "::")
	if cut <= 0 {
		i := r.addImport(s.in, path, at)
		i.Alias, i.Export = firstOf(alias, strings.TrimPrefix(path, "::")), public
		return
	}
	module, name := path[:cut], path[cut+2:]
	i := r.addImport(s.in, module, at)
	i.Export = public
	i.Names = []*recountv1.ImportedName{{Name: name, Alias: alias}}
}

// usePath is a path of a use as it is written, without white space.
func (r *rustFile) usePath(n ref) string { return strings.Join(strings.Fields(r.text(n)), "") }

func joinRust(prefix, path string) string {
	switch {
	case prefix == "":
		return path
	case path == "":
		return prefix
	}
	return prefix + "::" + path
}

// imported notes, before anything is walked, what the imports of the file's top stand
// for.
func (r *rustFile) imported() {
	probe := &rustFile{file: &file{tree: r.tree, builder: newBuilder(&recountv1.FileFacts{}, r.src), inline: map[ref]string{}, names: newNames()}}
	for i := range r.nodes {
		if r.kind(ref(i)) == "use_declaration" {
			probe.use(ref(i), rustScope{})
		}
	}
	for _, i := range probe.facts.Imports {
		for _, n := range i.Names {
			if own := firstOf(n.Alias, n.Name); r.known[own] == "" {
				r.known[own] = strings.ReplaceAll(strings.TrimPrefix(joinRust(i.Path, n.Name), "::"), "::", ".")
			}
		}
	}
}

// canonical replaces an imported name at the head of a path by what it stands for.
func (r *rustFile) canonical(path string) string {
	head := root(path)
	if full, ok := r.known[head]; ok {
		return full + path[len(head):]
	}
	return path
}

// path is the access path of an expression.
func (r *rustFile) path(n ref, s rustScope) string {
	switch r.kind(n) {
	case "identifier":
		name := r.text(n)
		if own, ok := s.locals.find(name); ok {
			return checked(own)
		}
		if b, ok := s.generics.find(name); ok {
			return r.plainType(b)
		}
		r.used[nameIn{s.in, name}]++ // an item: no variable after it has this name
		return checked(name)
	case "self":
		return "self"
	case "scoped_identifier":
		return r.pathText(n, s)
	case "generic_function":
		return r.path(r.field(n, "function"), s)
	case "field_expression":
		return member(r.path(r.field(n, "value"), s), r.text(r.field(n, "field")))
	case "call_expression":
		return r.callPath(n, s)
	case "struct_expression":
		return result(r.pathText(r.structName(n), s))
	case "try_expression":
		return element(r.path(r.child(n, 0), s), "")
	case "await_expression", "parenthesized_expression", "reference_expression":
		return r.path(r.lastChild(n), s)
	case "unary_expression":
		if r.has(n, "*") {
			return r.path(r.child(n, 0), s)
		}
	case "index_expression":
		key := ""
		if i := r.child(n, 1); r.kind(i) == "integer_literal" {
			key = r.text(i)
		} else if r.kind(i) == "range_expression" { // a part of it
			return r.path(r.child(n, 0), s)
		}
		return element(r.path(r.child(n, 0), s), key)
	}
	return unknown
}

// structName is the type that a struct expression makes, without arguments.
func (r *rustFile) structName(n ref) ref {
	name := r.field(n, "name")
	if r.kind(name) == "generic_type_with_turbofish" {
		name = r.field(name, "type")
	}
	return name
}

func (r *rustFile) lastChild(n ref) ref {
	last := none
	for c := range r.children(n) {
		if r.kind(c) != "mutable_specifier" {
			last = c
		}
	}
	return last
}

// callPath is what a call gives. A box is what it holds.
func (r *rustFile) callPath(n ref, s rustScope) string {
	if r.isMacro(n) {
		return unknown
	}
	path := r.path(r.field(n, "function"), s)
	switch path {
	case "Box.new", "Rc.new", "Arc.new", "Rc.clone", "Arc.clone", "Box.pin", "Pin.new", "Cow.Borrowed", "Cow.Owned":
		return r.path(r.child(r.field(n, "arguments"), 0), s)
	}
	if path = result(path); len(path) > longChain {
		return r.shortened(n, path, s)
	}
	return path
}

// longChain is how long the path of a chain of calls grows before its value gets a name
// of its own: paths end at maxPath.
const longChain = 160

// shortened is the name of what a long chain of calls gives.
func (r *rustFile) shortened(n ref, path string, s rustScope) string {
	name, ok := r.chains[n]
	if !ok {
		name = r.fresh("<let>", s)
		r.chains[n] = name
		r.bind(s.in, name, path, "", n)
	}
	return name
}

// literal is the value of a string literal.
func (r *rustFile) literal(n ref) (string, bool) {
	switch r.kind(n) {
	case "string_literal", "raw_string_literal":
		text := strings.TrimLeft(r.text(n), "brc#")
		text = strings.TrimRight(text, "#")
		if len(text) < 2 {
			return "", false
		}
		return text[1 : len(text)-1], true
	case "reference_expression", "parenthesized_expression":
		return r.literal(r.lastChild(n))
	}
	return "", false
}

// holders are the methods that give their function what the receiver holds.
var holders = wordSet(`map for_each filter filter_map flat_map any all find find_map position and_then map_or map_or_else
inspect take_while skip_while map_while is_some_and is_ok_and retain partition max_by_key min_by_key sort_by_key
sort_by_cached_key sort_unstable_by_key sort_by sort_unstable_by max_by min_by try_for_each dedup_by_key then_with
is_none_or group_by chunk_by`)

// call refers to what is called and walks the rest of the expression.
func (r *rustFile) call(n ref, s rustScope) {
	fn, args := r.field(n, "function"), r.field(n, "arguments")
	if r.isMacro(n) {
		r.macroCall(n, fn, args, s)
		return
	}
	path := r.path(fn, s)
	on, name := splitLast(path)
	ref := r.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, r.lastName(fn))
	switch r.kind(fn) { // of the callee, what is not in the path
	case "identifier", "scoped_identifier", "self":
	case "generic_function":
		r.annotation(r.field(fn, "type_arguments"), s)
		if f := r.field(fn, "function"); r.kind(f) == "field_expression" {
			r.visit(r.field(f, "value"), s)
		}
	case "field_expression":
		if v := r.field(fn, "value"); r.kind(v) != "identifier" {
			r.visit(v, s)
		}
	default:
		r.visit(fn, s)
	}
	r.typeArguments(fn, s)
	for c := range r.children(args) {
		a := &recountv1.Argument{Index: ref.Count, Path: unknown}
		ref.Count++
		if r.kind(c) == "closure_expression" {
			var of []string
			if on != "" && on != unknown {
				switch {
				case holders[name]:
					of = []string{element(on, ""), element(on, "")}
					if !strings.HasSuffix(name, "_by") {
						of = of[:1]
					}
				case name == "unwrap_or_else" || name == "map_err" || name == "or_else":
					of = []string{result(member(on, "unwrap_err"))}
				}
			}
			a.Path = r.closure(c, s, of...)
		} else {
			a.Path = r.path(c, s)
			r.visit(c, s)
		}
		if a.Path != unknown {
			ref.Args = append(ref.Args, a)
		}
	}
	r.effects(n, path, args, s)
	r.callRoutes(n, on, name, args, s)
}

// typeArguments refers to the types in a callee's path: Vec::<T>::new.
func (r *rustFile) typeArguments(fn ref, s rustScope) {
	for fn != none && r.kind(fn) == "scoped_identifier" {
		fn = r.field(fn, "path")
	}
	switch r.kind(fn) {
	case "generic_type":
		r.annotation(r.field(fn, "type_arguments"), s)
	case "bracketed_type":
		r.annotation(fn, s)
	}
}

// effects reads what a call does outside of the program.
func (r *rustFile) effects(n ref, path string, args ref, s rustScope) {
	add := func(edge recountv1.EdgeKind, attributes map[string]string) {
		e := r.refer(edge, s.in, path, r.lastName(r.field(n, "function")))
		e.Attributes = attributes
	}
	first, ok := r.literal(r.child(args, 0))
	switch full := r.canonical(path); full {
	case "std.env.var", "std.env.var_os", "std.env.set_var", "std.env.remove_var":
		if ok && (full == "std.env.var" || full == "std.env.var_os") {
			add(recountv1.EdgeKind_EDGE_KIND_READS_ENV, map[string]string{"variable": clip(first, maxValue)})
		}
	case "std.process.Command.new", "tokio.process.Command.new", "async_std.process.Command.new":
		add(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, map[string]string{"command": clip(first, maxValue)})
	case "reqwest.get", "reqwest.blocking.get":
		if ok {
			add(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": "GET", "url": clip(first, maxValue)})
		}
	}
}

// noteUse keeps an expression of names that is not called.
func (r *rustFile) noteUse(n ref, s rustScope) {
	path := r.path(n, s)
	if path == unknown || strings.ContainsAny(path, "([?") {
		return
	}
	if r.kind(n) == "identifier" {
		if _, local := s.locals.find(r.text(n)); local {
			return
		}
	}
	r.loads = append(r.loads, load{s.in, path, r.lastName(n)})
}

// noteUses refers to what the file declares or imports, where it is used.
func (r *rustFile) noteUses() {
	known := map[string]bool{"crate": true, "super": true}
	for _, d := range r.facts.Declarations {
		if d.OwnerPath == "" && !isMember(d) {
			known[d.Name] = true
		}
	}
	for _, i := range r.facts.Imports {
		for _, n := range i.Names {
			known[firstOf(n.Alias, n.Name)] = true
		}
		if i.Alias != "" {
			known[i.Alias] = true
		}
	}
	for _, l := range r.loads {
		if known[root(l.path)] {
			r.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, l.in, l.path, l.at)
		}
	}
}
