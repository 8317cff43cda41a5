package commands

import (
	"context"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
)

// Census has counts of commands.
type Census struct {
	Count          int64
	Oldest, Newest time.Time // zero without commands
	Segments       int
	// Shards are the statistics of the partitions that hold commands, in order.
	Shards []segment.ShardStats
	// The outcomes of the newest Recent commands.
	Recent, OK, Failed, Unknown int64
}

// Count returns a census. It reads the outcomes of at most recent of the newest commands.
func Count(ctx context.Context, s Sources, recent int64) (Census, error) {
	a, err := s.open(ctx, query.Moment{}, segment.Name, narrative.Name)
	if err != nil {
		return Census{}, err
	}
	defer a.Close()
	var c Census
	for _, st := range a.segment.Stats() {
		c.Segments += st.Segments
		if st.Rows() == 0 {
			continue
		}
		c.Shards = append(c.Shards, st)
		c.Count += int64(st.Rows())
		lo, hi := time.Unix(0, st.MinTime).UTC(), time.Unix(0, st.MaxTime).UTC()
		if c.Oldest.IsZero() || lo.Before(c.Oldest) {
			c.Oldest = lo
		}
		if hi.After(c.Newest) {
			c.Newest = hi
		}
	}
	var inner error
	err = a.segment.Scan(ctx, segment.Filter{Below: a.Visible}, segment.NewestFirst, func(v *segment.View) bool {
		code, err := a.exitCode(v)
		switch {
		case err != nil:
			inner = err
			return false
		case code == nil:
			c.Unknown++
		case *code == 0:
			c.OK++
		default:
			c.Failed++
		}
		c.Recent++
		return c.Recent < recent
	})
	if inner != nil {
		return c, inner
	}
	return c, err
}
