package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// variables reads const, let and var. Functions and classes that are assigned to a name are
// declared as such, other names of the module as variables.
func (j *walker) variables(n extract.Ref, s state) {
	kind := recountv1.SymbolKind_SYMBOL_KIND_VARIABLE
	if j.Has(n, "const") {
		kind = recountv1.SymbolKind_SYMBOL_KIND_CONSTANT
	}
	stmt := s
	if stmt.statement == 0 {
		stmt.statement = n
	}
	for d := range j.Children(n) {
		if j.Kind(d) != "variable_declarator" {
			continue
		}
		name, value := j.Field(d, "name"), j.Field(d, "value")
		if j.Kind(name) == "identifier" {
			switch fn := j.unwrapped(value); j.Kind(fn) {
			case "arrow_function", "function_expression", "generator_function":
				if t := j.Child(value, 1); t != extract.None && fn != value {
					j.annotation(t, s)
					if typ := j.typeOf(t, s); typ != "" {
						j.Bind(s.in, j.Text(name), extract.Unknown, typ, t)
					}
				}
				in, _ := j.function(fn, d, j.Text(name), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, stmt)
				j.typedFunction(in, j.Field(d, "type"), fn)
				continue
			case "class":
				j.class(fn, d, j.Text(name), stmt)
				continue
			}
			if j.madeClass(d, value, j.Text(name), stmt) != nil {
				j.visit(value, s.plain())
				continue
			}
			if j.assignedModule(d, name, value, stmt) || j.assignedToo(d, name, value, kind, stmt) || j.madeInPlace(d, name, value, stmt) {
				continue
			}
		}
		j.variable(d, name, value, kind, stmt)
	}
}

// variable reads one declarator that is no function.
func (j *walker) variable(d, name, value extract.Ref, kind recountv1.SymbolKind, s state) {
	typ := ""
	if t := j.Field(d, "type"); t != extract.None {
		typ = j.typeOf(t, s)
		j.annotation(t, s)
	} else if typ = j.madeType(value, s); typ == "" && j.Kind(name) == "identifier" {
		typ = j.statedType(extract.FirstRef(s.statement, j.Parent(d)))
	}
	if j.required(name, value, s) {
		return
	}
	j.symbol(name, value)
	in := s.in
	if !s.function {
		own := j.declareVariables(d, name, typ, kind, s)
		if own != 0 && j.callsWithFunction(value) {
			in, j.Decl(own).Attributes = own, map[string]string{scope.Wrapped: "true"} // its functions belong to it
		} else if own != 0 && j.Kind(value) == "object" {
			in = own
		} else if object := j.givenObject(value); own != 0 && object != extract.None {
			j.owned[object] = own
		}
		for _, v := range j.returned(j.inPlace(value)) {
			if own != 0 && j.Kind(v) == "object" {
				j.owned[v] = own
			}
		}
	}
	for v := value; j.Kind(v) == "assignment_expression" && j.Kind(name) == "identifier"; v = j.Field(v, "right") {
		if to := j.path(j.Field(v, "left"), s); to != "exports" || j.Hidden(s.in, to) {
			j.Bind(s.in, to, j.Text(name), "", v) // name = exports = module.exports = {}
		}
	}
	if p := j.path(value, s); value != extract.None && !s.function {
		if p == "exports" || p == "module.exports" {
			j.exports[j.Text(name)] = true
		}
		if strings.HasSuffix(p, ".prototype") && extract.IsDotted(strings.ReplaceAll(p, "$", "_")) && j.Kind(name) == "identifier" {
			j.Bind(s.in, p, j.Text(name), "", value) // what is assigned to members of the name are members of the prototype
		}
	}
	if j.Kind(name) == "identifier" && value == extract.None && typ == "" {
		j.bindPlain(j.Text(name), scope.NoValue, "", name, s)
	} else if j.Kind(name) == "identifier" {
		j.bindValue(j.Text(name), value, typ, name, s, 0)
	} else {
		path := extract.Unknown
		if value != extract.None {
			path = j.path(value, s)
		}
		if typ != "" {
			j.bindTyped(name, path, typ, s)
		} else {
			j.bindTarget(name, value, path, s)
		}
		j.environmentPattern(name, path, s)
	}
	j.constants(j.path(name, s), value, s)
	if j.Kind(name) == "identifier" {
		j.routeObjects(j.path(name, s), j.unwrapped(value), s)
	}
	inner := s.plain()
	if inner.in = in; in != s.in {
		inner.test = s.test
	} else if typ != "" && j.Kind(name) == "identifier" {
		inner.given = j.path(name, s)
	}
	j.visit(value, inner)
}

