package wire

import (
	"strings"

	"github.com/recountdb/recount/query/code"
)

// shortCommit is how much of a commit is written; git finds it again.
const shortCommit = 12

// revision sets the revision of an answer.
func (p *Payload) revision(name string, r code.Revision) {
	if r.Commit == "" {
		return
	}
	p.Set(name, r.Repo+"@"+r.Commit[:min(shortCommit, len(r.Commit))])
}

// symbol returns the node of a symbol. One in another repository than the answer's has the
// repository before its path: github.com/acme/web//src/cart.ts. A test has the kind test.
func symbol(s code.Symbol, in code.Revision) Node {
	n := Node{Kind: s.Kind, Name: s.Name + s.Variant, Path: s.File, Line: s.Line, EndLine: s.EndLine}
	switch {
	case s.Kind == "file":
		n.Name = "" // its place has it
	case s.Test:
		n.Kind = "test"
	}
	if s.Repo != in.Repo && s.Repo != "" && n.Path != "" {
		n.Path = s.Repo + "//" + n.Path
	}
	if n.EndLine <= n.Line {
		n.EndLine = 0
	}
	return n
}

// site returns a place of an edge, in the repository of its symbol.
func site(at string, s code.Symbol, in code.Revision) string {
	if at != "" && s.Repo != in.Repo && s.Repo != "" {
		return s.Repo + "//" + at
	}
	return at
}

func (p *Payload) symbols(a code.SymbolsResponse) {
	p.revision("at", a.Revision)
	p.Set("truncated", count(a.Truncated))
	p.basis(a.Basis)
	l := p.List("symbols", "match")
	for _, h := range a.Symbols {
		n := symbol(h.Symbol, a.Revision)
		n.Signature, n.Text = strings.Join(strings.Fields(h.Signature), " "), h.Doc
		l.Add(n, h.Match)
	}
	p.announced(a.Announced.Announced)
}
