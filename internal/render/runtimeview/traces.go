package runtimeview

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/runtime"
)

// maxNamed is the maximum number of services that a line names.
const maxNamed = 5

// Traces prints a list of traces, two or three lines each.
func Traces(t *render.Terminal, r runtime.TracesResponse) {
	for _, x := range r.Traces {
		t.Printf("%s  %s %s  %s\n", t.Paint(render.Yellow, x.Trace), t.Paint(render.Cyan, render.OneLine(x.Service)), t.Paint(render.Bold, render.OneLine(x.Operation)), lasted(x.Duration))
		spans := render.Count(x.Spans, "span")
		if x.Failed > 0 {
			spans += ", " + t.Paint(render.Red, fmt.Sprintf("%d failed", x.Failed))
		}
		named := x.Services
		more := ""
		if len(named) > maxNamed {
			named, more = named[:maxNamed], fmt.Sprintf(" and %d more", len(x.Services)-maxNamed)
		}
		t.Printf("    %s\n", t.Paint(render.Dim, x.Start.Format(time.DateTime)+"Z  ")+spans+t.Paint(render.Dim, "  "+render.OneLine(strings.Join(named, ", "))+more))
		if m := x.Match; m.Service != x.Service || m.Operation != x.Operation {
			outcome := ""
			if m.Failed {
				outcome = " " + t.Paint(render.Red, "failed")
			}
			t.Printf("    %s%s\n", t.Paint(render.Dim, fmt.Sprintf("span %s  %s %s  %s", m.Span, render.OneLine(m.Service), render.OneLine(m.Operation), lasted(m.Duration))), outcome)
		}
	}
	switch {
	case r.LookedBackTo != nil:
		t.Printf("%s\n", t.Paint(render.Dim, "looked at the newest spans, back to "+r.LookedBackTo.Format(time.DateTime)+"Z; --to looks at earlier ones"))
	case r.More:
		t.Printf("%s\n", t.Paint(render.Dim, "there are more; --limit shows them"))
	}
}
