package python

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// path returns the access path of an expression.
func (p *walker) path(n extract.Ref, s state) string {
	switch p.Kind(n) {
	case "identifier":
		name := p.Text(n)
		if name == s.self {
			return "self"
		}
		if s.shadows.Has(name) {
			return extract.Unknown
		}
		return extract.Checked(name)
	case "attribute":
		return extract.Member(p.path(p.Field(n, "object"), s), p.Text(p.Field(n, "attribute")))
	case "call":
		return p.callPath(n, s)
	case "subscript":
		return extract.Element(p.path(p.Field(n, "value"), s), p.literalKey(p.Field(n, "subscript")))
	case "parenthesized_expression", "await", "type":
		return p.path(p.Child(n, 0), s)
	case "named_expression":
		return p.path(p.Field(n, "value"), s)
	}
	return extract.Unknown
}

// callPath returns the path of a call's result. super(), getattr with a literal and
// importlib.import_module become what they mean.
func (p *walker) callPath(n extract.Ref, s state) string {
	fn := p.Field(n, "function")
	path := p.path(fn, s)
	switch p.known.Canonical(path) {
	case "super":
		return "super"
	case "getattr":
		args := p.Field(n, "arguments")
		if name, ok := p.literal(p.Child(args, 1)); ok && extract.IsName(name) {
			return extract.Member(p.path(p.Child(args, 0), s), name)
		}
	case "importlib.import_module", "__import__":
		if module, ok := p.literal(p.argument(p.Field(n, "arguments"), 0, "name")); ok {
			return p.InlineImport(s.in, module, n)
		}
	}
	return extract.Result(path)
}

// literalKey returns the text of an index that is a literal.
func (p *walker) literalKey(n extract.Ref) string {
	if p.Kind(n) == "integer" {
		return p.Text(n)
	}
	key, _ := p.literal(n)
	return key
}

// literal returns the value of a string literal. What is inserted into a formatted one is {}.
func (p *walker) literal(n extract.Ref) (string, bool) {
	switch p.Kind(n) {
	case "string":
		return p.content(n, func(extract.Ref) string { return "{}" }), true
	case "concatenated_string":
		var b strings.Builder
		for c := range p.Children(n) {
			part, _ := p.literal(c)
			b.WriteString(part)
		}
		return b.String(), true
	case "parenthesized_expression":
		return p.literal(p.Child(n, 0))
	}
	return "", false
}

// content returns the text of a string, with what inserted returns for each inserted expression.
func (p *walker) content(n extract.Ref, inserted func(extract.Ref) string) string {
	var b strings.Builder
	for c := range p.Children(n) {
		switch p.Kind(c) {
		case "string_content":
			b.WriteString(p.Text(c))
		case "interpolation":
			b.WriteString(inserted(p.Child(c, 0)))
		}
	}
	return b.String()
}

// lastName returns the node of the last name in a path.
func (p *walker) lastName(n extract.Ref) extract.Ref {
	switch p.Kind(n) {
	case "attribute":
		return p.Field(n, "attribute")
	case "call":
		return p.lastName(p.Field(n, "function"))
	case "subscript":
		return p.lastName(p.Field(n, "value"))
	case "parenthesized_expression", "await", "type":
		if c := p.Child(n, 0); c != extract.None {
			return p.lastName(c)
		}
	}
	return n
}

// basePath returns the access path of a base of a class, without type arguments.
func (p *walker) basePath(n extract.Ref, s state) string {
	if k := p.Kind(n); k == "subscript" || k == "generic_type" || k == "parenthesized_expression" {
		return p.basePath(p.Child(n, 0), s)
	}
	return p.path(n, s)
}

// builtinTypes are too common to be references.
var builtinTypes = map[string]bool{
	"int": true, "str": true, "bool": true, "float": true, "bytes": true, "object": true, "dict": true,
	"list": true, "tuple": true, "set": true, "frozenset": true, "type": true, "None": true,
}

// annotation adds references to all names in a type.
func (p *walker) annotation(n extract.Ref, s state) {
	switch p.Kind(n) {
	case "identifier", "attribute":
		if path := p.path(n, s); !builtinTypes[path] {
			p.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, path, p.lastName(n))
		}
	case "string":
		if text, ok := p.literal(n); ok && extract.IsDotted(text) && !builtinTypes[text] {
			p.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(text), n)
		}
	default:
		for c := range p.Children(n) {
			p.annotation(c, s)
		}
	}
}

// use adds a reference to an expression of names that is not called.
func (p *walker) use(n extract.Ref, s state) {
	path := p.path(n, s)
	if strings.ContainsAny(path, "([?") {
		p.block(n, s)
		return
	}
	p.Loads = append(p.Loads, extract.Load{In: s.in, Path: path, At: p.lastName(n)})
}
