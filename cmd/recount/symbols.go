package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/query/code"
)

func (a *app) symbolsCmd() *cobra.Command {
	var f codeFlags
	var kinds []string
	var tests bool
	c := &cobra.Command{
		Use:   "symbols TEXT",
		Short: "Find symbols of the code by name, or by a description",
		Long: `Find symbols by their name, the beginning of it, words of it (camelCase and snake_case),
letters in order, a place (pkg/client.go:123) or a path. The best match comes first,
tests last. Several words that are no symbol's name are a description: what is ranked
then is how well names, documentation and signatures have its words.
Exits with 1 if there is none.`,
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
