package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/query/code"
)

func (a *app) flowCmd() *cobra.Command {
	var f codeFlags
	var least float64
	c := &cobra.Command{
		Use:   "flow FROM TO",
		Short: "Show how calls get from one symbol to another",
		Long: `Show the shortest paths of calls from one symbol to another, the surest first, with the
place of every call. Exits with 1 if there is none.`,
		Example: `  recount flow main.run Client.Produce
  recount flow listOrders Client.flush --min-confidence 0.8`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeSymbols(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return askCode(cmd.Context(), a, &f, code.FlowQuestion, func(s code.Scope) code.FlowRequest {
				return code.FlowRequest{Scope: s, From: args[0], To: args[1], MinConfidence: least, Limit: f.limit}
			}, func(r code.FlowResponse) { codeview.Flow(a.Terminal, r) })
		},
	}
	f.add(c, 5)
	c.Flags().Float64Var(&least, "min-confidence", 0, "follow only edges of this confidence or more, 0 to 1")
	return c
}
