package nodeview

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/server/api"
)

// Fsck prints the result of checking the code graph as it is stored.
func Fsck(t *render.Terminal, r api.FsckReport) {
	for _, f := range r.Faults {
		where := render.OneLine(f.Repo)
		if f.Commit != "" {
			where += fmt.Sprintf(" at %.12s", f.Commit)
		}
		if f.Map != "" {
			where += ", map " + f.Map
		}
		t.Printf("%s %s: %s\n", t.Paint(render.Red, "WRONG"), where, render.OneLine(f.What))
	}
	if r.More {
		t.Printf("… the check stopped here; there may be more\n")
	}
	if r.OK {
		t.Printf("%s ", t.Paint(render.Green, "clean"))
	}
	t.Printf("%s in %s; %s of %s; %s\n", render.Count(r.Snapshots, "snapshot"), render.Count(r.Repositories, "repository", "repositories"),
		render.Count(r.Chunks, "chunk"), render.Count(int(r.Bytes), "byte"), render.Count(int(r.Edges), "edge"))
	if r.Unused > 0 {
		t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("%s in no snapshot", render.Count(r.Unused, "chunk"))))
	}
	t.Printf("%s\n", t.Paint(render.Dim, "checked in "+query.Took(time.Duration(r.ElapsedMS)*time.Millisecond)))
	if !r.OK {
		t.Printf("recount rebuild --projection code rebuilds the graph from the log\n")
	}
}
