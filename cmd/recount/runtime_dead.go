package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeDeadRoutesCmd() *cobra.Command {
	var f windowFlags
	var repo string
	c := &cobra.Command{
		Use:   "dead-routes",
		Short: "Show routes and procedures of the code that nobody asks for",
		Long: `Show what the code serves and no span shows since a time: routes and procedures of
services that did send spans. Folders of which no service sent any are listed apart,
for there it cannot be told. Exits with 1 if there is none.`,
		Example: `  recount runtime dead-routes --since 30d
  recount runtime dead-routes --repo shop --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.DeadRoutesQuestion, func(w runtime.Window) runtime.DeadRoutesRequest {
				return runtime.DeadRoutesRequest{Window: w, Repo: repo, Limit: f.limit}
			}, func(r runtime.DeadRoutesResponse) { runtimeview.DeadRoutes(a.Terminal, r) })
		},
	}
	f.add(c, runtime.DefaultLimit)
	c.Flags().StringVar(&repo, "repo", "", "only routes of this repository: its name, or the end of it")
	return c
}
