// Package terraform extracts and resolves Terraform.
package terraform

import (
	"strings"

	"github.com/smacker/go-tree-sitter/hcl"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads blocks by the addresses that expressions have for them: "aws_s3_bucket.b",
// "data.aws_ami.x", "var.name", "local.n", "module.net", "output.id", "provider.aws". The paths
// of references are such addresses. The edge of a reference to a resource or a module is
// DEPENDS_ON.
var extractor = extract.Language{
	Name: "terraform", Version: 1, Matches: extract.Suffixed(".tf", ".tofu"),
	Extract: extract.Parsed(extract.LoadGrammar(hcl.GetLanguage), func(f *extract.File) {
		t := &walker{f}
		for body := range t.Children(0) {
			t.top(body)
		}
	}),
}

type walker struct{ *extract.File }

func (t *walker) top(body extract.Ref) {
	for c := range t.Children(body) {
		switch t.Kind(c) {
		case "block":
			t.block(c)
		case "ERROR":
			t.top(c)
		}
	}
}

// block declares a block at the top of a file.
func (t *walker) block(n extract.Ref) {
	var labels []string
	for c := range t.Children(n) {
		if t.Kind(c) == "string_lit" {
			labels = append(labels, t.literal(c))
		}
	}
	word, body := t.Text(t.Child(n, 0)), t.FirstOf(n, "body")
	label := func(i int) string {
		if i < len(labels) && labels[i] != "" {
			return labels[i]
		}
		return extract.Unknown
	}
	kind, name := extract.KindResource, ""
	switch word {
	case "resource":
		name = label(0) + "." + label(1)
	case "data":
		name = "data." + label(0) + "." + label(1)
	case "module":
		kind, name = recountv1.SymbolKind_SYMBOL_KIND_MODULE, "module."+label(0)
	case "variable":
		kind, name = recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, "var."+label(0)
	case "output":
		kind, name = recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, "output."+label(0)
	case "provider":
		name = "provider." + label(0)
		if alias := t.attribute(body, "alias"); alias != extract.None {
			name += "." + t.string(alias)
		}
	case "locals":
		t.locals(body)
		return
	case "terraform":
		t.required(body)
		return
	default:
		t.expressions(body, 0, "")
		return
	}
	d := extract.Declaration{Kind: kind, Name: name, Node: n, Doc: t.CommentBefore(n)}
	if open := t.FirstOf(n, "block_start"); open != extract.None {
		d.Head = t.Start(open)
	}
	in, decl := t.Declare(d)
	decl.Exported = true
	switch word {
	case "resource", "data":
		decl.Attributes = map[string]string{"kind": extract.Clip(label(0), extract.MaxValue)}
	case "variable", "output":
		decl.Doc = extract.FirstOf(decl.Doc, extract.Clip(t.string(t.attribute(body, "description")), extract.MaxDoc))
		decl.Type = extract.KnownPath(extract.Clip(extract.OneLine(t.Text(t.attribute(body, "type"))), extract.MaxPath))
	case "module":
		if source := t.string(t.attribute(body, "source")); source != "" {
			t.AddImport(in, source, t.attribute(body, "source")).Alias = extract.Clip(label(0), extract.MaxName)
			decl.Attributes = map[string]string{"source": extract.Clip(source, extract.MaxValue)}
		}
		t.arguments(body, in, label(0))
	}
	t.expressions(body, in, word)
}

// arguments adds references to the variables that a module is called with.
func (t *walker) arguments(body extract.Ref, in uint32, module string) {
	for c := range t.Children(body) {
		if t.Kind(c) != "attribute" {
			continue
		}
		switch name := t.Text(t.Child(c, 0)); name {
		case "source", "version", "count", "for_each", "providers", "depends_on":
		default:
			r := t.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, in, extract.Checked("module."+module+"."+name), c)
			r.Attributes = map[string]string{"argument": extract.Clip(name, extract.MaxValue)}
		}
	}
}

func (t *walker) locals(body extract.Ref) {
	for c := range t.Children(body) {
		if t.Kind(c) == "attribute" {
			in, decl := t.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, Name: "local." + t.Text(t.Child(c, 0)), Node: c, Doc: t.CommentBefore(c)})
			decl.Exported = true
			t.expressions(c, in, "locals")
		}
	}
}

// required imports the providers of a terraform block.
func (t *walker) required(body extract.Ref) {
	for b := range t.Children(body) {
		if t.Kind(b) != "block" || t.Text(t.Child(b, 0)) != "required_providers" {
			continue
		}
		for c := range t.Children(t.FirstOf(b, "body")) {
			if t.Kind(c) != "attribute" {
				continue
			}
			for n := c + 1; n < extract.Ref(t.Nodes[c].Next); n++ {
				if t.Kind(n) == "object_elem" && t.Text(t.Field(n, "key")) == "source" {
					if source := t.string(t.Field(n, "val")); source != "" {
						t.AddImport(0, source, c).Alias = extract.Clip(t.Text(t.Child(c, 0)), extract.MaxName)
					}
				}
			}
		}
	}
}

// attribute returns the expression of an attribute of a body.
func (t *walker) attribute(body extract.Ref, name string) extract.Ref {
	for c := range t.Children(body) {
		if t.Kind(c) == "attribute" && t.Text(t.Child(c, 0)) == name {
			return t.Child(c, 1)
		}
	}
	return extract.None
}

// string returns the text of an expression that is a plain string.
func (t *walker) string(n extract.Ref) string {
	for n != extract.None && t.Kind(n) != "string_lit" {
		first := t.Child(n, 0)
		if k := t.Kind(n); k != "expression" && k != "literal_value" || first == extract.None {
			return ""
		}
		n = first
	}
	return t.literal(n)
}

func (t *walker) literal(n extract.Ref) string {
	return t.Text(t.FirstOf(n, "template_literal"))
}

// expressions adds references to what the expressions below a node name.
func (t *walker) expressions(n extract.Ref, in uint32, word string) {
	if n == extract.None {
		return
	}
	for c := n + 1; c < extract.Ref(t.Nodes[n].Next); c++ {
		if t.Kind(c) != "variable_expr" {
			continue
		}
		words := []string{t.Text(c)}
		for a := t.Next(c); a != extract.None && t.Kind(a) == "get_attr" && len(words) < 3; a = t.Next(a) {
			words = append(words, t.Text(t.Child(a, 0)))
		}
		edge, length := extract.DependsOn, 2
		switch head := words[0]; {
		case head == "var" || head == "local":
			edge = recountv1.EdgeKind_EDGE_KIND_REFERENCES
		case head == "module":
			length = 3
		case head == "data":
			length = 3
		case t.isProvider(c):
			words = append([]string{"provider"}, words...)
			edge, length = recountv1.EdgeKind_EDGE_KIND_REFERENCES, 3
		case !strings.Contains(head, "_"):
			continue // each, self, path, a type, a variable of a loop: not the type of a resource
		}
		if len(words) < 2 {
			continue
		}
		t.Refer(edge, in, extract.Checked(strings.Join(words[:min(length, len(words))], ".")), c)
	}
}

// isProvider reports whether an expression is the value of the attribute provider.
func (t *walker) isProvider(n extract.Ref) bool {
	p := t.Parent(t.Parent(n))
	return t.Kind(p) == "attribute" && t.Text(t.Child(p, 0)) == "provider"
}
