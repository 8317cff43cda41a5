package runs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// Options are what runs are made of.
type Options struct {
	Log    replaying.Log
	Redact *redact.Redactor
	// State is the directory of what runs wrote; the verb's own, so that it can go on with a run that
	// began here, and the other way round.
	State string
	// Hide are directories that no step may see: the data directory.
	Hide []string
	// Getenv is the server's environment; os.Getenv if nil.
	Getenv func(string) string
}

// maxRuns is how many runs are under way at once: each has processes of its own.
const maxRuns = 4

// Runs executes plans. It is safe for concurrent use.
type Runs struct {
	o     Options
	slots chan struct{}

	mu      sync.Mutex // guards all below
	active  map[string]*active
	written schemas.Watermark // above the events of all runs that ended here
}

// New returns a Runs without any.
func New(o Options) *Runs {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	return &Runs{o: o, slots: make(chan struct{}, maxRuns), active: map[string]*active{}, written: schemas.Watermark{}}
}

// Start makes a plan and runs it. each gets every event; its error ends the run.
func (r *Runs) Start(ctx context.Context, in Request, each func(Event) error) (replaying.Report, error) {
	if err := in.check(); err != nil {
		return replaying.Report{}, err
	}
	if in.Plan.Here == nil {
		in.Plan.Here = &plan.Here{User: recording.UserName(r.o.Getenv), Host: recording.HostName()}
	}
	resp, err := plan.Question.Ask(ctx, r.o.Log, in.Plan)
	switch {
	case err != nil:
		return replaying.Report{}, err
	case resp.Status == query.StatusEmpty:
		return replaying.Report{}, &query.RequestError{Field: "plan", Value: in.Plan.To, Reason: resp.Hint}
	case in.ID != "" && in.ID != resp.Plan.ID:
		return replaying.Report{}, &query.RequestError{Field: "plan_id", Value: in.ID, Reason: "the plan is now " + resp.Plan.ID + ": look at it again"}
	}
	return r.do(ctx, in.How, each, func(ctx context.Context, o replaying.Options) (replaying.Report, error) {
		o.Dir, o.Home = in.Dir, in.Plan.Home
		return replaying.Start(ctx, &resp.Plan, o)
	})
}

// Resume goes on with a run that was stopped, killed or not applied.
func (r *Runs) Resume(ctx context.Context, in Resumption, each func(Event) error) (replaying.Report, error) {
	if err := in.How.check(); err != nil {
		return replaying.Report{}, err
	}
	return r.do(ctx, in.How, each, func(ctx context.Context, o replaying.Options) (replaying.Report, error) {
		return replaying.Resume(ctx, in.Run, o)
	})
}

// Apply makes the changes of a run whose steps are all done in the real directory. It runs no step.
func (r *Runs) Apply(ctx context.Context, in Named, each func(Event) error) (replaying.Report, error) {
	resp, err := replays.Question.Ask(ctx, r.o.Log, replays.Request{Run: in.Run, AtLeast: r.watermark()})
	if err != nil {
		return replaying.Report{}, err
	}
	if state := resp.Runs[0].State; state != replays.StateDone {
		return replaying.Report{}, &query.RequestError{Field: "run", Value: in.Run, Reason: "it is " + state + ", and not done: resume it first"}
	}
	return r.Resume(ctx, Resumption{Run: in.Run, How: How{Apply: true}}, each)
}

// Discard forgets what a run wrote.
func (r *Runs) Discard(ctx context.Context, in Named) error {
	return wrapBusy(replaying.Discard(ctx, in.Run, r.options(How{})))
}

// Cancel ends a run that is under way here, as the end of its call does.
func (r *Runs) Cancel(in Named) error {
	a, err := r.find(in.Run)
	if err != nil {
		return err
	}
	a.cancel()
	return nil
}

// Decide answers a question of a run that is under way here.
func (r *Runs) Decide(in Answer) error {
	a, err := r.find(in.Run)
	if err != nil {
		return err
	}
	return a.decide(in.Question, in.Yes)
}

func (r *Runs) find(name string) (*active, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.active[name]; a != nil {
		return a, nil
	}
	return nil, &query.NotFoundError{Ref: name, Hint: "no such run is under way in this server"}
}

// do runs a plan and knows the run by its name meanwhile.
func (r *Runs) do(ctx context.Context, how How, each func(Event) error, run func(context.Context, replaying.Options) (replaying.Report, error)) (replaying.Report, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	default:
		return replaying.Report{}, fmt.Errorf("%d replays are under way here, which is the limit: %w", maxRuns, api.ErrBusy)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &active{how: how, cancel: cancel, each: each}
	o := r.options(how)
	o.Confirm = a.confirm
	o.Progress = func(e replaying.Event) {
		if e.Event == replaying.EventRun {
			a.name = e.Run
			r.mu.Lock()
			r.active[a.name] = a
			r.mu.Unlock()
		}
		a.send(Event{Event: e})
	}
	report, err := run(ctx, o)
	r.mu.Lock()
	if r.active[a.name] == a {
		delete(r.active, a.name)
	}
	for tp, next := range report.Written {
		r.written[tp] = max(r.written[tp], next)
	}
	r.mu.Unlock()
	return report, wrapBusy(errors.Join(err, a.lost()))
}

func (r *Runs) watermark() schemas.Watermark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.written)
}

// options returns how plans are executed here.
func (r *Runs) options(how How) replaying.Options {
	without := map[int]bool{}
	for _, step := range how.Without {
		without[step] = true
	}
	return replaying.Options{
		Log: r.o.Log, Redact: r.o.Redact, State: r.o.State, Hide: r.o.Hide, AtLeast: r.watermark(),
		Getenv: func(name string) string {
			if slices.Contains(replaying.Passed, name) {
				return r.o.Getenv(name)
			}
			return how.Values[name]
		},
		Given:     slices.Sorted(maps.Keys(how.Values)),
		Isolation: sandbox.Isolation(how.Isolation), Network: how.Network, Apply: how.Apply,
		Policy: how.policy(), Without: without, Jobs: how.Jobs, Timeout: time.Duration(how.TimeoutMS) * time.Millisecond,
	}
}

// wrapBusy makes another replay in the same directory api.ErrBusy.
func wrapBusy(err error) error {
	var busy *sandbox.BusyError
	if errors.As(err, &busy) {
		return fmt.Errorf("%w: %w", api.ErrBusy, err)
	}
	return err
}
