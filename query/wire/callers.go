package wire

import (
	"strings"

	"github.com/recountdb/recount/query/code"
)

func (p *Payload) calls(a code.CallsResponse) {
	p.revision("at", a.Revision)
	p.Set("total", count(a.Total))
	p.Set("truncated", count(a.Truncated))
	p.basis(a.Basis)
	p.List("of").Add(symbol(a.Symbol, a.Revision))
	l := p.List(p.Question, "site", "via", "depth", "edge", "provenance", "confidence", "more_sites")
	for _, c := range a.Calls {
		sites := 0
		if c.SiteCount > 1 {
			sites = c.SiteCount - 1
		}
		via := c.Via
		if via == a.Symbol.Name {
			via = ""
		}
		l.Add(symbol(c.Symbol, a.Revision), site(c.Site, c.Symbol, a.Revision), via, count(c.Depth), c.Edge, c.Provenance, number(c.Confidence), count(sites))
	}
	l = p.List("outside", "edge", "by", "site", "confidence")
	for _, f := range a.Outside {
		l.Add(Node{Kind: f.Language, Name: strings.TrimSuffix(f.Package+"."+f.Name, ".")}, f.Edge, f.By, f.Site, number(f.Conf))
	}
	p.running(a.Runtime, a.Revision)
	p.announced(a.Announced.Announced)
}

// running adds the callers that were seen at run time.
func (p *Payload) running(r *code.RuntimeUse, in code.Revision) {
	if r == nil {
		return
	}
	p.Set("runtime_hint", r.Hint)
	p.Set("runtime_truncated", count(r.Truncated))
	l := p.List("runtime", "caller", "service", "operation", "kind", "calls", "errors", "last", "confidence", "distance", "trace")
	for _, c := range r.Callers {
		l.Add(symbol(c.Handler, in), c.Caller, c.Service, c.Operation, c.Kind, count(c.Count), count(c.Errors), moment(c.Last), number(c.Confidence), count(c.Distance), c.Trace)
	}
}
