package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/replay/trim"
)

// replayRunFlags say how a plan is executed.
type replayRunFlags struct {
	dir, isolation, resume, onFailure string
	network, apply, discard, yes      bool
	output                            bool
	timeout, backoff                  time.Duration
	attempts, jobs                    int
	policies                          []string
	without                           []int
}

func (f *replayRunFlags) add(s *pflag.FlagSet) {
	s.StringVar(&f.dir, "dir", "", "the directory that the steps may change (default: the plan's workspace, the directory that its steps have in common, or else the current one)")
	s.StringVar(&f.isolation, "isolation", string(sandbox.IsolationSandbox), "sandbox: a copy-on-write view of the directory, and nothing else can be written; docker[:IMAGE] or podman[:IMAGE]: a container over a copy of it; none: the real files")
	s.BoolVar(&f.network, "network", false, "let the steps use the network")
	s.BoolVar(&f.apply, "apply", false, "if all steps are done, and no file is missing that was there in the end, or the other way round, make the changes in the real directory")
	s.StringVar(&f.resume, "resume", "", "go on with this run, which was stopped or killed, or was not applied")
	s.BoolVar(&f.discard, "discard", false, "with --resume: forget what the run wrote, and run nothing")
	s.StringVar(&f.onFailure, "on-failure", run.OnFailureAbort, "when a step fails: abort, skip what needs it, or ask")
	s.IntVar(&f.attempts, "attempts", 1, "how often a step is tried")
	s.DurationVar(&f.backoff, "backoff", time.Second, "the pause before a second attempt, doubled for each further one")
	s.StringArrayVar(&f.policies, "policy", nil, "STEP:attempts=N,backoff=T,on-failure=WHAT: for one step, instead of the flags of these names; may be repeated")
	s.IntSliceVar(&f.without, "without", nil, "STEP: go on without this step, as if it were done: one that needs a terminal, or that you did yourself; may be repeated")
	s.DurationVar(&f.timeout, "timeout", 0, "end a step, and all that it started, after this time (default: no limit)")
	s.IntVar(&f.jobs, "jobs", 1, "how many steps that need nothing of each other run at once")
	s.BoolVarP(&f.yes, "yes", "y", false, "agree to steps that are not sure, and with --resume to run one again that was under way; dangerous ones, and with the network open programs about which nothing is known, are asked about all the same")
	s.BoolVar(&f.output, "output", false, "print what the steps print")
}

// open reports whether the steps may reach more than their directory.
func (f *replayRunFlags) open() bool {
	return f.network || f.isolation == string(sandbox.IsolationNone)
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
	case !slices.Contains(onFailures, f.onFailure):
		return usage.Errorf("--on-failure %s: want abort, skip or ask", f.onFailure)
	case !sandbox.Isolation(f.isolation).Known():
		return usage.Errorf("--isolation %s: want %s", f.isolation, sandbox.Isolations)
	case f.apply && f.isolation == string(sandbox.IsolationNone):
		return usage.Errorf("--apply: without isolation the steps change the real files already")
	}
	for _, n := range f.without {
		if n < 1 {
			return usage.Errorf("--without %d: want the number of a step, from 1", n)
		}
	}
	_, err := f.steps()
	return err
}

// steps returns the policies of single steps, by index. What one does not say is as for all.
func (f *replayRunFlags) steps() (map[int]run.Policy, error) {
	all := map[int]run.Policy{}
	for _, spec := range f.policies {
		at, rest, ok := strings.Cut(spec, ":")
		n, err := strconv.Atoi(at)
		if !ok || err != nil || n < 1 {
			return nil, usage.Errorf("--policy %s: want the number of a step, and what is to be done if it fails: 3:attempts=5,on-failure=skip", spec)
		}
		p := run.Policy{Attempts: f.attempts, Backoff: f.backoff, OnFailure: f.onFailure}
		for _, part := range strings.Split(rest, ",") {
			name, value, _ := strings.Cut(part, "=")
			switch name {
			case "attempts":
				if p.Attempts, err = strconv.Atoi(value); err != nil || p.Attempts < 1 {
					err = errors.New("want a whole number of 1 or more")
				}
			case "backoff":
				if p.Backoff, err = time.ParseDuration(value); err != nil || p.Backoff < 0 {
					err = errors.New("want a time such as 2s")
				}
			case "on-failure":
				if p.OnFailure = value; !slices.Contains(onFailures, value) {
					err = errors.New("want abort, skip or ask")
				}
			default:
				err = fmt.Errorf("no %q: there are attempts, backoff and on-failure", name)
			}
			if err != nil {
				return nil, usage.Errorf("--policy %s: %s: %w", spec, part, err)
			}
		}
		all[n-1] = p
	}
	return all, nil
}

var onFailures = []string{run.OnFailureAbort, run.OnFailureSkip, run.OnFailureAsk}

// resumeReplay goes on with a run of an earlier process, or forgets it.
func (a *app) resumeReplay(ctx context.Context, b *connect.Backend, f *replayRunFlags) error {
	o, err := a.replaying(b, f)
	if err != nil {
		return err
	}
	if f.discard {
		err := replaying.Discard(ctx, f.resume, o)
		a.ClearProgress()
		return a.unanswered(err)
	}
	report, err := replaying.Resume(ctx, f.resume, o)
	a.ClearProgress()
	return a.replayed(report, err)
}

