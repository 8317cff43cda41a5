package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/query/commands"
)

func (a *app) whyCmd() *cobra.Command {
	var w walkFlags
	var limit int
	c := &cobra.Command{
		Use:   "why [ID|TRACE|SPAN]",
		Short: "Show what led to a command or a failing span, and how one knows",
		Long: `Walk back from a command and show what led to it: a tree with the command at its
root, below each command those that led to it, the best supported first. Under
each stands what joins it to the one above, how well that is supported (0 to 1),
and by what evidence.

ID is an event's id, the start of one, or a position such as recount.commands/0/42.
Without one: the newest command that failed in this session ($RECOUNT_SESSION), else
in this directory or below, else anywhere.

Where no command's id starts so, ID may be a trace's id (32 hexadecimal digits), a failing
span's (16), or TRACE/SPAN: then the commits and commands that most plausibly led to the
failure are ranked, each with its evidence and what that counts for.

Edges that only say what ran before, or what reads alike, are no causes: they are
followed if --kind asks for them. Lines are cut to the terminal's width, or to 80
columns where there is none.
Exits with 1 if nothing is known to have led to it.`,
		Example: `  recount why                                   the newest failure here
  recount why 018f3c2
  recount why 018f3c2 --kind temporal --depth 3  what ran before it
  recount why 018f3c2 --as-of 2026-11-20         as one could know it then
  recount why 018f3c2 --proof --wide
  recount why 5b8efff798038103d269b633813fc60c   the deepest failing span of a trace
  recount why 018f3c2 --dot | dot -Tsvg > why.svg`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeIDs("fail", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := commands.WhyRequest{Limit: limit}
			var err error
			if limit < 1 || limit > commands.MaxLimit {
				return usagef("--limit %d: want 1 to %d", limit, commands.MaxLimit)
			}
			if r.Walk, err = w.walk(a); err != nil {
				return err
			}
			if r.Moment, err = w.moment(); err != nil {
				return err
			}
			return a.withBackend(cmd.Context(), func(b *backend) error {
				if r.Ref, err = a.ref(cmd.Context(), b, args, r.Moment); err != nil {
					return a.unanswered(err)
				}
				resp, err := commands.WhyQuestion.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if mine, err := a.whySpan(cmd.Context(), b, &w, r.Ref, limit, err); mine {
					return err
				}
				if err != nil {
					return a.unanswered(err)
				}
				return w.print(a, resp, resp.Basis, func() diagram.Diagram { return commandview.WhyDiagram(resp) }, func(d *render.Drawing) { commandview.Why(d, resp) })
			})
		},
	}
	c.Flags().IntVarP(&limit, "limit", "n", commands.DefaultCauses, "how many causes at most")
	w.add(c)
	return c
}
