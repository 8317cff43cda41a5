package codeview

import (
	"fmt"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// known describes how a call is known, if it is more than a plain call.
func known(t *render.Terminal, repo string, x code.Call) string {
	s := ""
	if x.Repo != repo {
		s += "  in " + render.OneLine(x.Repo)
	}
	s += "  " + x.Edge + " at " + render.OneLine(x.Site)
	if x.Via != "" {
		s += " via " + render.OneLine(x.Via)
	}
	return t.Paint(render.Dim, s)
}

// Calls prints the callers or callees of a symbol, with levels under a heading for each distance.
func Calls(t *render.Terminal, r code.CallsResponse, levels bool) {
	heading(t, r.Revision)
	t.Printf("%s\n", Symbol(t, r.Symbol))
	at := 0
	for _, x := range r.Calls {
		if levels && x.Depth != at {
			at = x.Depth
			t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("%d away", at)))
		}
		t.Printf("  %s%s%s\n", Symbol(t, x.Symbol), known(t, r.Revision.Repo, x), Sure(x.Confidence))
	}
	for _, x := range r.Outside {
		t.Printf("  %s  %s\n", render.OneLine(x.Package+"."+x.Name), t.Paint(render.Dim, "outside, "+x.Edge+" at "+render.OneLine(x.Site)))
	}
	t.Truncated(r.Truncated, "--limit shows more")
	Running(t, r.Runtime)
}
