package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/query/code"
)

func (a *app) testsCmd() *cobra.Command {
	var f codeFlags
	var least float64
	var diff string
	c := &cobra.Command{
		Use:   "tests [SYMBOL]",
		Short: "Show which tests reach a change",
		Long: `Show which tests reach a symbol, or with --diff a change that was made, by directory,
and what changes that no test reaches. Exits with 1 if no test is known to.`,
		Example: `  recount tests --diff main..HEAD
  recount tests Client.Produce
  recount tests --diff main..HEAD --json | jq -r '.packages[].dir'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeSymbols(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			symbol, err := symbolOrDiff(args, diff)
			if err != nil {
				return err
			}
			return askCode(cmd.Context(), a, &f, code.TestsQuestion, func(s code.Scope) code.TestsRequest {
				return code.TestsRequest{Scope: s, Symbol: symbol, Diff: diff, MinConfidence: least, Limit: f.limit}
			}, func(r code.TestsResponse) { codeview.Tests(a.Terminal, r) })
		},
	}
	f.add(c, code.DefaultLimit)
	c.Flags().StringVar(&diff, "diff", "", "the change between two revisions, REV..REV, in the place of a symbol")
	c.Flags().Float64Var(&least, "min-confidence", 0, "follow only edges of this confidence or more, 0 to 1")
	return c
}
