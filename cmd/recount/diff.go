package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
)

func (a *app) diffCmd() *cobra.Command {
	var g graphDiffFlags
	c := verbs.Diff(a.Terminal, narrator{a}, a.command(), func(ctx context.Context, c *cobra.Command, by verbs.Answers, args []string, m query.Moment, proof bool) (mine bool, err error) {
		if mine, err = a.isGraphDiff(ctx, c, by, args, &g.repo); err != nil || !mine {
			return err != nil, err
		}
		return true, a.graphDiff(ctx, by, args, g, m, proof)
	})
	c.ValidArgsFunction = a.completeIDs("", 2)
	g.add(c)
	return c
}

// graphDiffFlags are the flags of diff that apply to code only.
type graphDiffFlags struct {
	repo, failOn     string
	markdown, impact bool
	limit            int
}

func (f *graphDiffFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", "", "code only: the repository, its name or the end of it (default that of the working directory, if there are several)")
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
func (a *app) isGraphDiff(ctx context.Context, c *cobra.Command, by verbs.Answers, args []string, repo *string) (bool, error) {
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
	areCommands, err := allKnown(args, func(ref string) error { _, err := by.Show(ctx, ref); return err })
	if err != nil {
		return false, err
	}
	areRevisions, err := allKnown(args, func(rev string) error {
		return a.inRepository(ctx, repo, func() error {
			_, err := code.LogQuestion.Ask(ctx, by, code.LogRequest{Scope: code.Scope{Repo: *repo, At: rev}, Limit: 1})
			return err
		})
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
func (a *app) graphDiff(ctx context.Context, by verbs.Answers, args []string, f graphDiffFlags, m query.Moment, proof bool) error {
	if f.markdown && a.JSON {
		return usage.Errorf("--json and --markdown: give one of them")
	}
	var r code.GraphDiffResponse
	between := strings.Join(args, "..")
	err := a.inClone(ctx, false, []*string{&between}, func() (query.Basis, error) {
		err := a.inRepository(ctx, &f.repo, func() (err error) {
			r, err = code.DiffQuestion.Ask(ctx, by, code.GraphDiffRequest{
				Scope: code.Scope{Repo: f.repo, AtLeast: m.AtLeast}, Diff: between,
				Impact: f.impact, FailOn: f.failOn, Limit: f.limit,
			})
			return err
		})
		return r.Basis, err
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
