package commands

import (
	"cmp"
	"context"
	"errors"

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
	if f.r.Filters.Exit != "" || f.r.Replayed {
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
