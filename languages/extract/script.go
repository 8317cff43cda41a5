package extract

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TypeScript and JavaScript: one extractor, two grammars. Plain JavaScript is read
// with the grammar of TSX, which contains it. "self" in a path is `this`.
var scripts = []Language{
	script("typescript", loadGrammar(typescript.GetLanguage), ".ts", ".mts", ".cts"),
	script("tsx", loadGrammar(tsx.GetLanguage), ".tsx"),
	script("javascript", loadGrammar(tsx.GetLanguage), ".js", ".jsx", ".mjs", ".cjs"),
}

func script(name string, load func() *grammar, suffixes ...string) Language {
	return Language{Name: name, Version: 1, Matches: suffixed(suffixes...), Extract: unminified(repaired(load, repairScript, extractScript))}
}

var typeStar = regexp.MustCompile(`(?m)^(\s*export )type( \*)`)

// repairScript writes what the grammars of 2024 do not take: `export type * from`, and
// a generic call signature that follows a member with no semicolon.
func repairScript(src []byte) []byte {
	out := typeStar.ReplaceAll(src, []byte("${1}    $2"))
	last := -1 // the end of the last line of code
	for at := 0; at < len(out); {
		end := len(out)
		if i := bytes.IndexByte(out[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := bytes.TrimSpace(out[at:end])
		switch {
		case len(line) == 0 || isComment(line):
		case line[0] == '<' && (len(line) == 1 || line[1] != '/') && last > 0 && endsMember(out[last-1]):
			out[last] = ';'
			last = -1
		default:
			last = at + len(bytes.TrimRight(out[at:end], " \t\r"))
		}
		at = end + 1
	}
	return out
}

// endsMember reports whether a member of an interface may end with a byte.
func endsMember(c byte) bool {
	return c == ']' || c == ')' || c == '}' || c == '>' || c == '\'' || c == '"' || c == '_' || c == '$' ||
		c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

type scriptFile struct {
	*file
	framework string
	// known is what imported names stand for: "exec" is "child_process.exec".
	known map[string]string
	// handed are the names that export clauses hand out.
	handed map[string]bool
}

func extractScript(f *file) {
	j := &scriptFile{file: f, known: map[string]string{}, handed: map[string]bool{}}
	j.framework = j.webFramework()
	j.block(0, scriptScope{})
	for _, d := range f.facts.Declarations {
		if d.Owner == 0 && j.handed[d.Name] {
			d.Exported = true
		}
		if owner := f.decl(d.Owner); owner != nil && owner.Exported && isMember(d) && !isPrivate(d) {
			d.Exported = true
		}
	}
	f.uses()
}

// isMember reports whether a declaration can be named through its owner.
func isMember(d *recountv1.Declaration) bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_METHOD, recountv1.SymbolKind_SYMBOL_KIND_FIELD, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY,
		recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER:
		return true
	}
	return false
}

func isPrivate(d *recountv1.Declaration) bool {
	for _, m := range d.Modifiers {
		if m == "private" || m == "protected" {
			return true
		}
	}
	return strings.HasPrefix(d.Name, "#")
}

// scriptScope is where the walk stands.
type scriptScope struct {
	in uint32
	// function: somewhere in a function; inline: in an anonymous one, whose results
	// and `this` are not those of `in`.
	function, inline bool
	noThis           bool
	test             bool
	// shadows are the parameters of the anonymous functions around, where nothing is
	// known of them.
	shadows *shadow
	// statement is the declaration's statement with its `export`, where there is one;
	// exported says that it is.
	statement ref
	exported  bool
}

// inside is the scope of a declaration's body.
func (s scriptScope) inside(in uint32) scriptScope {
	return scriptScope{in: in, function: true, test: s.test}
}

// plain is the scope for what a declaration's statement does not mark.
func (s scriptScope) plain() scriptScope {
	s.statement, s.exported = 0, false
	return s
}

func (j *scriptFile) block(n ref, s scriptScope) {
	for c := range j.children(n) {
		j.visit(c, s)
	}
}

// visit walks a statement or an expression.
func (j *scriptFile) visit(n ref, s scriptScope) {
	switch j.kind(n) {
	case "import_statement":
		j.importing(n, s)
	case "export_statement":
		j.exporting(n, s)
	case "function_declaration", "generator_function_declaration", "function_signature":
		j.function(n, n, j.text(j.field(n, "name")), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, s)
	case "class_declaration", "abstract_class_declaration":
		j.class(n, n, j.text(j.field(n, "name")), s)
	case "interface_declaration":
		j.typeDeclaration(n, recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, s)
	case "type_alias_declaration":
		j.typeDeclaration(n, recountv1.SymbolKind_SYMBOL_KIND_TYPE, s)
	case "enum_declaration":
		j.enum(n, s)
	case "internal_module", "module":
		j.namespace(n, s)
	case "ambient_declaration":
		if s.statement == 0 {
			s.statement = n
		}
		j.block(n, s)
	case "lexical_declaration", "variable_declaration":
		j.variables(n, s)
	case "class":
		j.class(n, n, "", s)
	case "arrow_function", "function_expression", "generator_function":
		j.inline(n, s)
	case "return_statement":
		if v := j.child(n, 0); v != none && s.function && !s.inline {
			j.bindValue("return", v, "", n, s, 0)
		}
		j.block(n, s)
	case "yield_expression":
		if v := j.child(n, 0); v != none && !s.inline {
			if j.has(n, "*") {
				j.bind(s.in, "yield", element(j.path(v, s), ""), "", n)
			} else {
				j.bindValue("yield", v, "", n, s, 0)
			}
		}
		j.block(n, s)
	case "throw_statement":
		thrown := j.child(n, 0)
		if j.kind(thrown) == "new_expression" {
			thrown = j.field(thrown, "constructor")
		}
		if thrown != none {
			j.refer(recountv1.EdgeKind_EDGE_KIND_THROWS, s.in, j.path(thrown, s), j.lastName(thrown))
		}
		j.block(n, s)
	case "for_in_statement":
		value := element(j.path(j.field(n, "right"), s), "")
		if j.text(j.field(n, "operator")) == "in" {
			value = unknown
		}
		j.bindTarget(j.field(n, "left"), none, value, s)
		j.visit(j.field(n, "right"), s)
		j.visit(j.field(n, "body"), s)
	case "catch_clause":
		j.bindTarget(j.field(n, "parameter"), none, unknown, s)
		j.visit(j.field(n, "body"), s)
	case "assignment_expression":
		j.assignment(n, s)
	case "augmented_assignment_expression":
		j.bindTarget(j.field(n, "left"), j.field(n, "right"), j.path(j.field(n, "right"), s), s)
		j.block(n, s)
	case "call_expression":
		j.call(n, s)
	case "new_expression":
		fn, args := j.field(n, "constructor"), j.field(n, "arguments")
		r := j.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, j.path(fn, s), j.lastName(fn))
		j.arguments(r, args, s)
		j.annotation(j.field(n, "type_arguments"), s)
		j.calleeRest(fn, s)
		j.block(args, s)
	case "object":
		j.object(n, s)
	case "identifier", "member_expression", "shorthand_property_identifier":
		j.use(n, s)
	case "type_annotation", "type_arguments", "as_expression", "satisfies_expression":
		if strings.HasPrefix(j.kind(n), "type") {
			j.annotation(n, s)
			return
		}
		j.visit(j.child(n, 0), s)
		j.annotation(j.child(n, 1), s)
	case "jsx_opening_element", "jsx_self_closing_element":
		j.jsx(n, s)
	case "pair":
		j.visit(j.field(n, "value"), s)
	case "", "comment", "jsx_closing_element", "type_parameters", "labeled_statement_identifier":
	default:
		j.block(n, s.plain())
	}
}

