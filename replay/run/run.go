package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/replay/transform"
)

// runner is a run that is under way.
type runner struct {
	Options
	plan  *replay.Plan
	waits [][]wait // by step, what has to end before
	// there has the repositories that were there before the run, of those that the plan begins.
	there map[string]bool
	// clean has the working trees that git had nothing to lose of before the run, of those in which it discards changes.
	clean map[string]bool

	mu       sync.Mutex // guards what is below
	outcomes map[int]*Outcome
	known    map[string]sandbox.Change // the changes that steps so far made
	moves    int                       // how many steps have begun, and ended
	looked   *look

	asking   sync.Mutex      // one question, and one line of progress, at a time; guards what is below
	programs map[string]bool // the answers about programs of which nothing is known
}

// errAborted ends a run after a failure.
var errAborted = errors.New("a step failed")

// Run executes the plan. The report tells how far it came, also with an error: that of the journal,
// or of a plan that can't be run. A step that fails is no error.
func Run(ctx context.Context, p *replay.Plan, o Options) (Report, error) {
	if err := o.validate(p); err != nil {
		return Report{}, err
	}
	r := &runner{Options: o, plan: p, waits: waitsOf(p), there: there(p), outcomes: map[int]*Outcome{}, known: map[string]sandbox.Change{}, clean: map[string]bool{}, programs: map[string]bool{}}
	start := r.Now()
	if err := r.unwritten(ctx); err != nil {
		return Report{}, err
	}
	err := r.Journal.Planned(ctx, Planned{
		Run: r.Options.Run, Resumes: r.Past != nil, Plan: p, Dir: r.Executor.Dir(), Isolation: string(r.Executor.Isolation()), Network: r.Network,
	})
	if err != nil {
		return Report{}, fmt.Errorf("write down the plan, so nothing was run: %w", err)
	}
	if err := r.places(ctx); err != nil {
		return Report{}, err
	}
	if err := r.remember(); err != nil {
		return Report{}, err
	}
	if err := r.tidy(ctx); err != nil {
		return Report{}, err
	}
	err = r.schedule(ctx)
	report := r.report(ctx, r.Now().Sub(start))
	if err != nil && !errors.Is(err, errAborted) {
		return report, err
	}
	// What was stopped has come to its end too, so it is written down although ctx has ended.
	if err := r.Journal.Done(context.WithoutCancel(ctx), report); err != nil {
		return report, fmt.Errorf("write down the end of the run: %w", err)
	}
	return report, nil
}

// places makes the directories that the narrative is mapped to: those in which steps run that no step has made. They
// were there where it was recorded.
func (r *runner) places(ctx context.Context) error {
	for _, m := range r.plan.Mappings {
		within := func(name string) bool { return name == m.To || strings.HasPrefix(name, m.To+"/") }
		missing := slices.ContainsFunc(r.plan.Steps, func(s replay.Step) bool {
			return within(s.Cwd) && !slices.ContainsFunc(s.Needs, func(n replay.Need) bool { return n.Kind == replay.NeedWorkingDir })
		})
		if m.Kind != transform.Path || !missing {
			continue
		}
		command := r.command(&replay.Step{})
		command.Args, command.Timeout = []string{"mkdir", "-p", "--", m.To}, checkTimeout
		// Where it may not be made, the steps say that it is not there.
		if _, err := r.Executor.Run(ctx, command); err != nil && !errors.Is(err, sandbox.ErrNoDir) && !errors.Is(err, sandbox.ErrNoProgram) {
			return fmt.Errorf("make the directory %s: %w", m.To, err)
		}
	}
	return nil
}

// report sums up.
func (r *runner) report(ctx context.Context, took time.Duration) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Report{Run: r.Options.Run, Plan: r.plan.ID, Status: "complete", Steps: []Outcome{}, Counts: map[Status]int{}, Took: took}
	for i := range r.plan.Steps {
		o := r.outcomes[i]
		if o == nil {
			out.Status = "incomplete"
			continue
		}
		out.Steps = append(out.Steps, *o)
		out.Counts[o.Status]++
		if !o.Status.Fine() {
			out.Status = "incomplete"
		}
	}
	if ctx.Err() != nil && out.Status != "complete" {
		out.Status = "stopped"
	}
	return out
}

// remember takes what is there already as known, so that it is not said of the first step.
func (r *runner) remember() error {
	changes, err := r.Executor.Changes()
	if errors.Is(err, sandbox.ErrNoView) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range changes {
		r.known[c.Path] = c
	}
	return nil
}

// confirm asks one question.
func (r *runner) confirm(ctx context.Context, q Question) (bool, error) {
	r.asking.Lock()
	defer r.asking.Unlock()
	return r.Confirm(ctx, q)
}

func (r *runner) progress(e Event) {
	r.asking.Lock()
	defer r.asking.Unlock()
	r.Progress(e)
}
