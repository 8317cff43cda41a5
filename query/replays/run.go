package replays

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// States of runs and steps.
const (
	StateUnfinished = "unfinished"
	StateDone       = "done"
	StateFailed     = "failed"
	StateSatisfied  = "satisfied"
	StateSkipped    = "skipped"
	StateStopped    = "stopped"
)

// Run is one execution of a plan.
type Run struct {
	Run       string           `json:"run" example:"r-7f3a91" doc:"Its name."`
	State     string           `json:"state" enum:"unfinished,done,failed,stopped" example:"done" doc:"How it ended; unfinished if it has not, or was killed."`
	Reason    string           `json:"reason,omitempty" example:"step 2 failed with exit code 2" doc:"Why it ended early."`
	Goal      string           `json:"goal,omitempty" example:"make install" doc:"What its plan is for."`
	PlanID    string           `json:"plan_id,omitempty" doc:"The plan's hash."`
	Workspace string           `json:"workspace,omitempty" example:"/home/bob/shop" doc:"The workspace of the commands."`
	Directory string           `json:"directory,omitempty" example:"/home/bob/shop" doc:"Where the steps ran."`
	Isolation string           `json:"isolation,omitempty" example:"sandbox" doc:"What separated them from the machine."`
	Network   bool             `json:"network,omitempty" doc:"They could use the network."`
	User      string           `json:"user,omitempty" example:"bob" doc:"The user who ran it."`
	Host      string           `json:"host,omitempty" example:"build-1" doc:"The machine."`
	Author    string           `json:"author,omitempty" example:"bob" doc:"The person or agent who ran it."`
	Started   time.Time        `json:"started,omitzero" doc:"When it began."`
	Ended     time.Time        `json:"ended,omitzero" doc:"When it ended."`
	Counts    Counts           `json:"counts" doc:"The numbers of steps and of changed files."`
	Applied   bool             `json:"applied" example:"false" doc:"Whether the changes were brought out of the sandbox."`
	Position  schemas.Position `json:"position,omitzero" doc:"The event that began it."`
	End       schemas.Position `json:"end,omitzero" doc:"The event that ended it."`
	Steps     []Step           `json:"steps,omitempty" doc:"For one run: the steps that were reached, in order."`
	Plan      json.RawMessage  `json:"plan,omitempty" doc:"On request: the plan. Absent if it was erased."`
}

// Counts are the numbers of a run.
type Counts struct {
	Steps     int `json:"steps" example:"3" doc:"Steps of the plan."`
	Done      int `json:"done" example:"2" doc:"Steps that ran and succeeded."`
	Failed    int `json:"failed" example:"0" doc:"Steps that ran and failed."`
	Satisfied int `json:"satisfied" example:"1" doc:"Steps that did not run, because what they make is there."`
	Skipped   int `json:"skipped" example:"0" doc:"Steps that were skipped."`
	Stopped   int `json:"stopped" example:"0" doc:"Steps that were stopped."`
	Underway  int `json:"under_way" example:"0" doc:"Steps that began and of whose end nothing is known."`
	Added     int `json:"added" example:"4" doc:"Files that the run added."`
	Changed   int `json:"changed" example:"1" doc:"Files that it changed."`
	Removed   int `json:"removed" example:"0" doc:"Files that it removed."`
}

// Step is one step of a run: its last attempt.
type Step struct {
	Step     int              `json:"step" example:"0" doc:"Its number in the plan, from 0."`
	State    string           `json:"state" enum:"unfinished,done,failed,satisfied,skipped,stopped" example:"done" doc:"How it ended; unfinished if it began and no end is known."`
	Attempt  int              `json:"attempt" example:"1" doc:"The number of the attempt."`
	Intent   string           `json:"intent,omitempty" format:"uuid" doc:"The recorded command that it replays."`
	Command  string           `json:"command,omitempty" example:"make -C /home/bob/shop" doc:"The command as it ran; empty if it did not run."`
	Cwd      string           `json:"cwd,omitempty" example:"/home/bob/shop" doc:"The directory it ran in."`
	ExitCode *int32           `json:"exit_code,omitempty" example:"0" doc:"Its exit code."`
	Duration time.Duration    `json:"duration_ns,omitempty" example:"1500000000" doc:"How long it ran, in nanoseconds."`
	Reason   string           `json:"reason,omitempty" example:"/home/bob/shop/shop has the recorded content" doc:"Why it was skipped or stopped."`
	Output   string           `json:"output_tail,omitempty" doc:"The end of its output."`
	Files    []File           `json:"files,omitempty" doc:"What it wrote."`
	Began    schemas.Position `json:"began,omitzero" doc:"The event before it ran."`
	End      schemas.Position `json:"end,omitzero" doc:"The event after it."`
}

