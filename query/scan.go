package query

import (
	"context"
	"time"

	"github.com/recountdb/recount/projections/graph"
	"github.com/recountdb/recount/projections/segment"
)

// Scanned is one command of a scan.
type Scanned struct {
	Intent
	Detail
}

// Scan yields the commands of a span of time, zero times being open, oldest
// first, with their outcomes; limit 0 is no limit.
func Scan(ctx context.Context, s Sources, since, until time.Time, limit int, yield func(Scanned) error) error {
	a, err := s.ask(ctx, Moment{}, segment.Name, graph.Name)
	if err != nil {
		return err
	}
	defer a.close()
	n := 0
	var inner error
	err = a.segment.Scan(ctx, segment.Filter{From: since, To: until, Below: a.visible}, segment.OldestFirst, func(v *segment.View) bool {
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
