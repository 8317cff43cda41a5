package commandview

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// Why draws what led to a command as a tree with the command at its root: below each command
// those that led to it, the best supported first.
func Why(d *render.Drawing, r ask.WhyResponse) {
	ids := []schemas.EventID{r.Root.ID}
	for _, c := range r.Causes {
		ids = append(ids, c.ID)
	}
	for _, f := range r.Fixes {
		ids = append(ids, f.ID)
	}
	d.IDs = render.Abbreviate(ids)
	started := render.TimeUnknown
	if !r.Root.Untimed {
		started = fmt.Sprintf("%s (%s)", r.Root.Time.Local().Format(time.DateTime), render.Ago(d.Now, r.Root.Time))
	}
	d.Print(Line(d, "", r.Root, render.Bold,
		started, where(d, r.Root.Cwd, "")))
	replayed(d, "│  ", r.Replays)
	if len(r.Causes) == 0 {
		d.Print("└─ " + d.Paint(render.Dim, "nothing is known to have led to it"))
	}
	t := whyTree{d: d, children: map[schemas.EventID][]ask.Cause{}, edges: byPair(r.Edges)}
	known := map[schemas.EventID]bool{}
	for _, id := range ids {
		known[id] = true
	}
	for _, c := range r.Causes {
		at := r.Root.ID
		// The limit may have omitted commands on the path.
		for i := len(c.Path) - 2; i > 0; i-- {
			if known[c.Path[i]] && c.Path[i] != c.ID {
				at = c.Path[i]
				break
			}
		}
		t.children[at] = append(t.children[at], c)
	}
	t.draw(r.Root.ID, r.Root.Cwd, r.Root.Time, "")
	if len(r.Fixes) > 0 {
		d.Print("fixed later:")
	}
	for _, f := range r.Fixes {
		d.Print(Line(d, "   ", f.Intent, "", render.Before(f.Time, r.Root.Time), where(d, f.Cwd, r.Root.Cwd)))
		d.Text("      ", render.Dim, render.OneLine(f.Why))
	}
	id := d.IDs[r.Root.ID]
	r.Hint = strings.Replace(strings.TrimPrefix(r.Hint, ask.NothingShows), ask.RanBefore,
		fmt.Sprintf("recount why %s --kind temporal lists what ran before it, recount stitch %s what ran around it", id, id), 1)
	d.Hint(r.Basis)
}

type whyTree struct {
	d        *render.Drawing
	children map[schemas.EventID][]ask.Cause
	edges    map[pair][]ask.Edge
}

// draw draws what led to a command, below lead.
func (t *whyTree) draw(of schemas.EventID, cwd string, root time.Time, lead string) {
	for i, c := range t.children[of] {
		fork, below := "├─ ", "│  "
		if i == len(t.children[of])-1 {
			fork, below = "└─ ", "   "
		}
		sure := ""
		if c.Confidence > 0 {
			sure = fmt.Sprintf("confidence %.2f", c.Confidence)
		}
		t.d.Print(Line(t.d, lead+fork, c.Intent, "", render.Before(c.Time, root), sure, where(t.d, c.Cwd, cwd)))
		more := lead + below + "   "
		if len(t.children[c.ID]) > 0 {
			more = lead + below + "│  "
		}
		// Use the edge of the path, because the limit may have omitted the commands on it.
		to := of
		if n := len(c.Path); n >= 2 {
			to = c.Path[n-2]
		}
		edges := t.edges[pair{c.ID, to}]
		if len(edges) == 0 && c.Why != "" {
			t.d.Text(more, render.Dim, render.OneLine(c.Why))
		}
		for _, e := range edges {
			t.d.Text(more, render.Dim, edgeText(t.d, e))
		}
		t.draw(c.ID, c.Cwd, root, lead+below)
	}
}
