package codeview

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// Running prints the callers seen at runtime, separate from those in the code.
func Running(t *render.Terminal, r *code.RuntimeUse) {
	if r == nil {
		return
	}
	t.Printf("\n%s\n", t.Paint(render.Cyan, "at run time"))
	for _, x := range r.Callers {
		caller := x.Caller
		if caller == "" {
			caller = "a caller without spans"
		}
		failed := ""
		if x.Errors > 0 {
			failed = t.Paint(render.Red, fmt.Sprintf(" (%s failed)", render.Thousands(int64(x.Errors))))
		}
		t.Printf("  %s → %s %s  %s×%s  %s\n", t.Paint(render.Cyan, render.OneLine(caller)), render.OneLine(x.Service), t.Paint(render.Bold, render.OneLine(x.Operation)), render.Thousands(int64(x.Count)), failed,
			t.Paint(render.Dim, fmt.Sprintf("last %sZ, confidence %.2f", x.Last.UTC().Format(time.DateTime), x.Confidence)))
		away := ""
		if x.Distance > 0 {
			away = fmt.Sprintf(", %d away", x.Distance)
		}
		trace := ""
		if x.Trace != "" {
			trace = ", as in trace " + x.Trace
		}
		t.Printf("      %s%s%s\n", Symbol(t, x.Handler), t.Paint(render.Dim, "  by "+x.Rule+away+trace), Sure(x.Sure))
	}
	t.Truncated(r.Truncated, "--limit shows more")
	if r.Hint != "" {
		t.Printf("  %s\n", t.Paint(render.Dim, render.OneLine(r.Hint)))
	}
}
