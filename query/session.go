package query

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
)

// Session is one question while it is answered: what the answer may draw on, the proof
// as it grows, what is held open, and how long the steps take. S is a step of the proof.
// Each area of questions embeds it in a session of its own, beside the projections that
// it reads. A session is used by one goroutine.
type Session[S any] struct {
	// Ctx bounds the question.
	Ctx context.Context
	// Visible bounds what the answer may draw on: everything below it.
	Visible schemas.Watermark
	// Proof holds the steps so far.
	Proof []S

	steps          []StepTiming
	start, stepped time.Time
	closers        []func()
}

// defaultSteps is how many steps a proof has room for before it grows.
const defaultSteps = 16

// Begin begins a question once everything below atLeast is visible in the set, for which
// it waits waitMS milliseconds, or DefaultWait where that is 0. The error is a
// *NotVisibleError, or the context's.
func Begin[S any](ctx context.Context, set *projections.Set, atLeast schemas.Watermark, waitMS int) (Session[S], error) {
	now := time.Now()
	s := Session[S]{
		Ctx: ctx, start: now, stepped: now,
		Proof: make([]S, 0, defaultSteps), steps: make([]StepTiming, 0, defaultSteps),
	}
	return s, AwaitVisible(ctx, set, atLeast, cmp.Or(time.Duration(waitMS)*time.Millisecond, DefaultWait))
}

// Acquire returns the live generation of a projection. It stays what it is until Close,
// also when a rebuild takes its place.
func (s *Session[S]) Acquire(set *projections.Set, name string) (projections.Projection, error) {
	p, release, err := set.Acquire(name)
	if err != nil {
		return nil, err
	}
	s.OnClose(release)
	return p, nil
}

// OnClose has Close call f, before what it was given earlier.
func (s *Session[S]) OnClose(f func()) { s.closers = append(s.closers, f) }

// Close ends the question and releases what it holds.
func (s *Session[S]) Close() {
	for _, f := range slices.Backward(s.closers) {
		f()
	}
	s.closers = nil
}

// Step adds a step to the proof.
func (s *Session[S]) Step(step S) { s.Proof = append(s.Proof, step) }

// RecordTime records the time since the last call, or since the beginning, as that of an
// operator.
func (s *Session[S]) RecordTime(operator string) {
	now := time.Now()
	s.steps = append(s.steps, StepTiming{operator, now.Sub(s.stepped).Microseconds()})
	s.stepped = now
}

// SkipTime has the next RecordTime not count the time so far, in which several operators
// ran at once.
func (s *Session[S]) SkipTime() { s.stepped = time.Now() }

// AddTime has the next RecordTime count d more, which its operator took while others ran.
func (s *Session[S]) AddTime(d time.Duration) { s.stepped = s.stepped.Add(-d) }

// Timing returns how long the question has taken, and each step of it.
func (s *Session[S]) Timing() Timing {
	return Timing{TotalUS: time.Since(s.start).Microseconds(), Steps: s.steps}
}

// BasisOf returns the basis of an answer, which is empty or not.
func BasisOf(s *Session[Step], empty bool, hint string, filters []AppliedFilter) Basis {
	b := Basis{Status: StatusOK, Hint: hint, Watermark: s.Visible, AppliedFilters: filters, Proof: s.Proof, Timing: s.Timing()}
	if empty {
		b.Status = StatusEmpty
	}
	return b
}
