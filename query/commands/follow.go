package commands

import (
	"context"
	"maps"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// FollowRequest asks for commands as they become visible.
type FollowRequest struct {
	// Filters say which; how a command ended counts as it is known then.
	Filters Filters
	// From is where to begin, as Followed.Next of an earlier answer: everything at
	// these offsets and above, and all of a partition that it does not name. Nil
	// begins with what is not visible yet.
	From schemas.Watermark
	// Limit ends it after so many commands; 0 is no end.
	Limit int
	// Beat is after how long without a command the place is told all the same.
	// Required.
	Beat time.Duration
	// Pass, if not nil, says which commands are not told after all, as if they were not
	// there.
	Pass func(*Scanned) bool
}

// Followed is one step of following.
type Followed struct {
	// Command is nil in the first step, which says where it begins, and where none
	// came for a while.
	Command *Scanned
	// Next is where to go on after this step, neither leaving out nor repeating a
	// command.
	Next schemas.Watermark
}

// What is read of the projections at a time, so that a slow reader holds neither
// them nor memory: so many commands, or so many bytes of text.
const (
	followRows  = 256
	followBytes = 1 << 20
)

// Follow hands commands to each as they become visible, in the order of the log
// within a partition, until the context ends, the limit is reached or each fails.
// Nothing waits for each: what it has not taken is read from the projections when
// it comes back. An error is a *RequestError, the context's, each's, or one of
// the projections.
func Follow(ctx context.Context, s Sources, r FollowRequest, each func(Followed) error) error {
	if r.Limit < 0 {
		return &query.RequestError{Field: "limit", Value: r.Limit, Reason: "want 0 or more"}
	}
	if err := r.Filters.check(); err != nil {
		return err
	}
	from := maps.Clone(r.From)
	if from == nil {
		from = s.Set.Watermark()
	}
	if err := each(Followed{Next: maps.Clone(from)}); err != nil {
		return err
	}
	beat := time.NewTimer(r.Beat)
	defer beat.Stop()
	for sent := 0; ; {
		changed := s.Set.Changed()
		for visible, more := s.Set.Watermark(), true; more; {
			var page []Followed
			var err error
			if page, more, err = s.page(ctx, r.Filters, from, visible); err != nil {
				return err
			}
			for _, f := range page {
				if r.Pass != nil && r.Pass(f.Command) {
					continue
				}
				if err := each(f); err != nil {
					return err
				}
				if sent++; sent == r.Limit {
					return nil
				}
			}
			if len(page) > 0 {
				beat.Reset(r.Beat)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-beat.C:
			if err := each(Followed{Next: maps.Clone(from)}); err != nil {
				return err
			}
			beat.Reset(r.Beat)
		}
	}
}

// page reads commands at from and above, up to what is visible, and moves from
// over what it has read. It says whether there is more.
func (s Sources) page(ctx context.Context, f Filters, from, visible schemas.Watermark) (page []Followed, more bool, err error) {
	a, err := s.open(ctx, query.Moment{}, segment.Name, narrative.Name)
	if err != nil {
		return nil, false, err
	}
	defer a.Close()
	filters := compile(f, query.AsOf{}, a.exitCode)
	size := 0
	err = a.segment.Read(func(rows *segment.Reader) error {
		for _, tp := range visible.Partitions() {
			for n := 0; from[tp] < visible[tp]; n++ {
				if n&1023 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				if len(page) == followRows || size >= followBytes {
					more = true
					return nil
				}
				v, err := rows.At(tp, from[tp])
				from[tp]++
				if err != nil {
					return err
				}
				if v == nil {
					continue // an outcome, or rejected
				}
				if ok, err := matchAll(filters, v, nil); err != nil || !ok {
					if err != nil {
						return err
					}
					continue
				}
				row := &Scanned{}
				row.Intent, row.Detail = fill(v)
				if err := a.complete(&row.Intent); err != nil {
					return err
				}
				size += len(row.Command) + len(row.OutputTail) + len(row.StatedIntent)
				page = append(page, Followed{Command: row, Next: maps.Clone(from)})
			}
		}
		return nil
	})
	return page, more, err
}
