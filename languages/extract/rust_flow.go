package extract

import (
	"strings"
)

// expression walks an expression, a statement or whatever it is.
func (r *rustFile) expression(n ref, s rustScope) {
	switch r.kind(n) {
	case "block", "match_block":
		r.valueInto(n, "", s)
	case "if_expression", "match_expression", "unsafe_block", "async_block", "const_block", "try_block":
		r.valueInto(n, "", s)
	case "let_declaration":
		r.let(n, s)
	case "let_condition": // of a let chain
		r.letCondition(n, s)
	case "for_expression":
		value := r.field(n, "value")
		inner := s.block()
		r.bindPattern(r.field(n, "pattern"), element(r.path(value, s), ""), inner, nil)
		r.visit(value, s)
		r.visit(r.field(n, "body"), inner)
	case "while_expression":
		inner := s.block()
		r.visit(r.field(n, "condition"), inner)
		r.visit(r.field(n, "body"), inner)
	case "closure_expression":
		r.closure(n, s)
	case "call_expression":
		r.call(n, s)
	case "return_expression":
		v := r.child(n, 0)
		if v != none && !s.closure {
			r.valueInto(v, "return", s)
			return
		}
		r.parts(n, s)
	case "assignment_expression":
		left, right := r.field(n, "left"), r.field(n, "right")
		if target := r.path(left, s); target != unknown && !strings.ContainsAny(target, "(") && r.kind(left) == "identifier" {
			r.bind(s.in, target, r.path(right, s), "", left)
		}
		r.parts(n, s)
	case "struct_expression":
		name := r.structName(n)
		if path := r.pathText(name, s); path != unknown && r.text(name) != "Self" {
			r.loads = append(r.loads, load{s.in, path, r.lastName(name)})
		}
		for c := range r.children(r.field(n, "body")) {
			switch r.kind(c) {
			case "field_initializer":
				r.visit(firstRef(r.field(c, "value"), r.lastChild(c)), s)
			default:
				r.parts(c, s)
			}
		}
	case "identifier", "scoped_identifier":
		r.noteUse(n, s)
	case "field_expression":
		r.visit(r.field(n, "value"), s)
	case "type_cast_expression":
		r.visit(r.field(n, "value"), s)
		r.annotation(r.field(n, "type"), s)
	case "generic_function":
		r.visit(r.field(n, "function"), s)
		r.annotation(r.field(n, "type_arguments"), s)
	case "token_tree", "label", "loop_label", "string_literal", "raw_string_literal", "lifetime":
	default:
		r.parts(n, s)
	}
}

func (r *rustFile) parts(n ref, s rustScope) {
	for c := range r.children(n) {
		r.visit(c, s)
	}
}

// valueInto walks an expression whose value goes into a target: "" where it goes
// nowhere. Of blocks and branches it is what they end with.
func (r *rustFile) valueInto(n ref, target string, s rustScope) {
	switch r.kind(n) {
	case "unsafe_block", "const_block":
		r.valueInto(r.firstOf(n, "block"), target, s)
		return
	case "async_block", "try_block":
		s.closure = true
		r.valueInto(r.firstOf(n, "block"), "", s)
		return
	case "block":
		inner := s.block()
		tail := r.tail(n)
		for c := range r.children(n) {
			if c != tail {
				r.visit(c, inner)
			} else if r.kind(c) == "expression_statement" {
				r.valueInto(r.child(c, 0), target, inner)
			} else {
				r.valueInto(c, target, inner)
			}
		}
		return
	case "if_expression":
		inner := s.block()
		r.visit(r.field(n, "condition"), inner)
		r.valueInto(r.field(n, "consequence"), target, inner)
		if alt := r.field(n, "alternative"); alt != none {
			r.valueInto(r.child(alt, 0), target, s)
		}
		return
	case "match_expression":
		value := r.field(n, "value")
		of := r.path(value, s)
		r.visit(value, s)
		for arm := range r.children(r.field(n, "body")) {
			if r.kind(arm) != "match_arm" {
				continue
			}
			inner := s.block()
			pattern := r.field(arm, "pattern")
			r.bindPattern(pattern, of, inner, nil)
			r.visit(r.field(pattern, "condition"), inner)
			r.valueInto(r.field(arm, "value"), target, inner)
		}
		return
	case "parenthesized_expression":
		r.valueInto(r.child(n, 0), target, s)
		return
	}
	if target != "" && n != none {
		if path := r.path(n, s); path != unknown {
			r.bind(s.in, target, path, "", n)
		}
	}
	r.visit(n, s)
}

