package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
)

func (a *app) diffCmd() *cobra.Command {
	var w walkFlags
	var g graphDiffFlags
	c := &cobra.Command{
		Use:   "diff [[A] B] | diff REV..REV",
		Short: "Compare what led to two commands, or two revisions of the code",
		Long: `Align what led to two commands and show how the two differ: what is alike (=),
what changed and in what (~), what only A has (-) and what only B has (+). The verdict
comes first where the outcomes differ.

A and B are ids as why takes them. With one, it is B, and A is the last time before
it that a command of the same template succeeded in the same workspace. Without any,
B is the newest failure here, as in why.
Exits with 1 if there is nothing to compare.

With two revisions, as REV..REV or one by one, compare the code graph: the symbols
removed (-), of another signature (!) or body (~), moved (>) and added (+), the edges,
whom it concerns, and what the change reaches before and after. Two words that are
commands and revisions are an error; REV..REV is always code. --fail-on makes it a
check: NAME>N with > >= < <= =, where NAME is added, removed, signature, body, moved,
edges_added, edges_removed, files, owners, dependencies_added, dependencies_removed,
used_elsewhere, impact, impact_before, impact_growth, tests or untested. Exits with 1
if one of them holds.`,
		Example: `  recount diff                          the newest failure here, and when that worked
  recount diff 018f3c2
  recount diff 018f3c2 018f3c55 --depth 2 --wide
  recount diff main..HEAD               what a branch changes in the code
  recount diff v1.18.0 v1.19.0 --repo franz-go --json
  recount diff main..HEAD --markdown --fail-on 'removed>0,impact>50,untested>0'`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completeIDs("", 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r commands.DiffRequest
			var err error
			if r.Walk, err = w.walk(a); err != nil {
				return err
			}
			if r.Moment, err = w.moment(); err != nil {
				return err
			}
			return a.withBackend(cmd.Context(), func(b *backend) error {
				if isCode, err := a.isGraphDiff(cmd.Context(), cmd, b, args); err != nil {
					return err
				} else if isCode {
					return a.graphDiff(cmd.Context(), b, args, g, r.Moment, w.proof)
				}
				if err := a.twoRuns(cmd.Context(), b, args, &r); err != nil {
					return a.unanswered(err)
				}
				resp, err := commands.DiffQuestion.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				return w.print(a, resp, resp.Basis, func() diagram.Diagram { return commandview.DiffDiagram(resp) }, func(d *render.Drawing) { commandview.Diff(d, resp) })
			})
		},
	}
	w.add(c)
	g.add(c)
	return c
}

// twoRuns sets the two commands to compare.
func (a *app) twoRuns(ctx context.Context, b *backend, args []string, r *commands.DiffRequest) (err error) {
	if len(args) == 2 {
		r.A, r.B = args[0], args[1]
		return nil
	}
	if r.B, err = a.ref(ctx, b, args, r.Moment); err != nil {
		return err
	}
	now, err := b.Show(ctx, r.B)
	if err != nil {
		return err
	}
	worked := commands.Filters{Template: now.Template, Workspace: now.Workspace, Exit: "ok", Until: now.Time}
	if worked.Workspace == "" {
		worked.Cwd = now.Cwd
	}
	then, err := newest(ctx, b, worked, r.Moment)
	switch {
	case err != nil:
		return err
	case then == nil:
		return &query.NotFoundError{Ref: r.B, Hint: "no command of its template succeeded before it in its workspace; name what to compare it with: recount diff A B"}
	}
	a.Note("compared with the last time before it that this worked")
	r.A = then.ID.String()
	return nil
}
