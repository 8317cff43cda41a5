package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays/answer"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// step brings one step to its end. The error ends the run.
func (r *runner) step(ctx context.Context, i int) error {
	s := &r.plan.Steps[i]
	o, err := r.decide(ctx, s)
	if err != nil {
		return err
	}
	if o != nil {
		return r.end(ctx, s, *o)
	}
	return r.attempts(ctx, s)
}

// decide finds out whether a step is to run. If not, it returns the outcome.
func (r *runner) decide(ctx context.Context, s *replay.Step) (*Outcome, error) {
	o := r.outcome(s)
	no := func(status Status, format string, args ...any) (*Outcome, error) {
		o.Status, o.Reason = status, fmt.Sprintf(format, args...)
		return &o, nil
	}
	for _, w := range r.waits[s.Index] {
		if before := r.outcomeOf(w.on); w.needed && (before == nil || !before.Status.Fine()) {
			return no(Blocked, "it needs step %d (%s), which is not done", w.on+1, w.what)
		}
	}
	if r.Without[s.Index] {
		return no(Omitted, ReasonOmitted)
	}
	if past, ok := r.past(s); ok {
		return past, nil
	}
	checks, held, err := r.satisfied(ctx, s.Index, map[int]verdict{})
	if err != nil {
		return nil, err
	}
	if held {
		o.Checks = checks
		return no(Skipped, "it is so already: %s", strings.Join(checks, "; "))
	}
	for _, a := range s.Asks {
		if a.Kind == replay.AskTerminal {
			return no(Terminal, "%s", a.Text)
		}
	}
	if at := slices.IndexFunc(s.Asks, isUnwritten); at >= 0 {
		return no(Refused, "%s", s.Asks[at].Text)
	}
	if r.Past != nil && r.Past.Open[s.Index] && !r.takenBack(s) {
		text := "it was under way when the run ended, and nothing shows whether it was done: run it again?"
		if yes, err := r.confirm(ctx, Question{Kind: QuestionUnknown, Step: s, Text: text}); err != nil || !yes {
			o.Status, o.Reason = Refused, ReasonUnknown
			return &o, err
		}
	}
	for i := range s.Asks {
		a := &s.Asks[i]
		if a.Name != "" {
			_, given := r.Values[a.Name]
			if _, own := r.Values[a.OwnName(s.Index)]; given || own {
				continue
			}
			if a.Kind == replay.AskRedacted {
				return no(Refused, "%s", a.Text)
			}
		}
		if yes, err := r.confirm(ctx, Question{Kind: QuestionAsk, Step: s, Text: a.Text}); err != nil || !yes {
			o.Status, o.Reason = Refused, "not agreed to: "+a.Text
			return &o, err
		}
	}
	for i := range s.Danger {
		f := &s.Danger[i]
		if harmless, err := r.harmless(ctx, s, f); err != nil {
			return nil, err
		} else if harmless {
			continue
		}
		text := fmt.Sprintf("%s: %s", f.What, f.Why)
		if yes, err := r.confirm(ctx, Question{Kind: QuestionDanger, Step: s, Text: text}); err != nil || !yes {
			o.Status, o.Reason = Refused, "dangerous, and not agreed to: "+text
			return &o, err
		}
	}
	for _, program := range s.Unknown {
		text := replay.UnknownProgram(program)
		if yes, err := r.agreesTo(ctx, s, program, text); err != nil || !yes {
			o.Status, o.Reason = Refused, "not agreed to: "+text
			return &o, err
		}
	}
	return nil, nil
}

// agreesTo reports whether a program about which nothing is known may run. With the network closed and in a
// sandbox it may; otherwise that is asked about once.
func (r *runner) agreesTo(ctx context.Context, s *replay.Step, program, text string) (bool, error) {
	if !r.open() {
		return true, nil
	}
	r.asking.Lock()
	defer r.asking.Unlock()
	if yes, asked := r.programs[program]; asked {
		return yes, nil
	}
	yes, err := r.Confirm(ctx, Question{Kind: QuestionProgram, Step: s, Text: text, Program: program})
	if err == nil {
		r.programs[program] = yes
	}
	return yes, err
}

