// Package python extracts and resolves Python.
package python

import (
	"strings"

	"github.com/smacker/go-tree-sitter/python"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads Python files. The body of a class is a scope of its own: names bound in it have
// the class as `in`. "self" in a path is the first parameter of the enclosing method, whatever
// its name; in a classmethod it is the class.
var extractor = extract.Language{
	Name: "python", Version: 19, Matches: extract.Suffixed(".py", ".pyi"),
	Extract: extract.Parsed(extract.LoadGrammar(python.GetLanguage), func(f *extract.File) {
		f.Indented = true
		p := &walker{File: f, known: map[string]string{}, clients: map[extract.NameIn]string{}, lists: map[extract.NameIn]bool{}}
		p.setOnce, p.setIn = p.SetOnce(p.setting), p.SetOnceIn(p.setting, func(n extract.Ref) bool { return p.Kind(n) == "function_definition" })
		p.framework = p.webFramework()
		p.block(0, state{})
		p.Uses()
	}),
}

type walker struct {
	*extract.File
	framework string
	known     extract.Known
	// clients has the names that hold a session of an HTTP client.
	clients map[extract.NameIn]string
	// lists has the variables that hold lists of routes.
	lists map[extract.NameIn]bool
	// round has what the names of the loops around the call that is read stand for, and setOnce and setIn
	// return the value of an attribute or a variable that is set once (loops.go).
	round   extract.Round
	calls   map[string][]extract.Ref // of functions of the file, once asked for
	setOnce func(name string) extract.Ref
	setIn   func(at extract.Ref, name string) extract.Ref
}

// state is the context of the walk.
type state struct {
	in uint32
	// class is set directly in the body of a class, function anywhere in a function.
	class, function bool
	self            string
	// shadows has the parameters of the enclosing lambdas.
	shadows  *extract.Shadow
	test     bool
	typeOnly bool
	// enum is set in the body of an enumeration.
	enum bool
	// conditional is set in a branch of an if or try statement outside functions.
	conditional bool
}

// block walks the children of n, usually statements.
func (p *walker) block(n extract.Ref, s state) {
	for c := range p.Children(n) {
		p.visit(c, s)
	}
}

// visit walks a statement or an expression.
func (p *walker) visit(n extract.Ref, s state) {
	switch p.Kind(n) {
	case "function_definition":
		p.function(n, n, s)
	case "class_definition":
		p.class(n, n, s)
	case "decorated_definition":
		switch def := p.Field(n, "definition"); p.Kind(def) {
		case "function_definition":
			p.function(def, n, s)
		case "class_definition":
			p.class(def, n, s)
		}
	case "import_statement", "import_from_statement", "future_import_statement":
		p.importing(n, s)
	case "assignment":
		p.assignment(n, s)
	case "augmented_assignment":
		left := p.Field(n, "left")
		p.bindTarget(left, p.Field(n, "right"), p.path(p.Field(n, "right"), s), s)
		p.assignedRoutes(left, p.Field(n, "right"), true, s)
		p.visit(p.Field(n, "right"), s)
	case "named_expression":
		p.bindValue(p.Text(p.Field(n, "name")), p.Field(n, "value"), "", p.Field(n, "name"), s, 0)
		p.visit(p.Field(n, "value"), s)
	case "for_statement", "for_in_clause":
		right := p.Field(n, "right")
		p.bindTarget(p.Field(n, "left"), extract.None, extract.Element(p.path(right, s), ""), s)
		p.visit(right, s)
		p.visit(p.Field(n, "body"), s)
		p.visit(p.Field(n, "alternative"), s)
	case "with_item":
		p.withItem(n, s)
	case "except_clause", "except_group_clause":
		for c := range p.Children(n) {
			if p.Kind(c) == "as_pattern" {
				p.asPattern(c, "()", s)
			} else {
				p.visit(c, s)
			}
		}
	case "return_statement":
		if v := p.Child(n, 0); v != extract.None && s.function {
			p.bindValue("return", v, "", n, s, 0)
		}
		p.block(n, s)
	case "yield":
		p.yield(n, s)
	case "raise_statement":
		p.raise(n, s)
	case "global_statement", "nonlocal_statement":
		word, _, _ := strings.Cut(p.Kind(n), "_")
		for c := range p.Children(n) {
			p.Bind(s.in, word+" "+p.Text(c), extract.Unknown, "", c)
		}
	case "if_statement":
		p.ifStatement(n, s)
	case "try_statement":
		s.conditional = !s.function
		p.block(n, s)
	case "lambda":
		p.lambda(n, s)
	case "call":
		p.call(n, s)
	case "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression":
		for c := range p.Children(n) { // the variables come before what uses them
			if p.FieldOf(c) != "body" {
				p.visit(c, s)
			}
		}
		p.visit(p.Field(n, "body"), s)
	case "keyword_argument":
		p.visit(p.Field(n, "value"), s)
	case "tuple":
		p.tupleRule(n, s)
		p.block(n, s)
	case "identifier", "attribute":
		p.use(n, s)
	case "type":
		p.annotation(n, s)
	case "subscript":
		p.environment(n, s)
		p.block(n, s)
	case "string":
		for c := range p.Children(n) {
			if p.Kind(c) == "interpolation" {
				p.block(c, s)
			}
		}
	case "", "comment", "dotted_name", "delete_statement", "case_pattern", "case_clause_pattern":
	default:
		p.block(n, s)
	}
}

// function declares a function or method and walks it; whole includes its decorators.
func (p *walker) function(n, whole extract.Ref, s state) {
	name := p.Text(p.Field(n, "name"))
	if name == "" {
		p.block(n, s)
		return
	}
	body := p.Field(n, "body")
	d := extract.Declaration{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: name, In: s.in, Node: n, Whole: whole,
		Head: p.headEnd(n, body), Doc: p.docstring(body),
	}
	inner := state{function: true, self: s.self, typeOnly: s.typeOnly}
	var modifiers []string
	if p.Has(n, "async") {
		modifiers = append(modifiers, "async")
	}
	static := false
	for _, dec := range p.decorators(whole) {
		switch path := p.path(p.Child(dec, 0), s); path {
		case "staticmethod", "classmethod", "property", "abstractmethod", "abc.abstractmethod":
			modifiers = append(modifiers, path[strings.LastIndexByte(path, '.')+1:])
			static = static || path == "staticmethod"
		case "cached_property", "functools.cached_property":
			modifiers = append(modifiers, "property")
		default:
			if strings.HasSuffix(path, ".setter") || strings.HasSuffix(path, ".deleter") {
				modifiers = append(modifiers, "property")
			}
		}
	}
	if s.class {
		d.Kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
		for _, m := range modifiers {
			if m == "property" {
				d.Kind = recountv1.SymbolKind_SYMBOL_KIND_PROPERTY
			}
		}
		if name == "__init__" {
			d.Kind = recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR
		}
	}
	in, decl := p.Declare(d)
	p.Declared[extract.NameIn{In: s.in, Name: name}] = true
	p.Locals[extract.NameIn{In: s.in, Name: name}] = true
	decl.Modifiers = modifiers
	if s.conditional {
		decl.Attributes = map[string]string{extract.ConditionalKey: "true"}
	}
	decl.Exported = p.isExported(name, s)
	decl.Test = s.test || strings.HasPrefix(name, "test")
	inner.in, inner.test = in, decl.Test

	params := p.Field(n, "parameters")
	if s.class && !static {
		inner.self = p.paramName(p.Child(params, 0))
	}
	decl.Parameters = p.parameters(params, in, s, inner.self)
	if typ := p.Field(n, "return_type"); typ != extract.None {
		decl.Type = typeOf(p.Text(typ))
		p.annotation(typ, state{in: in, self: s.self})
	}
	p.decorate(whole, in, name, s)
	p.visit(body, inner)
}

// headEnd returns where the head of a definition ends: at its last colon before the body.
func (p *walker) headEnd(n, body extract.Ref) uint32 {
	end := uint32(0)
	for c := p.First(n); c != extract.None && c != body; c = p.Next(c) {
		if p.Kind(c) == ":" {
			end = p.Start(c)
		}
	}
	return end
}

func (p *walker) decorators(whole extract.Ref) []extract.Ref {
	var all []extract.Ref
	for c := range p.Children(whole) {
		if p.Kind(c) == "decorator" {
			all = append(all, c)
		}
	}
	return all
}

// decorate adds references to the decorators of the declaration in, and reads routes from them.
func (p *walker) decorate(whole extract.Ref, in uint32, name string, s state) {
	for _, dec := range p.decorators(whole) {
		e := p.Child(dec, 0)
		p.Refer(recountv1.EdgeKind_EDGE_KIND_DECORATES, in, p.path(e, s), p.lastName(e))
		if p.Kind(e) == "call" {
			p.visit(e, s)
			p.decoratorRoute(e, in, s)
		} else {
			p.mappingRoute(e, in, s)
			p.requiredMethod(e, in, s)
		}
	}
}

// class declares a class and walks it.
func (p *walker) class(n, whole extract.Ref, s state) {
	name := p.Text(p.Field(n, "name"))
	if name == "" {
		p.block(n, s)
		return
	}
	body := p.Field(n, "body")
	in, decl := p.Declare(extract.Declaration{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_CLASS, Name: name, In: s.in, Node: n, Whole: whole,
		Head: p.headEnd(n, body), Doc: p.docstring(body),
	})
	p.Declared[extract.NameIn{In: s.in, Name: name}] = true
	p.Locals[extract.NameIn{In: s.in, Name: name}] = true
	decl.Exported = p.isExported(name, s)
	decl.Test = s.test || strings.HasPrefix(name, "Test")
	for base := range p.Children(p.Field(n, "superclasses")) {
		if p.Kind(base) == "keyword_argument" {
			p.visit(base, s)
			continue
		}
		path := p.basePath(base, s)
		p.Refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, path, p.lastName(base))
		decl.Test = decl.Test || strings.HasSuffix(path, "TestCase")
		if k := p.Kind(base); k == "call" || k == "subscript" {
			p.visit(base, s)
		}
	}
	p.decorate(whole, in, name, s)
	p.attached(n, name, s)
	p.controller(n, in, s)
	p.visit(body, state{in: in, class: true, function: false, test: decl.Test, typeOnly: s.typeOnly, enum: p.isEnum(n, s)})
}

