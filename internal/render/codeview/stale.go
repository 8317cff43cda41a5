package codeview

import (
	"fmt"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// Stale prints what seems to be out of date, by kind.
func Stale(t *render.Terminal, r code.StaleResponse) {
	heading(t, r.Revision)
	if r.Base != nil {
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("compared with %.12s of %s", r.Base.Commit, render.Day(r.Base.Time))))
	}
	kind := ""
	for _, x := range r.Findings {
		if x.Finding != kind {
			kind = x.Finding
			t.Printf("\n%s\n", t.Paint(render.Cyan, fmt.Sprintf("%s: %s", kind, render.Thousands(r.Counts[kind]))))
		}
		line := Symbol(t, x.Symbol)
		if x.Of != "" {
			line += "  " + render.OneLine(x.Of)
		}
		if x.Site != x.Place() {
			line += t.Paint(render.Dim, " at "+render.OneLine(x.Site))
		}
		t.Printf("  %s  %s  %.2f\n", line, t.Paint(render.Dim, render.OneLine(x.Why)), x.Confidence)
	}
	t.Truncated(r.Truncated, "--limit shows more, --kind and --path fewer")
}
