package main

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/usage"
	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/schemas"
)

func (a *app) contextCmd() *cobra.Command {
	var r packing.Request
	var diff, atLeast string
	var proof, why bool
	c := &cobra.Command{
		Use:   "context [TASK...]",
		Short: "Show what to read for a task, in a number of tokens",
		Long: `Show which files to look at, and the code to read, for a task (--task, or the words
behind the verb; - reads it from the standard input), for files that are to be changed
(--files), or for the change between two revisions (--diff); these may be combined.

The answer never has more tokens than --budget, counted by the vocabulary o200k. Quoted
code is indented by a tab. If the repository does not have what the task is about, the
answer says so, is short, and the verb exits with 1. --why shows which channels brought
each file and symbol.`,
		Example: `  recount context "session cookie is not deleted when the session is cleared"
  recount context --files src/flask/sessions.py --tests only
  recount context --diff main..HEAD --budget 8000
  go test ./... 2>&1 | tail -50 | recount context -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && r.Task != "" {
				return usage.Errorf("--task and a task behind the verb: want one of them")
			}
			if len(args) > 0 {
				r.Task = strings.Join(args, " ")
			}
			if r.Task == "-" {
				b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), packing.MaxTask+1))
				if err != nil {
					return err
				}
				r.Task = string(b)
			}
			r.Task = strings.ToValidUTF8(r.Task, "\uFFFD")
			if diff != "" {
				base, head, ok := strings.Cut(diff, "..")
				if !ok || strings.HasPrefix(head, ".") || base == "" {
					return usage.Errorf("--diff %q: want REV..REV, as in main..HEAD", diff)
				}
				r.Base, r.Head = base, head
			}
			for name, value := range map[string]int{"budget": r.Budget, "limit": r.Limit} {
				if cmd.Flags().Changed(name) && value <= 0 {
					return usage.Errorf("--%s %d: want 1 or more", name, value)
				}
			}
			var err error
			if r.AtLeast, err = schemas.ParseWatermark(atLeast); err != nil {
				return usage.Errorf("--at-least: %w", err)
			}
			r.Now = time.Now().UTC()
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				var resp packing.Response
				err := a.inRepository(cmd.Context(), &r.Repository, func() (err error) {
					resp, err = packing.Question.Ask(cmd.Context(), b, r)
					return err
				})
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				err = a.printAnswer(resp, resp.Basis, proof, func() {
					codeview.Context(a.Terminal, resp, why)
					a.announcedIn(resp.Announcements(), r.Now)
					if resp.Known {
						a.hint(resp.Basis)
					}
				})
				if err == nil && !resp.Known {
					err = exitError(exitNothing)
				}
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.Task, "task", "", "what is to be done: a description, an issue, a failure with its stack trace; - reads it from the standard input")
	f.StringSliceVar(&r.Files, "files", nil, "files that are to be changed or were changed; may be repeated")
	f.StringVar(&diff, "diff", "", "what changed between two revisions, as in main..HEAD")
	f.IntVar(&r.Budget, "budget", packing.DefaultBudget, "maximum number of tokens, 64 to 200000")
	f.StringVar(&r.Tests, "tests", "", "only: tests only; none: no tests (default both)")
	f.IntVarP(&r.Limit, "limit", "n", packing.DefaultLimit, "maximum number of files")
	f.StringVar(&r.Repository, "repo", "", "the repository: its name or the end of it (default that of the working directory, if there are several)")
	f.StringVar(&r.Revision, "at", "", "the revision: a branch, a tag, a commit, HEAD~3 (default HEAD)")
	f.StringVar(&r.Agent, "agent", "", "the agent that asks")
	f.StringVar(&r.Session, "session", "", "the session that asks")
	f.StringVar(&atLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	f.BoolVar(&proof, "proof", false, "print the proof: the steps by which the answer was computed")
	f.BoolVar(&why, "why", false, "show which channels brought each file and symbol")
	_ = c.RegisterFlagCompletionFunc("tests", cobra.FixedCompletions([]string{packing.TestsOnly, packing.TestsNone}, cobra.ShellCompDirectiveNoFileComp))
	return c
}
