// Package script extracts and resolves TypeScript and JavaScript.
package script

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractors read TypeScript and JavaScript: one walk, two grammars. Plain JavaScript is parsed
// with the grammar of TSX, which contains it. "self" in a path is `this`.
var extractors = []extract.Language{
	script("typescript", extract.LoadGrammar(typescript.GetLanguage), ".ts", ".mts", ".cts"),
	script("tsx", extract.LoadGrammar(tsx.GetLanguage), ".tsx"),
	script("javascript", extract.LoadGrammar(tsx.GetLanguage), ".js", ".jsx", ".mjs", ".cjs"),
}

func script(name string, load func() *extract.Grammar, suffixes ...string) extract.Language {
	return extract.Language{Name: name, Version: 36, Matches: extract.Suffixed(suffixes...), Extract: extract.Unminified(extract.Repaired(load, repairScript, extractScript))}
}

var (
	typeStar = regexp.MustCompile(`(?m)^(\s*export )type( \*)`)
	exported = regexp.MustCompile(`(?m)^\s*export\s*\{[^}]*\}`)
	typeName = regexp.MustCompile(`([{,]\s*)type(\s*[,}])`)
)

// repairScript rewrites what the grammars of 2024 do not parse: `export type * from`, the export of
// a name `type`, and a generic call signature after a member without a semicolon.
func repairScript(src []byte) []byte {
	out := typeStar.ReplaceAll(src, []byte("${1}    $2"))
	out = exported.ReplaceAllFunc(out, func(clause []byte) []byte { return typeName.ReplaceAll(clause, []byte("${1}typ_$2")) })
	last := -1 // the end of the last line of code
	for at := 0; at < len(out); {
		end := len(out)
		if i := bytes.IndexByte(out[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := bytes.TrimSpace(out[at:end])
		switch {
		case len(line) == 0 || extract.IsComment(line):
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

type walker struct {
	*extract.File
	framework string
	// known has what imported names stand for: "exec" is "child_process.exec".
	known extract.Known
	// handed has the names that export clauses export.
	handed map[string]bool
	// named has the anonymous functions that routes name.
	named map[extract.Ref][]inlined
	// wrappers has the functions whose results call a parameter, with its name.
	wrappers map[uint32]string
	// registered has the functions that have a name because of the call that they are given to.
	registered map[extract.Ref]string
	// bounds has what type parameters of documentation comments extend, typedefs the types of other files
	// that comments name, and typeImports the names of imports that are made for such types. states is set if
	// comments state the types of variables.
	bounds, typedefs, typeImports map[string]string
	states                        bool
	// round has what the names of the loops around the call that is read stand for; setOnce returns the value of
	// a variable that is declared once, and setIn that of one where it is named (loops.go).
	round   extract.Round
	setOnce func(name string) extract.Ref
	setIn   func(at extract.Ref, name string) extract.Ref
	// plugins has the names that functions of the form of a Fastify plugin give their router.
	plugins map[string]bool
	// owned has the objects whose functions belong to a variable, with its declaration.
	owned map[extract.Ref]uint32
	// literals has the members of objects that functions return or assign to local variables, with the
	// name of the object.
	literals map[extract.Ref]string
	// parts has the objects with the members of classes that calls make, made those classes, ctors those that have
	// a constructor, partial the declarations of parts, ownNames the names that functions have by themselves, and
	// makers the functions that make classes (classes.go).
	parts    map[extract.Ref]classObject
	made     map[uint32]bool
	ctors    map[uint32]bool
	partial  map[string]uint32
	ownNames map[uint32]string
	makers   map[string]bool
	// times has how many functions are declared by a name.
	times map[string]int
	// types has the names that only types have so far: a constant may have the same.
	types map[extract.NameIn]bool
	// constraints has what type parameters extend, takenApart counts the patterns that are given values of declared types.
	constraints map[extract.NameIn][]string
	takenApart  int
	// symbols has the constants that are symbols, by which members are named: this[_queue]().
	symbols map[string]bool
	// exports has the variables of the module that are its exports: var api = exports.
	exports map[string]bool
	// inherited are the bases that calls give to functions, which may be declared below.
	inherited []inheritance
}

// inheritance says that a function inherits from another.
type inheritance struct {
	owner, base string
	at          extract.Ref
	from        uint32 // where owner is named
	in          uint32 // of a function that calls its base on its instances; owner is empty then
}

func extractScript(f *extract.File) {
	j := &walker{File: f, known: map[string]string{}, handed: map[string]bool{}, named: map[extract.Ref][]inlined{}, wrappers: map[uint32]string{}, registered: map[extract.Ref]string{}, typedefs: map[string]string{}, typeImports: map[string]string{}, symbols: map[string]bool{}, exports: map[string]bool{}, parts: map[extract.Ref]classObject{}, made: map[uint32]bool{}, ctors: map[uint32]bool{}, partial: map[string]uint32{}, ownNames: map[uint32]string{}, types: map[extract.NameIn]bool{}, owned: map[extract.Ref]uint32{}, literals: map[extract.Ref]string{}, constraints: map[extract.NameIn][]string{}}
	j.setOnce, j.setIn = j.SetOnce(j.setting), j.SetOnceIn(j.setting, j.isScope)
	j.framework = j.webFramework()
	j.readTypedefs()
	j.block(0, state{})
	j.noteWrappers()
	inherits := map[uint32]bool{}
	for _, i := range j.inherited {
		if in := j.declaredAs(i.owner, i.from); in != 0 && i.in == 0 {
			j.Refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, i.base, i.at)
			inherits[in] = true
		}
	}
	for _, i := range j.inherited {
		if i.in != 0 && !inherits[i.in] {
			j.Refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, i.in, i.base, i.at)
		}
	}
	for _, d := range f.Facts.Declarations {
		if d.Owner == 0 && j.handed[d.Name] {
			d.Exported = true
		}
		if owner := f.Decl(d.Owner); owner != nil && owner.Exported && extract.IsMember(d) && !isPrivate(d) {
			d.Exported = true
		}
	}
	j.nextRoutes()
	f.Uses()
}

func isPrivate(d *recountv1.Declaration) bool {
	for _, m := range d.Modifiers {
		if m == "private" || m == "protected" {
			return true
		}
	}
	return strings.HasPrefix(d.Name, "#")
}

// state is the context of the walk.
type state struct {
	in uint32
	// function is set anywhere in a function, inline in an anonymous one, whose results and
	// `this` do not belong to `in`.
	function, inline bool
	noThis           bool
	// bound is set if `this` of the functions among the children is that of the enclosing one.
	bound bool
	test  bool
	// literal is the object literal that has the function, this the one that `this` is, if that has no name.
	literal, this extract.Ref
	// shared is set if a `this` of which nothing is known is most likely that of the method around the anonymous function.
	shared bool
	// shadows has the parameters of the enclosing anonymous functions that are no variables.
	shadows *extract.Shadow
	// passed has the paths of what a call passes to the parameters of functions among its
	// arguments.
	passed []string
	// given is the path that stands for what the context says of an expression: f[<0>] for the first argument of f.
	given string
	// statement is the statement of a declaration including its `export`; exported is set if it
	// has one.
	statement extract.Ref
	exported  bool
}

// inside returns the scope of the body of a declaration.
func (s state) inside(in uint32) state {
	return state{in: in, function: true, test: s.test}
}

// plain returns the scope without what only concerns the statement of a declaration.
func (s state) plain() state {
	s.statement, s.exported, s.passed, s.given, s.literal = 0, false, nil, "", 0
	return s
}

func (j *walker) block(n extract.Ref, s state) {
	for c := range j.Children(n) {
		j.visit(c, s)
		if j.Kind(n) == "statement_block" {
			s = j.after(c, n, s)
		}
	}
}

// visit walks a statement or an expression.
func (j *walker) visit(n extract.Ref, s state) {
	switch j.Kind(n) {
	case "import_statement":
		j.importing(n, s)
	case "export_statement":
		j.exporting(n, s)
	case "function_declaration", "generator_function_declaration", "function_signature":
		j.function(n, n, j.Text(j.Field(n, "name")), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, s)
	case "class_declaration", "abstract_class_declaration":
		j.class(n, n, j.Text(j.Field(n, "name")), s)
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
		if j.registered[n] != "" {
			return
		}
		if len(j.named[n]) > 0 {
			j.handler(n, s)
			return
		}
		j.inline(n, s)
	case "return_statement":
		if v := j.Child(n, 0); v != extract.None && s.function && !s.inline {
			if name := j.Text(j.Field(v, "name")); j.Kind(v) == "function_expression" && name != "" && j.registered[v] == "" {
				in := uint32(len(j.Facts.Declarations)) + 1
				given := j.returning(v, s).given
				j.registered[v] = j.memberOf(v, v, "return", name, s)
				j.givenParameters(in, given, v)
				return
			}
			j.bindValue("return", v, "", n, s, 0)
			s = j.returning(v, s)
		}
		j.block(n, s)
	case "yield_expression":
		if v := j.Child(n, 0); v != extract.None && !s.inline {
			if j.Has(n, "*") {
				j.Bind(s.in, "yield", extract.Element(j.path(v, s), ""), "", n)
			} else {
				j.bindValue("yield", v, "", n, s, 0)
			}
		}
		j.block(n, s)
	case "throw_statement":
		thrown := j.Child(n, 0)
		if j.Kind(thrown) == "new_expression" {
			thrown = j.Field(thrown, "constructor")
		}
		if thrown != extract.None {
			j.Refer(recountv1.EdgeKind_EDGE_KIND_THROWS, s.in, j.path(thrown, s), j.lastName(thrown))
		}
		j.block(n, s)
	case "for_in_statement":
		value := extract.Element(j.path(j.Field(n, "right"), s), "")
		if j.Text(j.Field(n, "operator")) == "in" {
			value = extract.Unknown
		}
		j.bindTarget(j.Field(n, "left"), extract.None, value, s)
		j.visit(j.Field(n, "right"), s)
		j.visit(j.Field(n, "body"), s)
	case "catch_clause":
		j.bindTarget(j.Field(n, "parameter"), extract.None, extract.Unknown, s)
		j.visit(j.Field(n, "body"), s)
	case "if_statement", "ternary_expression":
		condition := j.Field(n, "condition")
		j.visit(condition, s.plain())
		consequence := j.Field(n, "consequence")
		j.visit(consequence, j.narrowed(condition, consequence, s.plain()))
		j.visit(j.Field(n, "alternative"), s.plain())
	case "binary_expression":
		left, right := j.Field(n, "left"), j.Field(n, "right")
		j.visit(left, s.plain())
		if inner := s.plain(); j.Text(j.Field(n, "operator")) == "&&" {
			j.visit(right, j.narrowed(left, right, inner))
		} else {
			j.visit(right, inner)
		}
	case "expression_statement":
		if member := j.Child(n, 0); j.Kind(member) == "member_expression" { // @type {Type} this.name;
			if typ := j.statedType(n); typ != "" {
				j.Bind(s.in, j.path(member, s), scope.NoValue, typ, member)
			}
		}
		j.block(n, s.plain())
	case "assignment_expression":
		j.assignment(n, s)
	case "augmented_assignment_expression":
		j.bindTarget(j.Field(n, "left"), j.Field(n, "right"), j.path(j.Field(n, "right"), s), s)
		j.block(n, s)
	case "call_expression":
		j.call(n, s)
	case "new_expression":
		fn, args := j.Field(n, "constructor"), j.Field(n, "arguments")
		r := j.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, j.path(fn, s), j.lastName(fn))
		j.arguments(r, args, s)
		j.annotation(j.Field(n, "type_arguments"), s)
		j.calleeRest(fn, s)
		j.construct(n, s)
		j.give(args, j.path(fn, s), s)
	case "object":
		j.object(n, s)
	case "identifier", "member_expression", "shorthand_property_identifier":
		j.use(n, s)
	case "type_annotation", "type_arguments", "as_expression", "satisfies_expression":
		if strings.HasPrefix(j.Kind(n), "type") {
			j.annotation(n, s)
			return
		}
		j.visit(j.Child(n, 0), s)
		j.annotation(j.Child(n, 1), s)
	case "jsx_opening_element", "jsx_self_closing_element":
		j.jsx(n, s)
	case "pair":
		j.visit(j.Field(n, "value"), s)
	case "", "comment", "jsx_closing_element", "type_parameters", "labeled_statement_identifier":
	default:
		j.block(n, s.plain())
	}
}

// doc returns the documentation of a declaration, which is above its statement.
func (j *walker) doc(n extract.Ref, s state) string {
	if s.statement > 0 {
		return j.CommentBefore(s.statement)
	}
	return j.CommentBefore(n)
}

// function declares a function. whole is its statement; n has the parameters and the body.
func (j *walker) function(n, whole extract.Ref, name string, kind recountv1.SymbolKind, s state) (uint32, *recountv1.Declaration) {
	if name == "" {
		if !s.exported {
			j.inline(n, s)
			return 0, nil
		}
		name = "default"
	}
	body := j.Field(n, "body")
	d := extract.Declaration{Kind: kind, Name: name, In: s.in, Node: whole, Whole: s.statement, Doc: j.doc(whole, s)}
	if body != extract.None {
		d.Head = j.Start(body)
		if j.Kind(n) == "arrow_function" && j.Kind(body) != "statement_block" {
			d.Head = j.Start(j.FirstOf(n, "=>"))
		}
	}
	in, decl := j.Declare(d)
	j.Declared[extract.NameIn{In: s.in, Name: name}] = true
	j.Locals[extract.NameIn{In: s.in, Name: name}] = true
	decl.Exported = s.exported
	decl.Test = s.test
	innerOf(decl, s)
	if s.inline && s.shadows.Has(name) && s.shadows.Path(name) == scope.RegisteredName(decl) {
		decl.Attributes = map[string]string{scope.Inner: scope.Apart}
	}
	decl.Modifiers = j.modifiers(n)
	if k := j.Kind(n); k == "arrow_function" || strings.HasSuffix(k, "_expression") {
		decl.Modifiers = append(decl.Modifiers, "lambda")
	}
	inner := s.inside(in)
	inner.shadows = s.shadows
	if j.Kind(n) != "arrow_function" {
		inner.shadows = inner.shadows.WithoutThis()
	}
	if k := j.Kind(n); s.inline && k != "method_definition" {
		inner.noThis = s.noThis || k != "arrow_function"
	}
	j.typeParameters(n, in, inner)
	decl.Parameters = j.parameters(n, inner)
	if t := j.Field(n, "return_type"); t != extract.None {
		if !j.ofOwnParameter(t, in) {
			decl.Type = j.typeOf(t, inner)
		} else if name := j.parameterOfType(n, j.Text(j.Child(t, 0))); name != "" && decl.Attributes == nil {
			decl.Attributes = map[string]string{scope.Same: name}
		}
		j.annotation(t, inner)
		if of := j.typeOf(j.Field(j.Child(t, 0), "type"), inner); j.Kind(t) == "type_predicate_annotation" && of != extract.Unknown {
			decl.Attributes = map[string]string{scope.Guards: of} // x is Type
		}
	}
	j.documentTypes(in, whole)
	if body == extract.None {
		return in, decl
	}
	if j.Kind(body) != "statement_block" { // x => value
		j.bindValue("return", body, "", body, inner, 0)
		inner = j.returning(body, inner)
	}
	j.visit(body, inner)
	return in, decl
}

// modifiers returns the words in front of a declaration's name.
func (j *walker) modifiers(n extract.Ref) []string {
	var all []string
	for c := j.First(n); c != extract.None; c = j.Next(c) {
		switch k := j.Kind(c); k {
		case "accessibility_modifier", "override_modifier":
			all = append(all, j.Text(c))
		case "static", "async", "abstract", "readonly", "get", "set", "declare", "*", "accessor":
			all = append(all, k)
		case "formal_parameters", "statement_block", "class_body", "=":
			return all
		}
	}
	return all
}

// typeParameters hides the names of type parameters, and notes what they extend.
func (j *walker) typeParameters(n extract.Ref, in uint32, s state) {
	for c := range j.Children(j.Field(n, "type_parameters")) {
		name := extract.NameIn{In: in, Name: j.Text(j.Field(c, "name"))}
		j.Locals[name] = true
		constraint := j.Field(c, "constraint")
		j.constraints[name] = j.typesOf(j.Child(constraint, 0), s)
		j.annotation(constraint, s)
	}
}

// ofOwnParameter reports whether a type is a type parameter of the function itself: what its callers pass says more.
func (j *walker) ofOwnParameter(t extract.Ref, in uint32) bool {
	for j.Kind(t) == "type_annotation" {
		t = j.Child(t, 0)
	}
	_, is := j.constraints[extract.NameIn{In: in, Name: j.Text(t)}]
	return is
}

// parameterOfType returns the name of the first parameter of a function whose type is a name, "" if there is none.
func (j *walker) parameterOfType(n extract.Ref, typ string) string {
	for c := range j.Children(j.Field(n, "parameters")) {
		if j.Text(j.Child(j.Field(c, "type"), 0)) == typ {
			return j.Text(j.Field(c, "pattern"))
		}
	}
	return ""
}

// parameters reads the parameters of a function, which are local to s.in.
func (j *walker) parameters(n extract.Ref, s state) []*recountv1.Parameter {
	var all []*recountv1.Parameter
	if single := j.Field(n, "parameter"); single != extract.None { // x => …
		j.Locals[extract.NameIn{In: s.in, Name: j.Text(single)}] = true
		return []*recountv1.Parameter{{Name: extract.Clip(j.Text(single), extract.MaxName)}}
	}
	for c := range j.Children(j.Field(n, "parameters")) {
		pattern := extract.FirstRef(j.Field(c, "pattern"), c)
		p := &recountv1.Parameter{}
		if j.Kind(pattern) == "rest_pattern" {
			p.Variadic, pattern = true, j.Child(pattern, 0)
		}
		switch j.Kind(pattern) {
		case "identifier":
			p.Name = extract.Clip(j.Text(pattern), extract.MaxName)
			j.Locals[extract.NameIn{In: s.in, Name: p.Name}] = true
		case "this":
			continue
		default:
			p.Name = "<" + extract.Decimal(len(all)) + ">"
			j.bindTarget(pattern, extract.None, p.Name, s)
		}
		if t := j.Field(c, "type"); t != extract.None {
			p.Type = j.typeOf(t, s)
			j.annotation(t, s)
		}
		if v := j.Field(c, "value"); v != extract.None {
			p.Default = extract.KnownPath(j.path(v, s))
			if _, ok := j.literal(v); ok && j.framework != "" && p.Name != "" {
				j.AddRoute(&recountv1.RouteFact{Group: true, Role: "optional", Handler: p.Name, In: s.in}, v)
			}
			j.visit(v, s)
		}
		all = append(all, p)
	}
	j.plugin(n, all)
	return all
}

// inline walks an anonymous function, which belongs to the enclosing declaration.
func (j *walker) inline(n extract.Ref, s state) {
	inner := s.plain()
	inner.function, inner.inline = true, true
	inner.noThis, inner.bound = s.noThis || j.Kind(n) != "arrow_function" && !s.bound, false
	if j.Kind(n) != "arrow_function" {
		inner.this, inner.shared = s.literal, j.sharesThis(n, s)
	}
	passed := func(i int) string {
		if i < len(s.passed) {
			return s.passed[i]
		}
		return parameterOf(s.given, i)
	}
	inner.shadows = j.ownFunctions(n, inner.shadows)
	if single := j.Field(n, "parameter"); single != extract.None {
		inner.shadows = j.shadow(single, passed(0), inner.shadows)
	}
	i := 0
	for c := range j.Children(j.Field(n, "parameters")) {
		pattern := extract.FirstRef(j.Field(c, "pattern"), c)
		typ := ""
		if t := j.Field(c, "type"); t != extract.None {
			typ = j.typeOf(t, inner)
			j.annotation(t, inner)
		}
		switch {
		case typ == "":
			inner.shadows = j.shadow(pattern, passed(i), inner.shadows)
		case j.Kind(pattern) == "identifier":
			j.bindPlain(j.Text(pattern), extract.Unknown, typ, pattern, inner)
		default:
			j.bindTyped(pattern, extract.Unknown, typ, inner)
		}
		j.visit(j.Field(c, "value"), inner)
		i++
	}
	j.visit(j.Field(n, "body"), inner)
}

// bindTyped binds the names of a pattern to the parts of a value with a declared type.
func (j *walker) bindTyped(pattern extract.Ref, path, typ string, s state) {
	j.bindTarget(pattern, extract.None, j.stands(path, typ, pattern, s), s)
}

// shadow adds the names of a pattern, which is given the value of a path, to the shadows.
func (j *walker) shadow(pattern extract.Ref, given string, up *extract.Shadow) *extract.Shadow {
	of := func(name string) string {
		if given == "" || name == "" {
			return ""
		}
		return extract.KnownPath(memberOrElement(given, name))
	}
	switch j.Kind(pattern) {
	case "identifier":
		return &extract.Shadow{Name: j.Text(pattern), Is: given, Up: up}
	case "pair_pattern":
		return j.shadow(j.Field(pattern, "value"), of(j.propertyName(j.Field(pattern, "key"))), up)
	case "shorthand_property_identifier_pattern":
		return &extract.Shadow{Name: j.Text(pattern), Is: of(j.Text(pattern)), Up: up}
	case "assignment_pattern", "object_assignment_pattern":
		if left := j.Field(pattern, "left"); j.Kind(left) != "identifier" {
			return j.shadow(left, given, up)
		}
		return j.shadow(j.Field(pattern, "left"), "", up)
	case "object_pattern":
		for c := range j.Children(pattern) {
			up = j.shadow(c, given, up)
		}
	case "array_pattern":
		i := 0
		for c := range j.Children(pattern) {
			up = j.shadow(c, of(extract.Decimal(i)), up)
			i++
		}
	case "rest_pattern":
		for c := range j.Children(pattern) {
			up = j.shadow(c, "", up)
		}
	}
	return up
}
