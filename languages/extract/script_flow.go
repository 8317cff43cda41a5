package extract

import (
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func decimal(i int) string { return strconv.Itoa(i) }

// variables reads const, let and var: functions and classes that get a name are
// declared as such, other names of the module as variables.
func (j *scriptFile) variables(n ref, s scriptScope) {
	kind := recountv1.SymbolKind_SYMBOL_KIND_VARIABLE
	if j.has(n, "const") {
		kind = recountv1.SymbolKind_SYMBOL_KIND_CONSTANT
	}
	stmt := s
	if stmt.statement == 0 {
		stmt.statement = n
	}
	for d := range j.children(n) {
		if j.kind(d) != "variable_declarator" {
			continue
		}
		name, value := j.field(d, "name"), j.field(d, "value")
		if j.kind(name) == "identifier" {
			switch j.kind(value) {
			case "arrow_function", "function_expression", "generator_function":
				j.function(value, d, j.text(name), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, stmt)
				continue
			case "class":
				j.class(value, d, j.text(name), stmt)
				continue
			}
		}
		j.variable(d, name, value, kind, stmt)
	}
}

// variable reads one declarator that is no function.
func (j *scriptFile) variable(d, name, value ref, kind recountv1.SymbolKind, s scriptScope) {
	typ := ""
	if t := j.field(d, "type"); t != none {
		typ = knownPath(j.typePath(t, s))
		j.annotation(t, s)
	}
	if j.required(name, value, s) {
		return
	}
	in := s.in
	if !s.function {
		if own := j.declareVariables(d, name, typ, kind, s); own != 0 && (j.kind(value) == "object" || j.callsWithFunction(value)) {
			in = own // its functions belong to it
		}
	}
	for v := value; j.kind(v) == "assignment_expression" && j.kind(name) == "identifier"; v = j.field(v, "right") {
		j.bind(s.in, j.path(j.field(v, "left"), s), j.text(name), "", v) // name = exports = module.exports = {}
	}
	if j.kind(name) == "identifier" {
		j.bindValue(j.text(name), value, typ, name, s, 0)
	} else {
		path := unknown
		if value != none {
			path = j.path(value, s)
		}
		j.bindTarget(name, value, path, s)
		j.environmentPattern(name, path, s)
	}
	j.assignedGroup(name, value, s)
	inner := s.plain()
	if inner.in = in; in != s.in {
		inner.test = s.test
	}
	j.visit(value, inner)
}

// callsWithFunction reports whether a value is a call that is given a function:
// export const handler = wrap(async () => …).
func (j *scriptFile) callsWithFunction(n ref) bool {
	if j.kind(n) != "call_expression" {
		return false
	}
	for c := range j.children(j.field(n, "arguments")) {
		if k := j.kind(c); k == "arrow_function" || k == "function_expression" {
			return true
		}
	}
	return j.callsWithFunction(j.child(j.field(n, "arguments"), 0))
}

// declareVariables declares the names of a declarator and returns the declaration
// where it is a plain one.
func (j *scriptFile) declareVariables(d, target ref, typ string, kind recountv1.SymbolKind, s scriptScope) uint32 {
	switch j.kind(target) {
	case "identifier", "shorthand_property_identifier_pattern":
		name := j.text(target)
		if j.declared[nameIn{s.in, name}] {
			return 0
		}
		in, decl := j.declare(declaration{kind: kind, name: name, in: s.in, node: d, whole: s.statement, head: j.lineEnd(d), doc: j.doc(d, s)})
		j.declared[nameIn{s.in, name}] = true
		decl.Exported, decl.Test, decl.Type = s.exported, s.test, typ
		return in
	case "pair_pattern":
		j.declareVariables(d, j.field(target, "value"), "", kind, s)
	case "object_assignment_pattern", "assignment_pattern":
		j.declareVariables(d, j.field(target, "left"), "", kind, s)
	case "object_pattern", "array_pattern", "rest_pattern":
		for c := range j.children(target) {
			j.declareVariables(d, c, "", kind, s)
		}
	}
	return 0
}

// assignment reads target = value: functions that are given to a member are declared
// as its owner's.
func (j *scriptFile) assignment(n ref, s scriptScope) {
	left, right := j.field(n, "left"), j.field(n, "right")
	path := j.path(left, s)
	if j.exported(n, left, right, path, s) {
		return
	}
	if k := j.kind(right); k == "arrow_function" || k == "function_expression" || k == "generator_function" || k == "class" {
		if owner, name := splitLast(path); j.assignedMember(n, right, owner, name, s) {
			return
		}
	}
	j.bindTarget(left, right, j.path(right, s), s)
	if j.kind(left) == "member_expression" {
		j.visit(j.field(left, "object"), s)
	} else if j.kind(left) == "subscript_expression" {
		j.block(left, s)
	}
	j.visit(right, s)
}

// assignedMember declares Type.prototype.name = function …, object.name = …, and
// this.name = … in a class.
func (j *scriptFile) assignedMember(n, value ref, owner, name string, s scriptScope) bool {
	if !isName(strings.TrimPrefix(name, "$")) || owner == "" || j.kind(value) == "class" {
		return false
	}
	static := !strings.HasSuffix(owner, ".prototype")
	owner = strings.TrimSuffix(owner, ".prototype")
	in := uint32(0)
	if owner == "self" {
		for in = s.in; in != 0 && j.decl(in).Kind != recountv1.SymbolKind_SYMBOL_KIND_CLASS; {
			in = j.decl(in).Owner
		}
		static = false
	} else {
		for i, d := range j.facts.Declarations {
			if d.Owner == 0 && d.Name == owner {
				in = uint32(i) + 1
				break
			}
		}
	}
	if in == 0 {
		return false
	}
	outer := scriptScope{in: in, test: s.test, statement: j.parent(n)}
	if j.kind(outer.statement) != "expression_statement" {
		outer.statement = 0
	}
	_, decl := j.function(value, n, name, recountv1.SymbolKind_SYMBOL_KIND_METHOD, outer)
	if static {
		decl.Modifiers = append(decl.Modifiers, "static")
	}
	return true
}

// bindPlain binds one path.
func (j *scriptFile) bindPlain(target, value, typ string, at ref, s scriptScope) {
	if root(target) == target {
		j.locals[nameIn{s.in, target}] = s.in != 0
	}
	j.bind(s.in, target, value, typ, at)
}

// bindTarget binds what a pattern names to the value, whose expression may be none.
func (j *scriptFile) bindTarget(target, value ref, path string, s scriptScope) {
	switch j.kind(target) {
	case "identifier", "member_expression", "subscript_expression":
		if value == none {
			j.bindPlain(j.path(target, s), path, "", target, s)
		} else {
			j.bindValue(j.path(target, s), value, "", target, s, 0)
		}
	case "shorthand_property_identifier_pattern", "shorthand_property_identifier":
		j.bindPlain(j.text(target), propertyOf(path, j.text(target)), "", target, s)
	case "object_pattern", "object":
		for c := range j.children(target) {
			switch j.kind(c) {
			case "pair_pattern", "pair":
				j.bindTarget(j.field(c, "value"), none, propertyOf(path, j.propertyName(j.field(c, "key"))), s)
			case "rest_pattern":
				j.bindTarget(j.child(c, 0), none, path, s)
			default:
				j.bindTarget(c, none, path, s)
			}
		}
	case "object_assignment_pattern", "assignment_pattern":
		j.bindTarget(j.field(target, "left"), none, path, s)
		left, def := j.field(target, "left"), j.field(target, "right")
		if k := j.kind(left); k == "identifier" || k == "shorthand_property_identifier_pattern" {
			j.bindValue(j.text(left), def, "", left, s, 0)
		}
		j.visit(def, s)
	case "array_pattern", "array":
		i := 0
		for c := j.first(target); c != none; c = j.next(c) {
			switch {
			case j.kind(c) == ",":
				i++
			case j.kind(c) == "rest_pattern":
				j.bindTarget(j.child(c, 0), none, path, s)
			case j.named(c):
				j.bindTarget(c, none, element(path, decimal(i)), s)
			}
		}
	case "parenthesized_expression", "non_null_expression", "as_expression":
		j.bindTarget(j.child(target, 0), value, path, s)
	}
}

// propertyOf is base.name; of an unknown base nothing is known.
func propertyOf(base, name string) string {
	if base == unknown {
		return unknown
	}
	return member(base, name)
}

// bindValue binds target to an expression: to each of its alternatives, and to the
// members of a literal.
func (j *scriptFile) bindValue(target string, value ref, typ string, at ref, s scriptScope, depth int) {
	switch j.kind(value) {
	case "ternary_expression":
		j.bindValue(target, j.field(value, "consequence"), typ, at, s, depth)
		j.bindValue(target, j.field(value, "alternative"), typ, at, s, depth)
		return
	case "binary_expression":
		switch j.text(j.field(value, "operator")) {
		case "||", "??", "&&":
			j.bindValue(target, j.field(value, "left"), typ, at, s, depth)
			j.bindValue(target, j.field(value, "right"), typ, at, s, depth)
			return
		}
	case "parenthesized_expression", "await_expression", "non_null_expression":
		j.bindValue(target, j.child(value, 0), typ, at, s, depth)
		return
	case "as_expression", "satisfies_expression":
		if t := j.typePath(j.child(value, 1), s); typ == "" && t != "const" {
			typ = knownPath(t)
		}
		j.bindValue(target, j.child(value, 0), typ, at, s, depth)
		return
	case "assignment_expression":
		j.bindValue(target, j.field(value, "right"), typ, at, s, depth)
		return
	}
	path := unknown
	if value != none {
		path = j.path(value, s)
	}
	if depth == 0 || path != unknown || typ != "" {
		j.bindPlain(target, path, typ, at, s)
	}
	if depth == maxLiteral || target == unknown {
		return
	}
	i := 0
	switch j.kind(value) {
	case "array":
		for c := range j.children(value) {
			if i == maxElements {
				break
			}
			key := decimal(i)
			if j.kind(c) == "spread_element" {
				j.bind(s.in, element(target, ""), element(j.path(j.child(c, 0), s), ""), "", c)
			} else {
				j.bindValue(element(target, key), c, "", c, s, depth+1)
			}
			i++
		}
	case "object":
		for c := range j.children(value) {
			if i++; i > maxElements {
				break
			}
			switch j.kind(c) {
			case "pair":
				if name := j.propertyName(j.field(c, "key")); name != "" && j.path(j.field(c, "value"), s) != unknown || isLiteralOfMany(j.kind(j.field(c, "value"))) {
					j.bindValue(memberOrElement(target, name), j.field(c, "value"), "", c, s, depth+1)
				}
			case "shorthand_property_identifier":
				j.bind(s.in, member(target, j.text(c)), j.path(c, s), "", c)
			case "spread_element":
				j.bind(s.in, target, j.path(j.child(c, 0), s), "", c)
			}
		}
	}
}

func isLiteralOfMany(kind string) bool { return kind == "object" || kind == "array" }

// memberOrElement is base.name, or an element where that is no name.
func memberOrElement(base, name string) string {
	if isName(strings.ReplaceAll(name, "$", "_")) {
		return member(base, name)
	}
	return element(base, name)
}

// object walks an object literal. What is declared by a variable of the module (its
// value) has its functions as methods; elsewhere they are anonymous.
func (j *scriptFile) object(n ref, s scriptScope) {
	owner := j.decl(s.in)
	methods := owner != nil && !s.function && owner.Kind != recountv1.SymbolKind_SYMBOL_KIND_CLASS
	for c := range j.children(n) {
		switch j.kind(c) {
		case "method_definition":
			name := j.propertyName(j.field(c, "name"))
			if !methods || name == "" {
				j.inline(c, s)
				continue
			}
			j.function(c, c, name, recountv1.SymbolKind_SYMBOL_KIND_METHOD, s.plain())
		case "pair":
			value := j.field(c, "value")
			name := j.propertyName(j.field(c, "key"))
			if k := j.kind(value); methods && name != "" && (k == "arrow_function" || k == "function_expression") {
				j.function(value, c, name, recountv1.SymbolKind_SYMBOL_KIND_METHOD, s.plain())
				continue
			}
			inner := s
			if j.kind(value) == "object" {
				inner.function = true // the methods of an object in it have no owner here
			}
			if j.kind(j.field(c, "key")) == "computed_property_name" {
				j.visit(j.field(c, "key"), s)
			}
			j.visit(value, inner)
		default:
			j.visit(c, s)
		}
	}
}
