package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/replayjournal"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
)

// replayRunFlags say how a plan is executed.
type replayRunFlags struct {
	dir, isolation, resume, onFailure string
	network, apply, discard, yes      bool
	output                            bool
	timeout, backoff                  time.Duration
	attempts, jobs                    int
}

func (f *replayRunFlags) add(s *pflag.FlagSet) {
	s.StringVar(&f.dir, "dir", "", "the directory that the steps may change (default: the plan's workspace, or else the current directory)")
	s.StringVar(&f.isolation, "isolation", string(sandbox.IsolationSandbox), "sandbox: a copy-on-write view of the directory, and nothing else can be written; none: the real files")
	s.BoolVar(&f.network, "network", false, "let the steps use the network")
	s.BoolVar(&f.apply, "apply", false, "if all steps are done, make the changes in the real directory")
	s.StringVar(&f.resume, "resume", "", "go on with this run, which was stopped or killed, or was not applied")
	s.BoolVar(&f.discard, "discard", false, "with --resume: forget what the run wrote, and run nothing")
	s.StringVar(&f.onFailure, "on-failure", run.OnFailureAbort, "when a step fails: abort, skip what needs it, or ask")
	s.IntVar(&f.attempts, "attempts", 1, "how often a step is tried")
	s.DurationVar(&f.backoff, "backoff", time.Second, "the pause before a second attempt, doubled for each further one")
	s.DurationVar(&f.timeout, "timeout", 0, "end a step, and all that it started, after this time (default: no limit)")
	s.IntVar(&f.jobs, "jobs", 1, "how many steps that need nothing of each other run at once")
	s.BoolVarP(&f.yes, "yes", "y", false, "agree to steps that are not sure; dangerous ones are asked about all the same")
	s.BoolVar(&f.output, "output", false, "print what the steps print")
}

func (f *replayRunFlags) check() error {
	switch {
	case f.discard && f.resume == "":
		return usage.Errorf("--discard: name the run to forget with --resume")
	case f.discard && f.apply:
		return usage.Errorf("--discard and --apply: give one of them")
	case f.jobs < 1:
		return usage.Errorf("--jobs %d: want 1 or more", f.jobs)
	case f.attempts < 1:
		return usage.Errorf("--attempts %d: want 1 or more", f.attempts)
	case f.backoff < 0 || f.timeout < 0:
		return usage.Errorf("--backoff and --timeout can't be negative")
	case !slices.Contains([]string{run.OnFailureAbort, run.OnFailureSkip, run.OnFailureAsk}, f.onFailure):
		return usage.Errorf("--on-failure %s: want abort, skip or ask", f.onFailure)
	case !slices.Contains([]string{string(sandbox.IsolationSandbox), string(sandbox.IsolationNone)}, f.isolation):
		return usage.Errorf("--isolation %s: want sandbox or none", f.isolation)
	case f.apply && f.isolation == string(sandbox.IsolationNone):
		return usage.Errorf("--apply: without isolation the steps change the real files already")
	}
	return nil
}

// resumeReplay goes on with a run of an earlier process.
func (a *app) resumeReplay(ctx context.Context, b *connect.Backend, f *replayRunFlags) error {
	p, err := a.askPast(ctx, b, f.resume)
	a.ClearProgress()
	if err != nil {
		return a.unanswered(err)
	}
	if f.dir != "" && f.dir != p.run.Directory {
		return usage.Errorf("--dir %s: run %s is one of %s", f.dir, f.resume, p.run.Directory)
	}
	if p.run.Applied {
		return usage.Errorf("--resume %s: it is done and its changes were applied", f.resume)
	}
	f.dir, f.isolation = p.run.Directory, p.run.Isolation
	return a.executeReplay(ctx, b, f, p.plan, p)
}

// runReplay executes a plan as a new run.
func (a *app) runReplay(ctx context.Context, b *connect.Backend, f *replayRunFlags, p *replay.Plan) error {
	if f.dir == "" {
		f.dir = p.Workspace
	}
	if f.dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return err
		}
		f.dir = wd
	}
	abs, err := filepath.Abs(f.dir)
	if err != nil {
		return err
	}
	f.dir = abs
	return a.executeReplay(ctx, b, f, p, nil)
}