// callsWithFunction reports whether a value is a call with a function as an argument: export
// const handler = wrap(async () => …).
func (j *walker) callsWithFunction(n extract.Ref) bool {
	if j.Kind(n) != "call_expression" {
		return false
	}
	for c := range j.Children(j.Field(n, "arguments")) {
		if k := j.Kind(c); k == "arrow_function" || k == "function_expression" {
			return true
		}
	}
	return j.callsWithFunction(j.Child(j.Field(n, "arguments"), 0))
}

// declareVariables declares the names of a declarator. It returns the declaration if the
// declarator is a plain name.
func (j *walker) declareVariables(d, target extract.Ref, typ string, kind recountv1.SymbolKind, s state) uint32 {
	switch j.Kind(target) {
	case "identifier", "shorthand_property_identifier_pattern":
		name := j.Text(target)
		if at := (extract.NameIn{In: s.in, Name: name}); j.Declared[at] && !j.types[at] {
			return 0
		}
		in, decl := j.Declare(extract.Declaration{Kind: kind, Name: name, In: s.in, Node: d, Whole: s.statement, Head: j.LineEnd(d), Doc: j.doc(d, s)})
		j.Declared[extract.NameIn{In: s.in, Name: name}] = true
		decl.Exported, decl.Test, decl.Type = s.exported, s.test, typ
		return in
	case "pair_pattern":
		j.declareVariables(d, j.Field(target, "value"), "", kind, s)
	case "object_assignment_pattern", "assignment_pattern":
		j.declareVariables(d, j.Field(target, "left"), "", kind, s)
	case "object_pattern", "array_pattern", "rest_pattern":
		for c := range j.Children(target) {
			j.declareVariables(d, c, "", kind, s)
		}
	}
	return 0
}

// assignment reads target = value. Functions that are assigned to a member are declared as
// members of its owner.
func (j *walker) assignment(n extract.Ref, s state) {
	left, right := j.Field(n, "left"), j.Field(n, "right")
	path := j.path(left, s)
	if head, rest, ok := strings.Cut(path, "."); ok && j.exports[head] && !j.Hidden(s.in, head) {
		path = "exports." + rest
	}
	if j.exported(n, left, right, path, s) {
		return
	}
	if path == "exports" && !j.Hidden(s.in, path) { // exports = module.exports names the same
		j.visit(right, s)
		return
	}
	if j.assignedPrototype(path, right, n, s) {
		return
	}
	if name := j.Text(left); j.Kind(left) == "identifier" && s.in != 0 && !j.Locals[extract.NameIn{In: s.in, Name: name}] && path == name {
		j.Bind(s.in, "nonlocal "+name, extract.Unknown, "", left) // it is a variable of what is around the function
	}
	if j.Kind(right) == "assignment_expression" { // a.x = a.y = function: both are the function
		j.assignment(right, s)
		if inner := j.Field(right, "left"); j.Kind(left) == "identifier" && j.Kind(inner) == "identifier" && j.ownedBy(right, s) != 0 {
			j.bindPlain(j.path(left, s), j.path(inner, s), "", left, s)
			return
		}
		if inner := j.Field(right, "left"); j.declaresFunction(right) && j.Kind(left) == "member_expression" {
			j.Bind(s.in, path, j.path(inner, s), "", left)
			return
		}
		j.bindTarget(left, right, j.path(right, s), s)
		return
	}
	if k := j.Kind(right); k == "arrow_function" || k == "function_expression" || k == "generator_function" || k == "class" {
		if owner, name := extract.SplitLast(path); j.assignedMember(n, right, owner, name, s) {
			return
		}
	}
	if j.objectClass(n, right, path, s) || j.assignedClass(n, right, path, s) {
		return
	}
	if in := j.ownedBy(n, s); in != 0 {
		j.owned[j.givenObject(right)] = in
	}
	if j.wrapsMember(n, right, path, s) || j.objectMember(n, right, path, s) {
		return
	}
	typ := ""
	if j.Kind(j.Parent(n)) == "expression_statement" && j.Kind(left) == "member_expression" {
		typ = j.statedType(j.Parent(n))
	}
	if j.Kind(right) == "null" && j.Kind(left) == "member_expression" {
		j.Bind(s.in, path, scope.NoValue, typ, left)
	} else if typ != "" {
		j.bindValue(path, right, typ, left, s, 0)
	} else {
		j.bindTarget(left, right, j.path(right, s), s)
	}
	if j.Kind(left) == "subscript_expression" {
		j.bindComputed(j.Field(left, "object"), j.Field(left, "index"), j.path(right, s), left, s)
	}
	if j.Kind(left) == "member_expression" {
		j.visit(j.Field(left, "object"), s)
	} else if j.Kind(left) == "subscript_expression" {
		j.block(left, s)
	}
	j.visit(right, s)
}

