package runtimeview

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/runtime"
)

// Stats prints how much is known of what runs.
func Stats(t *render.Terminal, r runtime.StatsResponse) {
	if r.Services == 0 {
		return
	}
	t.Printf("spans       %s, from %sZ to %sZ\n", render.Thousands(int64(r.Spans)), r.First.Format(time.DateTime), r.Last.Format(time.DateTime))
	t.Printf("services    %d, and %d that send no spans; repositories: %s\n", r.Services, r.Outside, counts(r.Homes))
	t.Printf("operations  %s; %s requests, %s failed\n", counts(r.Operations), render.Thousands(int64(r.Served)), render.Thousands(int64(r.Errors)))
	t.Printf("calls       %s\n", render.Thousands(r.Calls))
	t.Printf("joined      %.0f %% of routes and procedures; %s\n", 100*r.JoinedShare, counts(r.Joined))
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
		parts = append(parts, fmt.Sprintf("%s %s", render.Thousands(of[n]), n))
	}
	return strings.Join(parts, ", ")
}
