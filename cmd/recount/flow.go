package main

import (
	"fmt"

	"github.com/spf13/cobra"

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
			}, func(r code.FlowResponse) {
				a.heading(r.Revision)
				for i, p := range r.Paths {
					a.printf("%s\n", a.paint(cyan, fmt.Sprintf("path %d: %s, %.2f", i+1, counted(len(p.Steps)-1, "step"), p.Confidence)))
					for _, h := range p.Steps {
						note := ""
						if h.Edge != "" {
							note = a.paint(dim, "  "+h.Edge+" at "+oneLine(h.Site)) + sure(h.Confidence)
						}
						a.printf("  %s%s\n", a.symbolLine(h.Symbol), note)
					}
				}
				if r.Truncated {
					a.printf("%s\n", a.paint(dim, "… there are more as short as these; --limit shows more"))
				}
			})
		},
	}
	f.add(c, 5)
	c.Flags().Float64Var(&least, "min-confidence", 0, "follow only edges of this confidence or more, 0 to 1")
	return c
}
