package replaying

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/replayjournal"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/schemas"
)

// Report is how a run came out.
type Report struct {
	run.Report
	// Changes are the difference that the run made in its directory, since it first began.
	Changes []sandbox.Change `json:"changes,omitempty"`
	Applied bool             `json:"applied"` // they were made in the real directory
	Kept    bool             `json:"kept"`    // they can be applied by resuming the run
	// Partly says that making them began and did not end: part of them may be in the real directory.
	Partly bool `json:"partly,omitempty"`
	// Differs are the files that a run which did all its steps left otherwise than they were at the end of the narrative.
	Differs []Difference `json:"differs,omitempty"`
	// Written is the watermark above the events of the run, for Options.AtLeast.
	Written schemas.Watermark `json:"-"`
}

// Complete reports whether all steps are done.
func (r Report) Complete() bool { return r.Status == "complete" }

// AsRecorded reports whether all steps are done and the files are there, or not, as at the end of the narrative.
func (r Report) AsRecorded() bool { return r.Complete() && !Parts(r.Differs) }

// Start executes a plan as a new run. A step that fails is no error. The error says why the run could
// not begin, that its journal failed, or that its changes could not be applied; then the report tells
// what was done.
func Start(ctx context.Context, p *replay.Plan, o Options) (Report, error) {
	if err := o.validate(); err != nil {
		return Report{}, err
	}
	if o.Dir == "" {
		o.Dir = p.Directory(o.Getenv("HOME"))
	}
	if o.Dir == "" {
		return Report{}, &query.RequestError{Field: "dir", Value: "none", Reason: "the steps have no directory in common: name the one that they may change"}
	}
	abs, err := filepath.Abs(o.Dir)
	if err != nil {
		return Report{}, err
	}
	o.Dir = abs
	return o.execute(ctx, replayjournal.NewRun(), p, nil)
}

// Resume goes on with the run of a name.
func Resume(ctx context.Context, name string, o Options) (Report, error) {
	past, err := o.past(ctx, name)
	if err != nil {
		return Report{}, err
	}
	return o.execute(ctx, name, past.plan, past.past)
}

// Discard forgets what a run wrote, and runs nothing. It does so also if the run itself, or its plan, was erased.
func Discard(ctx context.Context, name string, o Options) error {
	past, err := o.past(ctx, name)
	var erased *erasedError
	var unknown *query.NotFoundError
	if (errors.As(err, &erased) || errors.As(err, &unknown)) && slices.Contains(Kept(o.State), name) {
		return sandbox.Remove(o.stateOf(name))
	}
	if err != nil {
		return err
	}
	box, err := o.open(ctx, name, past.plan)
	if err != nil {
		return err
	}
	return box.Discard()
}

// Kept returns the names of the runs of which something is kept in a state directory: they were not applied, or did not
// end.
func Kept(stateDir string) []string {
	entries, _ := os.ReadDir(stateDir) // where there is none, no run was
	var names []string
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "r-") {
			names = append(names, e.Name())
		}
	}
	return names
}

// past asks for a run that is to go on, and takes over where it ran and how.
func (o *Options) past(ctx context.Context, name string) (*pastRun, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	past, err := askPast(ctx, o.Log, name, o.AtLeast)
	if err != nil {
		return nil, err
	}
	if o.Dir != "" && o.Dir != past.run.Directory {
		return nil, &query.RequestError{Field: "dir", Value: o.Dir, Reason: "run " + name + " is one of " + past.run.Directory}
	}
	if past.run.Applied {
		return nil, &query.RequestError{Field: "resume", Value: name, Reason: "it is done and its changes were applied"}
	}
	o.Dir, o.Isolation = past.run.Directory, sandbox.Isolation(past.run.Isolation)
	return past, nil
}

