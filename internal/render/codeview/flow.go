package codeview

import (
	"fmt"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// Flow prints paths of calls.
func Flow(t *render.Terminal, r code.FlowResponse) {
	heading(t, r.Revision)
	for i, p := range r.Paths {
		t.Printf("%s\n", t.Paint(render.Cyan, fmt.Sprintf("path %d: %s, %.2f", i+1, render.Count(len(p.Steps)-1, "step"), p.Confidence)))
		for _, h := range p.Steps {
			note := ""
			if h.Edge != "" {
				note = t.Paint(render.Dim, "  "+h.Edge+" at "+render.OneLine(h.Site)) + Sure(h.Confidence)
			}
			t.Printf("  %s%s\n", Symbol(t, h.Symbol), note)
		}
	}
	if r.Truncated {
		t.Printf("%s\n", t.Paint(render.Dim, "… there are more paths of this length; --limit shows more"))
	}
}