// declaresFunction reports whether an assignment ends with a function.
func (j *walker) declaresFunction(n extract.Ref) bool {
	for j.Kind(n) == "assignment_expression" {
		n = j.Field(n, "right")
	}
	return j.isFunction(n)
}

// assignedPrototype reads Type.prototype = {…}, and Type.prototype = Object.create(Base.prototype)
// with its like.
func (j *walker) assignedPrototype(path string, right, n extract.Ref, s state) bool {
	owner, is := strings.CutSuffix(strings.TrimSuffix(path, ".__proto__"), ".prototype")
	if !is || !extract.IsName(owner) {
		return false
	}
	if j.Kind(right) == "object" {
		for c := range j.Children(right) {
			value, name := c, j.propertyName(j.Field(c, "name"))
			if j.Kind(c) == "pair" {
				value, name = j.Field(c, "value"), j.propertyName(j.Field(c, "key"))
			}
			if (j.isFunction(value) || j.Kind(value) == "method_definition") && j.assignedMember(c, value, owner+".prototype", name, s) {
				continue
			}
			if p := j.path(value, s); name != "" && name != "constructor" && p != extract.Unknown {
				j.bindValue(memberOrElement(owner+".prototype", name), value, "", c, s, 1)
			}
			j.visit(c, s)
		}
		return true
	}
	if base := j.prototypeOf(right, s); base != "" {
		j.inherits(owner, base, right, s)
	}
	return false
}

// prototypeOf returns the type whose prototype an expression is, or is made of, "" if there is
// none.
func (j *walker) prototypeOf(n extract.Ref, s state) string {
	path := j.path(n, s)
	if path == "Object.create()" {
		path = j.path(j.Child(j.Field(n, "arguments"), 0), s)
	}
	if base, is := strings.CutSuffix(path, ".prototype"); is && !strings.ContainsAny(base, "([?") {
		return base
	}
	if base, is := strings.CutSuffix(path, "()"); is && j.Kind(n) == "new_expression" && !strings.ContainsAny(base, "([?") {
		return base
	}
	return ""
}

// inherits notes what a function of the file inherits from.
func (j *walker) inherits(owner, base string, at extract.Ref, s state) {
	j.inherited = append(j.inherited, inheritance{owner: owner, base: base, at: at, from: s.in})
}

// constructsAs notes Base.call(this, …) in a constructor: what it makes has the members that Base gives it.
func (j *walker) constructsAs(path string, fn, args extract.Ref, s state) {
	base, is := strings.CutSuffix(path, ".call")
	d := j.Decl(s.in)
	if !is || d == nil || s.inline || s.noThis || !isConstructor(d) || j.Kind(j.Child(args, 0)) != "this" || !isClassName(lastOf(base)) || base == d.Name {
		return
	}
	j.inherited = append(j.inherited, inheritance{base: base, at: j.lastName(j.Field(fn, "object")), in: s.in})
}

// declaredAs returns the declaration of a name in `in` or around it, 0 if there is none.
func (j *walker) declaredAs(name string, in uint32) uint32 {
	for {
		for i, d := range j.Facts.Declarations {
			if d.Owner == in && d.Name == name {
				return uint32(i) + 1
			}
		}
		if in == 0 {
			return 0
		}
		in = j.Decl(in).Owner
	}
}

