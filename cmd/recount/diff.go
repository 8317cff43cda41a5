package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/render/diagram"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
)

func (a *app) diffCmd() *cobra.Command {
	var w walkFlags
	var g graphDiffFlags
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
symbols removed (-), with a changed signature (!) or body (~), moved (>) and added (+),
the edges, the affected owners and repositories, and what the change reaches before and
after. Two arguments that could be commands as well as revisions are an error; REV..REV
always means code. --fail-on makes it a check: NAME>N with > >= < <= =, where NAME is
added, removed, signature, body, moved, edges_added, edges_removed, files, owners,
dependencies_added, dependencies_removed, used_elsewhere, impact, impact_before,
impact_growth, tests or untested. Exits with 1 if a threshold is exceeded.`,
		Example: `  recount diff                          the newest failure here and its last success
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
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
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
func (a *app) twoRuns(ctx context.Context, b *connect.Backend, args []string, r *commands.DiffRequest) (err error) {
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
		return &query.NotFoundError{Ref: r.B, Hint: "no earlier command with its template succeeded in its workspace; name the command to compare with: recount diff A B"}
	}
	a.Note("compared with its last success")
	r.A = then.ID.String()
	return nil
}

// graphDiffFlags are the flags of diff that apply to code only.
type graphDiffFlags struct {
	repo, failOn     string
	markdown, impact bool
	limit            int
}

func (f *graphDiffFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", "", "code only: the repository, its name or the end of it; required if there are several")
	fl.StringVar(&f.failOn, "fail-on", "", "code only: exit with 1 if one of these holds, such as removed>0,impact>50,untested>0")
	fl.BoolVar(&f.markdown, "markdown", false, "code only: print Markdown, for a pull request")
	fl.BoolVar(&f.impact, "impact", true, "code only: show what the change reaches, before and after")
	fl.IntVarP(&f.limit, "limit", "n", code.DefaultLimit, "code only: maximum number of entries in each list")
}

// The flags that only one of the two meanings of diff has.
var (
	codeOnly      = []string{"repo", "fail-on", "markdown", "impact", "limit"}
	narrativeOnly = []string{"depth", "nodes", "kind", "min-weight", "wide", "dot", "mermaid", "as-of"}
)

func given(c *cobra.Command, names []string) string {
	for _, n := range names {
		if c.Flags().Changed(n) {
			return n
		}
	}
	return ""
}

// isGraphDiff reports whether the arguments of diff are revisions of code rather than commands. If
// they could be either, it looks them up as both; it fails if both or neither exist.
func (a *app) isGraphDiff(ctx context.Context, c *cobra.Command, b *connect.Backend, args []string) (bool, error) {
	of, narrative := given(c, codeOnly), given(c, narrativeOnly)
	ranged := len(args) == 1 && strings.Contains(args[0], "..")
	switch {
	case (ranged || of != "") && narrative != "":
		return false, usage.Errorf("--%s applies to commands, but %s is code: leave one out", narrative, orFlag(of, args))
	case ranged:
		return true, nil
	case of != "" && len(args) == 2:
		return true, nil
	case of != "":
		return false, usage.Errorf("--%s applies to code: name two revisions, REV..REV", of)
	case len(args) != 2 || narrative != "":
		return false, nil
	}
	areCommands, err := allKnown(args, func(ref string) error { _, err := b.Show(ctx, ref); return err })
	if err != nil {
		return false, err
	}
	areRevisions, err := allKnown(args, func(rev string) error {
		_, err := code.LogQuestion.Ask(ctx, b, code.LogRequest{Scope: code.Scope{At: rev}, Limit: 1})
		return err
	})
	if err != nil {
		return false, err
	}
	switch {
	case areCommands && areRevisions:
		return false, usage.Errorf("%s and %s could be commands or revisions: recount diff %[1]s..%[2]s compares the revisions, --depth %[3]d the commands", args[0], args[1], commands.DefaultDepth)
	case !areCommands && !areRevisions:
		return false, fmt.Errorf("%s and %s: neither two commands (recount find lists ids) nor two revisions of one repository (use REV..REV with --repo to see why)", args[0], args[1])
	}
	return areRevisions, nil
}

func orFlag(name string, args []string) string {
	if name == "" {
		return args[0]
	}
	return "--" + name
}

// allKnown reports whether each name is known to ask. It fails on any error other than an unknown
// name.
func allKnown(names []string, ask func(string) error) (bool, error) {
	for _, n := range names {
		err := ask(n)
		var not *query.NotFoundError
		var several *code.AmbiguousNameError
		var many *query.AmbiguousError
		var bad *query.RequestError
		switch {
		case errors.As(err, &not), errors.As(err, &several), errors.As(err, &many), errors.As(err, &bad):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return true, nil
}

// graphDiff prints the diff of two revisions of code.
func (a *app) graphDiff(ctx context.Context, b *connect.Backend, args []string, f graphDiffFlags, m query.Moment, proof bool) error {
	if f.markdown && a.JSON {
		return usage.Errorf("--json and --markdown: give one of them")
	}
	r, err := code.DiffQuestion.Ask(ctx, b, code.GraphDiffRequest{
		Scope: code.Scope{Repo: f.repo, AtLeast: m.AtLeast}, Diff: strings.Join(args, ".."),
		Impact: f.impact, FailOn: f.failOn, Limit: f.limit,
	})
	a.ClearProgress()
	if err != nil {
		return a.unanswered(err)
	}
	switch {
	case a.JSON:
		err = a.PrintJSON(r)
	case f.markdown:
		a.Printf("%s", codeview.DiffMarkdown(r))
	default:
		codeview.Diff(a.Terminal, r)
		if proof {
			a.PrintProof(r.Proof, r.Watermark.String())
		}
	}
	if err != nil {
		return err
	}
	if len(r.Failed) > 0 {
		var all []string
		for _, t := range r.Failed {
			all = append(all, t.String())
		}
		a.Note("--fail-on: %s", strings.Join(all, ", "))
		return exitError(exitNothing)
	}
	return nil
}
