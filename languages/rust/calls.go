package rust

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/schemas/wordset"
)

// use reads `use a::{b, c as d, e::*};`: one import for each path from which names are imported.
func (r *walker) use(n extract.Ref, s state) {
	r.useTree(r.Field(n, "argument"), "", r.isPublic(n), s)
}

func (r *walker) useTree(n extract.Ref, prefix string, public bool, s state) {
	switch r.Kind(n) {
	case "use_list":
		for c := range r.Children(n) {
			r.useTree(c, prefix, public, s)
		}
	case "scoped_use_list":
		r.useTree(r.Field(n, "list"), joinRust(prefix, r.usePath(r.Field(n, "path"))), public, s)
	case "use_wildcard":
		i := r.AddImport(s.in, joinRust(prefix, r.usePath(r.Child(n, 0))), n)
		i.Wildcard, i.Export = true, public
	case "use_as_clause":
		alias := r.Text(r.Field(n, "alias"))
		r.useName(joinRust(prefix, r.usePath(r.Field(n, "path"))), alias, public, n, s)
	default:
		r.useName(joinRust(prefix, r.usePath(n)), "", public, r.lastName(n), s)
	}
}

// useName imports one name: the path is cut at its last name.
func (r *walker) useName(path, alias string, public bool, at extract.Ref, s state) {
	path = strings.TrimSuffix(path, "::self")
	cut := strings.LastIndex(path, "::")
	if cut <= 0 {
		i := r.AddImport(s.in, path, at)
		i.Alias, i.Export = extract.FirstOf(alias, strings.TrimPrefix(path, "::")), public
		return
	}
	module, name := path[:cut], path[cut+2:]
	i := r.AddImport(s.in, module, at)
	i.Export = public
	i.Names = []*recountv1.ImportedName{{Name: name, Alias: alias}}
}

// usePath returns a path of a use as it is written, without white space.
func (r *walker) usePath(n extract.Ref) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(r.Text(n)), ""), "r#", "")
}

func joinRust(prefix, path string) string {
	switch {
	case prefix == "":
		return path
	case path == "":
		return prefix
	}
	return prefix + "::" + path
}

// imported notes what the imports at the top of the file stand for, before anything is walked.
func (r *walker) imported() {
	probe := &walker{File: &extract.File{Tree: r.Tree, Builder: extract.NewBuilder(&recountv1.FileFacts{}, r.Src), Inlined: map[extract.Ref]string{}, Names: extract.NewNames()}}
	for i := range r.Nodes {
		if r.Kind(extract.Ref(i)) == "use_declaration" {
			probe.use(extract.Ref(i), state{})
		}
	}
	for _, i := range probe.Facts.Imports {
		for _, n := range i.Names {
			if own := extract.FirstOf(n.Alias, n.Name); r.known[own] == "" {
				r.known[own] = strings.ReplaceAll(strings.TrimPrefix(joinRust(i.Path, n.Name), "::"), "::", ".")
			}
		}
	}
}

// path returns the access path of an expression.
func (r *walker) path(n extract.Ref, s state) string {
	switch r.Kind(n) {
	case "identifier":
		name := r.Text(n)
		if own, ok := s.locals.find(name); ok {
			return extract.Checked(own)
		}
		if b, ok := s.generics.find(name); ok {
			return r.plainType(b)
		}
		r.used[extract.NameIn{In: s.in, Name: name}]++ // it is an item: no later variable has this name
		return extract.Checked(name)
	case "self":
		return "self"
	case "scoped_identifier":
		return r.pathText(n, s)
	case "generic_function":
		return r.path(r.Field(n, "function"), s)
	case "field_expression":
		return extract.Member(r.path(r.Field(n, "value"), s), r.Text(r.Field(n, "field")))
	case "call_expression":
		return r.callPath(n, s)
	case "struct_expression":
		return extract.Result(r.pathText(r.structName(n), s))
	case "try_expression":
		return extract.Element(r.path(r.Child(n, 0), s), "")
	case "await_expression", "parenthesized_expression", "reference_expression":
		return r.path(r.lastChild(n), s)
	case "unary_expression":
		if r.Has(n, "*") {
			return r.path(r.Child(n, 0), s)
		}
	case "index_expression":
		key := ""
		if i := r.Child(n, 1); r.Kind(i) == "integer_literal" {
			key = r.Text(i)
		} else if r.Kind(i) == "range_expression" { // a field of it
			return r.path(r.Child(n, 0), s)
		}
		return extract.Element(r.path(r.Child(n, 0), s), key)
	}
	return extract.Unknown
}

// structName returns the type that a struct expression makes, without arguments.
func (r *walker) structName(n extract.Ref) extract.Ref {
	name := r.Field(n, "name")
	if r.Kind(name) == "generic_type_with_turbofish" {
		name = r.Field(name, "type")
	}
	return name
}

func (r *walker) lastChild(n extract.Ref) extract.Ref {
	last := extract.None
	for c := range r.Children(n) {
		if r.Kind(c) != "mutable_specifier" {
			last = c
		}
	}
	return last
}

// callPath returns the path of a call's result. A Box is what it contains.
func (r *walker) callPath(n extract.Ref, s state) string {
	if r.isMacro(n) {
		return extract.Unknown
	}
	path := r.path(r.Field(n, "function"), s)
	switch path {
	case "Box.new", "Rc.new", "Arc.new", "Rc.clone", "Arc.clone", "Box.pin", "Pin.new", "Cow.Borrowed", "Cow.Owned":
		return r.path(r.Child(r.Field(n, "arguments"), 0), s)
	}
	if path = extract.Result(path); len(path) > longChain {
		return r.shortened(n, path, s)
	}
	return path
}