// assignedMember declares Type.prototype.name = function …, object.name = …, and this.name = … in
// a class.
func (j *walker) assignedMember(n, value extract.Ref, owner, name string, s state) bool {
	if !extract.IsName(strings.TrimPrefix(name, "$")) || owner == "" || j.Kind(value) == "class" {
		return false
	}
	static := !strings.HasSuffix(owner, ".prototype")
	owner = strings.TrimSuffix(owner, ".prototype")
	in := uint32(0)
	if owner == "self" {
		for in = s.in; in != 0 && j.Decl(in).Kind != recountv1.SymbolKind_SYMBOL_KIND_CLASS && !isConstructor(j.Decl(in)); {
			in = j.Decl(in).Owner
		}
		static = false
	} else {
		in = j.declaredAs(owner, s.in)
	}
	if in == 0 {
		return false
	}
	outer := state{in: in, test: s.test, statement: j.Parent(n)}
	if j.Kind(outer.statement) != "expression_statement" {
		outer.statement = 0
	}
	_, decl := j.function(value, n, name, recountv1.SymbolKind_SYMBOL_KIND_METHOD, outer)
	if static {
		decl.Modifiers = append(decl.Modifiers, "static")
	}
	return true
}

// isConstructor reports whether a function makes instances by the convention of its name.
func isConstructor(d *recountv1.Declaration) bool {
	return d.Kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION && d.Name != "" && d.Name[0] >= 'A' && d.Name[0] <= 'Z'
}

// bindPlain binds one path.
func (j *walker) bindPlain(target, value, typ string, at extract.Ref, s state) {
	if extract.Root(target) == target {
		j.Locals[extract.NameIn{In: s.in, Name: target}] = s.in != 0
	}
	j.Bind(s.in, target, value, typ, at)
}

// bindValue binds target to an expression: to each of its alternatives, and to the members of a
// literal.
func (j *walker) bindValue(target string, value extract.Ref, typ string, at extract.Ref, s state, depth int) {
	if function := j.Field(value, "function"); j.Kind(value) == "call_expression" && j.isPluginWrapper(value, j.path(function, s), s) {
		if wrapped := j.argument(j.Field(value, "arguments"), 0); j.Kind(wrapped) == "identifier" || j.registered[wrapped] != "" {
			value = wrapped
		}
	}
	switch j.Kind(value) {
	case "ternary_expression":
		j.bindValue(target, j.Field(value, "consequence"), typ, at, s, depth)
		j.bindValue(target, j.Field(value, "alternative"), typ, at, s, depth)
		return
	case "binary_expression":
		switch j.Text(j.Field(value, "operator")) {
		case "||", "??":
			j.bindValue(target, j.Field(value, "left"), typ, at, s, depth)
			j.bindValue(target, j.Field(value, "right"), typ, at, s, depth)
			return
		case "&&": // of the left only what is false
			j.bindValue(target, j.Field(value, "right"), typ, at, s, depth)
			return
		}
	case "parenthesized_expression":
		j.bindValue(target, j.Child(value, 0), extract.FirstOf(typ, j.statedType(value)), at, s, depth)
		return
	case "await_expression", "non_null_expression":
		j.bindValue(target, j.Child(value, 0), typ, at, s, depth)
		return
	case "as_expression", "satisfies_expression":
		if t := j.typeOf(j.Child(value, 1), s); typ == "" && t != "const" {
			typ = t
		}
		j.bindValue(target, j.Child(value, 0), typ, at, s, depth)
		return
	case "assignment_expression":
		j.bindValue(target, j.Field(value, "right"), typ, at, s, depth)
		return
	case "call_expression":
		if object := j.sameObject(value, s); object != value {
			j.bindValue(target, object, typ, at, s, depth)
			return
		}
		if made := j.returned(j.inPlace(value)); len(made) > 0 {
			for _, v := range made {
				j.bindValue(target, v, typ, at, s, depth)
			}
			return
		}
	}
	path := extract.Unknown
	if value != extract.None {
		path = j.path(value, s)
	}
	if depth == 0 || path != extract.Unknown || typ != "" {
		j.bindPlain(target, path, typ, at, s)
	}
	if depth == extract.MaxLiteral || target == extract.Unknown {
		return
	}
	i := 0
	switch j.Kind(value) {
	case "array":
		for c := range j.Children(value) {
			if i == extract.MaxElements {
				break
			}
			key := extract.Decimal(i)
			if j.Kind(c) == "spread_element" {
				j.Bind(s.in, extract.Element(target, ""), extract.Element(j.path(j.Child(c, 0), s), ""), "", c)
			} else {
				j.bindValue(extract.Element(target, key), c, "", c, s, depth+1)
			}
			i++
		}
	case "object":
		for c := range j.Children(value) {
			if i++; i > extract.MaxElements {
				break
			}
			switch j.Kind(c) {
			case "pair":
				typ := j.statedType(c)
				if name := j.propertyName(j.Field(c, "key")); name != "" && (typ != "" || j.path(j.Field(c, "value"), s) != extract.Unknown) || isLiteralOfMany(j.Kind(j.Field(c, "value"))) {
					j.bindValue(memberOrElement(target, name), j.Field(c, "value"), typ, c, s, depth+1)
				}
			case "shorthand_property_identifier":
				j.Bind(s.in, extract.Member(target, j.Text(c)), j.path(c, s), "", c)
			case "spread_element":
				j.Bind(s.in, target, j.path(j.Child(c, 0), s), "", c)
			}
			if (j.Kind(c) == "method_definition" || j.isFunction(j.Field(c, "value"))) && depth == 0 && s.function && extract.Root(target) == target {
				j.literals[c] = target
			}
		}
	}
}

