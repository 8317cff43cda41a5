package main

import (
	"context"
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

// completeRoutes completes the paths of routes.
func (a *app) completeRoutes() cobra.CompletionFunc {
	return a.complete(1, func(ctx context.Context, b *backend, cmd *cobra.Command, typed string) ([]cobra.Completion, error) {
		r, err := code.RoutesQuestion.Ask(ctx, b, code.RoutesRequest{Scope: scopeOf(cmd), Pattern: typed, Limit: completionCount})
		if err != nil {
			return nil, err
		}
		var out []cobra.Completion
		for _, x := range r.Routes {
			if strings.HasPrefix(x.Path, typed) {
				out = append(out, cobra.CompletionWithDesc(x.Path, x.Method+" "+x.Place()))
			}
		}
		return out, nil
	})
}
