package extract

import (
	"strings"

	"github.com/smacker/go-tree-sitter/csharp"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// C#: what its files say. A constructor is called "ctor", an indexer "this[]"; a
// namespace that holds all of a file is its package, others are modules. A property's
// accessors are the property. Task<T>, ValueTask<T> and T? stand for T in types, as
// await leaves no mark in a path.
var csharpLanguage = Language{
	Name: "csharp", Version: 1, Matches: suffixed(".cs"),
	Extract: parsed(loadGrammar(csharp.GetLanguage), func(f *file) {
		c := &csharpFile{file: f}
		c.unit(0, csharpScope{names: inner(nil)})
	}),
}

type csharpFile struct {
	*file
	blocks
}

// csharpScope is where the walk stands.
type csharpScope struct {
	in    uint32
	names *block
	// class is the declaration of the type around; exported says that it is.
	class    uint32
	exported bool
	// public: in an interface or enum. lambda: in a function without a name.
	public, lambda, test bool
	controller           bool
}

func (s csharpScope) nested() csharpScope {
	s.names = inner(s.names)
	return s
}

func (c *csharpFile) block(n ref, s csharpScope) {
	for k := range c.children(n) {
		c.visit(k, s)
	}
}

// unit walks a file: a namespace that is the only one in it is the file's package.
func (c *csharpFile) unit(n ref, s csharpScope) {
	spaces, others := []ref{}, false
	for k := range c.children(n) {
		switch c.kind(k) {
		case "namespace_declaration", "file_scoped_namespace_declaration":
			spaces = append(spaces, k)
		case "class_declaration", "struct_declaration", "interface_declaration", "enum_declaration", "record_declaration", "delegate_declaration":
			others = true
		}
	}
	fileScoped := len(spaces) > 0 && c.kind(spaces[0]) == "file_scoped_namespace_declaration"
	if fileScoped || len(spaces) == 1 && !others {
		c.facts.Package = clip(compact(c.text(c.field(spaces[0], "name"))), maxName)
	}
	for k := range c.children(n) {
		switch {
		case len(spaces) > 0 && k == spaces[0] && c.facts.Package != "":
			if body := c.field(k, "body"); body != none {
				c.block(body, s)
			} else {
				c.visit(k, s)
			}
		default:
			c.visit(k, s)
		}
	}
}

// visit walks a declaration, a statement or an expression.
func (c *csharpFile) visit(n ref, s csharpScope) {
	switch c.kind(n) {
	case "using_directive":
		c.importing(n)
	case "namespace_declaration":
		name := compact(c.text(c.field(n, "name")))
		in, _ := c.declare(declaration{
			kind: recountv1.SymbolKind_SYMBOL_KIND_MODULE, name: name, in: s.in, node: n, head: c.start(firstRef(c.field(n, "body"), n)),
		})
		c.decl(in).Exported = true
		s.in = in
		c.block(c.field(n, "body"), s)
	case "file_scoped_namespace_declaration":
		for k := range c.children(n) {
			if c.fieldOf(k) != "name" {
				c.visit(k, s)
			}
		}
	case "class_declaration", "struct_declaration", "interface_declaration", "record_declaration", "enum_declaration":
		c.class(n, s)
	case "delegate_declaration":
		c.delegate(n, s)
	case "method_declaration", "constructor_declaration", "destructor_declaration", "operator_declaration", "conversion_operator_declaration", "local_function_statement":
		c.method(n, s)
	case "property_declaration", "indexer_declaration", "event_declaration":
		c.property(n, s)
	case "field_declaration", "event_field_declaration":
		c.fieldsOf(n, s)
	case "enum_member_declaration":
		_, decl, _ := c.declared(n, declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, name: c.text(c.field(n, "name"))}, s)
		if enum := c.decl(s.in); enum != nil {
			decl.Type = enum.Name
		}
		c.visit(c.field(n, "value"), s)
	case "block", "switch_section", "for_statement", "using_statement", "fixed_statement", "switch_expression_arm":
		c.block(n, s.nested())
	case "query_expression":
		c.block(n, s.nested())
	case "from_clause", "let_clause", "join_clause":
		c.queryVariable(n, s)
	case "variable_declaration":
		c.locals(n, s)
	case "foreach_statement":
		s = s.nested()
		value := c.field(n, "right")
		c.visit(value, s)
		c.designate(c.field(n, "left"), c.field(n, "type"), element(c.path(value, s), ""), s)
		c.visit(c.field(n, "body"), s)
	case "catch_clause":
		s = s.nested()
		if d := c.firstOf(n, "catch_declaration"); d != none {
			if name := c.field(d, "name"); name != none {
				c.local(name, c.field(d, "type"), unknown, s)
			} else {
				c.annotation(c.field(d, "type"), s)
			}
		}
		for k := range c.children(n) {
			if c.kind(k) != "catch_declaration" {
				c.visit(k, s)
			}
		}
	case "declaration_pattern", "recursive_pattern":
		if name := c.field(n, "name"); name != none {
			c.local(name, c.field(n, "type"), unknown, s)
		} else {
			c.annotation(c.field(n, "type"), s)
		}
		for k := range c.children(n) {
			if f := c.fieldOf(k); f != "name" && f != "type" {
				c.visit(k, s)
			}
		}
	case "var_pattern", "declaration_expression":
		c.designate(c.field(n, "name"), c.field(n, "type"), unknown, s)
	case "subpattern":
		for k := range c.children(n) {
			if c.kind(k) != "identifier" || c.next(k) == none {
				c.visit(k, s)
			}
		}
	case "type_pattern":
		c.annotation(c.child(n, 0), s)
	case "throw_statement", "throw_expression":
		if thrown := c.child(n, 0); c.kind(thrown) == "object_creation_expression" {
			typ := c.field(thrown, "type")
			c.refer(recountv1.EdgeKind_EDGE_KIND_THROWS, s.in, madeBy(erased(c.typePath(typ))), c.typeName(typ))
		}
		c.block(n, s)
	case "invocation_expression":
		c.call(n, s)
	case "object_creation_expression":
		c.creation(n, s)
	case "implicit_object_creation_expression":
		c.block(n, s)
	case "initializer_expression":
		c.initializer(n, s)
	case "lambda_expression", "anonymous_method_expression":
		c.lambda(n, unknown, -1, s)
	case "assignment_expression":
		c.assignment(n, s)
	case "return_statement", "arrow_expression_clause":
		if v := c.child(n, 0); v != none {
			c.argument(v, c.resultType(s), -1, s)
		}
	case "cast_expression":
		c.annotation(c.field(n, "type"), s)
		c.argument(c.field(n, "value"), ofType(c.typePath(c.field(n, "type"))), -1, s)
	case "as_expression", "is_expression":
		c.visit(c.field(n, "left"), s)
		c.annotation(c.field(n, "right"), s)
	case "typeof_expression", "default_expression", "sizeof_expression":
		c.annotation(c.field(n, "type"), s)
	case "member_access_expression", "conditional_access_expression":
		c.use(n, s)
	case "identifier":
		if _, local := s.names.path(c.text(n)); !local {
			c.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(c.text(n)), n)
		}
	case "generic_name":
		c.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, checked(c.text(c.child(n, 0))), c.child(n, 0))
		c.annotation(c.firstOf(n, "type_argument_list"), s)
	case "argument", "attribute_argument":
		for k := range c.children(n) {
			if c.fieldOf(k) != "name" {
				c.visit(k, s)
			}
		}
	case "array_type", "qualified_name", "predefined_type", "nullable_type", "tuple_type":
		c.annotation(n, s)
	case "", "attribute_list", "goto_statement", "break_statement", "string_literal", "preproc_region", "preproc_endregion", "type_parameter_list", "type_parameter_constraints_clause":
	case "labeled_statement":
		for k := range c.children(n) {
			if c.kind(k) != "identifier" {
				c.visit(k, s)
			}
		}
	default:
		c.block(n, s)
	}
}

// importing reads a using directive: a wildcard of a namespace, or with static of a
// type; or an alias. What is global is handed on to the other files.
func (c *csharpFile) importing(n ref) {
	alias := c.field(n, "name")
	target := none
	for k := range c.children(n) {
		if k != alias {
			target = k
		}
	}
	if target == none {
		return
	}
	i := c.addImport(0, strings.TrimPrefix(erased(c.typePath(target)), "global::"), c.typeName(target))
	i.Export = c.has(n, "global")
	if alias != none {
		i.Alias = c.text(alias)
	} else {
		i.Wildcard = true
	}
}
