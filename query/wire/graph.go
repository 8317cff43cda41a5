package wire

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/query/code"
)

func (p *Payload) flow(a code.FlowResponse) {
	p.revision("at", a.Revision)
	p.Set("truncated", flag(a.Truncated))
	p.basis(a.Basis)
	p.List("between").Join([]Node{symbol(a.From, a.Revision), symbol(a.To, a.Revision)})
	for i, path := range a.Paths {
		l := p.List("path"+strconv.Itoa(i+1), "edge", "site", "provenance", "confidence")
		for _, h := range path.Steps {
			l.Add(symbol(h.Symbol, a.Revision), h.Edge, site(h.Site, h.Symbol, a.Revision), h.Provenance, number(h.Confidence))
		}
	}
}

func (p *Payload) routes(a code.RoutesResponse) {
	p.revision("at", a.Revision)
	p.Set("total", count(a.Total))
	p.Set("truncated", count(a.Truncated))
	p.basis(a.Basis)
	l := p.List("routes", "framework", "middleware", "provenance", "confidence")
	for _, r := range a.Routes {
		nodes := []Node{{Kind: r.Method, Name: r.Path, Path: r.File, Line: r.Line}}
		provenance, least := "", 0.0
		for i, h := range r.Handlers {
			n := symbol(h.Symbol, a.Revision)
			if h.Outside {
				n.Kind, n.Name = "outside", strings.Trim(h.Package+"."+h.Name, ".")
			}
			nodes = append(nodes, n)
			if i == 0 || h.Confidence < least {
				provenance, least = h.Provenance, h.Confidence
			}
		}
		l.Join(nodes, r.Framework, strings.Join(r.Middleware, ","), provenance, number(least))
	}
}

func (p *Payload) stale(a code.StaleResponse) {
	p.revision("at", a.Revision)
	if a.Base != nil {
		p.revision("base", *a.Base)
	}
	p.counts(a.Counts)
	p.Set("truncated", count(a.Truncated))
	p.basis(a.Basis)
	l := p.List("stale", "finding", "confidence", "site", "of", "why")
	for _, f := range a.Findings {
		l.Add(symbol(f.Symbol, a.Revision), f.Finding, number(f.Confidence), site(f.Site, f.Symbol, a.Revision), f.Of, f.Why)
	}
}

func (p *Payload) owners(a code.OwnersResponse) {
	p.revision("at", a.Revision)
	p.Set("file", a.File)
	p.Set("owners", strings.Join(a.Owners, ","))
	p.Set("commits", count(a.Commits))
	p.Set("truncated", count(a.Truncated))
	p.basis(a.Basis)
	l := p.List("rules", "place", "section")
	for _, r := range a.Rules {
		l.Add(Node{Kind: "rule", Name: r.Pattern}, r.Place, r.Section)
	}
	l = p.List("authors", "commits", "last", "commit")
	for _, w := range a.Authors {
		l.Add(Node{Kind: "author", Name: w.Name}, count(w.Commits), moment(w.Last), w.Commit[:min(shortCommit, len(w.Commit))])
	}
	l = p.List("symbols", "changes", "added", "added_by", "since", "last", "last_by")
	for _, s := range a.Symbols {
		added, addedBy := touch(s.Added)
		last, lastBy := touch(s.Last)
		l.Add(symbol(s.Symbol, a.Revision), count(s.Changes), added, addedBy, s.Since[:min(shortCommit, len(s.Since))], last, lastBy)
	}
}

func touch(t *code.Touch) (commit, author string) {
	if t == nil {
		return "", ""
	}
	return t.Commit[:min(shortCommit, len(t.Commit))], t.Author
}
