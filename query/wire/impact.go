package wire

import "github.com/recountdb/recount/query/code"

// affectedColumns are those of symbols that a change can reach. What is often the same comes last, so
// that it is left out.
var affectedColumns = []string{"via", "site", "distance", "edge", "confidence"}

func (l *List) affected(x code.Affected, in code.Revision) {
	l.Add(symbol(x.Symbol, in), x.Via, site(x.Site, x.Symbol, in), count(x.Distance), x.Edge, number(x.Confidence))
}

func (p *Payload) impact(a code.ImpactResponse) {
	p.revision("at", a.Revision)
	if a.Base != nil {
		p.revision("base", *a.Base)
	}
	p.Set("changed", count(a.ChangedCount))
	p.Set("reached", count(a.Total))
	p.Set("tests", count(a.TestCount))
	if a.DocumentCount > 0 {
		p.Set("documents", count(a.DocumentCount))
	}
	p.Set("truncated", count(a.Truncated))
	p.basis(a.Basis)
	l := p.List("changed")
	for _, s := range a.Changed {
		l.Add(symbol(s, a.Revision))
	}
	p.Set("packages", count(len(a.Groups)))
	l = p.List("packages", "count", "min_confidence")
	for _, g := range a.Groups {
		if len(g.Symbols) == 0 {
			continue // beyond the limit
		}
		name := g.Package
		if name == "" {
			name = g.Repo
		}
		l.Add(Node{Kind: "package", Name: name}, count(g.Count), number(g.Least))
	}
	l = p.List("reached", affectedColumns...)
	for _, g := range a.Groups {
		for _, x := range g.Symbols {
			l.affected(x, a.Revision)
		}
	}
	l = p.List("tests", affectedColumns...)
	for _, x := range a.Tests {
		l.affected(x, a.Revision)
	}
	l = p.List("documents", affectedColumns...)
	for _, x := range a.Documents {
		l.affected(x, a.Revision)
	}
	p.running(a.Runtime, a.Revision)
	p.announced(a.Announced.Announced)
}

func (p *Payload) tests(a code.TestsResponse) {
	p.revision("at", a.Revision)
	if a.Base != nil {
		p.revision("base", *a.Base)
	}
	p.Set("changed", count(a.Changed))
	p.Set("total", count(a.Total))
	p.Set("uncovered", count(a.UncoveredCount))
	p.Set("truncated", count(a.Truncated))
	p.basis(a.Basis)
	l := p.List("tests", affectedColumns...)
	for _, g := range a.Packages {
		for _, x := range g.Tests {
			l.affected(x, a.Revision)
		}
	}
	l = p.List("uncovered")
	for _, s := range a.Uncovered {
		l.Add(symbol(s, a.Revision))
	}
}
