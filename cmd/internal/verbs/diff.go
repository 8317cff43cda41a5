package verbs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
)

// Diff returns the verb diff, which prints on t what by answers. code compares two revisions of the code
// if that is what the arguments name, and reports whether it is.
func Diff(t *render.Terminal, by Narrator, s Subject, code func(ctx context.Context, c *cobra.Command, by Answers, args []string, m query.Moment, proof bool) (mine bool, err error)) *cobra.Command {
	var w WalkFlags
	c := &cobra.Command{
		Use:   "diff [[A] B] | diff REV..REV",
		Short: "Compare what led to two commands, or two revisions of the code",
		Long: `Align the commands that led to two commands and show the differences: commands in both
(=), changed commands with what changed (~), those only in A (-) and those only in B
(+). If the outcomes differ, a verdict comes first.

A and B are ids, written as in why. With one id, that is B, and A is the last earlier
success of a command with the same template in the same workspace. Without an id, B is
the newest failure here, as in why.
Exits with 1 if there is nothing to compare.

With two revisions, written REV..REV or as two arguments, compare the code graph: the
symbols removed (-), with a changed signature (!) or body (~), renamed (=), moved (>)
and added (+), the edges, the affected owners and repositories, and what the change reaches before and
after. Two arguments that could be commands as well as revisions are an error; REV..REV
always means code. --fail-on makes it a check: NAME>N with > >= < <= =, where NAME is
added, removed, signature, body, renamed, moved, edges_added, edges_removed, files,
owners, dependencies_added, dependencies_removed, used_elsewhere, impact, impact_before,
impact_growth, tests or untested. removed counts what was renamed, too, because what
uses the old name breaks. Exits with 1 if a threshold is exceeded.`,
		Example: `  recount diff                          the newest failure here and its last success
  recount diff 018f3c2
  recount diff 018f3c2 018f3c55 --depth 2 --wide
  recount diff main..HEAD               what a branch changes in the code
  recount diff v1.18.0 v1.19.0 --repo franz-go --json
  recount diff main..HEAD --markdown --fail-on 'removed>0,impact>50,untested>0'`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r ask.DiffRequest
			var err error
			if r.Walk, err = w.walk(t); err != nil {
				return err
			}
			if r.Moment, err = w.Moment(time.Now()); err != nil {
				return err
			}
			return by.Asking(cmd.Context(), func(by Answers) error {
				if mine, err := code(cmd.Context(), cmd, by, args, r.Moment, w.Proof); mine {
					return err
				}
				if r.A, r.B, err = s.twoRuns(cmd.Context(), by, args, r.Moment); err != nil {
					return err
				}
				var resp ask.DiffResponse
				if err := answer(cmd.Context(), by, "diff", r, &resp); err != nil {
					return err
				}
				s.Noted(t)
				return w.print(t, resp, resp.Basis, func() diagram.Diagram { return commandview.DiffDiagram(resp) }, func(d *render.Drawing) { commandview.Diff(d, resp) })
			})
		},
	}
	w.add(c)
	return c
}
