package script

import (
	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A function without parameters that is called where it is made is a scope, not a step of the program:
//
//	var api = (function () { function own() {} return { own: own, also: function () {} } })();
//
// What it returns is the value of the variable.

// inPlace returns the function of a call that calls it where it is made, if it has no parameters.
func (j *walker) inPlace(n extract.Ref) extract.Ref {
	n = j.unwrapped(n)
	fn := j.unwrapped(j.Field(n, "function"))
	switch j.Kind(n) {
	case "call_expression":
	case "new_expression": // new function () { … return {…} }
		fn = j.unwrapped(j.Field(n, "constructor"))
	default:
		return extract.None
	}
	if j.Kind(fn) == "member_expression" && j.Text(j.Field(fn, "property")) == "call" {
		fn = j.unwrapped(j.Field(fn, "object"))
	}
	if k := j.Kind(fn); k != "function_expression" && k != "arrow_function" || j.Has(fn, "async") || j.Field(fn, "parameter") != extract.None ||
		j.Child(j.Field(fn, "parameters"), 0) != extract.None || j.Kind(j.Field(fn, "body")) != "statement_block" {
		return extract.None
	}
	return fn
}

// returned returns what the return statements of a function return, nil if one returns nothing.
func (j *walker) returned(fn extract.Ref) (all []extract.Ref) {
	if fn == extract.None || !j.returns(j.Field(fn, "body"), &all) {
		return nil
	}
	return all
}

// returns collects what the return statements in a part of a function return. It returns false if one
// returns nothing.
func (j *walker) returns(n extract.Ref, all *[]extract.Ref) bool {
	for c := range j.Children(n) {
		switch k := j.Kind(c); {
		case j.isScope(c) || k == "class" || k == "class_declaration":
			continue
		case k == "return_statement":
			v := j.unwrapped(j.Child(c, 0))
			if v == extract.None {
				return false
			}
			*all = append(*all, v)
			continue
		}
		if !j.returns(c, all) {
			return false
		}
	}
	return true
}

// madeInPlace reads var name = (function () { … return function () {…} })(): the function is declared by
// the name, and what is around it belongs to it. If a function or a class of that name is returned, it is
// what the name declares.
func (j *walker) madeInPlace(d, name, value extract.Ref, s state) bool {
	fn := j.inPlace(value)
	made := j.returned(fn)
	if len(made) == 0 {
		return false
	}
	if len(made) == 1 && j.Kind(made[0]) == "identifier" && j.Text(made[0]) == j.Text(name) && !s.exported && j.declaresInside(fn, j.Text(name)) {
		j.visit(value, s.plain())
		return true
	}
	for _, v := range made {
		if !j.isFunction(v) {
			return false
		}
	}
	in, _ := j.function(made[0], d, j.Text(name), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, s)
	j.registered[made[0]] = j.Text(name)
	around := s.inside(in)
	around.shadows, around.noThis = s.shadows, true
	j.inline(fn, around)
	return true
}

// declaresInside reports whether the body of a function declares a function or a class of a name.
func (j *walker) declaresInside(fn extract.Ref, name string) bool {
	for c := range j.Children(j.Field(fn, "body")) {
		switch j.Kind(c) {
		case "function_declaration", "class_declaration":
			if j.Text(j.Field(c, "name")) == name {
				return true
			}
		}
	}
	return false
}

// assignedToo reads var name = Type.member = function …: the name is another one of the member.
func (j *walker) assignedToo(d, name, value extract.Ref, kind recountv1.SymbolKind, s state) bool {
	last := value
	if j.Kind(value) != "assignment_expression" || !j.declaresFunction(value) {
		return false
	}
	for ; ; last = j.Field(last, "right") {
		switch root := extract.Root(j.path(j.Field(last, "left"), s)); {
		case j.Kind(j.Field(last, "left")) != "member_expression", root == "exports", root == "module", j.exports[root]:
			return false
		}
		if j.Kind(j.Field(last, "right")) != "assignment_expression" {
			break
		}
	}
	if !s.function {
		j.declareVariables(d, name, "", kind, s)
	}
	before := len(j.Facts.Declarations)
	j.assignment(value, s.plain())
	path := j.path(j.Field(last, "left"), s)
	if len(j.Facts.Declarations) > before && j.Facts.Declarations[before].Attributes[scope.OfObject] != "" {
		path = scope.RegisteredName(j.Facts.Declarations[before])
	}
	j.bindPlain(j.Text(name), path, "", name, s)
	return true
}

// assignedModule reads var name = module.exports = function …: the name is that of the function.
func (j *walker) assignedModule(d, name, value extract.Ref, s state) bool {
	last := value
	for ; j.Kind(last) == "assignment_expression"; last = j.Field(last, "right") {
		if left := j.Text(j.Field(last, "left")); left != "module.exports" && left != "exports" {
			return false
		}
	}
	if last == value || s.function || j.Kind(last) != "function_expression" || j.Text(j.Field(last, "name")) != "" {
		return false
	}
	s.exported = true
	_, decl := j.function(last, d, j.Text(name), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, s)
	j.Bind(s.in, "module.exports", decl.Name, "", value)
	return true
}
