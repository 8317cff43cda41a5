package commands

import (
	"context"
	"io"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
)

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
