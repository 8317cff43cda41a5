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
		return replays.Was(a.replays, v.ID(), a.Visible, a.as.Time)
	}}
}

// maxReplaysTold bounds the replays that are listed with a command.
const maxReplaysTold = 3

// replaysOf returns how a command fared when it was replayed, nil if no replay ran it.
func (a *session) replaysOf(of Intent) (*Replays, error) {
	if a.replays == nil {
		return nil, nil
	}
	all, err := replays.OfCommand(a.replays, of.ID, a.Visible, a.as.Time)
	if err != nil {
		return nil, err
	}
	r := &Replays{Latest: []ReplayedAs{}}
	st := query.Step{Operator: "replays", Inputs: map[string]string{"id": of.ID.String()}}
	for _, x := range all {
		if !x.Ran() {
			continue
		}
		r.Times++
		if x.Worked() {
			r.Worked++
		}
		if x.Failed() {
			r.Failed++
		}
		if len(r.Latest) == maxReplaysTold {
			continue
		}
		as := ReplayedAs{
			Run: x.Run, Started: x.Started, Host: x.Host, Directory: x.Directory, Applied: x.Applied, Step: x.Step.Step, State: x.State,
			ExitCode: x.ExitCode, Duration: x.Duration.Nanoseconds(), Reason: x.Reason, Position: x.Began,
		}
		if x.Command != of.Command {
			as.Command = x.Command
		}
		r.Latest = append(r.Latest, as)
		st.Hits = append(st.Hits, query.Evidence{Position: x.Began})
	}
	if r.Times == 0 {
		return nil, nil
	}
	st.Counts = map[string]int64{"times": int64(r.Times), "worked": int64(r.Worked), "failed": int64(r.Failed)}
	a.Step(st)
	return r, nil
}