// doc is the documentation of a declaration: above its statement.
func (j *scriptFile) doc(n ref, s scriptScope) string {
	if s.statement > 0 {
		return j.commentBefore(s.statement)
	}
	return j.commentBefore(n)
}

// function declares a function; whole is its statement, n has the parameters and
// the body.
func (j *scriptFile) function(n, whole ref, name string, kind recountv1.SymbolKind, s scriptScope) (uint32, *recountv1.Declaration) {
	if name == "" {
		if !s.exported {
			j.inline(n, s)
			return 0, nil
		}
		name = "default"
	}
	body := j.field(n, "body")
	d := declaration{kind: kind, name: name, in: s.in, node: whole, whole: s.statement, doc: j.doc(whole, s)}
	if body != none {
		d.head = j.start(body)
		if j.kind(n) == "arrow_function" && j.kind(body) != "statement_block" {
			d.head = j.start(j.firstOf(n, "=>"))
		}
	}
	in, decl := j.declare(d)
	j.declared[nameIn{s.in, name}] = true
	j.locals[nameIn{s.in, name}] = true
	decl.Exported = s.exported
	decl.Test = s.test
	decl.Modifiers = j.modifiers(n)
	if k := j.kind(n); k == "arrow_function" || strings.HasSuffix(k, "_expression") {
		decl.Modifiers = append(decl.Modifiers, "lambda")
	}
	inner := s.inside(in)
	j.typeParameters(n, in, inner)
	decl.Parameters = j.parameters(n, inner)
	if t := j.field(n, "return_type"); t != none {
		decl.Type = knownPath(j.typePath(t, inner))
		j.annotation(t, inner)
	}
	if body == none {
		return in, decl
	}
	if j.kind(body) != "statement_block" { // x => value
		j.bindValue("return", body, "", body, inner, 0)
	}
	j.visit(body, inner)
	return in, decl
}

