package codeview

import (
	"fmt"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
)

// Snapshot prints what the snapshot of a revision holds.
func Snapshot(t *render.Terminal, r code.SnapshotResponse) {
	t.Printf("%s\n%s\n\n", t.Paint(render.Yellow, "commit "+r.Revision.Commit), render.PlainText(schemas.Quoted(strings.TrimSpace(r.Message), "    ")))
	t.Printf("  repository %s\n", render.OneLine(r.Revision.Repo))
	t.Printf("  author     %s %s\n", render.OneLine(r.Revision.Author), render.Day(r.Revision.Time))
	t.Printf("  snapshot   %s\n", r.Revision.Snapshot)
	t.Printf("  event      %s\n", r.Revision.Position)
	for _, c := range []struct {
		name string
		of   code.Counted
	}{{"files", r.Files}, {"symbols", r.Symbols}, {"edges", r.Edges}, {"outside", r.Outside}} {
		t.Printf("  %-10s %s\n", c.name, render.Thousands(c.of.Total))
		for _, name := range c.of.Most() {
			t.Printf("  %10s   %s\n", render.Thousands(c.of.By[name]), render.OneLine(name))
		}
	}
	t.Printf("  unresolved %s\n", render.Thousands(r.Unresolved))
	for _, p := range r.Partial {
		t.Printf("  %s %s\n", t.Paint(render.Yellow, "partial"), render.OneLine(p))
	}
}

// Snapshots prints commits with their snapshots, one a line.
func Snapshots(t *render.Terminal, r code.LogResponse) {
	for _, s := range r.Snapshots {
		graph := fmt.Sprintf("%.12s", s.Snapshot.String())
		if s.NoGraph != "" {
			graph = "no graph: " + s.NoGraph
		}
		t.Printf("%s %s  %s\n", t.Paint(render.Yellow, fmt.Sprintf("%.12s", s.Commit)), render.OneLine(s.Subject),
			t.Paint(render.Dim, fmt.Sprintf("%s %s · %s · %s", render.Day(s.Time), render.OneLine(s.Author), render.Count(s.Changed, "file"), render.OneLine(graph))))
	}
	if r.Truncated {
		t.Printf("%s\n", t.Paint(render.Dim, "… there are more; --limit shows them"))
	}
}
