package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeEdgesCmd() *cobra.Command {
	var f windowFlags
	var service string
	var failing, slow, undeclared bool
	c := &cobra.Command{
		Use:   "edges",
		Short: "Show who calls whom, how sure that is, and where the code says so",
		Long: `Show the calls between services as spans show them, and to what sends no spans. How
sure it is that a call happens now: by how often it was seen in the seven days before,
and when last. With --undeclared only calls that the caller's code does not make, as far
as its repository is known. Exits with 1 if there is none.`,
		Example: `  recount runtime edges --since 7d
  recount runtime edges --slow --service carts
  recount runtime edges --undeclared --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if failing && slow {
				return usagef("--failing and --slow: give one of them")
			}
			return askRuntime(cmd.Context(), a, &f, runtime.EdgesQuestion, func(w runtime.Window) runtime.EdgesRequest {
				return runtime.EdgesRequest{Window: w, Service: service, Failing: failing, Slow: slow, Undeclared: undeclared, Limit: f.limit}
			}, func(r runtime.EdgesResponse) { runtimeview.Edges(a.Terminal, r) })
		},
	}
	f.add(c, runtime.DefaultLimit)
	c.Flags().StringVar(&service, "service", "", "only calls from or to this service")
	c.Flags().BoolVar(&failing, "failing", false, "only what failed, the most errors first")
	c.Flags().BoolVar(&slow, "slow", false, "the slowest first, by p95")
	c.Flags().BoolVar(&undeclared, "undeclared", false, "only calls that the caller's code does not declare")
	a.completeServices(c)
	return c
}
