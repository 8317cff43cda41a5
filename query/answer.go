package query

import (
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
	Status         string            `json:"status" enum:"ok,empty" example:"ok" doc:"ok, or empty if there is nothing to tell."`
	Hint           string            `json:"hint,omitempty" doc:"Why there is nothing, and what to change; or what was cut off; or since when there is anything to know of."`
	Watermark      schemas.Watermark `json:"watermark" example:"recount.commands/0:42" doc:"The answer rests on everything below these offsets and on nothing above: TOPIC/PARTITION:NEXT."`
	AppliedFilters []AppliedFilter   `json:"applied_filters" nullable:"false" doc:"The filters and bounds that held."`
	Proof          []Step            `json:"proof" nullable:"false" doc:"How the answer came about, in order."`
	Timing         Timing            `json:"timing" doc:"How long it took: the one part of the answer that differs from run to run."`
}

// KnownSince adds to a hint that retention removed what came in before since, where it removed
// any and the question, which begins at from or has no beginning, reaches further back.
func KnownSince(hint, what string, since, from time.Time) string {
	if since.IsZero() || !from.IsZero() && !from.Before(since) {
		return hint
	}
	return strings.TrimPrefix(hint+"; "+what+" are known since "+since.UTC().Format(time.RFC3339)+": retention removed those that came in before", "; ")
}

// Rests is the basis of an answer that embeds it.
func (b Basis) Rests() Basis { return b }

// PathScore is what one path says of a hit.
type PathScore struct {
	Path  string  `json:"path" enum:"words,concepts,semantic,exact,time" example:"words" doc:"The path."`
	Rank  int     `json:"rank" example:"1" doc:"The rank in the path, from 1."`
	Score float64 `json:"score" example:"12.5" doc:"The score in the path's own measure: BM25, cosine, 1, or seconds since 1970."`
}

// AppliedFilter is one filter that held before ranking.
type AppliedFilter struct {
	Field string `json:"field" example:"exit" doc:"What was compared."`
	Op    string `json:"op" enum:"eq,under,ge,le,lt,in,contains,uses,below" example:"eq" doc:"How it was compared."`
	Value string `json:"value" example:"fail" doc:"With what."`
}

// Step is one step of a proof. It holds no clock: the same request at the same
// state has the same proof.
type Step struct {
	Operator string            `json:"operator" example:"lexical" doc:"What was done: visible, filter, select, lexical, semantic, exact, time, newest, fuse, limit, lookup, outcome, event, scan, templates, sequences, failures, next."`
	Inputs   map[string]string `json:"inputs,omitempty" doc:"With what."`
	Counts   map[string]int64  `json:"counts,omitempty" doc:"What was counted."`
	Hits     []Evidence        `json:"hits,omitempty" doc:"Where the answer's hits stood in this step."`
}

// Evidence is one event's part in a step.
type Evidence struct {
	Position schemas.Position `json:"position" doc:"The event."`
	Rank     int              `json:"rank,omitempty" example:"1" doc:"Its rank in the step, from 1."`
	Score    float64          `json:"score,omitempty" example:"12.5" doc:"Its score in the step."`
}

// Timing is how long an answer took.
type Timing struct {
	TotalUS int64        `json:"total_us" example:"840" doc:"The whole, in microseconds."`
	Steps   []StepTiming `json:"steps,omitempty" doc:"The steps that took time."`
}

// StepTiming is how long one step took.
type StepTiming struct {
	Operator string `json:"operator" example:"lexical words" doc:"The step."`
	US       int64  `json:"us" example:"120" doc:"In microseconds."`
}
