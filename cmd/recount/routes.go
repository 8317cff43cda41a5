package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
		ValidArgsFunction: a.completeRoutes,
		RunE: func(cmd *cobra.Command, args []string) error {
			return askCode(cmd.Context(), a, &f, code.RoutesQuestion, func(s code.Scope) code.RoutesRequest {
				return code.RoutesRequest{Scope: s, Pattern: strings.Join(args, ""), Method: method, Tests: tests, Limit: f.limit}
			}, a.printRoutes)
		},
	}
	f.add(c, code.DefaultLimit)
	c.Flags().StringVar(&method, "method", "", "only those of this method, and those of any")
	c.Flags().BoolVar(&tests, "tests", false, "tests' routes, too")
	return c
}

func (a *app) printRoutes(r code.RoutesResponse) {
	a.heading(r.Revision)
	for _, x := range r.Routes {
		a.printf("%s %s  %s\n", pad(plainText(x.Method), 6), a.paint(bold, plainText(x.Path)), a.paint(dim, strings.TrimSpace(plainText(x.Framework)+" at "+plainText(x.Place()))))
		for _, h := range x.Handlers {
			if h.Outside {
				a.printf("       %s  %s%s\n", plainText(h.Name), a.paint(dim, "of "+plainText(h.Package)), sure(h.Confidence))
				continue
			}
			a.printf("       %s%s\n", a.symbolLine(h.Symbol), sure(h.Confidence))
		}
		if len(x.Handlers) == 0 {
			a.printf("       %s\n", a.paint(dim, "its handler could not be resolved"))
		}
		if len(x.Middleware) > 0 {
			a.printf("       %s\n", a.paint(dim, fmt.Sprintf("decorated by %s", plainText(strings.Join(x.Middleware, ", ")))))
		}
	}
	a.truncated(r.Truncated, "--limit shows more")
}

// completeRoutes offers paths as a shell completes one.
func (a *app) completeRoutes(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(args) > 0 {
		return nil, none
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	cfg, err := a.nodeConfig()
	if err != nil {
		return nil, none
	}
	b, err := a.open(ctx, cfg, completionWait)
	if err != nil {
		return nil, none
	}
	defer b.Close()
	repo, _ := cmd.Flags().GetString("repo")
	r, err := code.Ask(ctx, b, code.RoutesQuestion, code.RoutesRequest{Scope: code.Scope{Repo: repo}, Pattern: typed, Limit: completionCount})
	if err != nil {
		return nil, none
	}
	var out []cobra.Completion
	for _, x := range r.Routes {
		if strings.HasPrefix(x.Path, typed) {
			out = append(out, cobra.CompletionWithDesc(x.Path, x.Method+" "+x.Place()))
		}
	}
	return out, none
}
