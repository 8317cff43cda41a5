// Package trim finds the steps of a plan without which it comes to the same end, by trials.
//
// What a slice keeps rests on evidence, and where that leaves a doubt the step stays. A trial leaves none: the plan
// runs without a step, in a sandbox that is thrown away, and its end is compared with that of the whole plan.
package trim

import (
	"context"
	"maps"
	"slices"

	"github.com/recountdb/recount/replay"
)

// End is what a trial came to.
type End struct {
	// Steps has how each step came out that was not left out.
	Steps map[int]Outcome
	// Files has what is at the paths that changed, in a form that can be compared.
	Files map[string]string
	// Wrote has the paths that each step changed.
	Wrote map[int][]string
}

// Outcome is how a step came out.
type Outcome struct {
	Fine   bool // it did as recorded, or its result was there
	Ran    bool
	Exit   int
	Output string
	Unsure bool   // Output is not all that it printed
	Reason string // why it is not fine
}

// Trial is one run of a plan without some of its steps.
type Trial struct {
	Number  int   `json:"number"`
	Without []int `json:"without"` // the steps that are tried to be left out, with those that need them
	Same    bool  `json:"same"`    // the end is the same
	// Differs is the first path, or else the first command, that is otherwise.
	Differs string `json:"differs,omitempty"`
}

// Options say how trials are done.
type Options struct {
	// Left are the steps that the evidence left out. Trials tell whether the end is the same without them, too.
	Left   map[int]bool
	Trials int // at most; 200 if zero
	// Keep are steps that are not tried, nor what they need: they have effects that a trial does not show.
	Keep map[int]bool
	// Recorded returns how many files the last trial left otherwise than was recorded, or an error that ends the search; it
	// may be nil. Where the plan without Left is no further from what was recorded than the one with it, nothing is put back.
	Recorded func() (int, error)
	// Pause is called between the two runs of the whole plan, so that what has the time in it differs; it may be nil.
	Pause    func(ctx context.Context) error
	Try      func(ctx context.Context, without map[int]bool) (End, error)
	Progress func(Trial) // called after each trial; it may be nil
}

// Result is what trials found.
type Result struct {
	Without map[int]bool // the steps that may be left out
	Trials  int
	// Varying are the paths that two runs of the whole plan left with different contents, Renamed those that one of them
	// left, and Printed tells that what the goal printed is not the same, or not known. Steps that these rest on are not
	// tried.
	Varying, Renamed []string
	Printed          bool
	Idle             int // how many steps are not tried, since their results are there before
	Beyond           int // how many are those of Options.Keep
	// Back are the steps of Options.Left without which the end is another one.
	Back []int
	// Unchecked tells that trials of Options.Left tell nothing: the plan with it does not come to its end, or to one that is
	// no nearer to what was recorded, the goal is another one each time, or there were not enough trials.
	Unchecked bool
	Limited   bool // there were no trials left to try all
}

// UnfitError says why a plan cannot be trimmed.
type UnfitError struct{ Why string }

func (e *UnfitError) Error() string { return e.Why }

// together is how many steps are left out at once at most: one, with those that fail without it.
const together = 12

// Minimal runs a plan without what the evidence left out, then without one step after the other, and returns those without
// which it comes to the same end. A step that fails without another one, as an rm does without what made the file, is left
// out with it.
func Minimal(ctx context.Context, p *replay.Plan, o Options) (Result, error) {
	if o.Trials == 0 {
		o.Trials = 200
	}
	t := &trimming{p: p, o: o, goals: map[int]bool{}, result: Result{Without: map[int]bool{}}}
	if err := t.whole(ctx); err != nil {
		return t.result, err
	}
	if err := t.check(ctx); err != nil || t.result.Limited {
		return t.result, err
	}
	tried := map[int]int{} // how many were left out when a step was tried: with as many it would come out the same
	for more := true; more; {
		more = false
		for i := range p.Steps {
			if n, before := tried[i]; !t.may(i) || before && n == len(t.result.Without) {
				continue
			}
			tried[i] = len(t.result.Without)
			gone, err := t.leave(ctx, i)
			if err != nil || t.result.Limited {
				return t.result, err
			}
			more = more || gone
		}
	}
	return t.result, nil
}

