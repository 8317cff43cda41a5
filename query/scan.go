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
	o, err := s.open()
	if err != nil {
		return err
	}
	defer o.close()
	below := o.watermark()
	visible := visibleIn(below)
	n := 0
	var inner error
	err = o.segment.Scan(ctx, segment.Filter{From: since, To: until, Below: below}, segment.OldestFirst, func(v *segment.View) bool {
		var row Scanned
		row.Intent, row.Detail = fill(v)
		if row.ExitCode == nil || row.Duration == nil {
			oc, ok, err := o.graph.Lookup(row.ID, func(oc graph.Outcome) bool { return visible(oc.Position) })
			if err != nil {
				inner = err
				return false
			}
			if ok {
				row.join(oc)
			}
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