// File is a file that a step wrote.
type File struct {
	Path    string `json:"path" example:"/home/bob/shop/shop" doc:"Its path."`
	SHA256  string `json:"sha256,omitempty" doc:"The hash of its content, in hex."`
	Size    int64  `json:"size" example:"4" doc:"Its size in bytes."`
	Removed bool   `json:"removed,omitempty" doc:"Whether it was removed."`
}

// assemble puts a run together from its events, in any order.
func assemble(name string, events []*recountv1.Record) Run {
	r := Run{Run: name, State: StateUnfinished}
	steps := map[uint32]*Step{}
	// step returns the attempt of a step to fill in, nil if a later attempt is known.
	step := func(n, attempt uint32) *Step {
		s := steps[n]
		if s == nil || int(attempt) > s.Attempt {
			s = &Step{Step: int(n), Attempt: int(attempt), State: StateUnfinished}
			steps[n] = s
		}
		if int(attempt) < s.Attempt {
			return nil
		}
		return s
	}
	for _, e := range events {
		at := schemas.PositionOf(e.GetOrigin())
		switch {
		case e.GetReplayPlanned() != nil:
			m := e.GetReplayPlanned()
			if r.Position != (schemas.Position{}) && r.Position.Compare(at) < 0 {
				continue // a run is begun once; the first event of several counts
			}
			r.Goal, r.PlanID, r.Workspace, r.Directory, r.Isolation, r.Network = m.GetGoal(), m.GetPlanId(), m.GetWorkspace(), m.GetDirectory(), m.GetIsolation(), m.GetNetwork()
			r.User, r.Host, r.Author, r.Started, r.Position = m.GetUser(), m.GetHost(), m.GetAuthor(), timeOf(m.GetOccurredAt()), at
			r.Counts.Steps = int(m.GetSteps())
		case e.GetReplayStepStarted() != nil:
			m := e.GetReplayStepStarted()
			if s := step(m.GetStep(), m.GetAttempt()); s != nil {
				s.Intent, s.Command, s.Cwd, s.Began = m.GetCommandEventId(), m.GetCommand(), m.GetCwd(), at
			}
		case e.GetReplayStepEnded() != nil:
			m := e.GetReplayStepEnded()
			if s := step(m.GetStep(), m.GetAttempt()); s != nil {
				s.end(m, at)
			}
		case e.GetReplayEnded() != nil:
			// A run that was resumed ends again: the last end counts.
			m := e.GetReplayEnded()
			if ended := timeOf(m.GetOccurredAt()); !ended.Before(r.Ended) {
				r.State, r.Reason, r.Applied, r.Ended, r.End = stateOf(m.GetState()), m.GetReason(), m.GetApplied(), ended, at
				r.Counts.Added, r.Counts.Changed, r.Counts.Removed = int(m.GetAdded()), int(m.GetChanged()), int(m.GetRemoved())
			}
		}
	}
	for _, s := range steps {
		r.Steps = append(r.Steps, *s)
		*r.Counts.of(s.State)++
	}
	slices.SortFunc(r.Steps, func(a, b Step) int { return cmp.Compare(a.Step, b.Step) })
	return r
}

// end fills in how a step ended.
func (s *Step) end(m *recountv1.ReplayStepEnded, at schemas.Position) {
	s.Intent = cmp.Or(m.GetCommandEventId(), s.Intent)
	s.State, s.ExitCode, s.Duration, s.Reason, s.Output, s.End = stateOf(m.GetState()), m.ExitCode, m.GetDuration().AsDuration(), m.GetReason(), m.GetOutputTail(), at
	s.Files = nil
	for _, f := range m.GetFiles() {
		s.Files = append(s.Files, File{Path: f.GetPath(), SHA256: hex.EncodeToString(f.GetSha256()), Size: f.GetSize(), Removed: f.GetRemoved()})
	}
}

// of returns the count of a state.
func (c *Counts) of(state string) *int {
	switch state {
	case StateDone:
		return &c.Done
	case StateFailed:
		return &c.Failed
	case StateSatisfied:
		return &c.Satisfied
	case StateSkipped:
		return &c.Skipped
	case StateStopped:
		return &c.Stopped
	}
	return &c.Underway
}

// stateOf returns the word for a state.
func stateOf(s recountv1.ReplayState) string {
	if s == recountv1.ReplayState_REPLAY_STATE_UNSPECIFIED {
		return StateUnfinished
	}
	return strings.ToLower(strings.TrimPrefix(s.String(), "REPLAY_STATE_"))
}

// timeOf returns the time of a timestamp, zero if there is none.
func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// latestFirst sorts runs by their beginning.
func latestFirst(runs []Run) {
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.Run, b.Run))
	})
}
