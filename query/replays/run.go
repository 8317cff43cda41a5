package replays

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

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
				end(s, m, at)
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
		*countOf(&r.Counts, s.State)++
	}
	slices.SortFunc(r.Steps, func(a, b Step) int { return cmp.Compare(a.Step, b.Step) })
	return r
}

// end fills in how a step ended.
func end(s *Step, m *recountv1.ReplayStepEnded, at schemas.Position) {
	s.Intent = cmp.Or(m.GetCommandEventId(), s.Intent)
	s.State, s.ExitCode, s.Duration, s.Reason, s.Output, s.End = stateOf(m.GetState()), m.ExitCode, m.GetDuration().AsDuration(), m.GetReason(), m.GetOutputTail(), at
	s.Files = nil
	for _, f := range m.GetFiles() {
		s.Files = append(s.Files, File{Path: f.GetPath(), SHA256: hex.EncodeToString(f.GetSha256()), Size: f.GetSize(), Removed: f.GetRemoved()})
	}
}

// countOf returns the count of a state.
func countOf(c *Counts, state string) *int {
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
