package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
)

// calledOn returns what the source calls the receiver of a call, if it begins with a parameter of an anonymous function or with a
// `this` of which nothing is known: nodes.forEach(function (node) { node.child.show() }) calls show on node.child.
func (j *walker) calledOn(fn extract.Ref, path string, s state) string {
	base, name := extract.SplitLast(path)
	if name == "" || j.Kind(fn) != "member_expression" {
		return ""
	}
	root := j.Field(fn, "object")
	for {
		next := extract.None
		switch j.Kind(root) {
		case "member_expression", "subscript_expression":
			next = j.Field(root, "object")
		case "call_expression":
			next = j.Field(root, "function")
		case "non_null_expression", "parenthesized_expression":
			next = j.Child(root, 0)
		}
		if next == extract.None {
			break
		}
		root = next
	}
	of := ""
	switch j.Kind(root) {
	case "this":
		if !s.noThis || s.this != 0 { // an object literal has functions of its own
			return ""
		}
		if of = extract.Unknown; s.shared && base == of {
			return scope.SharedThis
		}
	case "identifier":
		if !s.shadows.Has(j.Text(root)) {
			return ""
		}
		of = s.shadows.Path(j.Text(root))
	default:
		return ""
	}
	rest, is := strings.CutPrefix(base, of)
	if !is || of == j.Text(root) {
		return ""
	}
	return extract.Clip(j.Text(root)+rest, extract.MaxValue)
}

// sharesThis reports whether the `this` of an anonymous function is most likely that of what is around it: it is a member of a class
// or is put into `this`, or a method of `this` gets it. Other objects call what they get on themselves.
func (j *walker) sharesThis(n extract.Ref, s state) bool {
	at := j.Parent(n)
	switch j.Kind(at) {
	case "class_body":
		return true
	case "assignment_expression":
		at = j.Field(at, "left")
	case "arguments":
		at = j.Field(j.Parent(at), "function")
	default:
		return false
	}
	return j.Kind(j.Field(at, "object")) == "this" && (!s.noThis || s.shared)
}