// execute runs what is left of a plan, and applies or keeps what that changed.
func (o *Options) execute(ctx context.Context, name string, p *replay.Plan, past *run.Past) (Report, error) {
	for step := range o.Without {
		if step < 0 || step >= len(p.Steps) {
			return Report{}, &query.RequestError{Field: "without", Value: step + 1, Reason: fmt.Sprintf("the plan has %d steps", len(p.Steps))}
		}
	}
	if err := o.unasked(p); err != nil {
		return Report{}, err
	}
	box, err := o.open(ctx, name, p)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = box.Close() }() // what it wrote is kept
	if err := o.keepHome(name, past != nil); err != nil {
		return Report{}, err
	}
	log := runLog{&replayjournal.Journal{Log: o.Log, Redact: o.Redact, Run: name, Workspace: p.Workspace, Now: o.Now}, o.Getenv}
	o.begin(box, name, p)
	how := run.Options{
		Run: name, Executor: box, Journal: log, Network: o.Network, Jobs: o.Jobs, Timeout: o.Timeout,
		Policy: o.Policy, Steps: o.Steps, Without: o.Without, Env: o.env(), Values: o.values(p), Confirm: o.Confirm,
		Past: past,
		Progress: func(e run.Event) {
			out := event(name, e)
			if e.Outcome != nil && e.Outcome.Status == run.Failed && e.Outcome.Last {
				out.Failure = o.explain(ctx, p, e.Step)
			}
			o.Progress(out)
		},
	}
	if box.Isolation() == sandbox.IsolationNone {
		how.Scratch = filepath.Join(o.stateOf(name), "sessions")
	}
	report, err := run.Run(ctx, p, how)
	if err != nil {
		return Report{Report: report, Written: log.Written()}, err
	}
	// The end is written down also after an interrupt.
	out, err := o.end(context.WithoutCancel(ctx), box, log, p, report)
	out.Written = log.Written()
	return out, err
}

// begin says where and how the steps run.
func (o *Options) begin(box *sandbox.Sandbox, name string, p *replay.Plan) {
	e := Event{Event: EventRun, Run: name, Steps: len(p.Steps), Isolation: string(box.Isolation()), Directory: box.Dir()}
	switch box.Isolation() {
	case sandbox.IsolationSandbox:
		kernel := box.Report() // what the kernel lacks matters to nobody else
		e.Kernel, e.Notes = &kernel, box.Notes()
	case sandbox.IsolationNone:
	default:
		e.Notes = box.Notes()
	}
	for _, m := range p.Missing {
		e.Notes = append(e.Notes, m.Ref+": "+m.Text)
	}
	o.Progress(e)
}

// open opens the executor of a run.
func (o *Options) open(ctx context.Context, name string, p *replay.Plan) (*sandbox.Sandbox, error) {
	// The sandbox makes it too, but then it might lie in a directory that others can read.
	if err := os.MkdirAll(o.State, 0o700); err != nil {
		return nil, err
	}
	how := sandbox.Options{Dir: o.Dir, State: o.stateOf(name), Home: o.Getenv("HOME"), Isolation: o.Isolation, Network: o.Network, Hide: append([]string{o.State}, o.Hide...)}
	if o.Isolation == sandbox.IsolationSandbox {
		helper, err := sandbox.FindHelper()
		if err != nil {
			return nil, err
		}
		how.Helper = helper
		how.Copy = p.NeedsCopy()
	}
	box, err := sandbox.Open(ctx, how)
	var dir *sandbox.DirError
	if errors.As(err, &dir) {
		return nil, &query.RequestError{Field: "dir", Value: dir.Dir, Reason: dir.Why}
	}
	return box, err
}

// end finds out the difference that a run made, applies it if that was asked for, and writes down the end. A run that came
// to another end than the narrative is kept: whoever has looked at that applies it by resuming the run.
func (o *Options) end(ctx context.Context, box *sandbox.Sandbox, log runLog, p *replay.Plan, report run.Report) (Report, error) {
	out := Report{Report: report}
	changes, err := box.Changes()
	if err != nil && !errors.Is(err, sandbox.ErrNoView) {
		return out, err
	}
	out.Changes, out.Kept = changes, len(changes) > 0
	if out.Complete() && report.Counts[run.Omitted] == 0 {
		var twice []string
		for _, o := range report.Steps {
			if o.Reason == run.ReasonAgain {
				twice = append(twice, p.Steps[o.Step].Outputs...)
			}
		}
		out.Differs = differences(p, box.Dir(), changes, twice)
	}
	lookedAt := !slices.ContainsFunc(report.Steps, func(o run.Outcome) bool { return !o.Before })
	var refused error
	if o.Apply && out.Complete() && (out.AsRecorded() || lookedAt) {
		if _, refused = box.Apply(); refused == nil {
			out.Applied, out.Kept = true, false
		}
	}
	out.Partly = box.Partly()
	if err := log.finish(ctx, out, changes, out.Applied); err != nil {
		return out, err
	}
	o.Progress(Event{Event: EventDone, Run: report.Run, Report: &report, Changes: changes, Differs: out.Differs, Applied: &out.Applied, Kept: &out.Kept, Partly: out.Partly})
	if refused != nil {
		return out, refused
	}
	if out.Complete() && !out.Kept {
		return out, box.Discard()
	}
	return out, nil
}
