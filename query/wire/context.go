package wire

import (
	"strings"

	packing "github.com/recountdb/recount/query/context"
)

// context has the files to look at, and what to read: source code as the text of its symbol.
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
		l.Add(n, i.Doc)
	}
	p.announced(a.Announced.Announced)
}
