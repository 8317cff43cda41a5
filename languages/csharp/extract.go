// Package csharp extracts and resolves C#.
package csharp

import (
	"slices"
	"strings"

	"github.com/smacker/go-tree-sitter/csharp"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads C# files. A constructor has the name "ctor", an indexer "this[]". A namespace
// that contains all of a file is its package; other namespaces are modules. Accessors belong to
// their property. In types, Task<T> and ValueTask<T> are T, because paths do not contain await, and so
// is T? unless T is a numeric type.
var extractor = extract.Language{
	Name: "csharp", Version: 11, Matches: extract.Suffixed(".cs"),
	Extract: extract.ParsedBy(extract.LoadGrammar(csharp.GetLanguage), parse, func(f *extract.File) {
		c := &walker{File: f}
		c.setOnce = c.SetOnce(c.setting)
		c.unit(0, state{names: extract.Inner(nil)})
	}),
}

type walker struct {
	*extract.File
	extract.Blocks
	// setOnce returns the value of a name that the file sets once.
	setOnce func(name string) extract.Ref
	// round is what the names of loops stand for in the round that is read.
	round extract.Round
}

// state is the context of the walk.
type state struct {
	in    uint32
	names *extract.Block
	// class is the enclosing type; exported is set if that is exported.
	class    uint32
	exported bool
	// public is set in an interface or enum, lambda in a function without a name.
	public, lambda, test bool
	// controller is set in a controller, routed in one with a route for all actions.
	controller, routed bool
	// receiver is the block of extensions around a method; see openExtensions.
	receiver extract.Ref
}

func (s state) nested() state {
	s.names = extract.Inner(s.names)
	return s
}

func (c *walker) block(n extract.Ref, s state) {
	for k := range c.Children(n) {
		c.visit(k, s)
	}
}

// except walks the children of a node that are not in some fields.
func (c *walker) except(n extract.Ref, s state, fields ...string) {
	for k := range c.Children(n) {
		if !slices.Contains(fields, c.FieldOf(k)) {
			c.visit(k, s)
		}
	}
}

// typed adds the variable that a node declares with a type, or refers to the type if it has no name.
func (c *walker) typed(n extract.Ref, s state) {
	if name := c.Field(n, "name"); name != extract.None {
		c.local(name, c.Field(n, "type"), extract.Unknown, s)
	} else {
		c.annotation(c.Field(n, "type"), s)
	}
}

// unit walks a file. If it contains one namespace only, that is the package of the file.
func (c *walker) unit(n extract.Ref, s state) {
	spaces, others := []extract.Ref{}, false
	for k := range c.Children(n) {
		switch c.Kind(k) {
		case "namespace_declaration", "file_scoped_namespace_declaration":
			spaces = append(spaces, k)
		case "class_declaration", "struct_declaration", "interface_declaration", "enum_declaration", "record_declaration", "delegate_declaration":
			others = true
		}
	}
	fileScoped := len(spaces) > 0 && c.Kind(spaces[0]) == "file_scoped_namespace_declaration"
	if fileScoped || len(spaces) == 1 && !others {
		c.Facts.Package = extract.Clip(extract.Compact(c.Text(c.Field(spaces[0], "name"))), extract.MaxName)
	}
	for k := range c.Children(n) {
		switch {
		case len(spaces) > 0 && k == spaces[0] && c.Facts.Package != "":
			if body := c.Field(k, "body"); body != extract.None {
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
func (c *walker) visit(n extract.Ref, s state) {
	switch c.Kind(n) {
	case "using_directive":
		c.importing(n)
	case "namespace_declaration":
		name := extract.Compact(c.Text(c.Field(n, "name")))
		in, _ := c.Declare(extract.Declaration{
			Kind: recountv1.SymbolKind_SYMBOL_KIND_MODULE, Name: name, In: s.in, Node: n, Head: c.Start(extract.FirstRef(c.Field(n, "body"), n)),
		})
		c.Decl(in).Exported = true
		s.in = in
		c.block(c.Field(n, "body"), s)
	case "file_scoped_namespace_declaration":
		c.except(n, s, "name")
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
		_, decl, _ := c.declared(n, extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER, Name: c.Text(c.Field(n, "name"))}, s)
		if enum := c.Decl(s.in); enum != nil {
			decl.Type = enum.Name
		}
		c.visit(c.Field(n, "value"), s)
	case "block", "switch_section", "for_statement", "using_statement", "fixed_statement", "switch_expression_arm", "query_expression":
		c.block(n, s.nested())
	case "from_clause", "let_clause", "join_clause":
		c.queryVariable(n, s)
	case "variable_declaration":
		c.locals(n, s)
	case "foreach_statement":
		s = s.nested()
		value := c.Field(n, "right")
		c.visit(value, s)
		c.designate(c.Field(n, "left"), c.Field(n, "type"), extract.Element(c.path(value, s), ""), s)
		c.visit(c.Field(n, "body"), s)
	case "catch_clause":
		s = s.nested()
		if d := c.FirstOf(n, "catch_declaration"); d != extract.None {
			c.typed(d, s)
		}
		for k := range c.Children(n) {
			if c.Kind(k) != "catch_declaration" {
				c.visit(k, s)
			}
		}
	case "declaration_pattern", "recursive_pattern":
		c.typed(n, s)
		c.except(n, s, "name", "type")
	case "var_pattern", "declaration_expression":
		if c.isProduct(n) {
			c.visit(c.Child(c.Field(n, "type"), 0), s)
			c.visit(c.Field(n, "name"), s)
			return
		}
		c.designate(c.Field(n, "name"), c.Field(n, "type"), extract.Unknown, s)
	case "subpattern":
		for k := range c.Children(n) {
			if c.Kind(k) != "identifier" || c.Next(k) == extract.None {
				c.visit(k, s)
			}
		}
	case "type_pattern":
		c.annotation(c.Child(n, 0), s)
	case "throw_statement", "throw_expression":
		if thrown := c.Child(n, 0); c.Kind(thrown) == "object_creation_expression" {
			typ := c.Field(thrown, "type")
			c.Refer(recountv1.EdgeKind_EDGE_KIND_THROWS, s.in, extract.MadeBy(named(c.typePath(typ))), c.typeName(typ))
		}
		c.block(n, s)
	case "invocation_expression":
		c.call(n, s)
	case "object_creation_expression":
		c.transformed(n, s)
		c.creation(n, s)
	case "initializer_expression":
		c.initializer(n, s)
	case "lambda_expression", "anonymous_method_expression":
		c.lambda(n, extract.Unknown, -1, s)
	case "assignment_expression":
		c.assignment(n, s)
	case "return_statement", "arrow_expression_clause":
		if v := c.Child(n, 0); v != extract.None {
			c.argument(v, c.resultType(s), -1, s)
		}
	case "cast_expression":
		c.annotation(c.Field(n, "type"), s)
		c.argument(c.Field(n, "value"), extract.OfType(c.typePath(c.Field(n, "type"))), -1, s)
	case "as_expression", "is_expression":
		c.visit(c.Field(n, "left"), s)
		c.annotation(c.Field(n, "right"), s)
	case "typeof_expression", "default_expression", "sizeof_expression":
		c.annotation(c.Field(n, "type"), s)
	case "member_access_expression", "conditional_access_expression":
		c.use(n, s)
	case "identifier":
		if _, local := s.names.Path(c.Text(n)); !local {
			c.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(c.Text(n)), n)
		}
	case "generic_name":
		c.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, extract.Checked(c.Text(c.Child(n, 0))), c.Child(n, 0))
		c.annotation(c.FirstOf(n, "type_argument_list"), s)
	case "argument", "attribute_argument":
		c.except(n, s, "name")
	case "array_type", "qualified_name", "predefined_type", "nullable_type", "tuple_type":
		c.annotation(n, s)
	case "", "attribute_list", "goto_statement", "break_statement", "string_literal", "preproc_region", "preproc_endregion", "type_parameter_list", "type_parameter_constraints_clause":
	case "labeled_statement":
		for k := range c.Children(n) {
			if c.Kind(k) != "identifier" {
				c.visit(k, s)
			}
		}
	default:
		c.block(n, s)
	}
}

// importing reads a using directive: a wildcard import of a namespace, or, with static, of a
// type; or an alias. A global one is exported to the other files.
func (c *walker) importing(n extract.Ref) {
	alias := c.Field(n, "name")
	target := extract.None
	for k := range c.Children(n) {
		if k != alias {
			target = k
		}
	}
	if target == extract.None {
		return
	}
	i := c.AddImport(0, strings.TrimPrefix(extract.Erased(c.typePath(target)), "global::"), c.typeName(target))
	i.Export = c.Has(n, "global")
	if alias != extract.None {
		i.Alias = c.Text(alias)
	} else {
		i.Wildcard = true
	}
}
