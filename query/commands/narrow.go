package commands

import (
	"cmp"
	"context"
	"errors"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// fewRows is how many rows a filter may keep at most for the paths to go from one
// of them to the next and to compare the meanings of all. Where it keeps more,
// they ask whether what they find is one of them, which is often enough then.
var fewRows = 4096

// narrow notes the rows that pass the filters.
func (f *search) narrow() error {
	if len(f.filters) == 0 {
		return nil
	}
	var keep func(*segment.View) (bool, error)
	if f.r.Filters.Exit != "" {
		// The one filter that segment alone cannot judge.
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

// filter says which rows may be answered, or is nil where all may.
func (f *search) filter() func(schemas.TopicPartition, int64) bool {
	if f.passed == nil {
		return nil
	}
	return f.passed.Has
}

// maxBlamed is how many commands of the text are looked at for the filter that is
// to blame for an empty answer.
const maxBlamed = 10_000

// blame counts, of what the lexical paths find without the filters, what each
// filter keeps out. It is for an empty answer.
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
