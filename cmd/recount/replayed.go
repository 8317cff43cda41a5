package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/query/replays/answer"
)

// named completes a run to be shown: a step that did not run again has the text of the recorded command.
func (a *app) named(ctx context.Context, b *connect.Backend, run answer.Run) answer.Run {
	run.Steps = slices.Clone(run.Steps)
	for i := range run.Steps {
		s := &run.Steps[i]
		if s.Command != "" || s.Intent == "" {
			continue
		}
		if recorded, err := b.Show(ctx, s.Intent); err == nil { // else it was erased: its id is shown
			s.Command = recorded.Command
		}
	}
	a.ClearProgress()
	return run
}

func (a *app) replayedCmd() *cobra.Command {
	var r replays.Request
	var of string
	var diff, proof, wide bool
	c := &cobra.Command{
		Use:   "replayed [RUN]",
		Short: "List replays, or show one with its steps",
		Long: `List the replays of recorded commands, the latest first, or show one run: how each step
ended, why one was skipped, and what it wrote. A run without an end was killed, or is
under way. --diff is recount replay diff, with its exit code. Exits with 1 if there is
nothing.`,
		Example: `  recount replayed                     the latest runs
  recount replayed r-7f3a91c2          the steps of one
  recount replayed r-7f3a91c2 --diff   beside what was recorded
  recount replayed --of 018f3c2a       the runs that replayed a command
  recount replayed r-7f3a91c2 --plan --json | jq .runs[0].plan`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				r.Run = args[0]
			}
			switch {
			case r.Limit <= 0:
				return usage.Errorf("--limit %d: want 1 or more", r.Limit)
			case r.Plan && (r.Run == "" || !a.JSON):
				return usage.Errorf("--plan: only for one run and with --json; recount replay --plan prints a plan for people")
			case diff && (r.Run == "" || r.Plan):
				return usage.Errorf("--diff: only for one run, and without --plan")
			case r.Run != "" && (of != "" || r.Workspace != ""):
				return usage.Errorf("want either a run, or --of and --workspace")
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				if diff {
					return a.answerReplayDiff(cmd.Context(), b, r.Run, proof, wide)
				}
				if of != "" {
					command, err := b.Show(cmd.Context(), of)
					if err != nil {
						return a.unanswered(err)
					}
					r.Command = command.ID.String()
				}
				resp, err := replays.Question.Ask(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				return a.printAnswer(resp, resp.Basis, proof, func() {
					d := a.NewDrawing(wide, time.Now())
					if r.Run != "" {
						commandview.Replay(d, a.named(cmd.Context(), b, resp.Runs[0]))
						return
					}
					commandview.Replays(d, resp)
				})
			})
		},
	}
	f := c.Flags()
	f.StringVar(&of, "of", "", "only runs that replayed this command: its id, the beginning of it, or its position")
	f.StringVar(&r.Workspace, "workspace", "", "only runs of this workspace")
	f.BoolVar(&diff, "diff", false, "with one run: beside the commands that it replayed")
	f.BoolVar(&r.Plan, "plan", false, "with one run and --json: its plan, too")
	f.IntVarP(&r.Limit, "limit", "n", 20, "maximum number of runs, up to 1000")
	f.BoolVar(&proof, "proof", false, "print the proof: the steps by which the answer was computed")
	f.BoolVar(&wide, "wide", false, "do not cut long lines")
	return c
}