// open reports whether steps may change something outside of the directory.
func (r *runner) open() bool {
	return r.Network || r.Executor.Isolation() == sandbox.IsolationNone
}

// ReasonUnknown is that of a step that was under way when a run was killed, and that nobody agreed to
// run again. A run that goes on later asks about it again.
const ReasonUnknown = "it was under way when the run ended, and was not to be run again"

// ReasonAgain is that of a step that is done, and that ran over what it had left when a run was killed.
const ReasonAgain = "it was under way when the run ended, and ran again over what it had left then"

// ReasonOmitted is that of a step without which a run goes on. A run that goes on later goes on without it,
// too.
const ReasonOmitted = answer.ReasonOmitted

// past returns the outcome of a step that the resumed run did, or went on without.
func (r *runner) past(s *replay.Step) (*Outcome, bool) {
	if r.Past == nil {
		return nil, false
	}
	before, ok := r.Past.Ended[s.Index]
	if !ok || !before.Status.Fine() {
		return nil, false
	}
	if s.Background && r.isNeeded(s.Index) {
		return nil, false // its process ended with that run; its postconditions tell
	}
	if before.Before = true; before.Status == Omitted {
		before.Reason = ReasonOmitted
		return &before, true
	}
	before.Status, before.Reason = Skipped, "the run before did it"
	return &before, true
}

// isNeeded reports whether a step that the resumed run did not do needs this one.
func (r *runner) isNeeded(i int) bool {
	for j := i + 1; j < len(r.waits); j++ {
		if o, ok := r.Past.Ended[j]; ok && o.Status.Fine() {
			continue
		}
		for _, w := range r.waits[j] {
			if w.needed && w.on == i {
				return true
			}
		}
	}
	return false
}

// attempts runs a step until it succeeds, as its policy says.
func (r *runner) attempts(ctx context.Context, s *replay.Step) error {
	policy, own := r.Options.Steps[s.Index]
	if !own {
		policy = r.Policy
	}
	for attempt := 1; ; attempt++ {
		o, err := r.attempt(ctx, s, attempt)
		if err != nil {
			return err
		}
		again := false
		if o.Status == Failed && ctx.Err() == nil {
			if again = attempt < policy.Attempts; !again && policy.OnFailure == OnFailureAsk {
				text := fmt.Sprintf("it failed: %s: try again?", o.Reason)
				if again, err = r.confirm(ctx, Question{Kind: QuestionRetry, Step: s, Text: text}); err != nil {
					return err
				}
			}
		}
		o.Last = !again
		if err := r.end(ctx, s, o); err != nil {
			return err
		}
		if !again {
			if o.Status == Stopped || o.Status == Failed && policy.OnFailure != OnFailureSkip {
				return errAborted
			}
			return nil
		}
		if pause := policy.Backoff << min(attempt-1, 20); pause > 0 {
			if err := r.Sleep(ctx, pause); err != nil {
				return errAborted // stopped between two attempts
			}
		}
	}
}