// executeReplay runs what is left of a plan, and shows, applies or keeps what that changed.
func (a *app) executeReplay(ctx context.Context, b *connect.Backend, f *replayRunFlags, p *replay.Plan, past *pastRun) error {
	name := replayjournal.NewRun()
	if past != nil {
		name = past.run.Run
	}
	box, err := a.openSandbox(ctx, f, name)
	if err != nil {
		return err
	}
	defer func() { _ = box.Close() }() // what it wrote is kept
	if f.discard {
		return box.Discard()
	}
	cfg, err := a.NodeConfig()
	if err != nil {
		return err
	}
	redactor, err := connect.Redactor(cfg)
	if err != nil {
		return err
	}
	log := replayLog{&replayjournal.Journal{Log: b, Redact: redactor, Run: name, Workspace: p.Workspace, Now: time.Now}, a}
	view := &replayView{a: a, plan: p, run: name, output: f.output, yes: f.yes}
	view.begin(box)
	o := run.Options{
		Run: name, Executor: box, Journal: log, Network: f.network, Jobs: f.jobs, Timeout: f.timeout,
		Policy: run.Policy{Attempts: f.attempts, Backoff: f.backoff, OnFailure: f.onFailure},
		Env:    a.replayEnv(), Values: a.replayValues(p), Confirm: view.confirm, Progress: view.progress,
	}
	if past != nil {
		o.Past = past.past
	}
	if box.Isolation() == sandbox.IsolationNone {
		state, err := a.replayState(name)
		if err != nil {
			return err
		}
		o.Scratch = filepath.Join(state, "sessions")
	}
	report, err := run.Run(ctx, p, o)
	if err != nil {
		return err
	}
	// The end is written down also after an interrupt.
	return a.endReplay(context.WithoutCancel(ctx), f, box, log, view, report)
}

// openSandbox opens the executor of a run.
func (a *app) openSandbox(ctx context.Context, f *replayRunFlags, name string) (*sandbox.Sandbox, error) {
	state, err := a.replayState(name)
	if err != nil {
		return nil, err
	}
	cfg, err := a.NodeConfig()
	if err != nil {
		return nil, err
	}
	data, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	o := sandbox.Options{Dir: f.dir, State: state, Home: a.Getenv("HOME"), Isolation: sandbox.Isolation(f.isolation), Network: f.network, Hide: []string{data, filepath.Dir(state)}}
	if o.Isolation == sandbox.IsolationSandbox {
		if o.Helper, err = sandbox.FindHelper(); err != nil {
			return nil, err
		}
	}
	return sandbox.Open(ctx, o)
}

// endReplay shows the difference that a run made, and applies it if that was asked for.
func (a *app) endReplay(ctx context.Context, f *replayRunFlags, box *sandbox.Sandbox, log replayLog, view *replayView, report run.Report) error {
	changes, err := box.Changes()
	if err != nil && !errors.Is(err, sandbox.ErrNoView) {
		return err
	}
	applied, kept := false, len(changes) > 0
	var refused error
	if f.apply && report.Status == "complete" {
		if _, refused = box.Apply(); refused == nil {
			applied, kept = true, false
		}
	}
	if err := log.finish(ctx, report, changes, applied); err != nil {
		return err
	}
	view.end(report, changes, applied, kept)
	if refused != nil {
		return refused
	}
	if report.Status != "complete" {
		return exitError(exitFailed)
	}
	if !kept {
		return box.Discard()
	}
	return nil
}

// replayEnv is the environment of all steps. Nothing else of the caller's reaches them.
func (a *app) replayEnv() map[string]string {
	env := map[string]string{"TERM": "dumb"}
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ"} {
		if v := a.Getenv(name); v != "" {
			env[name] = v
		}
	}
	env["PATH"] = cmp.Or(env["PATH"], "/usr/local/bin:/usr/bin:/bin")
	return env
}

// replayValues takes the values that a plan asks for from the environment.
func (a *app) replayValues(p *replay.Plan) map[string]string {
	values := map[string]string{}
	for _, s := range p.Steps {
		for _, ask := range s.Asks {
			if v := a.Getenv(ask.Name); ask.Name != "" && v != "" {
				values[ask.Name] = v
			}
		}
	}
	return values
}

// stepName is a step's command in a line.
func stepName(s *replay.Step) string {
	line, _, more := strings.Cut(strings.TrimSpace(s.Command), "\n")
	if more {
		line += " …"
	}
	return line
}
