package python

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// assignment reads `a = b`, `a: T = b`, `a = b = c`, and declares variables of the module and
// fields of classes.
func (p *walker) assignment(n extract.Ref, s state) {
	left, right, typ := p.Field(n, "left"), p.Field(n, "right"), p.Field(n, "type")
	p.declareTargets(left, n, typ, s)
	stated := ""
	if typ != extract.None {
		stated = typeOf(p.Text(typ))
		p.annotation(typ, s)
	}
	if p.Kind(right) == "lambda" && p.Kind(left) == "identifier" {
		if p.namedLambda(left, right, n, s) {
			return
		}
	}
	switch value := right; {
	case value == extract.None:
		if p.Kind(left) == "identifier" || p.Kind(left) == "attribute" {
			p.bindValue(p.path(left, s), extract.None, stated, left, s, 0)
		}
	case p.Kind(value) == "assignment": // a = b = c: a gets the value of b
		for p.Kind(value) == "assignment" {
			value = p.Field(value, "right")
		}
		p.bindTarget(left, value, p.path(value, s), s)
	case typ != extract.None:
		p.bindValue(p.path(left, s), value, stated, left, s, 0)
	default:
		p.bindTarget(left, value, p.path(value, s), s)
	}
	p.visitTarget(left, s)
	p.assignedRoutes(left, right, false, s)
	p.visit(right, s)
}

// namedLambda declares `name = lambda …` as a function.
func (p *walker) namedLambda(left, right, stmt extract.Ref, s state) bool {
	name := p.Text(left)
	if p.Declared[extract.NameIn{In: s.in, Name: name}] {
		return false
	}
	kind := recountv1.SymbolKind_SYMBOL_KIND_FUNCTION
	if s.class {
		kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
	}
	in, decl := p.Declare(extract.Declaration{Kind: kind, Name: name, In: s.in, Node: stmt})
	p.Declared[extract.NameIn{In: s.in, Name: name}] = true
	p.Locals[extract.NameIn{In: s.in, Name: name}] = true
	decl.Modifiers = []string{"lambda"}
	decl.Exported = p.isExported(name, s)
	decl.Test = s.test
	inner := state{in: in, function: true, self: s.self, test: s.test, typeOnly: s.typeOnly}
	params := p.Field(right, "parameters")
	if s.class {
		inner.self = p.paramName(p.Child(params, 0))
	}
	decl.Parameters = p.parameters(params, in, s, inner.self)
	body := p.Field(right, "body")
	p.bindValue("return", body, "", body, inner, 0)
	p.visit(body, inner)
	return true
}

// declareTargets declares the names that an assignment in a module or a class binds for the first
// time.
func (p *walker) declareTargets(left, stmt, typ extract.Ref, s state) {
	if s.function {
		return
	}
	switch p.Kind(left) {
	case "identifier":
		name := p.Text(left)
		if p.Declared[extract.NameIn{In: s.in, Name: name}] || p.Kind(p.Field(stmt, "right")) == "lambda" {
			return
		}
		kind := recountv1.SymbolKind_SYMBOL_KIND_VARIABLE
		switch {
		case s.class:
			kind = recountv1.SymbolKind_SYMBOL_KIND_FIELD
		case name == strings.ToUpper(name) && strings.ContainsFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' }):
			kind = recountv1.SymbolKind_SYMBOL_KIND_CONSTANT
		}
		_, decl := p.Declare(extract.Declaration{Kind: kind, Name: name, In: s.in, Node: stmt, Head: p.LineEnd(stmt)})
		p.Declared[extract.NameIn{In: s.in, Name: name}] = true
		decl.Exported = p.isExported(name, s)
		decl.Test = s.test
		if typ != extract.None {
			decl.Type = typeOf(p.Text(typ))
		}
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern":
		for c := range p.Children(left) {
			p.declareTargets(c, stmt, extract.None, s)
		}
	}
	if right := p.Field(stmt, "right"); p.Kind(right) == "assignment" && left == p.Field(stmt, "left") {
		p.declareTargets(p.Field(right, "left"), right, extract.None, s)
	}
}

// visitTarget walks the expressions in a target: the index and the object of a[f()].
func (p *walker) visitTarget(n extract.Ref, s state) {
	switch p.Kind(n) {
	case "identifier", "":
	case "attribute":
		p.visit(p.Field(n, "object"), s)
	default:
		for c := range p.Children(n) {
			if p.Kind(n) == "subscript" {
				p.visit(c, s)
			} else {
				p.visitTarget(c, s)
			}
		}
	}
}