// modifiers are the words in front of a declaration's name.
func (j *scriptFile) modifiers(n ref) []string {
	var all []string
	for c := j.first(n); c != none; c = j.next(c) {
		switch k := j.kind(c); k {
		case "accessibility_modifier", "override_modifier":
			all = append(all, j.text(c))
		case "static", "async", "abstract", "readonly", "get", "set", "declare", "*", "accessor":
			all = append(all, k)
		case "formal_parameters", "statement_block", "class_body", "=":
			return all
		}
	}
	return all
}

// typeParameters hides the names of type parameters.
func (j *scriptFile) typeParameters(n ref, in uint32, s scriptScope) {
	for c := range j.children(j.field(n, "type_parameters")) {
		j.locals[nameIn{in, j.text(j.field(c, "name"))}] = true
		j.annotation(j.field(c, "constraint"), s)
	}
}

// parameters reads a function's parameters, which are local to s.in.
func (j *scriptFile) parameters(n ref, s scriptScope) []*recountv1.Parameter {
	var all []*recountv1.Parameter
	if single := j.field(n, "parameter"); single != none { // x => …
		j.locals[nameIn{s.in, j.text(single)}] = true
		return []*recountv1.Parameter{{Name: clip(j.text(single), maxName)}}
	}
	for c := range j.children(j.field(n, "parameters")) {
		pattern := firstRef(j.field(c, "pattern"), c)
		p := &recountv1.Parameter{}
		if j.kind(pattern) == "rest_pattern" {
			p.Variadic, pattern = true, j.child(pattern, 0)
		}
		switch j.kind(pattern) {
		case "identifier":
			p.Name = clip(j.text(pattern), maxName)
			j.locals[nameIn{s.in, p.Name}] = true
		case "this":
			continue
		default:
			p.Name = "<" + decimal(len(all)) + ">"
			j.bindTarget(pattern, none, p.Name, s)
		}
		if t := j.field(c, "type"); t != none {
			p.Type = knownPath(j.typePath(t, s))
			j.annotation(t, s)
		}
		if v := j.field(c, "value"); v != none {
			p.Default = knownPath(j.path(v, s))
			j.visit(v, s)
		}
		all = append(all, p)
	}
	return all
}

// inline walks an anonymous function: it belongs to the declaration around it.
func (j *scriptFile) inline(n ref, s scriptScope) {
	inner := s.plain()
	inner.function, inner.inline = true, true
	inner.noThis = s.noThis || j.kind(n) != "arrow_function"
	if single := j.field(n, "parameter"); single != none {
		inner.shadows = &shadow{j.text(single), inner.shadows}
	}
	for c := range j.children(j.field(n, "parameters")) {
		pattern := firstRef(j.field(c, "pattern"), c)
		typ := ""
		if t := j.field(c, "type"); t != none {
			typ = knownPath(j.typePath(t, inner))
			j.annotation(t, inner)
		}
		switch {
		case typ == "":
			inner.shadows = j.shadow(pattern, inner.shadows)
		case j.kind(pattern) == "identifier":
			j.bindPlain(j.text(pattern), unknown, typ, pattern, inner)
		default:
			j.bindTarget(pattern, none, unknown, inner)
		}
		j.visit(j.field(c, "value"), inner)
	}
	j.visit(j.field(n, "body"), inner)
}

// shadow adds the names of a pattern.
func (j *scriptFile) shadow(pattern ref, up *shadow) *shadow {
	switch j.kind(pattern) {
	case "identifier", "shorthand_property_identifier_pattern":
		return &shadow{j.text(pattern), up}
	case "pair_pattern":
		return j.shadow(j.field(pattern, "value"), up)
	case "assignment_pattern", "object_assignment_pattern":
		return j.shadow(j.field(pattern, "left"), up)
	case "object_pattern", "array_pattern", "rest_pattern":
		for c := range j.children(pattern) {
			up = j.shadow(c, up)
		}
	}
	return up
}
