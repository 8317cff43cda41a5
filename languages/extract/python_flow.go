package extract

import (
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// assignment reads `a = b`, `a: T = b`, `a = b = c`, and declares variables of the
// module and fields of classes.
func (p *pythonFile) assignment(n ref, s pythonScope) {
	left, right, typ := p.field(n, "left"), p.field(n, "right"), p.field(n, "type")
	p.declareTargets(left, n, typ, s)
	typePath := ""
	if typ != none {
		typePath = knownPath(p.typePath(typ, s))
		p.annotation(typ, s)
	}
	if p.kind(right) == "lambda" && p.kind(left) == "identifier" {
		if p.namedLambda(left, right, n, s) {
			return
		}
	}
	switch value := right; {
	case value == none:
		if p.kind(left) == "identifier" || p.kind(left) == "attribute" {
			p.bindValue(p.path(left, s), none, typePath, left, s, 0)
		}
	case p.kind(value) == "assignment": // a = b = c: a gets what b gets
		for p.kind(value) == "assignment" {
			value = p.field(value, "right")
		}
		p.bindTarget(left, value, p.path(value, s), s)
	case typ != none:
		p.bindValue(p.path(left, s), value, typePath, left, s, 0)
	default:
		p.bindTarget(left, value, p.path(value, s), s)
	}
	p.visitTarget(left, s)
	p.groupOf(left, right, s)
	p.visit(right, s)
}

// namedLambda declares `name = lambda …` as the function that it is.
func (p *pythonFile) namedLambda(left, right, stmt ref, s pythonScope) bool {
	name := p.text(left)
	if p.declared[nameIn{s.in, name}] {
		return false
	}
	kind := recountv1.SymbolKind_SYMBOL_KIND_FUNCTION
	if s.class {
		kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
	}
	in, decl := p.declare(declaration{kind: kind, name: name, in: s.in, node: stmt})
	p.declared[nameIn{s.in, name}] = true
	p.locals[nameIn{s.in, name}] = true
	decl.Modifiers = []string{"lambda"}
	decl.Exported = p.isExported(name, s)
	decl.Test = s.test
	inner := pythonScope{in: in, function: true, self: s.self, test: s.test, typeOnly: s.typeOnly}
	params := p.field(right, "parameters")
	if s.class {
		inner.self = p.paramName(p.child(params, 0))
	}
	decl.Parameters = p.parameters(params, in, s, inner.self)
	body := p.field(right, "body")
	p.bindValue("return", body, "", body, inner, 0)
	p.visit(body, inner)
	return true
}

// declareTargets declares what an assignment of the module or of a class names for
// the first time.
func (p *pythonFile) declareTargets(left, stmt, typ ref, s pythonScope) {
	if s.function {
		return
	}
	switch p.kind(left) {
	case "identifier":
		name := p.text(left)
		if p.declared[nameIn{s.in, name}] || p.kind(p.field(stmt, "right")) == "lambda" {
			return
		}
		kind := recountv1.SymbolKind_SYMBOL_KIND_VARIABLE
		switch {
		case s.class:
			kind = recountv1.SymbolKind_SYMBOL_KIND_FIELD
		case name == strings.ToUpper(name) && strings.ContainsFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' }):
			kind = recountv1.SymbolKind_SYMBOL_KIND_CONSTANT
		}
		_, decl := p.declare(declaration{kind: kind, name: name, in: s.in, node: stmt, head: p.lineEnd(stmt)})
		p.declared[nameIn{s.in, name}] = true
		decl.Exported = p.isExported(name, s)
		decl.Test = s.test
		if typ != none {
			decl.Type = knownPath(p.typePath(typ, s))
		}
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern":
		for c := range p.children(left) {
			p.declareTargets(c, stmt, none, s)
		}
	}
	if right := p.field(stmt, "right"); p.kind(right) == "assignment" && left == p.field(stmt, "left") {
		p.declareTargets(p.field(right, "left"), right, none, s)
	}
}

// visitTarget walks the expressions in a target: the index and the object of a[f()].
func (p *pythonFile) visitTarget(n ref, s pythonScope) {
	switch p.kind(n) {
	case "identifier", "":
	case "attribute":
		p.visit(p.field(n, "object"), s)
	default:
		for c := range p.children(n) {
			if p.kind(n) == "subscript" {
				p.visit(c, s)
			} else {
				p.visitTarget(c, s)
			}
		}
	}
}

// bindTarget binds what an assignment's left side names to the value, whose
// expression may be none.
func (p *pythonFile) bindTarget(target, value ref, path string, s pythonScope) {
	switch p.kind(target) {
	case "identifier", "attribute", "subscript":
		if value == none {
			p.bindPlain(p.path(target, s), path, "", target, s)
		} else {
			p.bindValue(p.path(target, s), value, "", target, s, 0)
		}
	case "pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple", "list":
		var values []ref
		switch p.kind(value) {
		case "expression_list", "tuple", "list":
			for c := range p.children(value) {
				values = append(values, c)
			}
		}
		i := 0
		for c := range p.children(target) {
			switch {
			case p.kind(c) == "list_splat_pattern":
				p.bindTarget(c, none, path, s)
			case i < len(values) && p.kind(values[i]) != "list_splat":
				p.bindTarget(c, values[i], p.path(values[i], s), s)
			default:
				p.bindTarget(c, none, element(path, strconv.Itoa(i)), s)
			}
			i++
		}
	case "list_splat_pattern":
		inner := p.child(target, 0)
		if name := p.path(inner, s); name != unknown {
			p.bindPlain(name, unknown, "", inner, s)
			p.bind(s.in, element(name, ""), element(path, ""), "", inner)
		}
	case "parenthesized_expression", "as_pattern_target":
		p.bindTarget(p.child(target, 0), value, path, s)
	}
}

func (p *pythonFile) bindPlain(target, value, typ string, at ref, s pythonScope) {
	if root(target) == target {
		p.locals[nameIn{s.in, target}] = true
	}
	p.bind(s.in, target, value, typ, at)
	p.keepClient(s.in, target, value)
}

// maxElements is how many elements of a literal list or dictionary are followed,
// maxLiteral how deep.
const (
	maxElements = 64
	maxLiteral  = 3
)

// bindValue binds target to an expression: to each of its alternatives, and to the
// elements of a literal.
func (p *pythonFile) bindValue(target string, value ref, typ string, at ref, s pythonScope, depth int) {
	switch p.kind(value) {
	case "conditional_expression":
		p.bindValue(target, p.child(value, 0), typ, at, s, depth)
		p.bindValue(target, p.child(value, 2), typ, at, s, depth)
		return
	case "boolean_operator":
		p.bindValue(target, p.field(value, "left"), typ, at, s, depth)
		p.bindValue(target, p.field(value, "right"), typ, at, s, depth)
		return
	case "parenthesized_expression":
		p.bindValue(target, p.child(value, 0), typ, at, s, depth)
		return
	case "named_expression":
		p.bindValue(target, p.field(value, "value"), typ, at, s, depth)
		return
	}
	path := unknown
	if value != none {
		path = p.path(value, s)
	}
	if depth == 0 || path != unknown || typ != "" {
		p.bindPlain(target, path, typ, at, s)
	}
	if depth == maxLiteral || target == unknown {
		return
	}
	i := 0
	switch p.kind(value) {
	case "list", "tuple", "set", "expression_list":
		for c := range p.children(value) {
			if i == maxElements {
				break
			}
			p.bindValue(element(target, strconv.Itoa(i)), c, "", c, s, depth+1)
			i++
		}
	case "dictionary":
		for c := range p.children(value) {
			if i++; i > maxElements {
				break
			}
			if p.kind(c) == "pair" {
				p.bindValue(element(target, p.literalKey(p.field(c, "key"))), p.field(c, "value"), "", c, s, depth+1)
			}
		}
	case "list_comprehension", "set_comprehension", "generator_expression":
		p.bindValue(element(target, ""), p.field(value, "body"), "", value, s, depth+1)
	case "dictionary_comprehension":
		p.bindValue(element(target, ""), p.field(p.field(value, "body"), "value"), "", value, s, depth+1)
	}
}

// withItem binds `with manager as name`.
func (p *pythonFile) withItem(n ref, s pythonScope) {
	value := p.field(n, "value")
	if p.kind(value) == "as_pattern" {
		enter := ".__enter__()"
		if p.has(p.parent(p.parent(n)), "async") {
			enter = ".__aenter__()"
		}
		p.asPattern(value, enter, s)
		return
	}
	p.visit(value, s)
}

// asPattern binds `value as target`: to value and how.
func (p *pythonFile) asPattern(n ref, how string, s pythonScope) {
	value, alias := p.child(n, 0), p.field(n, "alias")
	path := p.path(value, s)
	if path != unknown {
		path = checked(path + how)
	}
	p.bindTarget(alias, none, path, s)
	p.visit(value, s)
}
