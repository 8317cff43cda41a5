package wire

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/query/code"
)

func (p *Payload) graphDiff(a code.GraphDiffResponse) {
	p.revision("base", a.Base)
	p.revision("at", a.Revision)
	p.counts(a.Counts)
	p.Set("truncated", count(a.Truncated))
	p.basis(a.Basis)
	l := p.List("failed", "threshold")
	for _, f := range a.Failed {
		l.Join(nil, f.String())
	}
	l = p.List("symbols", "change", "was_at", "was")
	for _, s := range a.Symbols {
		n := symbol(s.Symbol, a.Revision)
		n.Signature = strings.Join(strings.Fields(s.Signature), " ")
		at, was := "", ""
		if s.Before != nil {
			if at = s.Before.Place(); at == s.Place() {
				at = ""
			}
			if was = strings.Join(strings.Fields(s.Before.Signature), " "); was == n.Signature {
				was = ""
			}
		}
		l.Add(n, s.Change, at, was)
	}
	l = p.List("edges", "change", "from", "edge", "to", "site", "provenance", "confidence", "outside")
	for _, e := range a.Edges {
		l.Join(nil, e.Change, e.From, e.Edge, e.To, e.Site, e.Provenance, number(e.Confidence), flag(e.Outside))
	}
	l = p.List("dependencies", "change", "repo", "site")
	for _, d := range a.Dependencies {
		l.Add(Node{Kind: d.Language, Name: d.Package}, d.Change, d.Repo, d.Site)
	}
	l = p.List("elsewhere", "change", "of", "edge", "site", "confidence")
	for _, u := range a.Elsewhere {
		l.Add(symbol(u.Symbol, a.Revision), u.Change, u.Of, u.Edge, site(u.Site, u.Symbol, a.Revision), number(u.Confidence))
	}
	l = p.List("owners", "files", "first")
	for _, o := range a.Owners {
		l.Join(nil, count(o.Count), strings.Join(o.Files, ","))
		r := &l.Rows[len(l.Rows)-1]
		if o.Owner != "" {
			r.Nodes = []Node{{Kind: "owner", Name: o.Owner}}
		}
	}
	if a.Impact == nil {
		return
	}
	l = p.List("impact", "symbols", "packages", "repositories", "tests")
	l.reach("before", a.Impact.Before)
	l.reach("after", a.Impact.After)
	l = p.List("reach_by_symbol", "change", "before", "after")
	for _, s := range a.Impact.Symbols {
		l.Add(symbol(s.Symbol, a.Revision), s.Change, fmt.Sprint(s.Before), fmt.Sprint(s.After))
	}
	l = p.List("untested")
	for _, s := range a.Impact.Untested {
		l.Add(symbol(s, a.Revision))
	}
}

func (l *List) reach(when string, r code.Reach) {
	l.Add(Node{Kind: "reach", Name: when}, fmt.Sprint(r.Symbols), fmt.Sprint(r.Packages), fmt.Sprint(r.Repositories), fmt.Sprint(r.Tests))
}