// tail is the child of a block that is its value; none where there is none.
func (r *rustFile) tail(block ref) ref {
	last := none
	for c := range r.children(block) {
		last = c
	}
	k := r.kind(last)
	if k == "let_declaration" || k == "empty_statement" || strings.HasSuffix(k, "_item") || k == "expression_statement" && r.has(last, ";") {
		return none
	}
	return last
}

// let reads `let pattern: type = value else { … };`.
func (r *rustFile) let(n ref, s rustScope) {
	pattern, value := r.field(n, "pattern"), r.field(n, "value")
	typ := ""
	if t := r.field(n, "type"); t != none {
		typ = knownPath(r.typeText(t, s))
		r.annotation(t, s)
		if value != none && strings.Contains(typ, "_>") { // Vec<_>: the value says more
			typ = ""
		}
	}
	if r.kind(pattern) == "identifier" && isVariable(r.text(pattern)) {
		r.usesInside(value, r.text(pattern), s)
		name := r.fresh(r.text(pattern), s)
		if typ != "" || value == none {
			r.bind(s.in, name, unknown, typ, pattern)
			r.visit(value, s)
		} else {
			r.named(value, name, s)
		}
		s.locals.names[r.text(pattern)] = name
		return
	}
	if r.kind(pattern) == "tuple_pattern" && r.kind(value) == "tuple_expression" && r.bindTuple(pattern, value, s) {
		return
	}
	of := r.path(value, s)
	if typ != "" || isBranch(r.kind(value)) {
		of = r.fresh("<let>", s)
		if typ != "" {
			r.bind(s.in, of, unknown, typ, pattern)
			r.visit(value, s)
		} else {
			r.valueInto(value, of, s)
		}
	} else {
		r.visit(value, s)
	}
	r.visit(r.field(n, "alternative"), s)
	r.bindPattern(pattern, of, s, nil)
}

func isBranch(kind string) bool {
	switch kind {
	case "if_expression", "match_expression", "block", "unsafe_block":
		return true
	}
	return false
}

// named gives a variable its value.
func (r *rustFile) named(value ref, name string, s rustScope) {
	if r.kind(value) == "closure_expression" {
		r.bind(s.in, name, unknown, "", value)
		r.visit(value, s)
		return
	}
	r.valueInto(value, name, s)
}

// letCondition reads `let pattern = value` of an if or while: what it binds is there in
// what follows.
func (r *rustFile) letCondition(n ref, s rustScope) {
	value := r.field(n, "value")
	of := r.path(value, s)
	r.visit(value, s)
	r.bindPattern(r.field(n, "pattern"), of, s, nil)
}

// closure walks an anonymous function whose first parameters are of, and names what it
// returns.
func (r *rustFile) closure(n ref, s rustScope, of ...string) string {
	inner := s.block()
	inner.closure = true
	for c := range r.children(r.field(n, "parameters")) {
		pattern, path := c, unknown
		if len(of) > 0 {
			path, of = of[0], of[1:]
		}
		if r.kind(c) == "parameter" {
			pattern = r.field(c, "pattern")
			typ := r.typeText(r.field(c, "type"), s)
			r.annotation(r.field(c, "type"), s)
			if typ != unknown {
				path = r.fresh("<let>", s)
				r.bind(s.in, path, unknown, typ, c)
			}
		}
		r.bindPattern(pattern, path, inner, nil)
	}
	name := r.fresh("<closure>", s)
	if typ := r.field(n, "return_type"); typ != none {
		r.bind(s.in, name, unknown, knownPath(r.typeText(typ, s)), typ)
		r.annotation(typ, s)
	}
	r.valueInto(r.field(n, "body"), name, inner)
	return name
}
