package commands

import (
	"slices"
	"time"

	store "github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/schemas"
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

// Replays counts how often a command was run again by replays, and how it fared.
type Replays struct {
	Times  int          `json:"times" example:"3" doc:"How often replays ran it again, of the latest 100 runs that reached it; a step whose result was there already does not count."`
	Worked int          `json:"worked" example:"2" doc:"How often it succeeded then."`
	Failed int          `json:"failed" example:"1" doc:"How often it failed then, also where it failed as recorded."`
	Latest []ReplayedAs `json:"latest" nullable:"false" doc:"The latest times, at most 3, the latest first."`
}

// ReplayedAs is one time that a replay ran a command again.
type ReplayedAs struct {
	Run       string           `json:"run" example:"r-7f3a91" doc:"The run's name."`
	Started   *time.Time       `json:"started,omitempty" doc:"When the run began."`
	Host      string           `json:"host,omitempty" example:"ci1" doc:"On which machine."`
	Directory string           `json:"directory,omitempty" example:"/home/bob/shop" doc:"Which directory the run could change."`
	Applied   bool             `json:"applied,omitempty" doc:"Whether what the run changed was taken over into that directory."`
	Step      int              `json:"step" example:"0" doc:"The number of the step, from 0."`
	State     string           `json:"state" enum:"unfinished,done,failed,stopped" example:"done" doc:"How the step ended; unfinished if no end is known. A command that failed as recorded is done, with its exit code."`
	ExitCode  *int32           `json:"exit_code,omitempty" example:"0" doc:"Its exit code."`
	Duration  int64            `json:"duration_ns,omitempty" example:"1500000000" doc:"How long it ran, in nanoseconds."`
	Reason    string           `json:"reason,omitempty" example:"interrupted" doc:"Why it was stopped."`
	Command   string           `json:"command,omitempty" example:"make -C /home/bob/shop" doc:"The command as it ran, if that differs from the recorded one."`
	Position  schemas.Position `json:"position" doc:"The event before it ran."`
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
