package extract

import (
	"strings"

	"github.com/smacker/go-tree-sitter/hcl"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Terraform: blocks by the addresses that expressions know them by: "aws_s3_bucket.b",
// "data.aws_ami.x", "var.name", "local.n", "module.net", "output.id", "provider.aws".
// References have the paths of such addresses; what depends on a resource or a module
// refers to it by DEPENDS_ON.
var terraformLanguage = Language{
	Name: "terraform", Version: 1, Matches: suffixed(".tf", ".tofu"),
	Extract: parsed(loadGrammar(hcl.GetLanguage), func(f *file) {
		t := &terraformFile{f}
		for body := range t.children(0) {
			t.top(body)
		}
	}),
}

type terraformFile struct{ *file }

func (t *terraformFile) top(body ref) {
	for c := range t.children(body) {
		switch t.kind(c) {
		case "block":
			t.block(c)
		case "ERROR":
			t.top(c)
		}
	}
}

// block declares a block of the file's top.
func (t *terraformFile) block(n ref) {
	var labels []string
	for c := range t.children(n) {
		if t.kind(c) == "string_lit" {
			labels = append(labels, t.literal(c))
		}
	}
	word, body := t.text(t.child(n, 0)), t.firstOf(n, "body")
	label := func(i int) string {
		if i < len(labels) && labels[i] != "" {
			return labels[i]
		}
		return unknown
	}
	kind, name := kindResource, ""
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
		if alias := t.attribute(body, "alias"); alias != none {
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
	d := declaration{kind: kind, name: name, node: n, doc: t.commentBefore(n)}
	if open := t.firstOf(n, "block_start"); open != none {
		d.head = t.start(open)
	}
	in, decl := t.declare(d)
	decl.Exported = true
	switch word {
	case "resource", "data":
		decl.Attributes = map[string]string{"kind": clip(label(0), maxValue)}
	case "variable", "output":
		decl.Doc = firstOf(decl.Doc, clip(t.string(t.attribute(body, "description")), maxDoc))
		decl.Type = knownPath(clip(oneLine(t.text(t.attribute(body, "type"))), maxPath))
	case "module":
		if source := t.string(t.attribute(body, "source")); source != "" {
			t.addImport(in, source, t.attribute(body, "source")).Alias = clip(label(0), maxName)
			decl.Attributes = map[string]string{"source": clip(source, maxValue)}
		}
		t.arguments(body, in, label(0))
	}
	t.expressions(body, in, word)
}

// arguments refer to the variables that a module is given.
func (t *terraformFile) arguments(body ref, in uint32, module string) {
	for c := range t.children(body) {
		if t.kind(c) != "attribute" {
			continue
		}
		switch name := t.text(t.child(c, 0)); name {
		case "source", "version", "count", "for_each", "providers", "depends_on":
		default:
			r := t.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, in, checked("module."+module+"."+name), c)
			r.Attributes = map[string]string{"argument": clip(name, maxValue)}
		}
	}
}

func (t *terraformFile) locals(body ref) {
	for c := range t.children(body) {
		if t.kind(c) == "attribute" {
			in, decl := t.declare(declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, name: "local." + t.text(t.child(c, 0)), node: c, doc: t.commentBefore(c)})
			decl.Exported = true
			t.expressions(c, in, "locals")
		}
	}
}

// required imports the providers of a terraform block.
func (t *terraformFile) required(body ref) {
	for b := range t.children(body) {
		if t.kind(b) != "block" || t.text(t.child(b, 0)) != "required_providers" {
			continue
		}
		for c := range t.children(t.firstOf(b, "body")) {
			if t.kind(c) != "attribute" {
				continue
			}
			for n := c + 1; n < ref(t.nodes[c].next); n++ {
				if t.kind(n) == "object_elem" && t.text(t.field(n, "key")) == "source" {
					if source := t.string(t.field(n, "val")); source != "" {
						t.addImport(0, source, c).Alias = clip(t.text(t.child(c, 0)), maxName)
					}
				}
			}
		}
	}
}

// attribute is the expression of an attribute of a body.
func (t *terraformFile) attribute(body ref, name string) ref {
	for c := range t.children(body) {
		if t.kind(c) == "attribute" && t.text(t.child(c, 0)) == name {
			return t.child(c, 1)
		}
	}
	return none
}

// string is the text of an expression that is a plain string.
func (t *terraformFile) string(n ref) string {
	for n != none && t.kind(n) != "string_lit" {
		first := t.child(n, 0)
		if k := t.kind(n); k != "expression" && k != "literal_value" || first == none {
			return ""
		}
		n = first
	}
	return t.literal(n)
}

func (t *terraformFile) literal(n ref) string { return t.text(t.firstOf(n, "template_literal")) }

// expressions refers to what the expressions below a node name.
func (t *terraformFile) expressions(n ref, in uint32, word string) {
	if n == none {
		return
	}
	for c := n + 1; c < ref(t.nodes[n].next); c++ {
		if t.kind(c) != "variable_expr" {
			continue
		}
		words := []string{t.text(c)}
		for a := t.next(c); a != none && t.kind(a) == "get_attr" && len(words) < 3; a = t.next(a) {
			words = append(words, t.text(t.child(a, 0)))
		}
		edge, length := dependsOn, 2
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
			continue // each, self, path, a type, a variable of a loop: no resource's type
		}
		if len(words) < 2 {
			continue
		}
		t.refer(edge, in, checked(strings.Join(words[:min(length, len(words))], ".")), c)
	}
}

// isProvider reports whether an expression is the value of the attribute provider.
func (t *terraformFile) isProvider(n ref) bool {
	p := t.parent(t.parent(n))
	return t.kind(p) == "attribute" && t.text(t.child(p, 0)) == "provider"
}
