package wire

import (
	"strings"

	packing "github.com/recountdb/recount/query/context"
)

// context has the files to look at, and what to read. The text of a symbol is its source code, or else
// the first sentence of its documentation.
func (p *Payload) context(a packing.Response) {
	p.revision("at", a.Revision)
	if !a.Known {
		p.Set("known", "no")
	}
	p.basis(a.Basis)
	l := p.List("files", "why", "test")
	for _, f := range a.Files {
		l.Add(Node{Kind: "file", Path: f.Path}, f.Why, flag(f.Test))
	}
	l = p.List("read", "doc")
	for _, i := range a.Items {
		n := symbol(*i.Symbol, a.Revision)
		n.Path, n.Line, n.EndLine = i.Path, uint32(i.Line), uint32(i.EndLine)
		if n.EndLine <= n.Line {
			n.EndLine = 0
		}
		if i.Text == "" {
			n.Signature = strings.Join(strings.Fields(i.Signature), " ")
		}
		n.Text = strings.TrimRight(i.Text, "\n")
		doc := i.DocBeside()
		if n.Text == "" {
			// As a part of its node it is not repeated where the node is.
			n.Text, doc = strings.Join(strings.Fields(doc), " "), ""
		}
		l.Add(n, doc)
	}
	p.announced(a.Announced.Announced)
}
