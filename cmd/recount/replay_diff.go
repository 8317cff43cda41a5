package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/query/commands"
)

// replayDiffCmd is a verb of replay.
func (a *app) replayDiffCmd() *cobra.Command {
	var proof, wide bool
	c := &cobra.Command{
		Use:   "diff RUN",
		Short: "Set a replay beside what was recorded",
		Long: `Set each step of a replay beside the command that it replayed, and name the first step
that behaved otherwise: its exit code, its output after paths are mapped and times,
process numbers and hashes are taken out, and the files that it left, by the hashes
that recount exec and the shell's hook recorded. A time that is far off is shown, and
does not part them. recount replayed lists the runs. Exits with 0 if every step did as
recorded, with 1 if they parted or the run reached no step.`,
		Example: `  recount replay diff r-7f3a91c2
  recount replay diff r-7f3a91c2 --json | jq '.parted, .steps[].differs'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				return a.answerReplayDiff(cmd.Context(), b, args[0], proof, wide)
			})
		},
	}
	c.Flags().BoolVar(&proof, "proof", false, "print the proof: the steps by which the answer was computed")
	c.Flags().BoolVar(&wide, "wide", false, "do not cut long lines")
	return c
}

// answerReplayDiff asks how a run differs from what it replayed, and prints that.
func (a *app) answerReplayDiff(ctx context.Context, b *connect.Backend, run string, proof, wide bool) error {
	resp, err := commands.ReplayDiffQuestion.Ask(ctx, b, commands.ReplayDiffRequest{Run: run})
	a.ClearProgress()
	if err != nil {
		return a.unanswered(err)
	}
	err = a.printAnswer(resp, resp.Basis, proof, func() {
		commandview.ReplayDiff(a.NewDrawing(wide, time.Now()), resp)
	})
	if err == nil && resp.Parted != nil {
		return exitError(exitNothing)
	}
	return err
}
