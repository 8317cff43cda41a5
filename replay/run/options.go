package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// Executor runs commands; a *sandbox.Sandbox is one.
type Executor interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
	Changes() ([]sandbox.Change, error)
	Isolation() sandbox.Isolation
	Dir() string
}

// What to do about a step that failed.
const (
	OnFailureAbort = "abort" // begin nothing else; the default
	OnFailureSkip  = "skip"  // go on with the steps that don't need it
	OnFailureAsk   = "ask"   // ask whether to try again, and else abort
)

// Policy says what happens when a step fails.
type Policy struct {
	Attempts  int           // how often it is tried; 1 if zero
	Backoff   time.Duration // the pause before the second attempt, doubled for each further one
	OnFailure string        // after the last attempt; OnFailureAbort if empty
}

// Kinds of questions.
const (
	QuestionDanger  = "danger"  // Finding says what is dangerous
	QuestionAsk     = "ask"     // Ask says what is not sure
	QuestionUnknown = "unknown" // the step was under way when the run was killed
	QuestionRetry   = "retry"   // it failed
	QuestionProgram = "program" // nothing is known about Program, and it may reach what is outside
)

// Question is something that only a person may decide. Yes means to go on.
type Question struct {
	Kind    string
	Step    *replay.Step
	Text    string
	Program string
}

// Event is progress, for whoever watches.
type Event struct {
	Kind    string // start, output, end
	Step    *replay.Step
	Attempt int
	Output  []byte   // of output; valid during the call
	Outcome *Outcome // of end
}

// Options say how a plan is run.
type Options struct {
	Run      string // the run's id
	Executor Executor
	Journal  Journal
	Network  bool // the steps have the host's network
	Policy   Policy
	Steps    map[int]Policy // for single steps, instead of Policy
	// Without are the steps that the caller goes on without, as if they were done: one that needs a
	// terminal, or was done by hand.
	Without map[int]bool
	Jobs    int           // how many steps without an order between them run at once; 1 if zero
	Timeout time.Duration // of a step; zero means none
	Grace   time.Duration // between TERM and KILL; see sandbox.Command
	// Env is what every step has in its environment, under the step's own recorded one.
	Env map[string]string
	// Values answer questions for redacted values and unrecorded variables, by name. They are
	// passed to steps in the environment, and never written down.
	Values map[string]string
	// Confirm decides a question; nil answers no to all. It is called by one goroutine at a time.
	Confirm func(ctx context.Context, q Question) (bool, error)
	// Progress is called by one goroutine at a time; it may be nil.
	Progress func(Event)
	// Scratch is a directory, as steps see it, for what shell sessions hold; /tmp/.recount if empty.
	Scratch string
	Past    *Past // what an earlier run of the same id did, to go on with
	// Now and Sleep are the clock; they are time's own if nil.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

func (o *Options) validate(p *replay.Plan) error {
	if err := p.Check(); err != nil {
		return err
	}
	if o.Executor == nil || o.Journal == nil || o.Run == "" {
		return errors.New("run: Options need Run, Executor and Journal")
	}
	for step := range o.Steps {
		if step < 0 || step >= len(p.Steps) {
			return fmt.Errorf("a policy is given for step %d, and the plan has %d steps", step+1, len(p.Steps))
		}
	}
	for _, policy := range append([]Policy{o.Policy}, values(o.Steps)...) {
		switch policy.OnFailure {
		case "", OnFailureAbort, OnFailureSkip, OnFailureAsk:
		default:
			return fmt.Errorf("no policy %q for failures: it is %s, %s or %s", policy.OnFailure, OnFailureAbort, OnFailureSkip, OnFailureAsk)
		}
		if policy.Attempts < 0 || policy.Backoff < 0 {
			return fmt.Errorf("a policy with %d attempts and a pause of %s: neither can be negative", policy.Attempts, policy.Backoff)
		}
	}
	o.Jobs = max(o.Jobs, 1)
	if o.Scratch == "" {
		o.Scratch = "/tmp/.recount"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	if o.Confirm == nil {
		o.Confirm = func(context.Context, Question) (bool, error) { return false, nil }
	}
	return nil
}

func values(m map[int]Policy) []Policy {
	var out []Policy
	for _, p := range m {
		out = append(out, p)
	}
	return out
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
