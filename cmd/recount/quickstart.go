package main

import (
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/quickstart"
)

func (a *app) quickstartCmd() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use:   "quickstart",
		Short: "Try Recount on real sample data, in a temporary directory",
		Long: `Import a sample of real commands (what a coding agent ran in three attempts at bugs
of a compiler) into a temporary data directory, query what happened and what led to
it, print the answers, one with its proof, and check that replaying the log gives
the same state.
Nothing of yours is touched; the directory is removed at the end.`,
		Example: "  recount quickstart\n  recount quickstart --keep",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return quickstart.Run(cmd.Context(), a.Terminal, a.Version, keep)
		},
	}
	c.Flags().BoolVar(&keep, "keep", false, "keep the data directory, for more queries")
	return c
}
