package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
)

func (a *app) impactCmd() *cobra.Command {
	var f codeFlags
	var depth int
	var least float64
	var diff string
	var running runtimeFlags
	c := &cobra.Command{
		Use:   "impact [SYMBOL]",
		Short: "Show what a change can reach",
		Long: `Show the blast radius of a symbol, or with --diff of a change: the symbols that call,
reference, implement or are routed to what changes, by repository and package, with
tests listed separately. Each has the lowest confidence on the best path to it.
--runtime also shows the services that called these symbols, according to spans.
Exits with 1 if nothing is known to be reached.`,
		Example: `  recount impact Client.Produce
  recount impact --diff main~3..main
  recount impact carts.load --runtime --since 7d
  recount impact pkg/kgo/client.go:123 --depth 3 --min-confidence 0.8 --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeSymbols(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			symbol, err := symbolOrDiff(args, diff)
			if err != nil {
				return err
			}
			seen, err := running.window(time.Now())
			if err != nil {
				return err
			}
			return askCode(cmd.Context(), a, &f, code.ImpactQuestion, func(s code.Scope) code.ImpactRequest {
				return code.ImpactRequest{Scope: s, Symbol: symbol, Diff: diff, Depth: depth, MinConfidence: least, Limit: f.limit, Runtime: seen}
			}, func(r code.ImpactResponse) {
				codeview.Impact(a.Terminal, r)
				codeview.Running(a.Terminal, r.Runtime)
			}, &diff)
		},
	}
	f.add(c, code.DefaultLimit)
	running.add(c)
	c.Flags().StringVar(&diff, "diff", "", "the change between two revisions, REV..REV, instead of a symbol")
	c.Flags().IntVar(&depth, "depth", 0, "maximum distance in edges; 0 means unlimited")
	c.Flags().Float64Var(&least, "min-confidence", 0, "follow only edges with at least this confidence, 0 to 1")
	return c
}

func symbolOrDiff(args []string, diff string) (string, error) {
	switch {
	case len(args) == 1 && diff != "", len(args) == 0 && diff == "":
		return "", usage.Errorf("want a symbol, or --diff REV..REV")
	case len(args) == 1 && strings.Contains(args[0], "..") && !strings.Contains(args[0], "../"):
		return "", usage.Errorf("%q is a change, not a symbol: give --diff %s", args[0], args[0])
	case len(args) == 1:
		return args[0], nil
	}
	return "", nil
}

func (a *app) testsCmd() *cobra.Command {
	var f codeFlags
	var least float64
	var diff string
	c := &cobra.Command{
		Use:   "tests [SYMBOL]",
		Short: "Show which tests reach a change",
		Long: `Show the tests that reach a symbol, or with --diff a change, by directory, and the
changed symbols that no test reaches. Exits with 1 if no test is known to reach them.`,
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
			}, func(r code.TestsResponse) { codeview.Tests(a.Terminal, r) }, &diff)
		},
	}
	f.add(c, code.DefaultLimit)
	c.Flags().StringVar(&diff, "diff", "", "the change between two revisions, REV..REV, instead of a symbol")
	c.Flags().Float64Var(&least, "min-confidence", 0, "follow only edges with at least this confidence, 0 to 1")
	return c
}
