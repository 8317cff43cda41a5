package runtime

import (
	"encoding/hex"
	"time"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/schemas"
)

// Measure has the counts, durations and confidence of an operation or call in a range.
type Measure struct {
	Count     uint64  `json:"count" example:"1402" doc:"The number of times it was seen."`
	Errors    uint64  `json:"errors" example:"14" doc:"The number of failures."`
	ErrorRate float64 `json:"error_rate" example:"0.01" doc:"Errors as a fraction of all."`
	// The quantiles are within 1 % of the exact ones, and 0 if no duration is known.
	P50   int64     `json:"p50_ns" example:"1200000" doc:"The median duration in nanoseconds, accurate to 1 %."`
	P95   int64     `json:"p95_ns" example:"9100000" doc:"The 95th percentile of the duration in nanoseconds."`
	P99   int64     `json:"p99_ns" example:"21000000" doc:"The 99th percentile of the duration in nanoseconds."`
	First time.Time `json:"first" doc:"The first time it was seen in the range."`
	Last  time.Time `json:"last" doc:"The last time it was seen in the range."`
	// Confidence is described in the package comment: how certain it is that this happens now.
	Confidence float64   `json:"confidence" example:"0.95" doc:"Confidence that this still happens, from how often and how recently it was seen in the seven days before at."`
	Examples   []Example `json:"examples" nullable:"false" doc:"Some example spans, failing ones first."`
}

// Example is one span.
type Example struct {
	Trace    string           `json:"trace" example:"5b8efff798038103d269b633813fc60c" doc:"The trace's id; empty for a line of an access log."`
	Span     string           `json:"span" example:"eee19b7ec3c1b174" doc:"The span's id."`
	Position schemas.Position `json:"position" doc:"The event that holds it."`
	Failed   bool             `json:"failed,omitempty" doc:"Whether it failed."`
	Duration int64            `json:"duration_ns" example:"1200000" doc:"The duration in nanoseconds."`
}

func measure(s *observed.Sum, confidence float64) Measure {
	m := Measure{
		Count: s.Count, Errors: s.Errors, First: time.Unix(0, s.First).UTC(), Last: time.Unix(0, s.Last).UTC(),
		Confidence: confidence, Examples: []Example{},
	}
	if s.Count > 0 {
		m.ErrorRate = float64(s.Errors) / float64(s.Count)
	}
	for _, q := range []struct {
		of   float64
		into *int64
	}{{0.5, &m.P50}, {0.95, &m.P95}, {0.99, &m.P99}} {
		if v, ok := s.Quantile(q.of); ok {
			*q.into = int64(v)
		}
	}
	for _, failed := range []bool{true, false} {
		for _, e := range s.Examples {
			if e.Failed == failed {
				m.Examples = append(m.Examples, exampleOf(e))
			}
		}
	}
	return m
}

func exampleOf(e observed.Example) Example {
	x := Example{Position: e.Position, Failed: e.Failed, Duration: e.Duration}
	if e.Trace != ([16]byte{}) {
		x.Trace, x.Span = hex.EncodeToString(e.Trace[:]), hex.EncodeToString(e.Span[:])
	}
	return x
}