// replayingPlan returns how the flags say that a new plan is executed.
func (a *app) replayingPlan(b *connect.Backend, f *replayRunFlags, p *replay.Plan, home string) (replaying.Options, error) {
	o, err := a.replaying(b, f)
	if err == nil && o.Dir == "" {
		if o.Dir = p.Directory(o.Getenv("HOME")); o.Dir == "" {
			o.Dir, err = os.Getwd()
		}
	}
	o.Home = home
	return o, err
}

// trimPlan replaces a plan by what trials leave of it. What they find goes to the standard error, since the plan or its
// script may go to a file.
func (a *app) trimPlan(ctx context.Context, p, all *replay.Plan, trials int, o *replaying.Options) error {
	start := time.Now()
	trimmed, result, err := replaying.Trim(ctx, p, all, replaying.Trimming{Trials: trials, Progress: func(of *replay.Plan, t trim.Trial) {
		what := a.Paint(render.Yellow, "another end")
		if t.Same {
			what = a.Paint(render.Green, "the same end")
		}
		more := ""
		if len(t.Without) > 1 {
			more = fmt.Sprintf(" and %d more", len(t.Without)-1)
		}
		if !t.Same {
			more += ": " + render.OneLine(stepName(t.Differs))
		}
		fmt.Fprintf(a.Err, "%3d  %s without %s%s\n", t.Number, what, render.OneLine(stepName(of.Steps[t.Without[0]].Command)), more)
	}}, o)
	if err != nil {
		return a.unanswered(err)
	}
	fmt.Fprintf(a.Err, "%s of %d left after %s in %s\n", render.Count(len(trimmed.Steps), "step"), len(p.Steps), render.Count(result.Trials, "trial"), query.Took(time.Since(start)))
	for _, s := range trimmed.Steps {
		if !slices.ContainsFunc(p.Steps, func(o replay.Step) bool { return o.Intent == s.Intent }) {
			fmt.Fprintf(a.Err, "%s\n", a.Paint(render.Yellow, "put back, since the end is another one without it: "+render.OneLine(stepName(s.Command))))
		}
	}
	if result.Unchecked {
		fmt.Fprintf(a.Err, "%s\n", a.Paint(render.Yellow, "whether the plan lacks something could not be tried"))
	}
	if result.Beyond > 0 {
		fmt.Fprintf(a.Err, "%s\n", a.Paint(render.Yellow, fmt.Sprintf("%s not tried, nor what they rest on: they write outside of %s, reach other machines, or leave something running", render.Count(result.Beyond, "step"), o.Dir)))
	}
	if result.Idle > 0 {
		fmt.Fprintf(a.Err, "%s\n", a.Paint(render.Yellow, fmt.Sprintf("%s not tried, since their results are there: --dir a directory as it was before them", render.Count(result.Idle, "step"))))
	}
	if result.Limited {
		fmt.Fprintf(a.Err, "%s\n", a.Paint(render.Yellow, "not all steps were tried: --trials allows more"))
	}
	for _, name := range slices.Concat(result.Varying, result.Renamed) {
		fmt.Fprintf(a.Err, "%s\n", a.Paint(render.Yellow, render.OneLine(name)+" is another one after each run: what it rests on was not tried"))
	}
	if result.Printed {
		fmt.Fprintf(a.Err, "%s\n", a.Paint(render.Yellow, "what the command prints is another text each time, or too long: what it rests on was not tried"))
	}
	*p = *trimmed
	return nil
}

// replayed is the end of the verb after a run.
func (a *app) replayed(report replaying.Report, err error) error {
	if err != nil {
		return a.unanswered(err)
	}
	if !report.AsRecorded() && !report.Applied {
		return exitError(exitFailed)
	}
	return nil
}

// replaying returns how the flags say that a plan is executed.
func (a *app) replaying(b *connect.Backend, f *replayRunFlags) (replaying.Options, error) {
	var none replaying.Options
	cfg, err := a.NodeConfig()
	if err != nil {
		return none, err
	}
	redactor, err := connect.Redactor(cfg)
	if err != nil {
		return none, err
	}
	data, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return none, err
	}
	state, err := a.StateDir("recount-replays")
	if err != nil {
		return none, err
	}
	dir := f.dir
	if dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return none, err
		}
	}
	steps, err := f.steps()
	if err != nil {
		return none, err
	}
	without := map[int]bool{}
	for _, n := range f.without {
		without[n-1] = true
	}
	view := &replayView{a: a, output: f.output, yes: f.yes, closed: !f.open()}
	return replaying.Options{
		Log: b, Redact: redactor, Getenv: a.Getenv, State: state, Hide: []string{data},
		Dir: dir, Isolation: sandbox.Isolation(f.isolation), Network: f.network, Apply: f.apply,
		Policy: run.Policy{Attempts: f.attempts, Backoff: f.backoff, OnFailure: f.onFailure},
		Steps:  steps, Without: without, Jobs: f.jobs, Timeout: f.timeout, Confirm: view.confirm, Progress: view.progress,
	}, nil
}

// stepName is a command in a line.
func stepName(command string) string {
	line, _, more := strings.Cut(strings.TrimSpace(command), "\n")
	if more {
		line += " …"
	}
	return line
}
