package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeStatsCmd() *cobra.Command {
	var f windowFlags
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count what is known of what runs, and how much of it is joined to code",
		Example: `  recount runtime stats
  recount runtime stats --since 7d --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.StatsQuestion, func(w runtime.Window) runtime.StatsRequest {
				return runtime.StatsRequest{Window: w}
			}, func(r runtime.StatsResponse) { runtimeview.Stats(a.Terminal, r) })
		},
	}
	f.add(c, 0)
	return c
}
