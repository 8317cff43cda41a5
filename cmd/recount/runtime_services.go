package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render/runtimeview"
	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeServicesCmd() *cobra.Command {
	var f windowFlags
	var after string
	var dot, mermaid bool
	c := &cobra.Command{
		Use:   "services",
		Short: "Show the service map: services, what they are built from, and who calls whom",
		Long: `Show the services that send spans, with their versions and the repository that each is
built from, and the calls between them. Exits with 1 if there is none.`,
		Example: `  recount runtime services --since 24h
  recount runtime services --mermaid
  recount runtime services --dot | dot -Tsvg > services.svg`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (dot && mermaid) || a.JSON && (dot || mermaid) {
				return usagef("--json, --dot and --mermaid: give one of them")
			}
			return askRuntime(cmd.Context(), a, &f, runtime.ServicesQuestion, func(w runtime.Window) runtime.ServicesRequest {
				return runtime.ServicesRequest{Window: w, After: after, Limit: f.limit}
			}, func(r runtime.ServicesResponse) {
				switch {
				case dot:
					a.Printf("%s", runtimeview.ServicesDiagram(r).Dot())
				case mermaid:
					a.Printf("%s", runtimeview.ServicesDiagram(r).Mermaid())
				default:
					runtimeview.Services(a.Terminal, r)
				}
			})
		},
	}
	f.add(c, runtime.DefaultServices)
	c.Flags().StringVar(&after, "after", "", "the next page: what the page before names at its end")
	c.Flags().BoolVar(&dot, "dot", false, "print a diagram for Graphviz: … --dot | dot -Tsvg")
	c.Flags().BoolVar(&mermaid, "mermaid", false, "print a diagram for Mermaid, as Markdown on many sites shows it")
	return c
}
