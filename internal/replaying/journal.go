package replaying

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/replayjournal"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// runLog writes a run into the log. It is a run.Journal.
type runLog struct {
	*replayjournal.Journal
	getenv func(string) string
}

func (l runLog) Planned(ctx context.Context, p run.Planned) error {
	if p.Resumes {
		return nil // it was written down when the run began
	}
	text, err := json.Marshal(p.Plan)
	if err != nil {
		return err
	}
	return l.Journal.Planned(ctx, &recountv1.ReplayPlanned{
		PlanId: p.Plan.ID, Plan: string(text), Goal: p.Plan.Goal.What, Directory: p.Dir, Isolation: p.Isolation, Network: p.Network,
		Steps: uint32(len(p.Plan.Steps)), User: recording.UserName(l.getenv), Host: recording.HostName(), Author: recording.UserName(l.getenv),
	})
}

func (l runLog) Started(ctx context.Context, s run.Started) error {
	return l.Journal.Started(ctx, &recountv1.ReplayStepStarted{
		Step: uint32(s.Step), Attempt: uint32(s.Number), CommandEventId: s.Intent.String(), Command: s.Command, Cwd: s.Dir,
	})
}

// statesOf maps how a step came out to the state that is recorded.
var statesOf = map[run.Status]recountv1.ReplayState{
	run.Done:     recountv1.ReplayState_REPLAY_STATE_DONE,
	run.Skipped:  recountv1.ReplayState_REPLAY_STATE_SATISFIED,
	run.Failed:   recountv1.ReplayState_REPLAY_STATE_FAILED,
	run.Refused:  recountv1.ReplayState_REPLAY_STATE_SKIPPED,
	run.Blocked:  recountv1.ReplayState_REPLAY_STATE_SKIPPED,
	run.Terminal: recountv1.ReplayState_REPLAY_STATE_SKIPPED,
	run.Omitted:  recountv1.ReplayState_REPLAY_STATE_SKIPPED,
	run.Stopped:  recountv1.ReplayState_REPLAY_STATE_STOPPED,
}

func (l runLog) Ended(ctx context.Context, o run.Outcome) error {
	m := &recountv1.ReplayStepEnded{
		Step: uint32(o.Step), Attempt: uint32(o.Number), CommandEventId: o.Intent.String(), State: statesOf[o.Status],
		Reason: cutBytes(o.Reason, 4096), OutputTail: o.Output,
	}
	if o.Attempt > 0 {
		m.Duration = durationpb.New(o.Took)
		if o.Status != run.Stopped {
			code := int32(o.Exit)
			m.ExitCode = &code
		}
	}
	for _, f := range o.Files {
		if len(f.Path) > 4096 || !utf8.ValidString(f.Path) { // as recorders do
			continue
		}
		sum, err := hex.DecodeString(f.Hash)
		if err != nil {
			return fmt.Errorf("hash of %s: %w", f.Path, err)
		}
		m.Files = append(m.Files, &recountv1.WrittenFile{Path: f.Path, Sha256: sum, Size: f.Size, Removed: f.Kind == sandbox.Removed})
	}
	return l.Journal.Ended(ctx, m)
}

// Done writes nothing: how many files differ, and whether they were applied, is known only later.
// Until then a run that is killed counts as unfinished, and can be resumed.
func (runLog) Done(context.Context, run.Report) error { return nil }

// finish writes the end of a run.
func (l runLog) finish(ctx context.Context, r Report, changes []sandbox.Change, applied bool) error {
	m := &recountv1.ReplayEnded{State: recountv1.ReplayState_REPLAY_STATE_DONE, Applied: applied, Reason: cutBytes(reason(r.Differs), 4096)}
	switch r.Status {
	case "incomplete":
		m.State = recountv1.ReplayState_REPLAY_STATE_FAILED
	case "stopped":
		m.State = recountv1.ReplayState_REPLAY_STATE_STOPPED
	}
	for _, o := range r.Steps {
		if !o.Status.Fine() {
			m.Reason = cutBytes(fmt.Sprintf("step %d: %s", o.Step+1, o.Reason), 4096)
			break
		}
	}
	for _, c := range changes {
		switch c.Kind {
		case sandbox.Added:
			m.Added++
		case sandbox.Changed:
			m.Changed++
		case sandbox.Removed:
			m.Removed++
		}
	}
	return l.Journal.Done(ctx, m)
}

// cutBytes cuts a text to a number of bytes, between characters. It may name paths that are not UTF-8.
func cutBytes(s string, n int) string {
	return strings.ToValidUTF8(s[:min(n, len(s))], "")
}

// pastRun is a run that is to go on.
type pastRun struct {
	run  replays.Run
	plan *replay.Plan
	past *run.Past
}

// erasedError says that a run cannot go on since its plan was erased.
type erasedError struct{ run string }

func (e *erasedError) Error() string {
	return "the plan of run " + e.run + " was erased, so it can't go on: begin a new one with recount replay, and forget what it wrote with recount replay --resume " + e.run + " --discard"
}

// askPast asks for a run that was killed or stopped, or is complete and not applied.
func askPast(ctx context.Context, log question.Answerer, name string, after schemas.Watermark) (*pastRun, error) {
	resp, err := replays.Question.Ask(ctx, log, replays.Request{Run: name, Plan: true, AtLeast: after})
	if err != nil {
		return nil, err
	}
	p := &pastRun{run: resp.Runs[0], plan: new(replay.Plan), past: &run.Past{Ended: map[int]run.Outcome{}, Open: map[int]bool{}, Numbers: map[int]int{}}}
	if len(p.run.Plan) == 0 {
		return nil, &erasedError{name}
	}
	if err := json.Unmarshal(p.run.Plan, p.plan); err != nil {
		return nil, fmt.Errorf("the plan of run %s: %w", name, err)
	}
	for _, s := range p.run.Steps {
		p.past.Numbers[s.Step] = s.Attempt
		o := run.Outcome{Run: name, Step: s.Step, Command: s.Command, Dir: s.Cwd, Output: s.Output, Took: s.Duration}
		switch s.State {
		case replays.StateDone:
			o.Status = run.Done
		case replays.StateSatisfied:
			o.Status = run.Skipped
		case replays.StateUnfinished:
			p.past.Open[s.Step] = true
			continue
		case replays.StateSkipped:
			p.past.Open[s.Step] = s.Reason == run.ReasonUnknown
			if o.Status = run.Refused; s.Reason == run.ReasonOmitted {
				o.Status = run.Omitted
			}
		default:
			o.Status = run.Failed
		}
		p.past.Ended[s.Step] = o
	}
	return p, nil
}
