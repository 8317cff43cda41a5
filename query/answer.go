package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// The states of an answer.
const (
	StatusOK    = "ok"
	StatusEmpty = "empty"
)

// Basis is what every answer about narratives says of itself.
type Basis struct {
	Status         string            `json:"status" enum:"ok,empty" example:"ok" doc:"ok, or empty if there are no results."`
	Hint           string            `json:"hint,omitempty" doc:"Why there are no results and what to change, what was cut off, or from when on events are known."`
	Watermark      schemas.Watermark `json:"watermark" example:"recount.commands/0:42" doc:"The answer is computed from everything below these offsets and nothing above: TOPIC/PARTITION:NEXT."`
	AppliedFilters []AppliedFilter   `json:"applied_filters" nullable:"false" doc:"The filters and bounds that were applied."`
	Proof          []Step            `json:"proof" nullable:"false" doc:"The steps by which the answer was computed, in order."`
	Timing         Timing            `json:"timing" doc:"Durations. This is the only part of an answer that differs from run to run."`
}

// KnownSince adds to a hint that retention removed what came in before since, where it removed
// any and the question, which begins at from or has no beginning, reaches further back.
func KnownSince(hint, what string, since, from time.Time) string {
	if since.IsZero() || !from.IsZero() && !from.Before(since) {
		return hint
	}
	return Joined(hint, what+" are known since "+since.UTC().Format(time.RFC3339)+": retention removed those received earlier")
}

// Joined returns a hint with another one after it.
func Joined(hint, more string) string { return strings.TrimPrefix(hint+"; "+more, "; ") }

// AddHint adds to the hint.
func (b *Basis) AddHint(hint string) { b.Hint = Joined(b.Hint, hint) }

// Rests is the basis of an answer that embeds it.
func (b Basis) Rests() Basis { return b }

// AddStep adds a step to the proof.
func (b *Basis) AddStep(s Step) { b.Proof = append(b.Proof, s) }

// PathScore is what one path says of a hit.
type PathScore struct {
	Path  string  `json:"path" enum:"words,concepts,semantic,exact,time,id,entity,lexical,dense,temporal,claim,graph,reason,remedy" example:"words" doc:"The retrieval path."`
	Rank  int     `json:"rank" example:"1" doc:"The rank in the path, from 1."`
	Score float64 `json:"score" example:"12.5" doc:"The score in the path's own measure: BM25, cosine, 1, or seconds since 1970."`
}

// AppliedFilter is one filter that held before ranking.
type AppliedFilter struct {
	Field string `json:"field" example:"exit" doc:"The field that was compared."`
	Op    string `json:"op" enum:"eq,under,ge,le,lt,in,contains,uses,matches,below" example:"eq" doc:"The comparison."`
	Value string `json:"value" example:"fail" doc:"The value to compare with."`
}

// Words returns the filter in words: agent "nobody", time before "2026-01-01T00:00:00Z".
func (f AppliedFilter) Words() string {
	field := strings.TrimPrefix(f.Field, "scope.")
	words := map[string]string{"ge": " from", "le": " up to", "lt": " before", "under": " below", "below": " below", "in": " of"}[f.Op]
	if field == "since" || field == "until" {
		words = ""
	}
	return fmt.Sprintf("%s%s %q", field, words, f.Value)
}

// Step is one step of a proof. It holds no clock: the same request at the same
// state has the same proof.
type Step struct {
	Operator string            `json:"operator" example:"lexical" doc:"The operation: visible, filter, select, lexical, semantic, exact, time, newest, fuse, limit, lookup, outcome, event, scan, templates, sequences, failures, next."`
	Inputs   map[string]string `json:"inputs,omitempty" doc:"The value to compare with."`
	Counts   map[string]int64  `json:"counts,omitempty" doc:"The counts of this step."`
	Hits     []Evidence        `json:"hits,omitempty" doc:"The ranks of the answer's hits in this step."`
}

// Evidence is one event's part in a step.
type Evidence struct {
	Position schemas.Position `json:"position" doc:"The event."`
	Rank     int              `json:"rank,omitempty" example:"1" doc:"Its rank in the step, from 1."`
	Score    float64          `json:"score,omitempty" example:"12.5" doc:"Its score in the step."`
}

// Timing is how long an answer took.
type Timing struct {
	TotalUS int64        `json:"total_us" example:"840" doc:"Total time in microseconds."`
	Steps   []StepTiming `json:"steps,omitempty" doc:"The steps that took time."`
}

// StepTiming is how long one step took.
type StepTiming struct {
	Operator string `json:"operator" example:"lexical words" doc:"The step."`
	US       int64  `json:"us" example:"120" doc:"Time of the step in microseconds."`
}
