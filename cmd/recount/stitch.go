package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/query/commands"
)

func (a *app) stitchCmd() *cobra.Command {
	var w walkFlags
	c := &cobra.Command{
		Use:   "stitch [ID]",
		Short: "Show the narrative around a command",
		Long: `Follow edges in both directions from a command and show the commands around it, from
the oldest to the newest. Each session is a lane; ◆ marks the given command. A command's
edges to earlier ones are printed below it with their evidence, except that it follows
the previous command in its lane.

ID and its default are as in why.
Exits with 1 if there is nothing around it.`,
		Example: `  recount stitch 018f3c2
  recount stitch 018f3c2 --depth 2 --kind causal,dependency,fixes
  recount stitch 018f3c2 --mermaid > narrative.mmd`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeIDs("", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r commands.StitchRequest
			var err error
			if r.Walk, err = w.walk(a); err != nil {
				return err
			}
			if r.Moment, err = w.moment(); err != nil {
				return err
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				if r.Ref, err = a.ref(cmd.Context(), b, args, r.Moment); err != nil {
					return a.unanswered(err)
				}
				resp, err := commands.StitchQuestion.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				return w.print(a, resp, resp.Basis, func() diagram.Diagram { return commandview.StitchDiagram(resp) }, func(d *render.Drawing) { commandview.Stitch(d, resp) })
			})
		},
	}
	w.add(c)
	return c
}
