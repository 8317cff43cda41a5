package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeDeadRoutesCmd() *cobra.Command {
	var f windowFlags
	var repo string
	c := &cobra.Command{
		Use:   "dead-routes",
		Short: "Show routes and procedures of the code that nobody asks for",
		Long: `Show what the code serves and no span shows since a time: routes and procedures of
services that did send spans. Folders of which no service sent any are listed apart,
for there it cannot be told. Exits with 1 if there is none.`,
		Example: `  recount runtime dead-routes --since 30d
  recount runtime dead-routes --repo shop --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.DeadRoutesQuestion, func(w runtime.Window) runtime.DeadRoutesRequest {
				return runtime.DeadRoutesRequest{Window: w, Repo: repo, Limit: f.limit}
			}, a.printDead)
		},
	}
	f.add(c, runtime.DefaultLimit)
	c.Flags().StringVar(&repo, "repo", "", "only routes of this repository: its name, or the end of it")
	return c
}

func (a *app) printDead(r runtime.DeadRoutesResponse) {
	for _, x := range r.Routes {
		place := x.File
		if x.Line > 0 {
			place += fmt.Sprintf(":%d", x.Line)
		}
		a.printf("%s  %s\n", a.paint(bold, oneLine(x.Name)), a.paint(dim, oneLine(x.Repo+" "+place)))
		if x.Handler != nil {
			a.printf("    %s\n", a.symbolLine(*x.Handler))
		}
		a.printf("    %s\n", a.paint(dim, fmt.Sprintf("%s watched since %sZ", oneLine(strings.Join(x.By, ", ")), x.Watched.UTC().Format(time.DateTime))))
		if x.Changed != nil {
			a.printf("    %s\n", a.changedBy(x.Changed))
		}
	}
	a.truncated(r.Truncated, "--limit shows more")
	if r.Total > 0 || r.Seen > 0 {
		a.printf("%s\n", a.paint(dim, fmt.Sprintf("%d never asked for, %d asked for", r.Total, r.Seen)))
	}
	for _, u := range r.Unwatched {
		where := u.Repo
		if u.Dir != "" {
			where += ":" + u.Dir
		}
		a.printf("%s\n", a.paint(dim, fmt.Sprintf("cannot be told of %s of %s: no service of it sent spans", counted(u.Routes, "route"), oneLine(where))))
	}
}
