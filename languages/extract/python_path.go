package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// path is the access path of an expression.
func (p *pythonFile) path(n ref, s pythonScope) string {
	switch p.kind(n) {
	case "identifier":
		name := p.text(n)
		if name == s.self {
			return "self"
		}
		if s.shadows.has(name) {
			return unknown
		}
		return checked(name)
	case "attribute":
		return member(p.path(p.field(n, "object"), s), p.text(p.field(n, "attribute")))
	case "call":
		return p.callPath(n, s)
	case "subscript":
		return element(p.path(p.field(n, "value"), s), p.literalKey(p.field(n, "subscript")))
	case "parenthesized_expression", "await", "type":
		return p.path(p.child(n, 0), s)
	case "named_expression":
		return p.path(p.field(n, "value"), s)
	}
	return unknown
}

// callPath is what a call gives; super(), getattr with a literal and
// importlib.import_module are read as what they mean.
func (p *pythonFile) callPath(n ref, s pythonScope) string {
	fn := p.field(n, "function")
	path := p.path(fn, s)
	switch p.canonical(path) {
	case "super":
		return "super"
	case "getattr":
		args := p.field(n, "arguments")
		if name, ok := p.literal(p.child(args, 1)); ok && isName(name) {
			return member(p.path(p.child(args, 0), s), name)
		}
	case "importlib.import_module", "__import__":
		if module, ok := p.literal(p.argument(p.field(n, "arguments"), 0, "name")); ok {
			return p.inlineImport(s.in, module, n)
		}
	}
	return result(path)
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// literalKey is the text of an index that is a literal.
func (p *pythonFile) literalKey(n ref) string {
	if p.kind(n) == "integer" {
		return p.text(n)
	}
	key, _ := p.literal(n)
	return key
}

// literal is the value of a string literal; what is put into a formatted one is {}.
func (p *pythonFile) literal(n ref) (string, bool) {
	switch p.kind(n) {
	case "string":
		var b strings.Builder
		for c := range p.children(n) {
			switch p.kind(c) {
			case "string_content":
				b.WriteString(p.text(c))
			case "interpolation":
				b.WriteString("{}")
			}
		}
		return b.String(), true
	case "concatenated_string":
		var b strings.Builder
		for c := range p.children(n) {
			part, _ := p.literal(c)
			b.WriteString(part)
		}
		return b.String(), true
	case "parenthesized_expression":
		return p.literal(p.child(n, 0))
	}
	return "", false
}

// lastName is the node of the last name in a path.
func (p *pythonFile) lastName(n ref) ref {
	switch p.kind(n) {
	case "attribute":
		return p.field(n, "attribute")
	case "call":
		return p.lastName(p.field(n, "function"))
	case "subscript":
		return p.lastName(p.field(n, "value"))
	case "parenthesized_expression", "await", "type":
		if c := p.child(n, 0); c != none {
			return p.lastName(c)
		}
	}
	return n
}

// canonical replaces an imported name at the head of a path by what it stands for.
func (p *pythonFile) canonical(path string) string {
	head := root(path)
	if full, ok := p.known[head]; ok {
		return full + path[len(head):]
	}
	return path
}

// transparent types say nothing of the value but that it may be None, or more.
var transparent = map[string]bool{"Optional": true, "Annotated": true, "Final": true, "ClassVar": true, "Required": true, "NotRequired": true}

// typePath is the access path of an annotation or of a base: type arguments are left
// out, `X | None` and Optional[X] are X, a string is what it says.
func (p *pythonFile) typePath(n ref, s pythonScope) string {
	switch p.kind(n) {
	case "type", "parenthesized_expression":
		return p.typePath(p.child(n, 0), s)
	case "subscript", "generic_type":
		base := p.child(n, 0)
		path := p.path(base, s)
		if transparent[path[strings.LastIndexByte(path, '.')+1:]] {
			inner := p.child(n, 1)
			if p.kind(inner) == "type_parameter" {
				inner = p.child(inner, 0)
			}
			return p.typePath(inner, s)
		}
		return path
	case "binary_operator", "union_type":
		left, right := p.child(n, 0), p.child(n, 1)
		if p.text(left) == "None" {
			return p.typePath(right, s)
		}
		return p.typePath(left, s)
	case "string":
		if text, ok := p.literal(n); ok && isDotted(text) {
			return checked(text)
		}
		return unknown
	}
	return p.path(n, s)
}

func isDotted(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isName(part) {
			return false
		}
	}
	return true
}

// builtinTypes are no references worth keeping.
var builtinTypes = map[string]bool{
	"int": true, "str": true, "bool": true, "float": true, "bytes": true, "object": true, "dict": true,
	"list": true, "tuple": true, "set": true, "frozenset": true, "type": true, "None": true,
}

// annotation refers to every name in a type.
func (p *pythonFile) annotation(n ref, s pythonScope) {
	switch p.kind(n) {
	case "identifier", "attribute":
		if path := p.path(n, s); !builtinTypes[path] {
			p.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, path, p.lastName(n))
		}
	case "string":
		if text, ok := p.literal(n); ok && isDotted(text) && !builtinTypes[text] {
			p.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(text), n)
		}
	default:
		for c := range p.children(n) {
			p.annotation(c, s)
		}
	}
}

// use notes an expression of names that is not called.
func (p *pythonFile) use(n ref, s pythonScope) {
	path := p.path(n, s)
	if strings.ContainsAny(path, "([?") {
		p.block(n, s)
		return
	}
	p.loads = append(p.loads, load{s.in, path, p.lastName(n)})
}
