package commandview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// Show prints everything known of one command; around holds its neighbours.
func Show(t *render.Terminal, r ask.ShowResponse, around ask.StitchResponse, proof bool, now time.Time) {
	t.Printf("%s %s\n\n", t.ExitMark(r.ExitCode), t.Paint(render.Bold, render.Indent(render.PlainText(r.Command), "    ")))
	row := func(name string, lines ...string) {
		for i, l := range lines {
			lines[i] = render.OneLine(l)
		}
		if value := strings.Join(lines, "\n"+strings.Repeat(" ", 13)); value != "" {
			t.Printf("  %-10s %s\n", name, value)
		}
	}
	row("id", r.ID.String())
	row("position", r.Position.String())
	if r.Untimed {
		row("started", render.TimeUnknown)
	} else {
		row("started", fmt.Sprintf("%s (%s)", r.Time.Local().Format(time.RFC3339), render.Ago(now, r.Time)))
	}
	switch {
	case r.ExitCode == nil:
		row("outcome", "unknown")
	case r.Duration != nil:
		row("outcome", fmt.Sprintf("exit %d after %s", *r.ExitCode, query.Took(time.Duration(*r.Duration))))
	default:
		row("outcome", fmt.Sprintf("exit %d", *r.ExitCode))
	}
	if r.Outcome != nil {
		row("reported by", r.Outcome.String())
	}
	row("cwd", r.Cwd)
	row("workspace", r.Workspace)
	row("git head", r.GitHead)
	row("session", r.Session)
	row("shell", r.Shell)
	row("by", strings.Trim(r.User+"@"+r.Host, "@"))
	row("author", r.Author)
	row("intent", r.StatedIntent)
	row("category", r.Category)
	row("template", r.Template)
	row("programs", strings.Join(r.Programs, ", "))
	row("concepts", strings.Join(r.Concepts, ", "))
	var resources []string
	for _, x := range r.Resources {
		resources = append(resources, strings.TrimSpace(fmt.Sprintf("%s %s %s", x.Access, x.Kind, x.Name)))
	}
	row("resources", resources...)
	row("changed", changed(r.Changes)...)
	row("reading", fmt.Sprintf("confidence %.2f, complexity %d", r.Confidence, r.Complexity))
	if r.ParentID != nil {
		row("parent", r.ParentID.String())
	}
	if r.Event != nil {
		row("event", fmt.Sprintf("%s from %s", r.Event.Type, r.Event.Source))
	}
	row("event", r.EventError)
	var again []string
	for _, x := range r.Replays {
		again = append(again, x.Run+" "+outcome(x.Step))
	}
	row("replayed", again...)
	links(t.NewDrawing(false, now), around)
	if r.OutputTail != "" {
		t.Printf("\n%s\n", t.Paint(render.Dim, "  │ "+render.Indent(render.PlainText(strings.TrimRight(r.OutputTail, "\n")), "  │ ")))
	}
	if proof {
		t.PrintProof(r.Proof, r.Watermark.String())
	}
}

// maxChanged is the maximum number of changed files that show prints.
const maxChanged = 10

// changed returns the lines about the files that changed while a command ran; none if no recorder looked.
func changed(c *ask.Changes) []string {
	if c == nil {
		return nil
	}
	if len(c.Files) == 0 {
		return []string{"nothing below " + c.Below}
	}
	lines := []string{render.Count(len(c.Files), "file") + " below " + c.Below}
	for _, f := range c.Files[:min(len(c.Files), maxChanged)] {
		lines = append(lines, fmt.Sprintf("%-7s %s", f.Change, strings.TrimPrefix(f.Path, strings.TrimSuffix(c.Below, "/")+"/")))
	}
	if more := len(c.Files) - maxChanged; more > 0 {
		lines = append(lines, fmt.Sprintf("… %d more (--json has all)", more))
	}
	return lines
}

// maxLinks is the maximum number of edges that show prints in each direction.
const maxLinks = 3

// links draws the edges between a command and its neighbours, only the heaviest edge for each
// neighbour.
func links(d *render.Drawing, r ask.StitchResponse) {
	at := map[schemas.EventID]ask.Intent{}
	ids := []schemas.EventID{r.Root}
	for _, n := range r.Nodes {
		at[n.ID] = n.Intent
		ids = append(ids, n.ID)
	}
	d.IDs = render.Abbreviate(ids)
	edges := slices.Clone(r.Edges)
	slices.SortStableFunc(edges, func(a, b ask.Edge) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, way := range []struct {
		name string
		of   func(ask.Edge) (other schemas.EventID, ok bool)
	}{
		{"why", func(e ask.Edge) (schemas.EventID, bool) { return e.From, e.To == r.Root }},
		{"then", func(e ask.Edge) (schemas.EventID, bool) { return e.To, e.From == r.Root }},
	} {
		told := map[schemas.EventID]bool{}
		for _, e := range edges {
			other, ok := way.of(e)
			in, known := at[other]
			if !ok || !known || told[other] || len(told) == maxLinks {
				continue
			}
			name := way.name
			if len(told) > 0 {
				name = ""
			}
			told[other] = true
			d.Print(Line(d, fmt.Sprintf("  %-10s ", name), in, "", fmt.Sprintf("%s %.2f", e.Kind, e.Weight)))
		}
	}
}
