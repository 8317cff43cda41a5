package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/server/api"
)

func (a *app) fsckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "fsck",
		Short: "Check every snapshot of the code graph as it is stored",
		Long: `Read every snapshot, map and chunk of the code graph, compute their hashes anew, and
hold the edges of each repository's newest graph against their other direction and
their nodes. Changes nothing. verify compares with the log besides, which takes as long
as a rebuild. What is damaged is mended by: recount rebuild --projection code

Exits with 1 if anything is wrong, and says in which repository, commit, map and chunk.`,
		Example: "  recount fsck\n  recount fsck --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBackend(cmd.Context(), func(b *backend) error {
				r, err := b.Fsck(cmd.Context(), api.FsckRequest{}, a.Progress())
				a.ClearProgress()
				if err != nil {
					return err
				}
				if a.JSON {
					err = a.PrintJSON(r)
				} else {
					nodeview.Fsck(a.Terminal, r)
				}
				if err == nil && !r.OK {
					return exitError(exitNothing)
				}
				return err
			})
		},
	}
}
