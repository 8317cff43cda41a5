package replaying

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/replayjournal"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/danger"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/replay/trim"
	"github.com/recountdb/recount/schemas"
)

// Trimming says how a plan is trimmed.
type Trimming struct {
	Trials int // at most; 200 if zero
	// Progress is called after each trial, with the plan by whose indexes it names steps.
	Progress func(*replay.Plan, trim.Trial)
}

// Trim returns a plan without the steps that it can do without: each is tried in a sandbox of its own that is thrown away,
// and what the plan leaves there is compared. all is the plan of the same narrative in which nothing is left out, or nil:
// steps of it that the plan lacks, and that the end is another one without, are put back. Nothing of a trial is kept or
// written into the log. The trimmed plan itself is tried last; if it does not come to its end, that is an error.
//
// Options are those of Start; Apply, Jobs, policies, Without and Progress are not used, and the isolation is the sandbox
// without the network, since all is done again and again. Confirm is asked once about each question, and not about what
// only all has. Getenv of the options then finds what was given for a step by its number in the plan by its number in the
// trimmed one.
func Trim(ctx context.Context, p, all *replay.Plan, how Trimming, run *Options) (*replay.Plan, trim.Result, error) {
	o := *run
	if o.Network || o.Isolation != "" && o.Isolation != sandbox.IsolationSandbox {
		return nil, trim.Result{}, &query.RequestError{Field: "trim", Value: "true", Reason: "trials do each step again and again, so they run in the sandbox and without the network only"}
	}
	o.Apply, o.Progress = false, nil
	if err := o.validate(); err != nil {
		return nil, trim.Result{}, err
	}
	if err := o.unasked(p); err != nil {
		return nil, trim.Result{}, err
	}
	whole, left, err := beside(p, all)
	if err != nil {
		return nil, trim.Result{}, err
	}
	o.Getenv = renumbered(run.Getenv, p, whole)
	t := &trimTrials{o: &o, name: "trim-" + replayjournal.NewRun(), left: map[schemas.EventID]bool{}, answers: map[string]bool{}}
	for i := range left {
		t.left[whole.Steps[i].Intent] = true
	}
	tried, err := dated(whole)
	if err != nil {
		return nil, trim.Result{}, err
	}
	result, err := trim.Minimal(ctx, whole, trim.Options{
		Left: left, Keep: beyond(whole, o.directory(p), o.Getenv("HOME")), Trials: how.Trials, Progress: func(at trim.Trial) { how.Progress(whole, at) }, Pause: pause,
		Recorded: func() (int, error) { return t.asRecorded(p) },
		Try:      func(ctx context.Context, without map[int]bool) (trim.End, error) { return t.try(ctx, tried, without) },
	})
	var unfit *trim.UnfitError
	switch {
	case errors.As(err, &unfit):
		return nil, result, &query.RequestError{Field: "trim", Value: "true", Reason: unfit.Why}
	case err != nil || maps.Equal(result.Without, left):
		return p, result, err
	}
	trimmed, err := trimmedOf(p, whole, result)
	if err != nil {
		return nil, result, err
	}
	run.Getenv = renumbered(run.Getenv, p, trimmed)
	o.Getenv = run.Getenv
	t.left = nil
	if tried, err = dated(trimmed); err != nil {
		return nil, result, err
	}
	end, err := t.try(ctx, tried, nil)
	if err != nil {
		return nil, result, err
	}
	for i := range trimmed.Steps {
		if out := end.Steps[i]; !out.Fine {
			return nil, result, fmt.Errorf("the plan without what trials left out does not come to its end: step %d (%s) is not done", i+1, trimmed.Steps[i].Command)
		}
	}
	return trimmed, result, nil
}

