package replaying

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/recountdb/recount/internal/replayjournal"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/bisect"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/replay/sandbox"
)

// Bisection says how a search is done.
type Bisection struct {
	Trials int // at most; 200 if zero
	// Needs makes each trial run what the command needs too, as a replay does. Otherwise it runs alone, in
	// the directory as it is.
	Needs bool
	// Progress is called after each trial; it may be nil.
	Progress func(Trial)
}

// Trial is one run of the command.
type Trial struct {
	bisect.Trial
	Exit     int           `json:"exit_code"`
	TimedOut bool          `json:"timed_out,omitempty"`
	Took     time.Duration `json:"took_ns"`
}

// Bisect searches for the least differences of a pair's recorded environments that make its command fail,
// by running it in a sandbox of its own for each trial. Nothing of a trial is kept or written into the
// log. Options are those of Start; Isolation, Apply, Jobs, policies, Confirm and Progress are not used.
func Bisect(ctx context.Context, p *Pair, o Options, b Bisection) (bisect.Result, error) {
	o.Isolation, o.Apply, o.Progress = sandbox.IsolationSandbox, false, nil
	if err := o.validate(); err != nil {
		return bisect.Result{}, err
	}
	if o.Dir = cmp.Or(o.Dir, p.directory, p.changes(b.Needs).Directory(o.Getenv("HOME")), p.Bad.Cwd); o.Dir == "" {
		return bisect.Result{}, &query.RequestError{Field: "dir", Value: "none", Reason: "the command has no workspace: name the directory that it may change"}
	}
	t := &trials{o: &o, p: p, needs: b.Needs, name: "bisect-" + replayjournal.NewRun()}
	if err := t.refuse(); err != nil {
		return bisect.Result{}, err
	}
	how := bisect.Options{Trials: b.Trials, Fails: t.fails}
	if b.Progress != nil {
		how.Progress = func(at bisect.Trial) { t.last.Trial = at; b.Progress(t.last) }
	}
	return bisect.Minimal(ctx, p.Good.env, p.Bad.env, how)
}

// changes returns the plan of what a trial runs: where another step of the command's plan ran says nothing
// about a command that runs alone.
func (p *Pair) changes(needs bool) *replay.Plan {
	of := *p.plan
	if !needs {
		of.Steps = of.Steps[p.step : p.step+1]
	}
	return &of
}

// trials runs a command again and again.
type trials struct {
	o     *Options
	p     *Pair
	needs bool
	name  string
	count int
	last  Trial
}

// refuse says why a command must not be run without anybody to ask.
func (t *trials) refuse() error {
	for i := range t.p.plan.Steps {
		s := &t.p.plan.Steps[i]
		if i > t.p.step || i != t.p.step && !t.needs {
			continue
		}
		for _, f := range s.Danger {
			return &query.RequestError{Field: "command", Value: s.Command, Reason: fmt.Sprintf("it is dangerous, and is not run again and again: %s: %s", f.What, f.Why)}
		}
		if t.o.Network && len(s.Unknown) > 0 {
			return &query.RequestError{Field: "command", Value: s.Command, Reason: "it can't be run unattended: " + replay.UnknownProgram(s.Unknown[0])}
		}
		for _, a := range s.Asks {
			switch {
			case a.Kind == replay.AskFailed && i == t.p.step, a.Kind == replay.AskEnvironment:
			case a.Kind == replay.AskTransform && t.p.Bad.Run != "": // it was agreed to when the replay ran
			case a.Name != "" && t.o.Getenv(a.Name) != "":
			default:
				return &query.RequestError{Field: "command", Value: s.Command, Reason: "it can't be run unattended: " + a.Text}
			}
		}
	}
	return nil
}

