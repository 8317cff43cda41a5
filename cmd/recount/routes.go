package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/codeview"
	"github.com/recountdb/recount/query/code"
)

func (a *app) routesCmd() *cobra.Command {
	var f codeFlags
	var method string
	var tests bool
	c := &cobra.Command{
		Use:   "routes [PATTERN]",
		Short: "List what is served over HTTP, and by what",
		Long: `List the routes of a revision with what handles them. PATTERN is a part of the path,
or a request's path: /orders/42 finds /orders/{id}; a method may stand before it.
What decorates a handler is shown; middleware that is set up otherwise is not known.
Exits with 1 if there is none.`,
		Example: `  recount routes
  recount routes /orders/42 --repo shop
  recount routes "POST /orders" --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRoutes(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return askCode(cmd.Context(), a, &f, code.RoutesQuestion, func(s code.Scope) code.RoutesRequest {
				return code.RoutesRequest{Scope: s, Pattern: strings.Join(args, ""), Method: method, Tests: tests, Limit: f.limit}
			}, func(r code.RoutesResponse) { codeview.Routes(a.Terminal, r) })
		},
	}
	f.add(c, code.DefaultLimit)
	c.Flags().StringVar(&method, "method", "", "only those of this method, and those of any")
	c.Flags().BoolVar(&tests, "tests", false, "tests' routes, too")
	return c
}
