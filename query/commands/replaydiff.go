package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/narrative"
	store "github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/schemas"
)

// ReplayDiffRequest names a run to compare with what it replayed.
type ReplayDiffRequest struct {
	Run     string            `json:"run" minLength:"1" maxLength:"64" example:"r-7f3a91" doc:"The name of the run."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.commands/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// Normal checks the request. The error is a *query.RequestError.
func (r ReplayDiffRequest) Normal() (ReplayDiffRequest, error) {
	if r.Run == "" || len(r.Run) > 64 {
		return r, &query.RequestError{Field: "run", Value: r.Run, Reason: "want the name of a run, at most 64 bytes"}
	}
	return r, query.CheckWait(r.WaitMS)
}

// ReplayDiffResponse sets the steps of a run beside the commands that they replayed.
type ReplayDiffResponse struct {
	query.Basis
	Run string `json:"run" example:"r-7f3a91" doc:"The name of the run."`
	// Parted is the first step that behaved otherwise.
	Parted *int           `json:"parted,omitempty" example:"2" doc:"The number of the first step that behaved otherwise, from 0; absent if none did."`
	Steps  []ReplayedStep `json:"steps" nullable:"false" doc:"The steps that the run reached, in order."`
}

// ReplayedStep is a step of a run beside the command that it replayed.
type ReplayedStep struct {
	Step     int     `json:"step" example:"0" doc:"Its number in the plan, from 0."`
	State    string  `json:"state" enum:"unfinished,done,failed,satisfied,skipped,stopped" example:"done" doc:"How the step ended."`
	Original *Intent `json:"original,omitempty" doc:"The recorded command; absent if it is not known any more."`
	Command  string  `json:"command,omitempty" example:"make -C /home/bob/shop" doc:"The command as it ran again."`
	ExitCode *int32  `json:"exit_code,omitempty" example:"0" doc:"Its exit code."`
	Duration int64   `json:"duration_ns,omitempty" example:"1500000000" doc:"How long it ran, in nanoseconds."`
	// Differs lists what is different.
	Differs []ReplayDifference `json:"differs,omitempty" doc:"What it did otherwise than the recorded command. Durations are reported and are no difference."`
}

// ReplayDifference is one thing that a step did otherwise.
type ReplayDifference struct {
	What string `json:"what" enum:"exit,output,state" example:"exit" doc:"exit: the exit code; output: the first line that differs after values such as numbers, times and paths are taken out; state: it did not come to its end."`
	A    string `json:"a" example:"0" doc:"What was recorded."`
	B    string `json:"b" example:"2" doc:"What the replay did."`
}

// ReplayDiffQuestion is the query for the differences of a run.
var ReplayDiffQuestion = newQuestion("replay/diff", "Compare a replay with the original", "Sets each step of a replay beside the command that it replayed: exit code, output after values are taken out, duration, and the first step at which they parted.", ReplayDiff)

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
	resp := ReplayDiffResponse{Run: r.Run, Steps: []ReplayedStep{}}
	for _, step := range run.Steps {
		beside, err := a.beside(step)
		if err != nil {
			return ReplayDiffResponse{}, err
		}
		if len(beside.Differs) > 0 && resp.Parted == nil {
			resp.Parted = &beside.Step
		}
		resp.Steps = append(resp.Steps, beside)
	}
	a.Step(query.Step{Operator: "align", Counts: map[string]int64{"steps": int64(len(resp.Steps))}})
	resp.Basis = query.BasisOf(&a.Session, len(resp.Steps) == 0, "", []query.AppliedFilter{{Field: "run", Op: "eq", Value: r.Run}})
	return resp, nil
}

// beside compares a step with the command that it replayed.
func (a *session) beside(step replays.Step) (ReplayedStep, error) {
	b := ReplayedStep{Step: step.Step, State: step.State, Command: step.Command, ExitCode: step.ExitCode, Duration: step.Duration.Nanoseconds()}
	id, err := schemas.ParseEventID(step.Intent)
	if err != nil {
		return b, nil
	}
	tail := ""
	err = a.segment.ViewID(a.Ctx, id, func(v *segment.View) error {
		in, detail := fill(v)
		b.Original, tail = &in, detail.OutputTail
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
		b.Original.join(outcomes[0])
		tail = cmp.Or(tail, outcomes[0].OutputTail)
	}
	b.compare(tail, step)
	return b, nil
}

// compare fills in what differs. A step that did not run did nothing otherwise.
func (b *ReplayedStep) compare(tail string, step replays.Step) {
	switch step.State {
	case replays.StateSatisfied, replays.StateSkipped:
		return
	case replays.StateStopped, replays.StateUnfinished:
		b.Differs = append(b.Differs, ReplayDifference{"state", "it ended", cmp.Or(step.Reason, step.State)})
		return
	}
	if was, now := b.Original.ExitCode, step.ExitCode; was != nil && now != nil && *was != *now {
		b.Differs = append(b.Differs, ReplayDifference{"exit", fmt.Sprint(*was), fmt.Sprint(*now)})
	}
	if tail == "" {
		return // hooks of shells record no output
	}
	if was, now, differs := partingLine(tail, step.Output); differs {
		b.Differs = append(b.Differs, ReplayDifference{"output", was, now})
	}
}

// partingLine returns the first lines that differ between two ends of outputs after their values are
// taken out. The ends may begin at different places, so lines before what both have in common
// from the end on do not count if one end is at the limit of what is recorded.
func partingLine(was, now string) (a, b string, differs bool) {
	lines := func(s string) (all []string) {
		for line := range strings.Lines(ansi.ReplaceAllString(s, "")) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
		return all
	}
	x, y := lines(was), lines(now)
	same := func(a, b string) bool { return a == b || generalise(a) == generalise(b) }
	if cut := len(was) >= recordedTail || len(now) >= recordedTail; cut {
		// Only what both ends hold can be compared; the first line of each may be cut.
		n := max(0, min(len(x), len(y))-1)
		x, y = x[len(x)-n:], y[len(y)-n:]
	}
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x):
			return "", y[i], true
		case i >= len(y):
			return x[i], "", true
		case !same(x[i], y[i]):
			return x[i], y[i], true
		}
	}
	return "", "", false
}

// recordedTail is the length from which an end of an output may have been cut: exec and replays keep 8 KiB.
const recordedTail = 8<<10 - 64
