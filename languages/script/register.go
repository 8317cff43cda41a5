package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Functions are registered as members by calls: Type.addMethod("name", function () { … this … }), or
// wrapped before they are assigned: Type.prototype.name = deprecate(function () { … this … }).
// languages/flow finds what such calls do; here the functions get names.

// maxRegistered is the maximum length of a name that a call gives to a function.
const maxRegistered = 64

// namesFunction reports whether a call has, besides a string literal, an argument that may be a function.
func (j *walker) namesFunction(args extract.Ref, s state) bool {
	text, function := false, false
	for c := range j.Children(args) {
		if j.Kind(c) == "string" {
			text = true
		} else if p := j.path(c, s); p != extract.Unknown && p != "undefined" {
			function = true
		}
	}
	return text && function
}

// registersFunction declares the function of a call at the top of a file by the name that the call gives
// it, if the function has a receiver, and the call is one of a type.
func (j *walker) registersFunction(n extract.Ref, path string, args extract.Ref, s state) {
	on, method := extract.SplitLast(path)
	name, ok := j.literal(j.Child(args, 0))
	value := j.Child(args, 1)
	if s.in != 0 || s.function || method == "" || !extract.IsName(on) || on[0] < 'A' || on[0] > 'Z' ||
		!ok || !extract.IsName(name) || len(name) > maxRegistered || !j.hasReceiver(value) {
		return
	}
	decl := j.memberFunction(value, n, name, recountv1.SymbolKind_SYMBOL_KIND_METHOD, state{test: s.test, statement: j.Parent(n)})
	j.registered[value] = scope.RegisteredName(decl)
	j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, j.registered[value], value)
}

// definesMethod reads a call inside an anonymous function whose name says that it defines a method:
//
//	(function (def) {…})(function (node, own) { node.DEFMETHOD("is_constant", own); });
//
// The function is a member of objects of which nothing is known, so only its name leads to it. If it is a parameter
// of the anonymous function, which has others as its values, the call stands for it.
func (j *walker) definesMethod(n, fn, args extract.Ref, s state) {
	name, ok := j.literal(j.Child(args, 0))
	value := j.Child(args, 1)
	if s.in != 0 || !s.inline || j.Kind(fn) != "member_expression" || !ok || !extract.IsName(name) || len(name) > maxRegistered ||
		j.Child(args, 2) != extract.None || j.registered[value] != "" || !strings.Contains(strings.ToLower(j.Text(j.Field(fn, "property"))), "method") {
		return
	}
	switch {
	case j.Kind(value) == "function_expression":
		path := extract.Unknown
		if on := j.path(j.Field(fn, "object"), s); extract.IsName(on) {
			path = extract.Member(on+".prototype", name)
		}
		j.registered[value] = j.memberOf(value, n, path, name, s)
	case j.Kind(value) == "identifier" && s.shadows.Has(j.Text(value)) && j.path(value, s) == extract.Unknown:
		_, decl := j.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: name, In: s.in, Node: n, Doc: j.CommentBefore(j.Parent(n))})
		decl.Test, decl.Attributes = s.test, map[string]string{scope.OfObject: "arrow"}
	}
}

// wrapsMember reads Type.prototype.name = wrap(function () { … this … }): the function is the member.
func (j *walker) wrapsMember(n, right extract.Ref, path string, s state) bool {
	owner, name := extract.SplitLast(path)
	if j.Kind(right) != "call_expression" || !strings.HasSuffix(owner, ".prototype") {
		return false
	}
	value := j.Child(j.Field(right, "arguments"), 0)
	if !j.hasReceiver(value) || !j.assignedMember(n, value, owner, name, s) {
		return false
	}
	j.registered[value] = extract.Member(owner, name)
	j.visit(right, s.plain())
	return true
}

// hasReceiver reports whether an expression is a function with a `this` of its own that it uses.
func (j *walker) hasReceiver(n extract.Ref) bool {
	return j.Kind(n) == "function_expression" && j.usesThis(j.Field(n, "body"))
}

// usesThis reports whether `this` occurs in a part of a function.
func (j *walker) usesThis(n extract.Ref) bool {
	for c := range j.Children(n) {
		switch j.Kind(c) {
		case "this":
			return true
		case "function_expression", "function_declaration", "generator_function", "generator_function_declaration", "method_definition", "class", "class_declaration":
			continue
		}
		if j.usesThis(c) {
			return true
		}
	}
	return false
}

// memberFunction declares a function whose name is that of a member, so that its file may use the name
// for something else.
func (j *walker) memberFunction(value, whole extract.Ref, name string, kind recountv1.SymbolKind, s state) *recountv1.Declaration {
	at := extract.NameIn{In: s.in, Name: name}
	was := j.Declared[at]
	_, decl := j.function(value, whole, name, kind, s)
	j.Declared[at] = was
	return decl
}

// bindComputed binds object[name] = value, where the name is that of a parameter.
func (j *walker) bindComputed(object, name extract.Ref, value string, at extract.Ref, s state) {
	if j.Kind(name) != "identifier" || s.inline || value == extract.Unknown || !j.Locals[extract.NameIn{In: s.in, Name: j.Text(name)}] {
		return
	}
	if of := j.path(object, s); of != extract.Unknown && extract.IsName(j.Text(name)) {
		j.Bind(s.in, extract.Checked(of+"[="+j.Text(name)+"]"), value, "", at)
	}
}

