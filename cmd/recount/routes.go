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
		Short: "List HTTP routes and their handlers",
		Long: `List the routes of a revision with their handlers. PATTERN is a part of the path, or
the path of a request: /orders/42 finds /orders/{id}; it may begin with a method.
Decorators of a handler are shown; middleware that is set up in other ways is not known.
Exits with 1 if there are none.`,
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
	c.Flags().StringVar(&method, "method", "", "only routes for this method or for any method")
	c.Flags().BoolVar(&tests, "tests", false, "include routes of tests")
	return c
}
