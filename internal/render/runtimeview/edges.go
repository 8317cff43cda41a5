package runtimeview

import (
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/query/runtime"
)

// Edges prints calls between services.
func Edges(t *render.Terminal, r runtime.EdgesResponse) {
	for _, x := range r.Edges {
		callee := t.Paint(render.Cyan, render.OneLine(x.Callee))
		if x.Outside {
			callee += t.Paint(render.Dim, " (no spans)")
		}
		t.Printf("%s → %s  %s %s  %s\n", t.Paint(render.Cyan, render.OneLine(x.Caller)), callee, x.Kind, t.Paint(render.Bold, render.OneLine(x.Operation)), measured(t, x.Measure))
		for _, d := range x.Declared {
			t.Printf("    called by %s%s\n", codeview.Symbol(t, d.Symbol), codeview.Sure(d.Confidence))
		}
		if !x.Outside || x.Code.Resolved() {
			t.Printf("    handled by %s\n", handled(t, x.Code))
		}
		t.Printf("    %s\n", lastSeen(t, x.Measure))
	}
	t.Truncated(r.Truncated, "--limit shows more")
	if r.Unjudged > 0 {
		t.Printf("%s\n", t.Paint(render.Dim, render.Count(r.Unjudged, "call")+" more cannot be judged: the repository of the caller, or the called operation, is not known"))
	}
}