// definesComputed reads Object.defineProperty(object, name, {get: function own() {…}}), where the name is
// that of a parameter.
func (j *walker) definesComputed(args extract.Ref, s state) {
	for c := range j.Children(j.Child(args, 2)) {
		key, value := j.propertyName(j.Field(c, "key")), j.Field(c, "value")
		if j.Kind(c) != "pair" || key != "get" && key != "value" {
			continue
		}
		path := j.path(value, s)
		if own := j.Text(j.Field(value, "name")); j.Kind(value) == "function_expression" && own != "" && s.in != 0 && !s.inline {
			j.function(value, value, own, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, s.plain())
			j.registered[value], path = own, own
			j.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, own, value)
		}
		if key == "get" {
			path = extract.Result(path)
		}
		j.bindComputed(j.Child(args, 0), j.Child(args, 1), path, c, s)
	}
}

// objectMember reads object.name = function …, where the object is a parameter, a local variable, what
// another file exports, or a member of one of these: only values tell what it is.
func (j *walker) objectMember(n, right extract.Ref, path string, s state) bool {
	owner, name := extract.SplitLast(path)
	root := extract.Root(path)
	if !j.isFunction(right) || j.registered[right] != "" || len(j.named[right]) > 0 || owner == "" || strings.ContainsAny(owner, "([?") ||
		!extract.IsName(strings.TrimPrefix(name, "$")) {
		return false
	}
	switch {
	case root == "self", root == "exports", root == "module", j.Hidden(s.in, root), j.declaredAs(root, 0) != 0:
	case !strings.HasPrefix(j.known[root], "."):
		return false
	}
	j.memberOf(right, n, path, name, s)
	return true
}

// literalMember reads a function of an object literal that a function returns or assigns to a local
// variable.
func (j *walker) literalMember(value, c extract.Ref, name string, s state) bool {
	of := j.literals[c]
	if of == "" || !extract.IsName(strings.ReplaceAll(name, "$", "_")) || j.registered[value] != "" || len(j.named[value]) > 0 || j.Has(c, "get") || j.Has(c, "set") {
		return false
	}
	in := uint32(len(j.Facts.Declarations)) + 1
	j.memberOf(value, c, extract.Member(of, name), name, s)
	j.givenParameters(in, s.member(name).given, value)
	return true
}

// memberOf declares a function that is a member of an object, and binds it to the member's path.
// It returns the local name of the function.
func (j *walker) memberOf(value, n extract.Ref, path, name string, s state) string {
	of, outer := "arrow", s.plain()
	if j.Kind(value) != "arrow_function" {
		of, outer.inline, outer.noThis = scope.OwnThis, false, false
	}
	if outer.statement = j.Parent(n); j.Kind(outer.statement) != "expression_statement" {
		outer.statement = 0
	}
	decl := j.memberFunction(value, n, name, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, outer)
	decl.Attributes = map[string]string{scope.OfObject: of}
	j.Bind(s.in, path, scope.RegisteredName(decl), "", value)
	return scope.RegisteredName(decl)
}

// ofClass is scope.OfObject of a class.
const ofClass = "class"

// objectClass reads object.Name = class …: only a member has the class, unless it has a name of its own.
func (j *walker) objectClass(n, right extract.Ref, path string, s state) bool {
	owner, name := extract.SplitLast(path)
	if j.Kind(right) != "class" || owner == "" || strings.ContainsAny(owner, "([?") || !extract.IsName(strings.TrimPrefix(name, "$")) {
		return false
	}
	outer := s.plain()
	if outer.statement = j.Parent(n); j.Kind(outer.statement) != "expression_statement" {
		outer.statement = 0
	}
	before := len(j.Facts.Declarations)
	if own := j.Text(j.Field(right, "name")); own != "" {
		j.class(right, n, own, outer)
		j.Bind(s.in, path, own, "", right)
		return true
	}
	j.memberClass(right, n, name, outer)
	d := j.Facts.Declarations[before]
	d.Attributes = map[string]string{scope.OfObject: ofClass}
	j.Bind(s.in, path, scope.RegisteredName(d), "", right)
	return true
}

// assignedClass reads Name = Base.extend({…}) and object.Name = Base.extend({…}).
func (j *walker) assignedClass(n, right extract.Ref, path string, s state) bool {
	owner, name := extract.SplitLast(path)
	if name = extract.FirstOf(name, path); !isClassName(name) || strings.ContainsAny(owner, "([?") {
		return false
	}
	outer := s.plain()
	if outer.statement = j.Parent(n); j.Kind(outer.statement) != "expression_statement" {
		outer.statement = 0
	}
	at := extract.NameIn{In: s.in, Name: name}
	declared, local := j.Declared[at], j.Locals[at]
	d := j.madeClass(n, right, name, outer)
	if d == nil {
		return false
	}
	if owner != "" {
		j.Declared[at], j.Locals[at] = declared, local
		d.Attributes = map[string]string{scope.OfObject: ofClass}
		j.Bind(s.in, path, scope.RegisteredName(d), "", right)
		for object, p := range j.parts {
			if j.Decl(p.in) == d {
				p.name = scope.RegisteredName(d)
				j.parts[object] = p
			}
		}
	}
	j.visit(right, s.plain())
	return true
}

// memberClass declares a class whose name is that of a member, so that its file may use the name for
// something else.
func (j *walker) memberClass(value, whole extract.Ref, name string, s state) {
	at := extract.NameIn{In: s.in, Name: name}
	declared, local := j.Declared[at], j.Locals[at]
	j.class(value, whole, name, s)
	j.Declared[at], j.Locals[at] = declared, local
}