// bindTarget binds the names on the left side of an assignment to a value, whose path is given
// and whose node may be none.
func (p *walker) bindTarget(target, value extract.Ref, path string, s state) {
	switch p.Kind(target) {
	case "identifier", "attribute", "subscript":
		if value == extract.None {
			p.bindPlain(p.path(target, s), path, "", target, s)
		} else {
			p.bindValue(p.path(target, s), value, "", target, s, 0)
		}
	case "pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple", "list":
		var values []extract.Ref
		switch p.Kind(value) {
		case "expression_list", "tuple", "list":
			for c := range p.Children(value) {
				values = append(values, c)
			}
		}
		i := 0
		for c := range p.Children(target) {
			switch {
			case p.Kind(c) == "list_splat_pattern":
				p.bindTarget(c, extract.None, path, s)
			case i < len(values) && p.Kind(values[i]) != "list_splat":
				p.bindTarget(c, values[i], p.path(values[i], s), s)
			default:
				p.bindTarget(c, extract.None, extract.Element(path, strconv.Itoa(i)), s)
			}
			i++
		}
	case "list_splat_pattern":
		inner := p.Child(target, 0)
		if name := p.path(inner, s); name != extract.Unknown {
			p.bindPlain(name, extract.Unknown, "", inner, s)
			p.Bind(s.in, extract.Element(name, ""), extract.Element(path, ""), "", inner)
		}
	case "parenthesized_expression", "as_pattern_target":
		p.bindTarget(p.Child(target, 0), value, path, s)
	}
}

func (p *walker) bindPlain(target, value, typ string, at extract.Ref, s state) {
	if extract.Root(target) == target {
		p.Locals[extract.NameIn{In: s.in, Name: target}] = true
	}
	p.Bind(s.in, target, value, typ, at)
	p.keepClient(s.in, target, value)
}

// bindValue binds target to an expression: to each of its alternatives, and to the elements of a
// literal.
func (p *walker) bindValue(target string, value extract.Ref, typ string, at extract.Ref, s state, depth int) {
	switch p.Kind(value) {
	case "conditional_expression":
		p.bindValue(target, p.Child(value, 0), typ, at, s, depth)
		p.bindValue(target, p.Child(value, 2), typ, at, s, depth)
		return
	case "boolean_operator":
		p.bindValue(target, p.Field(value, "left"), typ, at, s, depth)
		p.bindValue(target, p.Field(value, "right"), typ, at, s, depth)
		return
	case "parenthesized_expression":
		p.bindValue(target, p.Child(value, 0), typ, at, s, depth)
		return
	case "named_expression":
		p.bindValue(target, p.Field(value, "value"), typ, at, s, depth)
		return
	}
	path := extract.Unknown
	if value != extract.None {
		path = p.path(value, s)
	}
	if depth == 0 || path != extract.Unknown || typ != "" {
		p.bindPlain(target, path, typ, at, s)
	}
	if depth == extract.MaxLiteral || target == extract.Unknown {
		return
	}
	i := 0
	switch p.Kind(value) {
	case "list", "tuple", "set", "expression_list":
		for c := range p.Children(value) {
			if i == extract.MaxElements {
				break
			}
			p.bindValue(extract.Element(target, strconv.Itoa(i)), c, "", c, s, depth+1)
			i++
		}
	case "dictionary":
		for c := range p.Children(value) {
			if i++; i > extract.MaxElements {
				break
			}
			if p.Kind(c) == "pair" {
				p.bindValue(extract.Element(target, p.literalKey(p.Field(c, "key"))), p.Field(c, "value"), "", c, s, depth+1)
			}
		}
	case "list_comprehension", "set_comprehension", "generator_expression":
		p.bindValue(extract.Element(target, ""), p.Field(value, "body"), "", value, s, depth+1)
	case "dictionary_comprehension":
		p.bindValue(extract.Element(target, ""), p.Field(p.Field(value, "body"), "value"), "", value, s, depth+1)
	}
}

// withItem binds `with manager as name`.
func (p *walker) withItem(n extract.Ref, s state) {
	value := p.Field(n, "value")
	if p.Kind(value) == "as_pattern" {
		enter := ".__enter__()"
		if p.Has(p.Parent(p.Parent(n)), "async") {
			enter = ".__aenter__()"
		}
		p.asPattern(value, enter, s)
		return
	}
	p.visit(value, s)
}

// asPattern binds the target of `value as target` to the path of value followed by how.
func (p *walker) asPattern(n extract.Ref, how string, s state) {
	value, alias := p.Child(n, 0), p.Field(n, "alias")
	path := p.path(value, s)
	if path != extract.Unknown {
		path = extract.Checked(path + how)
	}
	p.bindTarget(alias, extract.None, path, s)
	p.visit(value, s)
}
