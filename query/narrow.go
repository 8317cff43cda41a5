package query

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/schemas"
)

// fewRows is how many rows a filter may keep at most for them to be listed before
// anything is searched: the paths then look at these alone, and compare meanings
// exactly. Where a filter keeps more, they ask it of what they find, which is
// often enough then.
var fewRows = 4096

// narrow lists the rows that pass the filters, if they are few.
func (f *finding) narrow() error {
	if len(f.filters) == 0 {
		return nil
	}
	only, ok, err := f.segment.Select(f.ctx, pushed(f.r.Filters, f.as, f.visible), fewRows, func(v *segment.View) (bool, error) {
		return matchAll(f.filters, v, nil)
	})
	if err != nil {
		return err
	}
	s := Step{Operator: "select", Inputs: map[string]string{"most": strconv.Itoa(fewRows)}, Counts: map[string]int64{}}
	if ok {
		f.only = only
		for _, offsets := range only {
			s.Counts["rows"] += int64(len(offsets))
		}
	} else {
		s.Inputs["too_many"] = "the paths ask the filters of what they find"
	}
	f.step(s)
	f.lap("select")
	return nil
}

// filter asks the filters of the rows of a path that cannot list them before. A
// failure of it is kept in failed.
func (f *finding) filter(rows *segment.Reader, t *tally, failed *error) func(schemas.TopicPartition, int64) bool {
	if len(f.filters) == 0 {
		return nil
	}
	return func(tp schemas.TopicPartition, offset int64) (keep bool) {
		if *failed != nil {
			return false
		}
		v, err := rows.At(tp, offset)
		if err == nil && v != nil {
			keep, err = f.match(v, t)
		}
		*failed = err
		return keep && err == nil
	}
}

// maxBlamed is how many commands of the text are looked at for the filter that is
// to blame for an empty answer.
const maxBlamed = 10_000

// blame counts, of what the paths find without the filters, what each filter
// keeps out. It is for an empty answer to rows that were listed before.
func (f *finding) blame(queries []termQuery) error {
	for i := range queries {
		q := queries[i]
		if q.empty() {
			continue
		}
		q.Only, q.tally = nil, f.newTally()
		ctx, enough := context.WithCancel(f.ctx)
		err := f.segment.Read(func(rows *segment.Reader) error {
			var failed error
			match := f.filter(rows, q.tally, &failed)
			q.Filter = func(tp schemas.TopicPartition, offset int64) bool {
				if q.tally.filtered >= maxBlamed {
					enough()
					return false
				}
				return match(tp, offset)
			}
			_, _, err := f.lexical.Search(ctx, q.Query)
			return cmp.Or(failed, err)
		})
		enough()
		if err != nil && (f.ctx.Err() != nil || !errors.Is(err, context.Canceled)) {
			return err
		}
		f.blamed(q.tally)
	}
	return nil
}

// blamed keeps the tally of the path that the filters kept the most out of.
func (f *finding) blamed(t *tally) {
	if t.filtered > f.tally.filtered {
		f.tally = *t
	}
}
