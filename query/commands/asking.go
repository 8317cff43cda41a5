package commands

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Sources are what questions are asked of.
type Sources struct {
	// Set holds the projections segment, lexical, vector and graph. Required.
	Set *projections.Set
	// Embedder embeds the question; it must be the one that embedded the commands.
	// Nil leaves the semantic path out.
	Embedder Embedder
	// Concepts gives the concept classes of a question; nil leaves that path out.
	Concepts func(text string) []string
	// Event reads an event from the log, for show; nil leaves it out.
	Event func(ctx context.Context, at schemas.Position) (schemas.LogRecord, error)
}

// Embedder places a text among the commands: a vector of unit length, or zeros.
type Embedder interface {
	// Name says what made the vector, with its version; only rows of the same
	// name are compared.
	Name() string
	Embed(text string) [schemas.EmbeddingDim]float32
}

// asking is one question being answered: the projections that it reads, what it
// may know of them, and the proof as it grows.
type asking struct {
	ctx context.Context
	s   Sources
	// as is the moment in the past that was asked for; visible is what the answer
	// may draw on, taken once.
	as      query.AsOf
	visible schemas.Watermark

	// The live generations, nil where the question does not read them. They stay
	// what they are until close, also when a rebuild takes their place.
	segment *segment.Projection
	lexical *lexical.Index
	graph   *narrative.Graph
	vector  *vector.Projection
	release []func()

	proof  []query.Step
	timing query.Timing
	joined atomic.Int64 // outcomes looked up, by searches at the same time

	start, clock time.Time
}

// ask opens the named projections for a question, once at_least is visible. The
// moment is a normal one. An error is a *NotVisibleError, the context's, or one
// of the projections.
func (s Sources) ask(ctx context.Context, m query.Moment, names ...string) (*asking, error) {
	now := time.Now()
	a := &asking{ctx: ctx, s: s, as: m.AsOf, start: now, clock: now, proof: []query.Step{}}
	if err := query.AwaitVisible(ctx, s.Set, m.AtLeast, time.Duration(m.WaitMS)*time.Millisecond); err != nil {
		return nil, err
	}
	for i, name := range names {
		p, release, err := s.Set.Acquire(name)
		if err != nil {
			a.close()
			return nil, err
		}
		a.release = append(a.release, release)
		switch p := p.(type) {
		case *segment.Projection:
			a.segment = p
		case *lexical.Index:
			a.lexical = p
		case *narrative.Graph:
			a.graph = p
		case *vector.Projection:
			a.vector = p
		}
		if i == 0 {
			a.visible = p.Watermark()
		} else {
			a.visible = a.visible.Min(p.Watermark())
		}
	}
	a.visible = query.Below(a.visible, a.as)
	a.step(query.Step{Operator: "visible", Inputs: map[string]string{"below": a.visible.String()}})
	return a, nil
}

func (a *asking) close() {
	for _, release := range a.release {
		release()
	}
}

func (a *asking) step(s query.Step) { a.proof = append(a.proof, s) }

// lap notes how long a step took.
func (a *asking) lap(operator string) {
	now := time.Now()
	a.timing.Steps = append(a.timing.Steps, query.StepTiming{Operator: operator, US: now.Sub(a.clock).Microseconds()})
	a.clock = now
}

// took is the timing at the end.
func (a *asking) took() query.Timing {
	a.timing.TotalUS = time.Since(a.start).Microseconds()
	return a.timing
}

// knows says whether the answer may know of an event at a position that happened
// then.
func (a *asking) knows(p schemas.Position, unixNano int64) bool {
	return p.Offset < a.visible[p.TP()] && (a.as.Time.IsZero() || unixNano <= schemas.UnixNano(a.as.Time))
}

// knowsOutcome says whether the answer may know of an outcome.
func (a *asking) knowsOutcome(o narrative.Outcome) bool {
	return a.knows(o.Position, o.ObservedUnixNano)
}

// outcome is what was observed of a command, as far as the answer may know.
func (a *asking) outcome(id schemas.EventID) (narrative.Outcome, bool, error) {
	a.joined.Add(1)
	return a.graph.Lookup(id, a.knowsOutcome)
}

// exitCode is a row's exit code, its own or that of the outcome observed later.
func (a *asking) exitCode(v *segment.View) (*int32, error) {
	if code, known := v.ExitCode(); known {
		return &code, nil
	}
	o, ok, err := a.outcome(v.ID())
	if err != nil || !ok {
		return nil, err
	}
	return o.ExitCode, nil
}

// complete adds to what a row says of itself what was observed of it later.
func (a *asking) complete(h *Intent) error {
	if h.ExitCode != nil && h.Duration != nil {
		return nil
	}
	o, ok, err := a.outcome(h.ID)
	if err == nil && ok {
		h.join(o)
	}
	return err
}

// asOfFilter is how as_of stands among an answer's filters; there is none without
// one. A time is compared with the command's.
func (a *asking) asOfFilter() []query.AppliedFilter {
	switch {
	case a.as.Offsets != nil:
		return []query.AppliedFilter{{Field: "as_of", Op: "below", Value: a.as.Offsets.String()}}
	case !a.as.Time.IsZero():
		return []query.AppliedFilter{{Field: "as_of", Op: "le", Value: a.as.Time.UTC().Format(time.RFC3339Nano)}}
	}
	return nil
}