// longChain is the length at which the path of a chain of calls gets a name of its own, because
// paths end at maxPath.
const longChain = 160

// shortened returns the name of the result of a long chain of calls.
func (r *walker) shortened(n extract.Ref, path string, s state) string {
	name, ok := r.chains[n]
	if !ok {
		name = r.fresh("<let>", s)
		r.chains[n] = name
		r.Bind(s.in, name, path, "", n)
	}
	return name
}

// literal returns the value of a string literal.
func (r *walker) literal(n extract.Ref) (string, bool) {
	switch r.Kind(n) {
	case "string_literal", "raw_string_literal":
		text := strings.TrimLeft(r.Text(n), "brc#")
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

// holders are the methods that pass what the receiver contains to a function.
var holders = wordset.Of(`map for_each filter filter_map flat_map any all find find_map position and_then map_or map_or_else
inspect take_while skip_while map_while is_some_and is_ok_and retain partition max_by_key min_by_key sort_by_key
sort_by_cached_key sort_unstable_by_key sort_by sort_unstable_by max_by min_by try_for_each dedup_by_key then_with
is_none_or group_by chunk_by`)

// call adds a call and walks the rest of the expression.
func (r *walker) call(n extract.Ref, s state) {
	fn, args := r.Field(n, "function"), r.Field(n, "arguments")
	if r.isMacro(n) {
		r.macroCall(n, fn, args, s)
		return
	}
	path := r.path(fn, s)
	on, name := extract.SplitLast(path)
	ref := r.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, r.lastName(fn))
	switch r.Kind(fn) { // the parts of the callee that are not in the path
	case "identifier", "scoped_identifier", "self":
	case "generic_function":
		r.annotation(r.Field(fn, "type_arguments"), s)
		if f := r.Field(fn, "function"); r.Kind(f) == "field_expression" {
			r.visit(r.Field(f, "value"), s)
		}
	case "field_expression":
		if v := r.Field(fn, "value"); r.Kind(v) != "identifier" {
			r.visit(v, s)
		}
	default:
		r.visit(fn, s)
	}
	r.typeArguments(fn, s)
	for c := range r.Children(args) {
		a := &recountv1.Argument{Index: ref.Count, Path: extract.Unknown}
		ref.Count++
		if r.Kind(c) == "closure_expression" {
			var of []string
			if on != "" && on != extract.Unknown {
				switch {
				case holders[name]:
					of = []string{extract.Element(on, ""), extract.Element(on, "")}
					if !strings.HasSuffix(name, "_by") {
						of = of[:1]
					}
				case name == "unwrap_or_else" || name == "map_err" || name == "or_else":
					of = []string{extract.Result(extract.Member(on, "unwrap_err"))}
				}
			}
			a.Path = r.closure(c, s, of...)
		} else {
			a.Path = r.path(c, s)
			r.visit(c, s)
		}
		if a.Path != extract.Unknown {
			ref.Args = append(ref.Args, a)
		}
	}
	r.effects(n, path, args, s)
	r.callRoutes(n, on, name, args, s)
}

// typeArguments adds references to the types in the path of a callee: Vec::<T>::new.
func (r *walker) typeArguments(fn extract.Ref, s state) {
	for fn != extract.None && r.Kind(fn) == "scoped_identifier" {
		fn = r.Field(fn, "path")
	}
	switch r.Kind(fn) {
	case "generic_type":
		r.annotation(r.Field(fn, "type_arguments"), s)
	case "bracketed_type":
		r.annotation(fn, s)
	}
}

// effects reads what a call does outside the program.
func (r *walker) effects(n extract.Ref, path string, args extract.Ref, s state) {
	add := func(edge recountv1.EdgeKind, attributes map[string]string) {
		e := r.Refer(edge, s.in, path, r.lastName(r.Field(n, "function")))
		e.Attributes = attributes
	}
	first, ok := r.literal(r.Child(args, 0))
	switch full := r.known.Canonical(path); full {
	case "std.env.var", "std.env.var_os", "std.env.set_var", "std.env.remove_var":
		if ok && (full == "std.env.var" || full == "std.env.var_os") {
			add(recountv1.EdgeKind_EDGE_KIND_READS_ENV, map[string]string{"variable": extract.Clip(first, extract.MaxValue)})
		}
	case "std.process.Command.new", "tokio.process.Command.new", "async_std.process.Command.new":
		add(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, map[string]string{"command": extract.Clip(first, extract.MaxValue)})
	case "reqwest.get", "reqwest.blocking.get":
		if ok {
			add(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": "GET", "url": extract.Clip(first, extract.MaxValue)})
		}
	}
}

// noteUse keeps an expression of names that is not called.
func (r *walker) noteUse(n extract.Ref, s state) {
	path := r.path(n, s)
	if path == extract.Unknown || strings.ContainsAny(path, "([?") {
		return
	}
	if r.Kind(n) == "identifier" {
		if _, local := s.locals.find(r.Text(n)); local {
			return
		}
	}
	r.Loads = append(r.Loads, extract.Load{In: s.in, Path: path, At: r.lastName(n)})
}

// noteUses adds references to what the file declares or imports, where it is used.
func (r *walker) noteUses() {
	known := map[string]bool{"crate": true, "super": true}
	for _, d := range r.Facts.Declarations {
		if d.OwnerPath == "" && !extract.IsMember(d) {
			known[d.Name] = true
		}
	}
	for _, i := range r.Facts.Imports {
		for _, n := range i.Names {
			known[extract.FirstOf(n.Alias, n.Name)] = true
		}
		if i.Alias != "" {
			known[i.Alias] = true
		}
	}
	for _, l := range r.Loads {
		if known[extract.Root(l.Path)] {
			r.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, l.In, l.Path, l.At)
		}
	}
}