// plan returns what one trial runs: the command in an environment, and what it needs if that was asked for.
func (t *trials) plan(env map[string]string) (*replay.Plan, error) {
	p := *t.p.plan
	p.Steps = nil
	place := map[int]int{}
	needed := t.needed()
	for i := range t.p.plan.Steps {
		if !needed[i] {
			continue
		}
		s := t.p.plan.Steps[i]
		place[i] = len(p.Steps)
		s.Index = len(p.Steps)
		var needs []replay.Need
		for _, n := range s.Needs {
			if on, ok := place[n.On]; ok {
				n.On = on
				needs = append(needs, n)
			}
		}
		s.Needs = needs
		post := []replay.Postcondition{}
		for _, c := range s.Post {
			c.ReplacedBy = nil // that step may not be in a trial, so this one's own result has to be there
			post = append(post, c)
		}
		s.Post = post
		if i == t.p.step {
			// It runs whatever is there already.
			s.Post, s.Asks, s.Env = []replay.Postcondition{{Kind: replay.PostNone}}, nil, env
			for _, a := range t.p.plan.Steps[i].Asks {
				if a.Name != "" {
					s.Asks = append(s.Asks, a)
				}
			}
		}
		p.Steps = append(p.Steps, s)
	}
	return &p, p.Identify()
}

// needed returns the steps of a trial.
func (t *trials) needed() map[int]bool {
	all := map[int]bool{t.p.step: true}
	if !t.needs {
		return all
	}
	for i := t.p.step; i >= 0; i-- {
		if all[i] {
			for _, n := range t.p.plan.Steps[i].Needs {
				all[n.On] = all[n.On] || n.Kind != replay.NeedOrder
			}
		}
	}
	return all
}

// fails runs the command once, in a sandbox that is thrown away.
func (t *trials) fails(ctx context.Context, env map[string]string) (bool, error) {
	p, err := t.plan(env)
	if err != nil {
		return false, err
	}
	t.count++
	box, err := t.o.open(ctx, t.name+"-"+strconv.Itoa(t.count), p)
	if err != nil {
		return false, err
	}
	defer func() { _ = box.Discard() }()
	// A variable that is compared comes from the recorded environments alone.
	base := t.o.env()
	for _, d := range t.p.Differences {
		delete(base, d.Name)
	}
	report, err := run.Run(ctx, p, run.Options{
		Run: t.name, Executor: box, Journal: forgets{}, Network: t.o.Network, Timeout: t.o.Timeout,
		Env: base, Values: t.values(p), Confirm: agrees,
	})
	switch {
	case err != nil:
		return false, err
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	last := len(p.Steps) - 1
	for _, o := range report.Steps {
		switch {
		case o.Step != last && o.Status != run.Done && o.Status != run.Skipped:
			return false, fmt.Errorf("step %d (%s), which the command needs, is not done: %s", o.Step+1, o.Command, o.Reason)
		case o.Step == last:
			t.last = Trial{Exit: o.Exit, TimedOut: o.TimedOut, Took: o.Took}
			if o.Exit == 0 && !o.TimedOut && o.Status != run.Done {
				return false, fmt.Errorf("the command could not be tried: %s", o.Reason)
			}
			return o.Exit != 0 || o.TimedOut, nil
		}
	}
	return false, errors.New("the command was not reached")
}

// values are those that the plan asks for, but for compared variables.
func (t *trials) values(p *replay.Plan) map[string]string {
	values := t.o.values(p)
	for _, d := range t.p.Differences {
		maps.DeleteFunc(values, func(name, _ string) bool { return name == d.Name })
	}
	return values
}

// agrees answers what is left to be asked after refuse: that a redacted variable is not set.
func agrees(context.Context, run.Question) (bool, error) { return true, nil }

// forgets is a journal of what nobody has to know.
type forgets struct{}

func (forgets) Planned(context.Context, run.Planned) error { return nil }
func (forgets) Started(context.Context, run.Started) error { return nil }
func (forgets) Ended(context.Context, run.Outcome) error   { return nil }
func (forgets) Done(context.Context, run.Report) error     { return nil }
