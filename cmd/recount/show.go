package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

func (a *app) showCmd() *cobra.Command {
	var proof bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show everything known of one command, or of what an agent said or did",
		Long: `Show everything known of one command, with the event it came from. ID is an event's
id, the start of one, or a position such as recount.commands/0/42. Exits with 1 if
there is none.

The whole id of an agent's event or object, or its position, shows what it says, its
versions, what led to it and what took its place (recount ask).

Of a command the last lines are what joins it to earlier commands (why) and to later ones (then);
why and stitch go on from there.`,
		Example: `  recount show 018f3c2a-9d1e
  recount show recount.commands/0/42 --json
  recount show recount.agents/0/7`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeIDs("", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withBackend(cmd.Context(), func(b *backend) error {
				r, err := b.Show(cmd.Context(), args[0])
				a.clearProgress()
				if err != nil {
					shown, oerr := a.showObject(cmd.Context(), b, args[0], proof)
					if shown || oerr != nil {
						return oerr
					}
					return a.unanswered(err)
				}
				if a.json {
					return a.printJSON(r)
				}
				around, err := commands.StitchQuestion.Ask(cmd.Context(), b, commands.StitchRequest{Ref: r.ID.String(), Walk: commands.Walk{Depth: 1}})
				if err != nil {
					return a.unanswered(err)
				}
				a.printShow(r, around, proof, time.Now())
				return nil
			})
		},
	}
	c.Flags().BoolVar(&proof, "proof", false, "print how the answer came about")
	return c
}

func (a *app) printShow(r commands.ShowResponse, around commands.StitchResponse, proof bool, now time.Time) {
	a.printf("%s %s\n\n", a.exitMark(r.ExitCode), a.paint(bold, indent(plainText(r.Command), "    ")))
	row := func(name string, lines ...string) {
		for i, l := range lines {
			lines[i] = oneLine(l)
		}
		if value := strings.Join(lines, "\n"+strings.Repeat(" ", 13)); value != "" {
			a.printf("  %-10s %s\n", name, value)
		}
	}
	row("id", r.ID.String())
	row("position", r.Position.String())
	if r.Untimed {
		row("started", timeUnknown)
	} else {
		row("started", fmt.Sprintf("%s (%s)", r.Time.Local().Format(time.RFC3339), ago(now, r.Time)))
	}
	switch {
	case r.ExitCode == nil:
		row("outcome", "unknown")
	case r.Duration != nil:
		row("outcome", fmt.Sprintf("exit %d after %s", *r.ExitCode, took(time.Duration(*r.Duration))))
	default:
		row("outcome", fmt.Sprintf("exit %d", *r.ExitCode))
	}
	if r.Outcome != nil {
		row("told by", r.Outcome.String())
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
	row("reading", fmt.Sprintf("confidence %.2f, complexity %d", r.Confidence, r.Complexity))
	if r.ParentID != nil {
		row("parent", r.ParentID.String())
	}
	if r.Event != nil {
		row("event", fmt.Sprintf("%s from %s", r.Event.Type, r.Event.Source))
	}
	row("event", r.EventError)
	a.drawing(false, now).drawLinks(around)
	if r.OutputTail != "" {
		a.printf("\n%s\n", a.paint(dim, "  │ "+indent(plainText(strings.TrimRight(r.OutputTail, "\n")), "  │ ")))
	}
	if proof {
		a.printProof(r.Proof, r.Watermark.String())
	}
}

// maxLinks is the maximum number of edges that show prints in each direction.
const maxLinks = 3

// drawLinks draws the edges between a command and its neighbours, only the heaviest edge for each
// neighbour.
func (d *drawing) drawLinks(r commands.StitchResponse) {
	at := map[schemas.EventID]commands.Intent{}
	ids := []schemas.EventID{r.Root}
	for _, n := range r.Nodes {
		at[n.ID] = n.Intent
		ids = append(ids, n.ID)
	}
	d.ids = abbreviate(ids)
	edges := slices.Clone(r.Edges)
	slices.SortStableFunc(edges, func(a, b commands.Edge) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, way := range []struct {
		name string
		of   func(commands.Edge) (other schemas.EventID, ok bool)
	}{
		{"why", func(e commands.Edge) (schemas.EventID, bool) { return e.From, e.To == r.Root }},
		{"then", func(e commands.Edge) (schemas.EventID, bool) { return e.To, e.From == r.Root }},
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
			d.print(d.command(fmt.Sprintf("  %-10s ", name), in, "", fmt.Sprintf("%s %.2f", e.Kind, e.Weight)))
		}
	}
}
