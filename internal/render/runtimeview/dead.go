package runtimeview

import (
	"cmp"
	"fmt"
	"slices"
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
	undecided(t, r.Unwatched)
}

// maxUndecided is how many folders are named of which no service sent spans.
const maxUndecided = 10

// undecided prints the folders of which it is not known whether their routes are called, those with the
// most routes first.
func undecided(t *render.Terminal, folders []runtime.Unwatched) {
	total := 0
	for _, u := range folders {
		total += u.Routes
	}
	if total == 0 {
		return
	}
	t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("undecided for %s, in folders of which no service sent spans:", render.Count(total, "route"))))
	sorted := slices.SortedStableFunc(slices.Values(folders), func(a, b runtime.Unwatched) int { return cmp.Compare(b.Routes, a.Routes) })
	for i, u := range sorted {
		if i == maxUndecided {
			t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("  … %s more; --json has all", render.Count(len(sorted)-i, "folder"))))
			break
		}
		where := u.Repo
		if u.Dir != "" {
			where += ":" + u.Dir
		}
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("  %4d  %s", u.Routes, render.OneLine(where))))
	}
}
