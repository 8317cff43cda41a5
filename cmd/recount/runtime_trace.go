package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeTraceCmd() *cobra.Command {
	var f windowFlags
	var failing, attributes bool
	c := &cobra.Command{
		Use:   "trace ID",
		Short: "Show a trace as a tree, with the code behind each span and who changed it last",
		Long: `Read a trace's spans from the log and show them as a tree: how long each took, how it
ended, the code that handles it, the last commit before it that changed that code, and
below the tree the deploy before the trace, of each service. What an agent did (gen_ai
attributes) is shown. A span whose parent never came stands at the top, and says so; a
cycle is cut above its earliest span. Exits with 1 if the trace is not known.`,
		Example: `  recount runtime trace 5b8efff798038103d269b633813fc60c
  recount runtime trace 5b8efff798038103d269b633813fc60c --failing
  recount runtime trace 5b8efff798038103d269b633813fc60c --attributes --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.TraceQuestion, func(w runtime.Window) runtime.TraceRequest {
				return runtime.TraceRequest{Window: w, Trace: args[0], Failing: failing, Attributes: attributes, Limit: f.limit}
			}, func(r runtime.TraceResponse) { runtimeview.Trace(a.Terminal, r) })
		},
	}
	f.add(c, runtime.DefaultSpans)
	c.Flags().BoolVar(&failing, "failing", false, "only the failing spans and those above them")
	c.Flags().BoolVar(&attributes, "attributes", false, "all attributes of the spans")
	return c
}