// trimming is a search under way.
type trimming struct {
	p       *replay.Plan
	o       Options
	goals   map[int]bool // the steps that the plan has to end with, if it is not for all that is left
	base    End
	varies  map[string]bool // paths whose content says nothing
	loose   map[string]bool // directories with files of another name each time
	fixed   map[int]bool    // steps that are not tried
	rested  map[int]bool    // of those, what rests looked at
	differs int             // how many files of base are otherwise than was recorded
	result  Result
}

// check leaves out what the evidence left out, as far as the end is the same without it.
func (t *trimming) check(ctx context.Context) error {
	var left []int
	for _, i := range slices.Sorted(maps.Keys(t.o.Left)) {
		if !t.result.Without[i] {
			left = append(left, i)
		}
	}
	if len(t.goals) > 0 && (t.result.Printed || len(t.result.Varying) > 0) {
		t.result.Without, t.result.Unchecked = maps.Clone(t.o.Left), true // a trial would not tell
		return nil
	}
	if same, err := t.asRecorded(ctx, left); err != nil || same {
		return err
	}
	if err := t.drop(ctx, left); err != nil {
		return err
	}
	if t.result.Limited {
		t.result.Without, t.result.Unchecked = maps.Clone(t.o.Left), true
		return nil
	}
	for _, i := range left {
		if !t.result.Without[i] {
			t.result.Back = append(t.result.Back, i)
		}
	}
	return nil
}

// asRecorded reports whether the plan without steps is as near to what was recorded as the one with them, and if so takes
// its end for the one to compare with.
func (t *trimming) asRecorded(ctx context.Context, left []int) (bool, error) {
	if t.o.Recorded == nil || len(left) == 0 {
		return false, nil
	}
	without := maps.Clone(t.result.Without)
	for _, i := range left {
		without[i] = true
	}
	end, err := t.try(ctx, without)
	if err != nil {
		return false, err
	}
	if differs, _ := t.compare(end, without); differs == "" {
		t.result.Without = without
		return true, nil
	}
	was := t.result.Without
	t.result.Without = without
	if n, err := t.o.Recorded(); err != nil || n > t.differs || t.broken(end) >= 0 {
		t.result.Without = was
		return false, nil // an error is of this trial alone
	}
	t.result.Unchecked = true // the two ends are not the same, and what was recorded does not tell which is right
	return true, t.compared(ctx, end)
}

// drop leaves steps out, or else halves of them.
func (t *trimming) drop(ctx context.Context, steps []int) error {
	if len(steps) == 0 {
		return nil
	}
	if t.result.Trials >= t.o.Trials {
		t.result.Limited = true
		return nil
	}
	without := maps.Clone(t.result.Without)
	for _, i := range steps {
		without[i] = true
	}
	end, err := t.try(ctx, without)
	if err != nil {
		return err
	}
	differs, _ := t.compare(end, without)
	if t.o.Progress != nil {
		t.o.Progress(Trial{t.result.Trials, steps, differs == "", differs})
	}
	if differs == "" {
		t.result.Without = without
		return nil
	}
	if len(steps) == 1 {
		return nil
	}
	if err := t.drop(ctx, steps[:len(steps)/2]); err != nil {
		return err
	}
	return t.drop(ctx, steps[len(steps)/2:])
}

func (t *trimming) may(i int) bool { return !t.fixed[i] && !t.result.Without[i] }

// leave tries to leave a step out, with those that fail without it. It reports whether the end was the same.
func (t *trimming) leave(ctx context.Context, i int) (bool, error) {
	without := maps.Clone(t.result.Without)
	for some := []int{i}; len(some) > 0; {
		for _, s := range some {
			without[s] = true
		}
		if len(without)-len(t.result.Without) > together {
			return false, nil
		}
		if t.result.Trials >= t.o.Trials {
			t.result.Limited = true
			return false, nil
		}
		end, err := t.try(ctx, without)
		if err != nil {
			return false, err
		}
		var differs string
		if differs, some = t.compare(end, without); t.o.Progress != nil {
			tried := slices.DeleteFunc(slices.Sorted(maps.Keys(without)), func(s int) bool { return t.result.Without[s] })
			t.o.Progress(Trial{t.result.Trials, tried, differs == "", differs})
		}
		if differs == "" {
			t.result.Without = without
			return true, nil
		}
	}
	return false, nil
}

func (t *trimming) try(ctx context.Context, without map[int]bool) (End, error) {
	t.result.Trials++
	return t.o.Try(ctx, without)
}