// attempt runs a step once.
func (r *runner) attempt(ctx context.Context, s *replay.Step, n int) (Outcome, error) {
	o := r.outcome(s)
	o.Attempt = n
	o.Number += n - 1
	r.guard(s)
	err := r.Journal.Started(ctx, Started{
		Run: r.Options.Run, Step: s.Index, Intent: s.Intent, Attempt: n, Number: o.Number, Command: s.Command, Dir: o.Dir, Isolation: o.Isolation, At: r.Now(),
	})
	if err != nil {
		return o, fmt.Errorf("write down step %d, so it was not run: %w", s.Index+1, err)
	}
	r.progress(Event{Kind: "start", Step: s, Attempt: n})
	command := r.command(s)
	command.Output = func(p []byte) { r.progress(Event{Kind: "output", Step: s, Attempt: n, Output: p}) }
	r.moved()
	res, err := r.Executor.Run(ctx, command)
	r.moved()
	o.Exit, o.Took, o.TimedOut = res.Exit, res.Took, res.TimedOut
	o.Output, o.Dropped = tail(res.Output, res.Dropped)
	o.Status, o.Reason = judge(s, res, err, ctx.Err() != nil, r.Timeout)
	if o.Status == Done {
		if why := r.waitForPorts(ctx, s); why != "" {
			o.Status, o.Reason = Failed, why
		}
	}
	if o.Status == Done && r.Past != nil && r.Past.Open[s.Index] && !r.takenBack(s) {
		o.Reason = ReasonAgain
	}
	if err := r.files(s, &o); err != nil {
		return o, err
	}
	if box, ok := r.Executor.(guard); ok {
		box.End() // a kill from here on leaves what the step did, and it is asked about
	}
	return o, nil
}

// judge says how a step came out. One that failed when it was recorded may fail again the same way.
func judge(s *replay.Step, res sandbox.Result, err error, stopped bool, timeout time.Duration) (Status, string) {
	switch {
	case stopped:
		return Stopped, "the run was stopped"
	case errors.Is(err, sandbox.ErrNoDir), errors.Is(err, sandbox.ErrNoProgram):
		return Failed, err.Error()
	case errors.Is(err, sandbox.ErrClosed):
		return Failed, "the sandbox ended while it ran" + because(res.Limit)
	case err != nil:
		return Failed, err.Error()
	case res.Limit != "":
		return Failed, "stopped by a limit: " + res.Limit
	case res.TimedOut:
		return Failed, "it ran for more than " + query.Took(timeout)
	case s.Exit != nil && int(*s.Exit) == res.Exit, s.Exit == nil && res.Exit == 0, res.Exit == 0:
		return Done, ""
	case res.Exit == 127:
		return Failed, "exit code 127: a program of it is not there"
	case res.Signal != "":
		return Failed, "ended by a signal: " + res.Signal
	}
	return Failed, fmt.Sprintf("exit code %d", res.Exit)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// end writes down an outcome and makes it known.
func (r *runner) end(ctx context.Context, s *replay.Step, o Outcome) error {
	if o.Attempt == 0 {
		o.Last = true
	}
	o.At = r.Now()
	// What the run before did is written down already.
	if !o.Before {
		if err := r.Journal.Ended(context.WithoutCancel(ctx), o); err != nil {
			return fmt.Errorf("write down the end of step %d: %w", s.Index+1, err)
		}
	}
	r.mu.Lock()
	r.outcomes[s.Index] = &o
	r.mu.Unlock()
	r.progress(Event{Kind: "end", Step: s, Attempt: o.Attempt, Outcome: &o})
	return nil
}

func (r *runner) outcome(s *replay.Step) Outcome {
	number := 1
	if r.Past != nil {
		number += r.Past.Numbers[s.Index]
	}
	return Outcome{
		Run: r.Options.Run, Step: s.Index, Intent: s.Intent, Number: number, Command: s.Command,
		Dir: cmp.Or(s.Cwd, r.Executor.Dir()), Isolation: string(r.Executor.Isolation()),
	}
}

func (r *runner) outcomeOf(step int) *Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcomes[step]
}

// maxTail is how much of a step's output is written down.
const maxTail = 8 << 10

// tail returns the end of an output, from the beginning of a line if there is one.
func tail(output string, dropped int64) (string, int64) {
	if len(output) <= maxTail {
		return strings.ToValidUTF8(output, "�"), dropped
	}
	cut := output[len(output)-maxTail:]
	if at := strings.IndexByte(cut, '\n'); at >= 0 && at < maxTail/2 {
		cut = cut[at+1:]
	}
	return strings.ToValidUTF8(cut, "�"), dropped + int64(len(output)-len(cut))
}
