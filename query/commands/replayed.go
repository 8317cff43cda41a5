package commands

import (
	"slices"

	store "github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays"
)

// withReplays adds the projection replays to the names of those that a query reads, if the node has it.
func (s Sources) withReplays(names ...string) []string {
	if slices.Contains(s.Set.Names(), store.Name) {
		names = append(names, store.Name)
	}
	return names
}

// replayedFilter keeps the commands that a replay began to run again.
func (a *session) replayedFilter() matcher {
	return matcher{query.AppliedFilter{Field: "replayed", Op: "eq", Value: "true"}, func(v *segment.View) (bool, error) {
		return replays.Was(a.replays, v.ID(), a.Visible)
	}}
}
