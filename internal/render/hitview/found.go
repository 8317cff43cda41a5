package hitview

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
)

// Found prints the answer of a search for people: a line for each command.
func Found(t *render.Terminal, r ask.SearchResponse, now time.Time) {
	for _, h := range r.Hits {
		runs := ""
		if h.Runs > 1 {
			runs = fmt.Sprintf("  %s×", render.Thousands(h.Runs))
		}
		t.Printf("%s %s  %s%s\n", t.ExitMark(h.ExitCode), t.Paint(render.Bold, render.OneLine(h.Command)), t.Paint(render.Dim, render.Ago(now, h.Time)), t.Paint(render.Dim, runs))
	}
	if len(r.Hits) == 0 {
		t.Printf("nothing found\n")
	}
	if r.Hint != "" {
		t.Printf("%s\n", t.Paint(render.Dim, r.Hint))
	}
}
