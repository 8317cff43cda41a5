package extract

import (
	"strings"
)

// path is the access path of an expression.
func (j *scriptFile) path(n ref, s scriptScope) string {
	switch j.kind(n) {
	case "identifier", "shorthand_property_identifier":
		name := j.text(n)
		if s.shadows.has(name) {
			return unknown
		}
		return checked(name)
	case "this":
		if s.noThis {
			return unknown
		}
		return "self"
	case "super":
		return "super"
	case "member_expression":
		return member(j.path(j.field(n, "object"), s), j.text(j.field(n, "property")))
	case "subscript_expression":
		base, index := j.path(j.field(n, "object"), s), j.field(n, "index")
		if key, ok := j.literal(index); ok && base != unknown {
			return memberOrElement(base, key)
		}
		if j.kind(index) == "number" {
			return element(base, j.text(index))
		}
		return element(base, "")
	case "call_expression":
		return j.callPath(n, s)
	case "new_expression":
		return result(j.path(j.field(n, "constructor"), s))
	case "parenthesized_expression", "await_expression", "non_null_expression", "as_expression", "satisfies_expression", "instantiation_expression":
		return j.path(j.child(n, 0), s)
	case "sequence_expression":
		return j.path(j.field(n, "right"), s)
	case "meta_property":
		return checked(j.text(n))
	}
	return unknown
}

// callPath is what a call gives; of require and import with a literal the module.
func (j *scriptFile) callPath(n ref, s scriptScope) string {
	fn := j.field(n, "function")
	if module, ok := j.moduleOf(n, s); ok {
		return j.inlineImport(s.in, module, n)
	}
	path := j.path(fn, s)
	if name, ok := strings.CutSuffix(path, ".bind"); ok {
		return name // a bound function is the function
	}
	return result(path)
}

// moduleOf is the module that require("x") or import("x") loads.
func (j *scriptFile) moduleOf(n ref, s scriptScope) (string, bool) {
	if j.kind(n) != "call_expression" {
		return "", false
	}
	fn := j.field(n, "function")
	if j.kind(fn) != "import" && (j.kind(fn) != "identifier" || j.text(fn) != "require" || j.hidden(s.in, "require")) {
		return "", false
	}
	return j.literal(j.child(j.field(n, "arguments"), 0))
}

// lastName is the node of the last name in a path.
func (j *scriptFile) lastName(n ref) ref {
	next := none
	switch j.kind(n) {
	case "member_expression":
		return j.field(n, "property")
	case "nested_type_identifier":
		return j.field(n, "name")
	case "call_expression":
		next = j.field(n, "function")
	case "new_expression":
		next = j.field(n, "constructor")
	case "subscript_expression":
		next = j.field(n, "object")
	case "generic_type":
		next = j.field(n, "name")
	case "parenthesized_expression", "await_expression", "non_null_expression", "as_expression", "satisfies_expression", "instantiation_expression":
		next = j.child(n, 0)
	}
	if next == none {
		return n
	}
	return j.lastName(next)
}

// literal is the value of a string literal; what is put into a template is {}.
func (j *scriptFile) literal(n ref) (string, bool) {
	k := j.kind(n)
	switch k {
	case "string", "template_string":
	case "parenthesized_expression":
		return j.literal(j.child(n, 0))
	case "as_expression":
		return j.literal(j.child(n, 0))
	default:
		return "", false
	}
	text := j.text(n)
	if k == "string" || len(text) < 2 {
		return strings.Trim(text, text[:min(1, len(text))]), true
	}
	var b strings.Builder
	at := j.start(n) + 1
	for c := range j.children(n) {
		if j.kind(c) == "template_substitution" {
			b.Write(j.src[at:max(j.start(c), at)])
			b.WriteString("{}")
			at = j.end(c)
		}
	}
	b.Write(j.src[at:max(j.end(n)-1, at)])
	return b.String(), true
}

// canonical replaces an imported name at the head of a path by what it stands for.
func (j *scriptFile) canonical(path string) string {
	head := root(path)
	if full, ok := j.known[head]; ok {
		return full + path[len(head):]
	}
	return path
}

// use notes an expression of names that is not called.
func (j *scriptFile) use(n ref, s scriptScope) {
	path := j.path(n, s)
	j.environment(n, path, s)
	if strings.ContainsAny(path, "([?") {
		j.block(n, s)
		return
	}
	if path != "undefined" {
		j.loads = append(j.loads, load{s.in, path, j.lastName(n)})
	}
}
