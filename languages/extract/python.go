package extract

import (
	"strings"

	"github.com/smacker/go-tree-sitter/python"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Python: what its files say. A class body is a scope of its own: names bound in it
// have the class as `in`. "self" in a path is the first parameter of the method
// around it, whatever its name; of a classmethod it is the class.
var pythonLanguage = Language{
	Name: "python", Version: 1, Matches: suffixed(".py", ".pyi"),
	Extract: parsed(loadGrammar(python.GetLanguage), func(f *file) {
		f.indented = true
		p := &pythonFile{file: f, known: map[string]string{}, clients: map[nameIn]string{}}
		p.framework = p.webFramework()
		p.block(0, pythonScope{})
		p.uses()
	}),
}

type pythonFile struct {
	*file
	framework string
	// known is what imported names stand for: "run" is "subprocess.run".
	known map[string]string
	// clients are the names that hold a session of an HTTP client.
	clients map[nameIn]string
}

// pythonScope is where the walk stands.
type pythonScope struct {
	in uint32
	// class: directly in a class body; function: somewhere in a function.
	class, function bool
	self            string
	// shadows are the parameters of the lambdas around.
	shadows  *shadow
	test     bool
	typeOnly bool
}

// block walks the children of n: statements, or whatever they are.
func (p *pythonFile) block(n ref, s pythonScope) {
	for c := range p.children(n) {
		p.visit(c, s)
	}
}

// visit walks a statement or an expression.
func (p *pythonFile) visit(n ref, s pythonScope) {
	switch p.kind(n) {
	case "function_definition":
		p.function(n, n, s)
	case "class_definition":
		p.class(n, n, s)
	case "decorated_definition":
		switch def := p.field(n, "definition"); p.kind(def) {
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
		left := p.field(n, "left")
		p.bindTarget(left, p.field(n, "right"), p.path(p.field(n, "right"), s), s)
		p.visit(p.field(n, "right"), s)
	case "named_expression":
		p.bindValue(p.text(p.field(n, "name")), p.field(n, "value"), "", p.field(n, "name"), s, 0)
		p.visit(p.field(n, "value"), s)
	case "for_statement", "for_in_clause":
		right := p.field(n, "right")
		p.bindTarget(p.field(n, "left"), none, element(p.path(right, s), ""), s)
		p.visit(right, s)
		p.visit(p.field(n, "body"), s)
		p.visit(p.field(n, "alternative"), s)
	case "with_item":
		p.withItem(n, s)
	case "except_clause", "except_group_clause":
		for c := range p.children(n) {
			if p.kind(c) == "as_pattern" {
				p.asPattern(c, "()", s)
			} else {
				p.visit(c, s)
			}
		}
	case "return_statement":
		if v := p.child(n, 0); v != none && s.function {
			p.bindValue("return", v, "", n, s, 0)
		}
		p.block(n, s)
	case "yield":
		p.yield(n, s)
	case "raise_statement":
		p.raise(n, s)
	case "global_statement", "nonlocal_statement":
		word, _, _ := strings.Cut(p.kind(n), "_")
		for c := range p.children(n) {
			p.bind(s.in, word+" "+p.text(c), unknown, "", c)
		}
	case "if_statement":
		p.ifStatement(n, s)
	case "lambda":
		p.lambda(n, s)
	case "call":
		p.call(n, s)
	case "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression":
		for c := range p.children(n) { // the variables before what uses them
			if p.fieldOf(c) != "body" {
				p.visit(c, s)
			}
		}
		p.visit(p.field(n, "body"), s)
	case "keyword_argument":
		p.visit(p.field(n, "value"), s)
	case "identifier", "attribute":
		p.use(n, s)
	case "type":
		p.annotation(n, s)
	case "subscript":
		p.environment(n, s)
		p.block(n, s)
	case "string":
		for c := range p.children(n) {
			if p.kind(c) == "interpolation" {
				p.block(c, s)
			}
		}
	case "", "comment", "dotted_name", "delete_statement", "case_pattern", "case_clause_pattern":
	default:
		p.block(n, s)
	}
}

// function declares a function or method and walks it; whole has its decorators.
func (p *pythonFile) function(n, whole ref, s pythonScope) {
	name := p.text(p.field(n, "name"))
	if name == "" {
		p.block(n, s)
		return
	}
	body := p.field(n, "body")
	d := declaration{
		kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, name: name, in: s.in, node: n, whole: whole,
		head: p.headEnd(n, body), doc: p.docstring(body),
	}
	inner := pythonScope{function: true, self: s.self, typeOnly: s.typeOnly}
	var modifiers []string
	if p.has(n, "async") {
		modifiers = append(modifiers, "async")
	}
	static := false
	for _, dec := range p.decorators(whole) {
		switch path := p.path(p.child(dec, 0), s); path {
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
		d.kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
		for _, m := range modifiers {
			if m == "property" {
				d.kind = recountv1.SymbolKind_SYMBOL_KIND_PROPERTY
			}
		}
		if name == "__init__" {
			d.kind = recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR
		}
	}
	in, decl := p.declare(d)
	p.declared[nameIn{s.in, name}] = true
	p.locals[nameIn{s.in, name}] = true
	decl.Modifiers = modifiers
	decl.Exported = p.isExported(name, s)
	decl.Test = s.test || strings.HasPrefix(name, "test")
	inner.in, inner.test = in, decl.Test

	params := p.field(n, "parameters")
	if s.class && !static {
		inner.self = p.paramName(p.child(params, 0))
	}
	decl.Parameters = p.parameters(params, in, s, inner.self)
	if typ := p.field(n, "return_type"); typ != none {
		decl.Type = knownPath(p.typePath(typ, s))
		p.annotation(typ, pythonScope{in: in, self: s.self})
	}
	p.decorate(whole, in, name, s)
	p.visit(body, inner)
}

// headEnd is where a definition's head ends: its last colon before the body.
func (p *pythonFile) headEnd(n, body ref) uint32 {
	end := uint32(0)
	for c := p.first(n); c != none && c != body; c = p.next(c) {
		if p.kind(c) == ":" {
			end = p.start(c)
		}
	}
	return end
}

func (p *pythonFile) decorators(whole ref) []ref {
	var all []ref
	for c := range p.children(whole) {
		if p.kind(c) == "decorator" {
			all = append(all, c)
		}
	}
	return all
}

// decorate refers to the decorators of declaration in, and reads routes from them.
func (p *pythonFile) decorate(whole ref, in uint32, name string, s pythonScope) {
	for _, dec := range p.decorators(whole) {
		e := p.child(dec, 0)
		p.refer(recountv1.EdgeKind_EDGE_KIND_DECORATES, in, p.path(e, s), p.lastName(e))
		if p.kind(e) == "call" {
			p.visit(e, s)
			p.decoratorRoute(e, in, s)
		}
	}
}

// class declares a class and walks it.
func (p *pythonFile) class(n, whole ref, s pythonScope) {
	name := p.text(p.field(n, "name"))
	if name == "" {
		p.block(n, s)
		return
	}
	body := p.field(n, "body")
	in, decl := p.declare(declaration{
		kind: recountv1.SymbolKind_SYMBOL_KIND_CLASS, name: name, in: s.in, node: n, whole: whole,
		head: p.headEnd(n, body), doc: p.docstring(body),
	})
	p.declared[nameIn{s.in, name}] = true
	p.locals[nameIn{s.in, name}] = true
	decl.Exported = p.isExported(name, s)
	decl.Test = s.test || strings.HasPrefix(name, "Test")
	for base := range p.children(p.field(n, "superclasses")) {
		if p.kind(base) == "keyword_argument" {
			p.visit(base, s)
			continue
		}
		path := p.typePath(base, s)
		p.refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, path, p.lastName(base))
		decl.Test = decl.Test || strings.HasSuffix(path, "TestCase")
		if k := p.kind(base); k == "call" || k == "subscript" {
			p.visit(base, s)
		}
	}
	p.decorate(whole, in, name, s)
	p.visit(body, pythonScope{in: in, class: true, function: false, test: decl.Test, typeOnly: s.typeOnly})
}

func (p *pythonFile) isExported(name string, s pythonScope) bool {
	private := strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "__")
	owner := p.decl(s.in)
	return !private && !s.function && (owner == nil || owner.Exported)
}

// docstring is the string that a body begins with.
func (p *pythonFile) docstring(body ref) string {
	stmt := p.child(body, 0)
	if p.kind(stmt) != "expression_statement" {
		return ""
	}
	str := p.child(stmt, 0)
	if p.kind(str) != "string" {
		return ""
	}
	text := strings.TrimLeft(p.text(str), "rRuUbB")
	for _, q := range []string{`"""`, "'''", `"`, "'"} {
		if t, ok := strings.CutPrefix(text, q); ok {
			text = strings.TrimSuffix(t, q)
			break
		}
	}
	return clip(strings.TrimSpace(dedent(text)), maxDoc)
}

// paramName is the name of a parameter node.
func (p *pythonFile) paramName(n ref) string {
	switch p.kind(n) {
	case "identifier":
		return p.text(n)
	case "default_parameter", "typed_default_parameter":
		return p.text(p.field(n, "name"))
	case "typed_parameter", "list_splat_pattern", "dictionary_splat_pattern":
		return p.paramName(p.child(n, 0))
	}
	return ""
}

// parameters reads a function's parameters: they are local to in, their defaults
// and types are of the scope outside.
func (p *pythonFile) parameters(params ref, in uint32, outside pythonScope, self string) []*recountv1.Parameter {
	var all []*recountv1.Parameter
	for c := range p.children(params) {
		name := p.paramName(c)
		if name == "" {
			continue // the marks * and /
		}
		p.locals[nameIn{in, name}] = true
		prm := &recountv1.Parameter{Name: clip(name, maxName)}
		shape := c
		if p.kind(c) == "typed_parameter" {
			shape = p.child(c, 0)
		}
		prm.Variadic = p.kind(shape) == "list_splat_pattern"
		prm.Keyword = p.kind(shape) == "dictionary_splat_pattern"
		if typ := p.field(c, "type"); typ != none {
			prm.Type = knownPath(p.typePath(typ, outside))
			p.annotation(typ, pythonScope{in: in, self: outside.self})
		}
		if def := p.field(c, "value"); def != none {
			prm.Default = knownPath(p.path(def, outside))
			p.visit(def, outside)
		}
		all = append(all, prm)
	}
	return all
}

// lambda walks an anonymous function.
func (p *pythonFile) lambda(n ref, s pythonScope) {
	for c := range p.children(p.field(n, "parameters")) {
		if name := p.paramName(c); name != "" {
			p.visit(p.field(c, "value"), s)
			s.shadows = &shadow{name, s.shadows}
		}
	}
	p.visit(p.field(n, "body"), s)
}

// ifStatement marks what TYPE_CHECKING guards.
func (p *pythonFile) ifStatement(n ref, s pythonScope) {
	cond := p.field(n, "condition")
	p.visit(cond, s)
	guarded := s
	if path := p.path(cond, s); path == "TYPE_CHECKING" || strings.HasSuffix(path, ".TYPE_CHECKING") {
		guarded.typeOnly = true
	}
	for c := range p.children(n) {
		switch p.fieldOf(c) {
		case "condition":
		case "consequence":
			p.visit(c, guarded)
		default:
			p.visit(c, s)
		}
	}
}

func (p *pythonFile) raise(n ref, s pythonScope) {
	if e := p.child(n, 0); e != none && p.fieldOf(e) != "cause" {
		thrown := e
		if p.kind(e) == "call" {
			thrown = p.field(e, "function")
		}
		p.refer(recountv1.EdgeKind_EDGE_KIND_THROWS, s.in, p.path(thrown, s), p.lastName(thrown))
	}
	p.block(n, s)
}

func (p *pythonFile) yield(n ref, s pythonScope) {
	if v := p.child(n, 0); v != none {
		if p.has(n, "from") {
			p.bind(s.in, "yield", element(p.path(v, s), ""), "", n)
		} else {
			p.bindValue("yield", v, "", n, s, 0)
		}
	}
	p.block(n, s)
}