func (p *walker) isExported(name string, s state) bool {
	private := strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "__")
	owner := p.Decl(s.in)
	return !private && !s.function && (owner == nil || owner.Exported)
}

// docstring returns the string that a body begins with.
func (p *walker) docstring(body extract.Ref) string {
	stmt := p.Child(body, 0)
	if p.Kind(stmt) != "expression_statement" {
		return ""
	}
	str := p.Child(stmt, 0)
	if p.Kind(str) != "string" {
		return ""
	}
	text := strings.TrimLeft(p.Text(str), "rRuUbB")
	for _, q := range []string{`"""`, "'''", `"`, "'"} {
		if t, ok := strings.CutPrefix(text, q); ok {
			text = strings.TrimSuffix(t, q)
			break
		}
	}
	return extract.Clip(strings.TrimSpace(extract.Dedent(text)), extract.MaxDoc)
}

// paramName returns the name of a parameter node.
func (p *walker) paramName(n extract.Ref) string {
	switch p.Kind(n) {
	case "identifier":
		return p.Text(n)
	case "default_parameter", "typed_default_parameter":
		return p.Text(p.Field(n, "name"))
	case "typed_parameter", "list_splat_pattern", "dictionary_splat_pattern":
		return p.paramName(p.Child(n, 0))
	}
	return ""
}

