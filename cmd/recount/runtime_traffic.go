package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeTrafficCmd() *cobra.Command {
	var f windowFlags
	var service string
	var failing, slow bool
	c := &cobra.Command{
		Use:   "traffic [OPERATION]",
		Short: "Show what services are asked for, how often and how well, and what handles it",
		Long: `Show what each service serves: how often, how often it failed, how long it took (within
1 %), and the code that handles it, with how that is known. OPERATION is a part of a
route, a procedure or a topic. Exits with 1 if there is none.`,
		Example: `  recount runtime traffic --since 24h
  recount runtime traffic --failing --service carts
  recount runtime traffic /orders --slow --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if failing && slow {
				return usagef("--failing and --slow: give one of them")
			}
			return askRuntime(cmd.Context(), a, &f, runtime.TrafficQuestion, func(w runtime.Window) runtime.TrafficRequest {
				return runtime.TrafficRequest{Window: w, Service: service, Operation: strings.Join(args, ""), Failing: failing, Slow: slow, Limit: f.limit}
			}, func(r runtime.TrafficResponse) { runtimeview.Traffic(a.Terminal, r) })
		},
	}
	f.add(c, runtime.DefaultLimit)
	c.Flags().StringVar(&service, "service", "", "only this service")
	c.Flags().BoolVar(&failing, "failing", false, "only what failed, the most errors first")
	c.Flags().BoolVar(&slow, "slow", false, "the slowest first, by p95")
	a.completeServices(c)
	return c
}
