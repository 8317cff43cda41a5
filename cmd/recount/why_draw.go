package main

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// drawWhy draws what led to a command as a tree with the command at its root: below each command
// those that led to it, the best supported first.
func (d *drawing) drawWhy(r commands.WhyResponse) {
	ids := []schemas.EventID{r.Root.ID}
	for _, c := range r.Causes {
		ids = append(ids, c.ID)
	}
	d.ids = abbreviate(ids)
	started := timeUnknown
	if !r.Root.Untimed {
		started = fmt.Sprintf("%s (%s)", r.Root.Time.Local().Format(time.DateTime), ago(d.now, r.Root.Time))
	}
	d.print(d.command("", r.Root, bold,
		started, d.where(r.Root.Cwd, "")))
	if len(r.Causes) == 0 {
		d.print("└─ " + d.paint(dim, "nothing is known to have led to it"))
	}
	t := whyTree{d: d, root: r.Root.ID, children: map[schemas.EventID][]commands.Cause{}, edges: byPair(r.Edges)}
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
	d.hint(r.Basis)
}

type whyTree struct {
	d        *drawing
	root     schemas.EventID
	children map[schemas.EventID][]commands.Cause
	edges    map[pair][]commands.Edge
}

// draw draws what led to a command, below lead.
func (t *whyTree) draw(of schemas.EventID, cwd string, root time.Time, lead string) {
	for i, c := range t.children[of] {
		fork, below := "├─ ", "│  "
		if i == len(t.children[of])-1 {
			fork, below = "└─ ", "   "
		}
		t.d.print(t.d.command(lead+fork, c.Intent, "", before(c.Time, root), t.d.where(c.Cwd, cwd)))
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
			t.d.text(more, dim, oneLine(c.Why))
		}
		for _, e := range edges {
			t.d.text(more, dim, edgeText(e))
		}
		t.draw(c.ID, c.Cwd, root, lead+below)
	}
}
