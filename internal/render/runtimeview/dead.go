package runtimeview

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/query/runtime"
)

// DeadRoutes prints what the code serves and nobody asked for.
func DeadRoutes(t *render.Terminal, r runtime.DeadRoutesResponse) {
	for _, x := range r.Routes {
		place := x.File
		if x.Line > 0 {
			place += fmt.Sprintf(":%d", x.Line)
		}
		t.Printf("%s  %s\n", t.Paint(render.Bold, render.OneLine(x.Name)), t.Paint(render.Dim, render.OneLine(x.Repo+" "+place)))
		if x.Handler != nil {
			t.Printf("    %s\n", codeview.Symbol(t, *x.Handler))
		}
		t.Printf("    %s\n", t.Paint(render.Dim, fmt.Sprintf("%s watched since %sZ", render.OneLine(strings.Join(x.By, ", ")), x.Watched.UTC().Format(time.DateTime))))
		if x.Changed != nil {
			t.Printf("    %s\n", codeview.ChangedBy(t, x.Changed))
		}
	}
	t.Truncated(r.Truncated, "--limit shows more")
	if r.Total > 0 || r.Seen > 0 {
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("%d never called, %d called", r.Total, r.Seen)))
	}
	for _, u := range r.Unwatched {
		where := u.Repo
		if u.Dir != "" {
			where += ":" + u.Dir
		}
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("undecided for %s of %s: none of its services sent spans", render.Count(u.Routes, "route"), render.OneLine(where))))
	}
}
