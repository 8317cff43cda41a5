package python

import (
	"cmp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
)

// pattern returns the text of an expression, with ${PATH} for what is no literal. ok is false if it
// can be no text.
func (p *walker) pattern(n extract.Ref, s state) (text string, ok bool) {
	n = p.meant(n)
	switch p.Kind(n) {
	case "string":
		return p.content(n, func(inserted extract.Ref) string {
			inner, _ := p.pattern(inserted, s)
			return cmp.Or(inner, "${}")
		}), true
	case "concatenated_string":
		for c := range p.Children(n) {
			part, _ := p.pattern(c, s)
			text += part
		}
		return text, true
	case "binary_operator":
		left, ok := p.pattern(p.Field(n, "left"), s)
		right, also := p.pattern(p.Field(n, "right"), s)
		return left + right, ok && also && p.Text(p.Field(n, "operator")) == "+"
	case "identifier", "attribute", "subscript", "call":
		return "${" + extract.KnownPath(p.path(n, s)) + "}", true
	case "parenthesized_expression":
		return p.pattern(p.Child(n, 0), s)
	}
	return "", false
}

// unlessSet returns the value that os.getenv("BASE_PATH", "/x") has if the environment does not say another, no
// node if an expression is none such.
func (p *walker) unlessSet(n extract.Ref, s state) extract.Ref {
	switch p.Kind(n) {
	case "boolean_operator":
		if p.Text(p.Field(n, "operator")) == "or" && p.readsEnvironment(p.Field(n, "left"), s) {
			return p.Field(n, "right")
		}
	case "call":
		if p.readsEnvironment(n, s) {
			return p.argument(p.Field(n, "arguments"), 1, "default")
		}
		// os.getenv("BASE_PATH", "").rstrip("/")
		if f := p.Field(n, "function"); p.Kind(f) == "attribute" && strings.Contains(p.Text(p.Field(f, "attribute")), "strip") {
			return p.unlessSet(p.Field(f, "object"), s)
		}
	}
	return extract.None
}

// readsEnvironment reports whether a call reads a variable of the environment.
func (p *walker) readsEnvironment(n extract.Ref, s state) bool {
	if p.Kind(n) != "call" {
		return false
	}
	switch p.canonical(p.path(p.Field(n, "function"), s)) {
	case "os.getenv", "os.environ.get":
		return true
	}
	return false
}

// conditional reports whether an expression is in a branch of an if statement.
func (p *walker) conditional(n extract.Ref) bool {
	for ; n > 0; n = p.Parent(n) {
		switch p.Kind(n) {
		case "if_statement", "elif_clause", "else_clause":
			return true
		case "function_definition", "class_definition":
			return false
		}
	}
	return false
}
