package commands

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// fewRows is the maximum number of rows passing the filters for which the paths visit only
// these rows and compare all their embeddings. With more rows, the paths check whether
// their candidates are among them, which is then often the case.
var fewRows = 4096

// filterRows determines the rows that pass the filters.
func (f *search) filterRows() error {
	if len(f.filters) == 0 {
		return nil
	}
	var keep func(*segment.View) (bool, error)
	if f.r.Filters.Exit != "" || f.r.Replayed || f.r.Wrote != "" {
		// The only filters that the projection segment cannot apply by itself.
		keep = func(v *segment.View) (bool, error) { return matchAll(f.filters, v, nil) }
	}
	var err error
	f.passed, err = f.segment.Select(f.Ctx, pushed(f.r.Filters, f.as, f.Visible), keep)
	if err != nil {
		return err
	}
	s := query.Step{Operator: "select", Counts: map[string]int64{"rows": int64(f.passed.Len())}, Inputs: map[string]string{}}
	if f.passed.Len() <= fewRows {
		s.Inputs["few"] = "the paths look at these alone"
		f.only = f.passed.Offsets()
	}
	f.Step(s)
	f.RecordTime("select")
	return nil
}

// filter returns a function that reports whether a row may be answered, or nil if all may.
func (f *search) filter() func(schemas.TopicPartition, int64) bool {
	if f.passed == nil {
		return nil
	}
	return f.passed.Has
}

// maxBlamed is the maximum number of commands matching the text that are examined to find
// the filter responsible for an empty answer.
const maxBlamed = 10_000

// blame counts, among the commands that the lexical paths find without filters, how many
// each filter excludes. It is used for an empty answer.
func (f *search) blame(queries []termQuery) error {
	for i := range queries {
		q := queries[i]
		if q.empty() {
			continue
		}
		t := f.newTally()
		ctx, enough := context.WithCancel(f.Ctx)
		err := f.segment.Read(func(rows *segment.Reader) error {
			var failed error
			q.Only = nil
			q.Filter = func(tp schemas.TopicPartition, offset int64) (keep bool) {
				if failed != nil || t.filtered >= maxBlamed {
					enough()
					return false
				}
				v, err := rows.At(tp, offset)
				if err == nil && v != nil {
					keep, err = f.match(v, t)
				}
				failed = err
				return keep
			}
			_, _, err := f.lexical.Search(ctx, q.Query)
			return cmp.Or(failed, err)
		})
		enough()
		if err != nil && (f.Ctx.Err() != nil || !errors.Is(err, context.Canceled)) {
			return err
		}
		if t.filtered > f.tally.filtered {
			f.tally = *t
		}
	}
	return nil
}

// Scanned is one command of a scan.
type Scanned struct {
	Intent
	Detail
}

// Scan yields the commands that pass the filters, oldest first, with their outcomes; limit
// 0 means no limit. An error is a *RequestError, the context's, yield's, or one of the
// projections.
func Scan(ctx context.Context, s Sources, f Filters, limit int, yield func(Scanned) error) error {
	if err := f.Check(); err != nil {
		return err
	}
	a, err := s.open(ctx, query.Moment{}, segment.Name, narrative.Name)
	if err != nil {
		return err
	}
	defer a.Close()
	ended := compile(Filters{Exit: f.Exit}, query.AsOf{}, a.exitCode)
	n := 0
	var inner error
	err = a.segment.Scan(ctx, pushed(f, query.AsOf{}, a.Visible), segment.OldestFirst, func(v *segment.View) bool {
		var ok bool
		if ok, inner = matchAll(ended, v, nil); inner != nil || !ok {
			return inner == nil
		}
		var row Scanned
		row.Intent, row.Detail = fill(v)
		if inner = a.complete(&row.Intent); inner != nil {
			return false
		}
		if inner = yield(row); inner != nil {
			return false
		}
		n++
		return limit == 0 || n < limit
	})
	if inner != nil {
		return inner
	}
	return err
}

// WriteArrow writes the commands that pass the filters to w as an Arrow IPC
// stream of schemas.IntentSchema, by partition and offset, with their outcomes.
// An error is a *RequestError, the context's, w's, or one of the projections.
func WriteArrow(ctx context.Context, s Sources, f Filters, w io.Writer) error {
	if err := f.Check(); err != nil {
		return err
	}
	a, err := s.open(ctx, query.Moment{}, segment.Name, narrative.Name)
	if err != nil {
		return err
	}
	defer a.Close()
	// Without a visible range batches need not be copied, and an additional row contradicts
	// no other.
	x := segment.Export{Filter: pushed(f, query.AsOf{}, nil)}
	if ended := compile(Filters{Exit: f.Exit}, query.AsOf{}, a.exitCode); len(ended) > 0 {
		x.Match = func(v *segment.View) (bool, error) { return matchAll(ended, v, nil) }
	}
	x.Outcome = func(v *segment.View) (*int32, *int64, error) {
		o, ok, err := a.outcome(v.ID())
		if err != nil || !ok {
			return nil, nil, err
		}
		if o.DurationNano < 0 {
			return o.ExitCode, nil, nil
		}
		return o.ExitCode, &o.DurationNano, nil
	}
	_, err = a.segment.WriteIPC(ctx, w, x)
	return err
}