// pause waits until a time in seconds is another one.
func pause(ctx context.Context) error {
	select {
	case <-time.After(1100 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// directory returns the directory that the steps of a plan may change.
func (o *Options) directory(p *replay.Plan) string {
	return cmp.Or(o.Dir, p.Directory(o.Getenv("HOME")))
}

// beyond returns the steps whose effects a trial does not show: they write outside of the directory, reach other machines,
// make images or containers, set what git keeps in the home, or leave a service running.
func beyond(p *replay.Plan, dir, home string) map[int]bool {
	outside := func(name string) bool {
		return filepath.IsAbs(name) && !sandbox.Within(dir, name) && (home != "" && sandbox.Within(home, name) || !isTemporary(name))
	}
	keep := map[int]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		does := effects.Of(effects.Command{Text: s.Command, Shell: s.Shell, Cwd: s.Cwd, Home: home})
		keep[i] = s.Background && s.EndedBy == nil || slices.ContainsFunc(does.Things, func(t effects.Thing) bool {
			return t.Access != effects.Read && (t.Kind == effects.Settings && t.Repo == "~" || t.Kind == effects.Image || t.Kind == effects.Container)
		}) ||
			slices.ContainsFunc(s.Outputs, func(name string) bool {
				return filepath.IsAbs(name) && !sandbox.Within(dir, name) && !isTemporary(name)
			}) ||
			slices.ContainsFunc(s.Danger, func(f danger.Finding) bool {
				return f.Kind != "remove" && f.Kind != "history" && f.Kind != "code" && f.Kind != "process"
			}) ||
			slices.ContainsFunc(s.Post, func(c replay.Postcondition) bool {
				return outside(c.Target)
			})
	}
	return keep
}

// isTemporary reports whether a path is one that is a sandbox's own.
func isTemporary(name string) bool {
	return slices.ContainsFunc([]string{"/tmp", "/var/tmp", "/run", "/dev", "/dev/shm"}, func(dir string) bool { return sandbox.Within(dir, name) })
}

// beside returns the plan of a whole narrative with what a plan of it left out, as far as that can be tried without
// anybody to ask, and the steps that were left out. Without such a plan it is the plan itself.
func beside(p, all *replay.Plan) (*replay.Plan, map[int]bool, error) {
	in := func(steps []replay.Step, id schemas.EventID) bool {
		return slices.ContainsFunc(steps, func(s replay.Step) bool { return s.Intent == id })
	}
	if all == nil || slices.ContainsFunc(p.Steps, func(s replay.Step) bool { return !in(all.Steps, s.Intent) }) {
		return p, nil, nil
	}
	never := map[int]bool{}
	for i := range all.Steps {
		s := &all.Steps[i]
		why := slices.IndexFunc(p.Left, func(l replay.Left) bool { return l.Intent == s.Intent })
		never[i] = !in(p.Steps, s.Intent) && (why < 0 || p.Left[why].Kind == replay.LeftUnfinished || p.Left[why].Kind == replay.LeftOwn || len(s.Danger) > 0 ||
			slices.ContainsFunc(s.Asks, func(a replay.Ask) bool { return a.Kind != replay.AskFailed }))
	}
	whole, err := trim.Without(all, never)
	if err != nil {
		return nil, nil, err
	}
	left := map[int]bool{}
	for i := range whole.Steps {
		if !in(p.Steps, whole.Steps[i].Intent) {
			left[i] = true
		}
	}
	return whole, left, nil
}

// trimmedOf returns a plan without what trials left out, and with what they put back.
func trimmedOf(p, whole *replay.Plan, result trim.Result) (*replay.Plan, error) {
	at := func(id schemas.EventID) int {
		return slices.IndexFunc(whole.Steps, func(s replay.Step) bool { return s.Intent == id })
	}
	without := map[int]bool{}
	for i := range p.Steps {
		without[i] = result.Without[at(p.Steps[i].Intent)]
	}
	trimmed, err := trim.Without(p, without)
	if err != nil || len(result.Back) == 0 {
		return trimmed, err
	}
	left := slices.DeleteFunc(trimmed.Left, func(l replay.Left) bool { i := at(l.Intent); return i >= 0 && !result.Without[i] })
	if trimmed, err = trim.Without(whole, result.Without); err != nil {
		return nil, err
	}
	trimmed.Left = left
	return trimmed, trimmed.Identify()
}

// renumbered returns an environment in which the values that it has for single steps of a plan have the names that they
// have for the same steps of a trimmed one.
func renumbered(getenv func(string) string, p, trimmed *replay.Plan) func(string) string {
	was := map[string]string{}
	for i := range trimmed.Steps {
		s := &trimmed.Steps[i]
		old := slices.IndexFunc(p.Steps, func(o replay.Step) bool { return o.Intent == s.Intent })
		for _, ask := range s.Asks {
			was[ask.OwnName(i)] = ask.OwnName(old)
		}
	}
	return func(name string) string { return getenv(cmp.Or(was[name], name)) }
}

// trimTrials runs a plan again and again.
type trimTrials struct {
	o       *Options
	name    string
	count   int
	left    map[schemas.EventID]bool // what only the plan of the whole narrative has
	answers map[string]bool          // what Confirm said, by question
	longest time.Duration            // what a step took at most
	changes []sandbox.Change         // of the last trial
}

// try runs a plan once without some of its steps, in a sandbox that is thrown away.
func (t *trimTrials) try(ctx context.Context, p *replay.Plan, without map[int]bool) (trim.End, error) {
	t.count++
	name := t.name + "-" + strconv.Itoa(t.count)
	defer func() { _ = os.RemoveAll(t.o.stateOf(name)) }() // also of one that was not opened
	box, err := t.o.open(ctx, name, p)
	switch {
	case ctx.Err() != nil && err != nil:
		return trim.End{}, ctx.Err()
	case err != nil:
		return trim.End{}, err
	}
	defer func() { _ = box.Discard() }()
	env := t.o.env()
	report, err := run.Run(ctx, p, run.Options{
		Run: t.name, Executor: box, Journal: forgets{}, Without: without, Timeout: t.limit(p),
		Policy: run.Policy{OnFailure: run.OnFailureSkip}, Env: env, Values: t.o.values(p), Confirm: t.confirm,
	})
	switch {
	case err != nil:
		return trim.End{}, err
	case ctx.Err() != nil:
		return trim.End{}, ctx.Err()
	}
	for _, o := range report.Steps {
		t.longest = max(t.longest, o.Took)
	}
	return t.end(ctx, box, report, env)
}

// asRecorded returns how many files the last trial left with other contents than were recorded, or an error if it did not leave
// the same files.
func (t *trimTrials) asRecorded(p *replay.Plan) (int, error) {
	all := differences(p, t.o.directory(p), t.changes, nil)
	for _, d := range all {
		if d.What == Missing || d.What == Present {
			return 0, &trim.UnfitError{Why: "a trial of the whole plan comes to another end than was recorded, so that trials tell nothing: " + d.String()}
		}
	}
	return len(all), nil
}

// limit returns how long a step of a trial may take: without another one it may wait for ever. Steps of the first are measured
// by the recorded runs, those of others by the first.
func (t *trimTrials) limit(p *replay.Plan) time.Duration {
	limit := time.Minute
	for i := range p.Steps {
		if d := p.Steps[i].Duration; d != nil && t.count == 1 {
			limit = max(limit, 10*time.Duration(*d))
		}
	}
	if t.count > 1 {
		limit = 5*time.Second + 3*t.longest
	}
	if t.o.Timeout > 0 {
		limit = min(limit, t.o.Timeout)
	}
	return limit
}

// firstDate is the time that commits of the first step of a trial have, in Unix seconds; those of each further one are a
// minute later.
const firstDate = 1767225600

// dated returns a plan whose steps commit at the same times in each trial.
func dated(p *replay.Plan) (*replay.Plan, error) {
	out := *p
	out.Steps = slices.Clone(p.Steps)
	for i := range out.Steps {
		s := &out.Steps[i]
		env := map[string]string{}
		maps.Copy(env, s.Env)
		for _, name := range []string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"} {
			if env[name] == "" {
				env[name] = fmt.Sprintf("%d +0000", firstDate+60*i)
			}
		}
		s.Env = env
	}
	return &out, out.Identify()
}

// confirm asks each question once. What the evidence left out is tried although it failed when it was recorded.
func (t *trimTrials) confirm(ctx context.Context, q run.Question) (bool, error) {
	if t.left[q.Step.Intent] {
		return q.Kind == run.QuestionAsk, nil
	}
	key := strings.Join([]string{q.Kind, q.Step.Intent.String(), q.Program, q.Text}, "\x00")
	yes, known := t.answers[key]
	if known || t.o.Confirm == nil {
		return yes, nil
	}
	yes, err := t.o.Confirm(ctx, q)
	t.answers[key] = yes
	return yes, err
}