// parameters reads the parameters of a function. They are local to in; their defaults and types
// belong to the scope outside.
func (p *walker) parameters(params extract.Ref, in uint32, outside state, self string) []*recountv1.Parameter {
	var all []*recountv1.Parameter
	for c := range p.Children(params) {
		name := p.paramName(c)
		if name == "" {
			continue // the separators * and /
		}
		p.Locals[extract.NameIn{In: in, Name: name}] = true
		prm := &recountv1.Parameter{Name: extract.Clip(name, extract.MaxName)}
		shape := c
		if p.Kind(c) == "typed_parameter" {
			shape = p.Child(c, 0)
		}
		prm.Variadic = p.Kind(shape) == "list_splat_pattern"
		prm.Keyword = p.Kind(shape) == "dictionary_splat_pattern"
		if typ := p.Field(c, "type"); typ != extract.None {
			prm.Type = typeOf(p.Text(typ))
			p.annotation(typ, state{in: in, self: outside.self})
		}
		if def := p.Field(c, "value"); def != extract.None {
			prm.Default = extract.KnownPath(p.path(def, outside))
			p.optionalText(name, def, in)
			p.visit(def, outside)
		}
		all = append(all, prm)
	}
	return all
}

// lambda walks an anonymous function.
func (p *walker) lambda(n extract.Ref, s state) {
	for c := range p.Children(p.Field(n, "parameters")) {
		if name := p.paramName(c); name != "" {
			p.visit(p.Field(c, "value"), s)
			s.shadows = &extract.Shadow{Name: name, Up: s.shadows}
		}
	}
	p.visit(p.Field(n, "body"), s)
}

// ifStatement marks the imports that TYPE_CHECKING guards.
func (p *walker) ifStatement(n extract.Ref, s state) {
	cond := p.Field(n, "condition")
	p.visit(cond, s)
	s.conditional = !s.function
	guarded := s
	if path := p.path(cond, s); path == "TYPE_CHECKING" || strings.HasSuffix(path, ".TYPE_CHECKING") {
		guarded.typeOnly = true
	}
	for c := range p.Children(n) {
		switch p.FieldOf(c) {
		case "condition":
		case "consequence":
			p.visit(c, guarded)
		default:
			p.visit(c, s)
		}
	}
}

func (p *walker) raise(n extract.Ref, s state) {
	if e := p.Child(n, 0); e != extract.None && p.FieldOf(e) != "cause" {
		thrown := e
		if p.Kind(e) == "call" {
			thrown = p.Field(e, "function")
		}
		p.Refer(recountv1.EdgeKind_EDGE_KIND_THROWS, s.in, p.path(thrown, s), p.lastName(thrown))
	}
	p.block(n, s)
}

func (p *walker) yield(n extract.Ref, s state) {
	if v := p.Child(n, 0); v != extract.None {
		if p.Has(n, "from") {
			p.Bind(s.in, "yield", extract.Element(p.path(v, s), ""), "", n)
		} else {
			p.bindValue("yield", v, "", n, s, 0)
		}
	}
	p.block(n, s)
}
