// Package rust extracts and resolves Rust.
package rust

import (
	"strings"

	"github.com/smacker/go-tree-sitter/rust"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads Rust files. In paths "::" is a dot and "self::" is left out; "crate" and
// "super" stay at the head. Self and type parameters are replaced by what they stand for: the
// type of the impl, the bounds.
//
// A local name that hides another one in its function, or that comes after a use of an item of
// that name, is written name'2, name'3 and so on: no two variables of a function share a name.
// "[]" is what a value contains: for a loop, for the operator ?, for the patterns Some and Ok.
// "<closure1>" is the result of the first closure in a declaration.
//
// Types keep their arguments, without lifetimes, references, dyn and impl: "Option<a.B>",
// "(A,B)", "[A]", "A+B" for several bounds. The type parameters of a type are those of its
// declaration.
//
// What an impl declares has the type as owner path, the attribute "trait" if the impl is of a
// trait, the attribute "type" with the path of the type, if that is more than its name, and the
// attribute "self" with "&" if the impl is for a reference. `mod name;` is an import of "mod name".
var extractor = extract.Language{
	Name: "rust", Version: 14, Matches: extract.Suffixed(".rs"),
	Extract: extract.ParsedBy(extract.LoadGrammar(rust.GetLanguage), parseRust, func(f *extract.File) {
		r := &walker{File: f, known: map[string]string{}, used: map[extract.NameIn]int{}, chains: map[extract.Ref]string{}, lets: map[extract.Ref]string{}, routers: map[extract.NameIn]bool{}}
		r.imported()
		r.framework = r.webFramework()
		r.items(0, state{})
		r.noteUses()
	}),
}

type walker struct {
	*extract.File
	framework string
	// known has what imported names stand for: "Command" is "std.process.Command".
	known extract.Known
	// used counts the variables of each name in a declaration, and uses of the name as an item's.
	used map[extract.NameIn]int
	// chains has the names of the results of long chains of calls.
	chains map[extract.Ref]string
	// lets has the names that let declarations bind, routers those that hold routers.
	lets    map[extract.Ref]string
	routers map[extract.NameIn]bool
	// choice is which path of a resource of several is read.
	choice int
}

// Text returns the text of a node. A raw identifier (r#match) has the name without its prefix.
func (r *walker) Text(n extract.Ref) string {
	text := r.File.Text(n)
	if strings.HasPrefix(text, "r#") && strings.HasSuffix(r.Kind(n), "identifier") {
		return strings.ReplaceAll(text, "r#", "")
	}
	return text
}

// state is the context of the walk.
type state struct {
	in uint32
	// of is the enclosing impl or trait; members are declared for it.
	of *implementedType
	// closure is set in a closure, whose results do not belong to `in`.
	closure  bool
	test     bool
	exported bool // exported by the enclosing trait
	generics *generic
	locals   *blockLocals
}

// implementedType is an impl or a trait.
type implementedType struct {
	// self is the type with its arguments, path the type without them, name its last name.
	self, path, name string
	chain            string // the owner chain of its members
	trait            string
	reference        bool // it is an impl of a reference: impl T for &Type
	isTrait          bool
}

// generic is a type parameter, Self or one of its associated types ("Self::Item"), and what
// replaces it: its bounds, "?" if it has none.
type generic struct {
	name, bounds string
	up           *generic
}

// blockLocals has the variables of a block.
type blockLocals struct {
	names map[string]string
	up    *blockLocals
}

func (l *blockLocals) find(name string) (string, bool) {
	for ; l != nil; l = l.up {
		if own, ok := l.names[name]; ok {
			return own, true
		}
	}
	return "", false
}

// block returns the scope inside a block.
func (s state) block() state {
	s.locals = &blockLocals{map[string]string{}, s.locals}
	return s
}

// items walks the declarations at the top of a file, or in a module, an impl or a trait.
func (r *walker) items(n extract.Ref, s state) {
	for c := range r.Children(n) {
		r.visit(c, s)
	}
}

// visit walks an item, a statement or an expression.
func (r *walker) visit(n extract.Ref, s state) {
	switch r.Kind(n) {
	case "function_item", "function_signature_item":
		r.function(n, s)
	case "struct_item", "union_item":
		r.typeItem(n, recountv1.SymbolKind_SYMBOL_KIND_STRUCT, s)
	case "enum_item":
		r.typeItem(n, recountv1.SymbolKind_SYMBOL_KIND_ENUM, s)
	case "trait_item":
		r.trait(n, s)
	case "impl_item":
		r.impl(n, s)
	case "mod_item":
		r.module(n, s)
	case "const_item":
		r.constant(n, recountv1.SymbolKind_SYMBOL_KIND_CONSTANT, s)
	case "static_item":
		r.constant(n, recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, s)
	case "type_item", "associated_type":
		r.alias(n, s)
	case "macro_definition":
		_, d := r.item(n, recountv1.SymbolKind_SYMBOL_KIND_MACRO, r.LineEnd(n), s)
		d.Exported = strings.Contains(r.attributeText(n), "macro_export")
	case "foreign_mod_item":
		r.items(r.Field(n, "body"), s)
	case "use_declaration":
		r.use(n, s)
	case "extern_crate_declaration":
		i := r.AddImport(s.in, "::"+r.Text(r.Field(n, "name")), n)
		i.Alias = extract.FirstOf(r.Text(r.Field(n, "alias")), r.Text(r.Field(n, "name")))
	case "attribute_item", "inner_attribute_item", "", "line_comment", "block_comment":
	case "macro_invocation":
		r.macro(n, s)
	default:
		r.expression(n, s)
	}
}

// attributes returns the attributes in front of an item, in order.
func (r *walker) attributes(n extract.Ref) []extract.Ref {
	var all []extract.Ref
	for at := r.Before(n); at != extract.None; at = r.Before(at) {
		switch r.Kind(at) {
		case "attribute_item":
			all = append([]extract.Ref{at}, all...)
		case "line_comment", "block_comment":
		default:
			return all
		}
	}
	return all
}

// attributeText returns the text of the attributes in front of an item.
func (r *walker) attributeText(n extract.Ref) string {
	var b strings.Builder
	for _, a := range r.attributes(n) {
		b.WriteString(r.Text(a))
	}
	return b.String()
}

// doc returns the documentation in front of an item: its /// and /** */ comments.
func (r *walker) doc(n extract.Ref) string {
	var lines []string
	for at := r.Before(n); at != extract.None; at = r.Before(at) {
		switch k := r.Kind(at); k {
		case "attribute_item":
			continue
		case "line_comment", "block_comment":
			if r.Field(at, "outer") != extract.None {
				text := strings.TrimRight(r.Text(at), "\n")
				if k == "block_comment" {
					text = extract.CleanDoc(text)
				} else {
					text = strings.TrimPrefix(text, "///")
				}
				lines = append([]string{text}, lines...)
			}
			continue
		}
		break
	}
	return extract.Clip(strings.TrimSpace(extract.Dedent("\n"+strings.Join(lines, "\n"))), extract.MaxDoc)
}

// item declares an item. head is where its signature ends.
func (r *walker) item(n extract.Ref, kind recountv1.SymbolKind, head uint32, s state) (uint32, *recountv1.Declaration) {
	d := extract.Declaration{Kind: kind, Name: r.Text(r.Field(n, "name")), In: s.in, Node: n, Head: head, Doc: r.doc(n)}
	if all := r.attributes(n); len(all) > 0 {
		d.Whole = all[0]
	}
	if s.of != nil && !s.of.isTrait {
		d.In = 0
	}
	in, decl := r.Declare(d)
	decl.Exported = s.exported || r.isPublic(n)
	decl.Test = s.test
	set := func(name, value string) {
		if value == "" {
			return
		}
		if decl.Attributes == nil {
			decl.Attributes = map[string]string{}
		}
		decl.Attributes[name] = extract.Clip(value, extract.MaxValue)
	}
	if s.of != nil && !s.of.isTrait {
		decl.OwnerPath = extract.Clip(s.of.chain, extract.MaxName)
		set("trait", s.of.trait)
		if s.of.path != s.of.name {
			set("type", s.of.path)
		}
		if s.of.reference {
			set("self", "&")
		}
	}
	set("cfg", r.condition(n))
	return in, decl
}

// isPublic reports whether other files can name an item.
func (r *walker) isPublic(n extract.Ref) bool {
	v := r.FirstOf(n, "visibility_modifier")
	return v != extract.None && r.Text(v) != "pub(self)"
}

// condition returns the condition of #[cfg(…)] in front of an item, without white space.
func (r *walker) condition(n extract.Ref) string {
	for _, a := range r.attributes(n) {
		at := r.Child(a, 0)
		if r.Text(r.Child(at, 0)) == "cfg" {
			text := strings.Join(strings.Fields(r.Text(r.Field(at, "arguments"))), "")
			return strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
		}
	}
	return ""
}

// isTest reports whether an attribute in front of an item makes it a test.
func (r *walker) isTest(n extract.Ref) bool {
	for _, a := range r.attributes(n) {
		name := r.Text(r.Child(r.Child(a, 0), 0))
		if name == "test" || strings.HasSuffix(name, "::test") || name == "rstest" || name == "test_case" || name == "bench" {
			return true
		}
	}
	c := r.condition(n)
	return c == "test" || strings.HasPrefix(c, "all(test,")
}

// module reads `mod name { … }` and `mod name;`.
func (r *walker) module(n extract.Ref, s state) {
	name := r.Text(r.Field(n, "name"))
	body := r.Field(n, "body")
	if body == extract.None {
		path := "mod " + name
		for _, a := range r.attributes(n) {
			if at := r.Child(a, 0); r.Text(r.Child(at, 0)) == "path" {
				if file, ok := r.literal(r.Field(at, "value")); ok {
					path = `mod "` + file + `"`
				}
			}
		}
		i := r.AddImport(s.in, path, r.Field(n, "name"))
		i.Alias, i.Export = name, r.isPublic(n)
		return
	}
	s.test = s.test || r.isTest(n)
	in, _ := r.item(n, recountv1.SymbolKind_SYMBOL_KIND_MODULE, r.Start(body), s)
	r.items(body, state{in: in, test: s.test})
}
