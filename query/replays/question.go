package replays

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/query/replays/answer"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// defaultLimit is how many runs are listed unless the request says otherwise.
const defaultLimit = 20

// What replays are asked and answer, from package answer.
type (
	Request  = answer.Request
	Response = answer.Response
	Run      = answer.Run
	Counts   = answer.Counts
	Step     = answer.Step
	File     = answer.File
	Replayed = answer.Replayed
)

// States of runs and steps.
const (
	StateUnfinished = answer.StateUnfinished
	StateDone       = answer.StateDone
	StateFailed     = answer.StateFailed
	StateSatisfied  = answer.StateSatisfied
	StateSkipped    = answer.StateSkipped
	StateStopped    = answer.StateStopped
)

// ReasonOmitted is that of a step that was left out as was asked, from package answer.
const ReasonOmitted = answer.ReasonOmitted

// Question is the question for replays, as every API offers it.
var Question = question.New("replay/runs", "List replays",
	"Returns the replays of recorded commands: each run's goal, state and counts, the latest first; for one run also its steps with their outcomes, the files they wrote, and on request the plan.",
	check, Ask)

// Questions has all of them.
var Questions = question.List[Sources]{Question}

// Sources are what the question reads.
type Sources struct {
	// Set has the projection replays. Required.
	Set *projections.Set
	// Event reads an event from the log, for the plan; nil omits it.
	Event func(ctx context.Context, at schemas.Position) (schemas.LogRecord, error)
}

// check refuses a request that cannot be answered.
func check(r Request) error {
	if r.Command != "" {
		if _, err := schemas.ParseEventID(r.Command); err != nil {
			return &query.RequestError{Field: "command", Value: r.Command, Reason: "want the id of an event"}
		}
	}
	switch {
	case r.Run != "" && (r.Command != "" || r.Workspace != ""):
		return &query.RequestError{Field: "run", Value: r.Run, Reason: "want either a run, or a filter of runs"}
	case r.Plan && r.Run == "":
		return &query.RequestError{Field: "plan", Value: "true", Reason: "want the name of a run with it"}
	case len(r.Run) > 64:
		return &query.RequestError{Field: "run", Value: fmt.Sprintf("%d bytes", len(r.Run)), Reason: "want at most 64"}
	}
	return cmp.Or(query.CheckName("workspace", r.Workspace), query.CheckLimit(r.Limit, 1000), query.CheckWait(r.WaitMS))
}

// Ask answers the question. An error is a *query.RequestError, *query.NotFoundError for a run that is
// not known, *query.NotVisibleError, that of ctx, or that of the projection.
func Ask(ctx context.Context, of Sources, r Request) (Response, error) {
	if err := check(r); err != nil {
		return Response{}, err
	}
	s, err := query.Begin[query.Step](ctx, of.Set, r.AtLeast, r.WaitMS)
	if err != nil {
		return Response{}, err
	}
	defer s.Close()
	p, err := s.Acquire(of.Set, replays.Name)
	if err != nil {
		return Response{}, err
	}
	v, err := p.(*replays.Replays).View()
	if err != nil {
		return Response{}, err
	}
	defer v.Close()
	if s.Visible, err = v.Watermark(); err != nil {
		return Response{}, err
	}
	resp := Response{Runs: []Run{}}
	if r.Run != "" {
		run, err := one(ctx, of, v, r)
		if err != nil {
			return Response{}, err
		}
		resp.Runs = append(resp.Runs, run)
	} else if resp.Runs, err = list(v, r); err != nil {
		return Response{}, err
	}
	s.Step(query.Step{Operator: "runs", Counts: map[string]int64{"runs": int64(len(resp.Runs))}})
	hint := ""
	if len(resp.Runs) == 0 {
		hint = "no such replay is known; `recount replay` begins one"
	}
	var filters []query.AppliedFilter
	for _, f := range [][2]string{{"run", r.Run}, {"command", r.Command}, {"workspace", r.Workspace}} {
		if f[1] != "" {
			filters = append(filters, query.AppliedFilter{Field: f[0], Op: "eq", Value: f[1]})
		}
	}
	resp.Basis = query.BasisOf(&s, len(resp.Runs) == 0, hint, append([]query.AppliedFilter{}, filters...))
	return resp, nil
}

// one returns a run with its steps.
func one(ctx context.Context, of Sources, v *replays.View, r Request) (Run, error) {
	run, err := Of(v, r.Run)
	if err != nil || !r.Plan || of.Event == nil {
		return run, err
	}
	run.Plan, err = PlanOf(ctx, of.Event, run)
	return run, err
}

// PlanOf reads the plan of a run from the log. It is nil if it is not known, or was erased.
func PlanOf(ctx context.Context, event func(context.Context, schemas.Position) (schemas.LogRecord, error), run Run) (json.RawMessage, error) {
	if run.Position == (schemas.Position{}) {
		return nil, nil
	}
	m, err := query.PayloadOf(ctx, event, run.Position)
	if planned, ok := m.(*recountv1.ReplayPlanned); ok && json.Valid([]byte(planned.GetPlan())) {
		return json.RawMessage(planned.GetPlan()), err
	}
	return nil, err
}

// list returns the latest runs that pass the filters, without their steps.
func list(v *replays.View, r Request) ([]Run, error) {
	runs, seen := []Run{}, map[string]bool{}
	limit := cmp.Or(r.Limit, defaultLimit)
	var failed error
	add := func(b replays.Begun) bool {
		if seen[b.Run] {
			return true
		}
		seen[b.Run] = true
		events, err := v.Run(b.Run)
		if err != nil {
			failed = err
			return false
		}
		run := assemble(b.Run, events)
		if r.Workspace != "" && run.Workspace != r.Workspace {
			return true
		}
		run.Steps = nil
		runs = append(runs, run)
		return len(runs) < limit
	}
	if r.Command == "" {
		err := v.Latest(add)
		return runs, cmp.Or(failed, err)
	}
	id, err := schemas.ParseEventID(r.Command)
	if err != nil {
		return nil, err
	}
	begun, err := v.Of(id, 0)
	if err != nil {
		return nil, err
	}
	limit = len(begun) + 1
	for _, b := range begun {
		if !add(b) {
			return nil, failed
		}
	}
	latestFirst(runs)
	return runs[:min(len(runs), cmp.Or(r.Limit, defaultLimit))], nil
}
