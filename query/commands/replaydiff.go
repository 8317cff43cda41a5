package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	store "github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/schemas"
)

// ReplayDiffQuestion is the query for the differences of a run.
var ReplayDiffQuestion = newQuestion("replay/diff", "Compare a replay with the original", "Sets each step of a replay beside the command that it replayed: exit code, output after values are taken out, files by the hashes of their contents, time where it is far off, and the first step at which they parted.", ReplayDiff)

// ReplayDiff compares a run with the commands that it replayed. An error is a *query.RequestError, a
// *query.NotVisibleError, a *query.NotFoundError for a run that is not known, the context's, or one of
// the projections.
func ReplayDiff(ctx context.Context, s Sources, r ReplayDiffRequest) (ReplayDiffResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return ReplayDiffResponse{}, err
	}
	a, err := s.open(ctx, query.Moment{AtLeast: r.AtLeast, WaitMS: cmp.Or(r.WaitMS, int(query.DefaultWait.Milliseconds()))}, segment.Name, narrative.Name, store.Name)
	if err != nil {
		return ReplayDiffResponse{}, err
	}
	defer a.Close()
	run, err := replays.Of(a.replays, r.Run)
	if err != nil {
		return ReplayDiffResponse{}, err
	}
	p, err := a.planOf(run)
	if err != nil {
		return ReplayDiffResponse{}, err
	}
	resp := ReplayDiffResponse{Run: r.Run, Steps: []ReplayedStep{}}
	left := map[string]replays.File{} // what the steps so far left, by path
	for _, step := range run.Steps {
		for _, f := range step.Files {
			left[f.Path] = f
		}
		beside, err := a.beside(step, p, left)
		if err != nil {
			return ReplayDiffResponse{}, err
		}
		if resp.Parted == nil && slices.ContainsFunc(beside.Differs, parts) {
			resp.Parted = &beside.Step
		}
		resp.Steps = append(resp.Steps, beside)
	}
	a.Step(query.Step{Operator: "align", Counts: map[string]int64{"steps": int64(len(resp.Steps))}})
	resp.Basis = query.BasisOf(&a.Session, len(resp.Steps) == 0, "", []query.AppliedFilter{{Field: "run", Op: "eq", Value: r.Run}})
	return resp, nil
}

// beside compares a step with the command that it replayed.
func (a *session) beside(step replays.Step, p planned, left map[string]replays.File) (ReplayedStep, error) {
	b := ReplayedStep{Step: step.Step, State: step.State, Command: step.Command, ExitCode: step.ExitCode, Duration: step.Duration.Nanoseconds()}
	id, err := schemas.ParseEventID(step.Intent)
	if err != nil {
		return b, nil
	}
	tail := ""
	var named []Resource
	err = a.segment.ViewID(a.Ctx, id, func(v *segment.View) error {
		in, detail := fill(v)
		b.Original, tail, named = &in, detail.OutputTail, detail.Resources
		return nil
	})
	if err != nil || b.Original == nil {
		return b, err
	}
	outcomes, err := a.graph.Outcomes(id)
	if err != nil {
		return b, err
	}
	if outcomes = slices.DeleteFunc(outcomes, func(o narrative.Outcome) bool { return !a.knowsOutcome(o) }); len(outcomes) > 0 {
		joinOutcome(b.Original, outcomes[0])
		tail = cmp.Or(tail, outcomes[0].OutputTail)
	}
	compare(&b, p.text(tail), step)
	if step.State != replays.StateDone && step.State != replays.StateFailed {
		return b, nil
	}
	was, meanwhile, err := a.wrote(b.Original, named, outcomes)
	if err != nil {
		return b, err
	}
	was = append(was, comparable(meanwhile, step.Files, step.Step, p, left)...)
	b.Files = compareFiles(was, step.Files, p.mappings, left)
	for _, f := range b.Files {
		if was, now, differs := differsAs(f); differs {
			b.Differs = append(b.Differs, ReplayDifference{What: "file", A: was, B: now})
		}
	}
	return b, nil
}

// compare fills in what differs. A step that was done already, or that a person did, did nothing otherwise; one that
// was not to be run, such as a dangerous one to which nobody agreed, did not what was recorded.
func compare(b *ReplayedStep, tail string, step replays.Step) {
	switch step.State {
	case replays.StateSatisfied:
		return
	case replays.StateSkipped:
		if step.Reason != replays.ReasonOmitted {
			b.Differs = append(b.Differs, ReplayDifference{What: "state", A: "it ran", B: cmp.Or(step.Reason, "it was not run")})
		}
		return
	case replays.StateStopped, replays.StateUnfinished:
		b.Differs = append(b.Differs, ReplayDifference{What: "state", A: "it ended", B: cmp.Or(step.Reason, step.State)})
		return
	}
	was, now := b.Original.ExitCode, step.ExitCode
	switch {
	case was != nil && now != nil && *was != *now:
		b.Differs = append(b.Differs, ReplayDifference{What: "exit", A: fmt.Sprint(*was), B: fmt.Sprint(*now)})
	case step.State == replays.StateFailed && (now == nil || was == nil):
		b.Differs = append(b.Differs, ReplayDifference{What: "state", A: "it ended", B: cmp.Or(step.Reason, step.State)})
	}
	if d := b.Original.Duration; d != nil && farOff(time.Duration(*d), step.Duration) {
		b.Differs = append(b.Differs, ReplayDifference{What: "time", A: query.Took(time.Duration(*d)), B: query.Took(step.Duration)})
	}
	if tail == "" {
		return // hooks of shells record no output
	}
	if was, now, differs := partingLine(tail, step.Output); differs {
		b.Differs = append(b.Differs, ReplayDifference{What: "output", A: was, B: now})
	}
}

// farOff reports whether two durations of the same command can't be explained by the machine alone.
func farOff(a, b time.Duration) bool {
	if a > b {
		a, b = b, a
	}
	return a > 0 && b-a >= 5*time.Second && b >= 4*a
}

// parts reports whether a difference is one of what was done; time is not.
func parts(d ReplayDifference) bool { return d.What != "time" }
