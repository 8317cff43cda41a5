package verbs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/commands/ask"
)

// Why returns the verb why, which prints on t what by answers. span, if not nil, answers for a
// reference that names no command but a trace or a span, and reports whether it did; asked is the error
// of the question.
func Why(t *render.Terminal, by Narrator, s Subject, span func(ctx context.Context, by Answers, w *WalkFlags, ref string, limit int, asked error) (mine bool, err error)) *cobra.Command {
	var w WalkFlags
	var limit int
	c := &cobra.Command{
		Use:   "why [ID|TRACE|SPAN]",
		Short: "Show what led to a command or a failing span, with the evidence",
		Long: `Follow edges backwards from a command and show what led to it, as a tree: the command is
the root, and below each command are those that led to it, the best supported first.
Each has the edge to the command above it, with its weight (0 to 1) and its evidence.

ID is an event's id, a prefix of one, or a position such as recount.commands/0/42.
Without it: the newest command that failed in this session ($RECOUNT_SESSION), else in
this directory or below, else anywhere.

If no command's id starts with ID, it may be a trace's id (32 hexadecimal digits), a
failing span's id (16 digits), or TRACE/SPAN: then the commits, edits, commands and
dependencies that most plausibly led to the failure, or made the trace slow, are ranked,
each with its probability and evidence; "unknown" if nothing recorded explains it.

That a command ran just before (temporal) is a cause at most after a failure, or if both
name the same file; that its text is similar never is. --kind follows such edges all the
same. Lines are cut to the terminal's width, or to 80
columns without a terminal.
Exits with 1 if nothing is known to have led to it.`,
		Example: `  recount why                                   the newest failure here
  recount why 018f3c2
  recount why 018f3c2 --kind temporal --depth 3  what ran before it
  recount why 018f3c2 --as-of 2026-11-20         from what was known then
  recount why 018f3c2 --proof --wide
  recount why 5b8efff798038103d269b633813fc60c   the deepest failing span of a trace
  recount why 018f3c2 --dot | dot -Tsvg > why.svg`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := ask.WhyRequest{Limit: limit}
			var err error
			if limit < 1 || limit > ask.MaxLimit {
				return usage.Errorf("--limit %d: want 1 to %d", limit, ask.MaxLimit)
			}
			if r.Walk, err = w.walk(t); err != nil {
				return err
			}
			if r.Moment, err = w.Moment(time.Now()); err != nil {
				return err
			}
			return by.Asking(cmd.Context(), func(by Answers) error {
				if r.Ref, err = s.Ref(cmd.Context(), by, args, r.Moment); err != nil {
					return err
				}
				var resp ask.WhyResponse
				err := answer(cmd.Context(), by, "why", r, &resp)
				if err != nil && span != nil {
					if mine, err := span(cmd.Context(), by, &w, r.Ref, limit, err); mine {
						return err
					}
				}
				if err != nil {
					return err
				}
				s.Noted(t)
				return w.print(t, resp, resp.Basis, func() diagram.Diagram { return commandview.WhyDiagram(resp) }, func(d *render.Drawing) { commandview.Why(d, resp) })
			})
		},
	}
	c.Flags().IntVarP(&limit, "limit", "n", ask.DefaultCauses, "maximum number of causes")
	w.add(c)
	return c
}

// Stitch returns the verb stitch, which prints on t what by answers.
func Stitch(t *render.Terminal, by Narrator, s Subject) *cobra.Command {
	var w WalkFlags
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
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r ask.StitchRequest
			var err error
			if r.Walk, err = w.walk(t); err != nil {
				return err
			}
			if r.Moment, err = w.Moment(time.Now()); err != nil {
				return err
			}
			return by.Asking(cmd.Context(), func(by Answers) error {
				if r.Ref, err = s.Ref(cmd.Context(), by, args, r.Moment); err != nil {
					return err
				}
				var resp ask.StitchResponse
				if err := answer(cmd.Context(), by, "stitch", r, &resp); err != nil {
					return err
				}
				s.Noted(t)
				return w.print(t, resp, resp.Basis, func() diagram.Diagram { return commandview.StitchDiagram(resp) }, func(d *render.Drawing) { commandview.Stitch(d, resp) })
			})
		},
	}
	w.add(c)
	return c
}
