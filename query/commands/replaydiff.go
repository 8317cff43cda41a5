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
	// Files are compared for steps that ran.
	Files []ReplayedFile `json:"files,omitempty" doc:"The files that either of them is known to have written, for a step that ran."`
	// Differs lists what is different.
	Differs []ReplayDifference `json:"differs,omitempty" doc:"What it did otherwise than the recorded command."`
}

// ReplayDifference is one thing that a step did otherwise.
type ReplayDifference struct {
	What string `json:"what" enum:"exit,output,state,file,time" example:"exit" doc:"exit: the exit code; output: the first line that differs after paths are mapped and values such as times, process numbers and hashes are taken out; state: it did not come to its end; file: another content, or none; time: it took at least 4 times as long or as short, and 5 seconds more or less. A time alone does not part them."`
	A    string `json:"a" example:"0" doc:"What was recorded."`
	B    string `json:"b" example:"2" doc:"What the replay did."`
}

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
	m, err := a.mappedBy(run)
	if err != nil {
		return ReplayDiffResponse{}, err
	}
	resp := ReplayDiffResponse{Run: r.Run, Steps: []ReplayedStep{}}
	left := map[string]replays.File{} // what the steps so far left, by path
	for _, step := range run.Steps {
		for _, f := range step.Files {
			left[f.Path] = f
		}
		beside, err := a.beside(step, m, left)
		if err != nil {
			return ReplayDiffResponse{}, err
		}
		if resp.Parted == nil && slices.ContainsFunc(beside.Differs, ReplayDifference.parts) {
			resp.Parted = &beside.Step
		}
		resp.Steps = append(resp.Steps, beside)
	}
	a.Step(query.Step{Operator: "align", Counts: map[string]int64{"steps": int64(len(resp.Steps))}})
	resp.Basis = query.BasisOf(&a.Session, len(resp.Steps) == 0, "", []query.AppliedFilter{{Field: "run", Op: "eq", Value: r.Run}})
	return resp, nil
}

// beside compares a step with the command that it replayed.
func (a *session) beside(step replays.Step, m mappings, left map[string]replays.File) (ReplayedStep, error) {
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
		joinOutcome(b.Original, outcomes[0])
		tail = cmp.Or(tail, outcomes[0].OutputTail)
	}
	b.compare(m.text(tail), step)
	if step.State != replays.StateDone && step.State != replays.StateFailed {
		return b, nil
	}
	was, err := a.wrote(outcomes)
	if err != nil {
		return b, err
	}
	b.Files = compareFiles(was, step.Files, m, left)
	for _, f := range b.Files {
		if was, now, differs := f.differs(); differs {
			b.Differs = append(b.Differs, ReplayDifference{"file", was, now})
		}
	}
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
	was, now := b.Original.ExitCode, step.ExitCode
	switch {
	case was != nil && now != nil && *was != *now:
		b.Differs = append(b.Differs, ReplayDifference{"exit", fmt.Sprint(*was), fmt.Sprint(*now)})
	case step.State == replays.StateFailed && (now == nil || was == nil):
		b.Differs = append(b.Differs, ReplayDifference{"state", "it ended", cmp.Or(step.Reason, step.State)})
	}
	if d := b.Original.Duration; d != nil && farOff(time.Duration(*d), step.Duration) {
		b.Differs = append(b.Differs, ReplayDifference{"time", time.Duration(*d).Round(time.Millisecond).String(), step.Duration.Round(time.Millisecond).String()})
	}
	if tail == "" {
		return // hooks of shells record no output
	}
	if was, now, differs := partingLine(tail, step.Output); differs {
		b.Differs = append(b.Differs, ReplayDifference{"output", was, now})
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
func (d ReplayDifference) parts() bool { return d.What != "time" }