func isLiteralOfMany(kind string) bool { return kind == "object" || kind == "array" }

// memberOrElement returns base.name, or an element if name is no name.
func memberOrElement(base, name string) string {
	if extract.IsName(strings.ReplaceAll(name, "$", "_")) {
		return extract.Member(base, name)
	}
	return extract.Element(base, name)
}

// object walks an object literal. If it is the value of a variable of the module, its functions
// are methods of that declaration; otherwise they are anonymous.
func (j *walker) object(n extract.Ref, s state) {
	if p, is := j.parts[n]; is {
		j.classPart(n, p, s)
		return
	}
	if own := j.owned[n]; own != 0 {
		s = state{in: own, test: s.test}
	}
	owner := j.Decl(s.in)
	methods := owner != nil && !s.function && owner.Kind != recountv1.SymbolKind_SYMBOL_KIND_CLASS
	for c := range j.Children(n) {
		switch j.Kind(c) {
		case "method_definition":
			name := j.propertyName(j.Field(c, "name"))
			if len(j.named[c]) > 0 {
				j.handler(c, s)
				continue
			}
			if !methods && j.literalMember(c, c, name, s) {
				continue
			}
			if !methods || name == "" {
				inner := s.member(name)
				inner.literal = n
				j.inline(c, inner)
				continue
			}
			j.function(c, c, name, recountv1.SymbolKind_SYMBOL_KIND_METHOD, s.plain())
		case "pair":
			value := j.Field(c, "value")
			name := j.propertyName(j.Field(c, "key"))
			if k := j.Kind(value); methods && name != "" && (k == "arrow_function" || k == "function_expression") {
				j.function(value, c, name, recountv1.SymbolKind_SYMBOL_KIND_METHOD, s.plain())
				continue
			}
			if !methods && j.literalMember(value, c, name, s) {
				continue
			}
			inner := s.member(name)
			if j.Kind(value) == "object" {
				inner.function = true // the methods of a nested object have no owner here
			}
			if j.Kind(j.Field(c, "key")) == "computed_property_name" {
				j.visit(j.Field(c, "key"), s)
			}
			if j.Kind(value) == "function_expression" {
				inner.literal = n
			}
			j.visit(value, inner)
		default:
			j.visit(c, s)
		}
	}
}

// member returns the state for a member of an object literal.
func (s state) member(name string) state {
	if s.passed = nil; s.given != "" && name != "" {
		s.given = extract.KnownPath(memberOrElement(s.given, name))
	} else {
		s.given = ""
	}
	return s
}
