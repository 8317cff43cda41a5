package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/code"
)

func (a *app) callersCmd() *cobra.Command {
	return a.callsCmd(code.CallersQuestion, "callers SYMBOL", "Show who calls a symbol",
		`Follow calls backwards from a symbol, also from other repositories, and show each
caller with the place and confidence of the call. --runtime also shows the services
that called the symbol, or its callers within --depth, according to spans.`)
}

func (a *app) calleesCmd() *cobra.Command {
	return a.callsCmd(code.CalleesQuestion, "callees SYMBOL", "Show what a symbol calls",
		`Follow calls forwards from a symbol, also into other repositories, and show each
called symbol with the place and confidence of the call. Symbols that no imported
repository declares are listed separately.`)
}

func (a *app) callsCmd(q code.Question[code.CallsRequest, code.CallsResponse], use, short, long string) *cobra.Command {
	var f codeFlags
	var depth int
	var least float64
	var running runtimeFlags
	c := &cobra.Command{
		Use: use, Short: short,
		Long: long + `

SYMBOL is a name or a place: Client.Produce, kgo.Client.Produce, pkg/kgo/client.go:123.
A type includes its methods. A call through an interface leads to the interface's
method; the implementations are one step further, with a confidence of at most 0.70.
Exits with 1 if there are none.`,
		Example: fmt.Sprintf(`  recount %[1]s Client.Produce
  recount %[1]s kgo.Client.Produce --depth 3 --min-confidence 0.8
  recount %[1]s pkg/kgo/client.go:123 --at v1.18.0 --json`, q.Name()),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeSymbols(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if depth < 1 || depth > code.MaxDepth {
				return usage.Errorf("--depth %d: want 1 to %d", depth, code.MaxDepth)
			}
			seen, err := running.window(time.Now())
			if err != nil {
				return err
			}
			return askCode(cmd.Context(), a, &f, q, func(s code.Scope) code.CallsRequest {
				return code.CallsRequest{Scope: s, Symbol: args[0], Depth: depth, MinConfidence: least, Limit: f.limit, Runtime: seen}
			}, func(r code.CallsResponse) { codeview.Calls(a.Terminal, r, depth > 1) })
		},
	}
	f.add(c, code.DefaultLimit)
	if q.Path == code.CallersQuestion.Path {
		running.add(c)
	}
	c.Flags().IntVar(&depth, "depth", 1, fmt.Sprintf("maximum distance in calls, up to %d", code.MaxDepth))
	c.Flags().Float64Var(&least, "min-confidence", 0, "follow only edges with at least this confidence, 0 to 1")
	return c
}

func (a *app) flowCmd() *cobra.Command {
	var f codeFlags
	var least float64
	c := &cobra.Command{
		Use:   "flow FROM TO",
		Short: "Show call paths between two symbols",
		Long: `Show the shortest paths of calls from one symbol to another, those with the highest
confidence first, with the place of every call. Exits with 1 if there are none.`,
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
	c.Flags().Float64Var(&least, "min-confidence", 0, "follow only edges with at least this confidence, 0 to 1")
	return c
}

func (a *app) symbolsCmd() *cobra.Command {
	var f codeFlags
	var kinds []string
	var tests bool
	c := &cobra.Command{
		Use:   "symbols TEXT",
		Short: "Find symbols of the code by name, or by a description",
		Long: `Find symbols by name, prefix, words of the name (camelCase and snake_case), letters in
order, place (pkg/client.go:123) or path. The best match comes first, tests last.
Several words that are not a symbol's name are taken as a description: symbols are then
ranked by how well their names, documentation and signatures match its words.
Exits with 1 if there are none.`,
		Example: `  recount symbols Produce
  recount symbols "client produce" --kind method
  recount symbols "how are records batched and retried"
  recount symbols pkg/kgo/client.go:120 --at v1.18.0`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeSymbols(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return askCode(cmd.Context(), a, &f, code.SymbolsQuestion, func(s code.Scope) code.SymbolsRequest {
				return code.SymbolsRequest{Scope: s, Text: args[0], Kinds: kinds, Tests: tests, Limit: f.limit}
			}, func(r code.SymbolsResponse) { codeview.Symbols(a.Terminal, r) })
		},
	}
	f.add(c, 20)
	c.Flags().StringSliceVar(&kinds, "kind", nil, "only of this kind: function, method, struct, interface, file, route, …; may be repeated")
	c.Flags().BoolVar(&tests, "tests", false, "rank tests like everything else")
	return c
}
