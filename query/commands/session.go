package commands

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/history"
	"github.com/recountdb/recount/schemas"
)

// Sources are what queries read.
type Sources struct {
	// Set holds the projections segment, lexical, vector and graph. Required.
	Set *projections.Set
	// Embedder embeds the query; it must be the one that embedded the commands. Nil
	// disables the semantic path.
	Embedder Embedder
	// Concepts returns the concept classes of a query; nil disables that path.
	Concepts func(text string) []string
	// History is the index of distinct commands, for search; nil reads all of them for each.
	History *history.Index
	// Event reads an event from the log, for show; nil omits the event.
	Event func(ctx context.Context, at schemas.Position) (schemas.LogRecord, error)
	// Events reads events from the log together, those that are there, in any order; nil reads each by
	// Event.
	Events func(ctx context.Context, at []schemas.Position, fn func(schemas.LogRecord) error) error
	// Sees, if not nil, reports of which workspaces show knows commands; all others do not exist
	// for it.
	Sees func(workspace string) bool
	// Reads, if not nil, reports whether whoever asks may read an event of an agent.
	Reads func(ctx context.Context, lr schemas.LogRecord) (bool, error)
	// Erased returns a *query.ErasedError if a reference, the complete id or the position of a
	// command, names an erased one that may be told of; nil tells of none.
	Erased func(ctx context.Context, ref string) error
	// Since is the time from which commands are complete, because retention removed those
	// received earlier; zero if it removed none.
	Since time.Time
}

// NoneRecorded is the hint of an answer if no command was ever recorded.
const NoneRecorded = `no command has been recorded yet: record with eval "$(recount hook bash)" (or zsh, fish), or run recount import history`

// noCommands returns the hint of an answer if there are no commands at all.
func (s Sources) noCommands() string {
	if s.Since.IsZero() {
		return NoneRecorded
	}
	return "no command is left"
}

// knownSince adds the time from which commands are known to the hint of a query that begins at from.
func (s Sources) knownSince(hint string, from time.Time) string {
	return query.KnownSince(hint, "commands", s.Since, from)
}

// Embedder computes the embedding of a text: a vector of unit length, or zeros.
type Embedder interface {
	// Name returns the embedder's name with its version; only rows with the same name are
	// compared.
	Name() string
	Embed(text string) [schemas.EmbeddingDim]float32
}

// session is the state of one query about commands.
type session struct {
	query.Session[query.Step]
	s Sources
	// as is the requested moment in the past.
	as query.AsOf

	// The live generations; nil if the query does not read them.
	segment *segment.Projection
	lexical *lexical.Index
	graph   *narrative.Graph
	vector  *vector.Projection
	replays *replays.View

	joined atomic.Int64 // outcomes looked up, by searches at the same time

	looks looks // what was seen to change
}

// open opens the named projections for a query, as soon as at_least is visible. The moment
// is normal. An error is a *query.NotVisibleError, the context's, or one of the
// projections.
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
		case *replays.Replays:
			if a.replays, err = p.View(); err != nil {
				a.Close()
				return nil, err
			}
			a.OnClose(a.replays.Close)
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

// knows reports whether an event with this position and time is visible to the answer.
func (a *session) knows(p schemas.Position, unixNano int64) bool {
	return p.Offset < a.Visible[p.TP()] && (a.as.Time.IsZero() || unixNano <= schemas.UnixNano(a.as.Time))
}

// knowsOutcome reports whether an outcome is visible to the answer.
func (a *session) knowsOutcome(o narrative.Outcome) bool {
	return a.knows(o.Position, o.ObservedUnixNano)
}

// outcome returns a command's observed outcome, if it is visible to the answer.
func (a *session) outcome(id schemas.EventID) (narrative.Outcome, bool, error) {
	a.joined.Add(1)
	return a.graph.Lookup(id, a.knowsOutcome)
}

// exitCode returns a row's exit code, its own or that of the outcome observed later.
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

// complete adds the outcome that was observed later to a row's own fields.
func (a *session) complete(h *Intent) error {
	if h.ExitCode != nil && h.Duration != nil {
		return nil
	}
	o, ok, err := a.outcome(h.ID)
	if err == nil && ok {
		joinOutcome(h, o)
	}
	return err
}

// asOfFilter returns as_of as a filter of the answer, if the request has it. A time is
// compared with the command's.
func (a *session) asOfFilter() []query.AppliedFilter {
	switch {
	case a.as.Offsets != nil:
		return []query.AppliedFilter{{Field: "as_of", Op: "below", Value: a.as.Offsets.String()}}
	case !a.as.Time.IsZero():
		return []query.AppliedFilter{{Field: "as_of", Op: "le", Value: a.as.Time.UTC().Format(time.RFC3339Nano)}}
	}
	return nil
}
