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
	// Since is when commands begin to be known, as retention removed those that came in
	// before; zero where it removed none.
	Since time.Time
}

// noCommands is the hint of an answer where there is no command at all.
func (s Sources) noCommands() string {
	if s.Since.IsZero() {
		return "no command has been recorded yet"
	}
	return "no command is left"
}

// knownSince adds to the hint of a question that begins at from since when commands are known.
func (s Sources) knownSince(hint string, from time.Time) string {
	return query.KnownSince(hint, "commands", s.Since, from)
}

// Embedder places a text among the commands: a vector of unit length, or zeros.
type Embedder interface {
	// Name says what made the vector, with its version; only rows of the same
	// name are compared.
	Name() string
	Embed(text string) [schemas.EmbeddingDim]float32
}

// session is one question about commands while it is answered.
type session struct {
	query.Session[query.Step]
	s Sources
	// as is the moment in the past that was asked for.
	as query.AsOf

	// The live generations, nil where the question does not read them.
	segment *segment.Projection
	lexical *lexical.Index
	graph   *narrative.Graph
	vector  *vector.Projection

	joined atomic.Int64 // outcomes looked up, by searches at the same time
}

// open opens the named projections for a question, once at_least is visible. The
// moment is a normal one. An error is a *query.NotVisibleError, the context's, or one
// of the projections.
func (s Sources) open(ctx context.Context, m query.Moment, names ...string) (*session, error) {
	base, err := query.Begin[query.Step](ctx, s.Set, m.AtLeast, m.WaitMS)
	if err != nil {
		return nil, err
	}
	a := &session{Session: base, s: s, as: m.AsOf}
	for i, name := range names {
		p, err := a.Acquire(s.Set, name)
		if err != nil {
			a.Close()
			return nil, err
		}
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
			a.Visible = p.Watermark()
		} else {
			a.Visible = a.Visible.Min(p.Watermark())
		}
	}
	a.Visible = query.Below(a.Visible, a.as)
	a.Step(query.Step{Operator: "visible", Inputs: map[string]string{"below": a.Visible.String()}})
	return a, nil
}

// knows says whether the answer may know of an event at a position that happened
// then.
func (a *session) knows(p schemas.Position, unixNano int64) bool {
	return p.Offset < a.Visible[p.TP()] && (a.as.Time.IsZero() || unixNano <= schemas.UnixNano(a.as.Time))
}

// knowsOutcome says whether the answer may know of an outcome.
func (a *session) knowsOutcome(o narrative.Outcome) bool {
	return a.knows(o.Position, o.ObservedUnixNano)
}

// outcome is what was observed of a command, as far as the answer may know.
func (a *session) outcome(id schemas.EventID) (narrative.Outcome, bool, error) {
	a.joined.Add(1)
	return a.graph.Lookup(id, a.knowsOutcome)
}

// exitCode is a row's exit code, its own or that of the outcome observed later.
func (a *session) exitCode(v *segment.View) (*int32, error) {
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
func (a *session) complete(h *Intent) error {
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
func (a *session) asOfFilter() []query.AppliedFilter {
	switch {
	case a.as.Offsets != nil:
		return []query.AppliedFilter{{Field: "as_of", Op: "below", Value: a.as.Offsets.String()}}
	case !a.as.Time.IsZero():
		return []query.AppliedFilter{{Field: "as_of", Op: "le", Value: a.as.Time.UTC().Format(time.RFC3339Nano)}}
	}
	return nil
}
