package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
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
		of = extract.Unknown
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
