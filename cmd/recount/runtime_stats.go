package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/query/runtime"
)

func (a *app) runtimeStatsCmd() *cobra.Command {
	var f windowFlags
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count what is known of what runs, and how much of it is joined to code",
		Example: `  recount runtime stats
  recount runtime stats --since 7d --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askRuntime(cmd.Context(), a, &f, runtime.StatsQuestion, func(w runtime.Window) runtime.StatsRequest {
				return runtime.StatsRequest{Window: w}
			}, a.printStats)
		},
	}
	f.add(c, 0)
	return c
}

func (a *app) printStats(r runtime.StatsResponse) {
	if r.Services == 0 {
		return
	}
	a.printf("spans       %s, from %sZ to %sZ\n", thousands(int64(r.Spans)), r.First.Format(time.DateTime), r.Last.Format(time.DateTime))
	a.printf("services    %d, and %d that send no spans; repositories: %s\n", r.Services, r.Outside, counts(r.Homes))
	a.printf("operations  %s; asked for %s times, %s failed\n", counts(r.Operations), thousands(int64(r.Served)), thousands(int64(r.Errors)))
	a.printf("calls       %s\n", thousands(r.Calls))
	a.printf("joined      %.0f %% of routes and procedures; %s\n", 100*r.JoinedShare, counts(r.Joined))
}

// counts formats numbers with their names, the largest first.
func counts(of map[string]int) string {
	names := slices.SortedFunc(maps.Keys(of), func(x, y string) int {
		if of[x] != of[y] {
			return of[y] - of[x]
		}
		return strings.Compare(x, y)
	})
	if len(names) == 0 {
		return "none"
	}
	var parts []string
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%s %s", thousands(of[n]), n))
	}
	return strings.Join(parts, ", ")
}
