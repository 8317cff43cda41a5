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
	// Filters select the commands. The outcome is judged by what is known at that time.
	Filters Filters
	// From has the offsets to begin at, as in Followed.Next of an earlier step: everything
	// at or above them, and all of a partition that it does not name. Nil begins with
	// commands that are not visible yet.
	From schemas.Watermark
	// Limit is the number of commands after which it ends; 0 means no limit.
	Limit int
	// Beat is the time without a command after which a step without one is reported.
	// Required.
	Beat time.Duration
	// Pass, if not nil, returns true for commands that are skipped as if they did not
	// exist.
	Pass func(*Scanned) bool
}

// Followed is one step of Follow.
type Followed struct {
	// Command is nil in the first step, which reports the start, and in a step after a time
	// without commands.
	Command *Scanned
	// Next has the offsets to resume from after this step, without loss or repeats.
	Next schemas.Watermark
}

// Limits of what is read from the projections at a time, in commands and in bytes of text,
// so that a slow reader blocks neither projections nor memory.
const (
	followRows  = 256
	followBytes = 1 << 20
)

// Follow calls each for commands as they become visible, in log order within a partition,
// until the context ends, the limit is reached or each fails. Nothing waits for each:
// later commands are read from the projections when it returns. An error is a
// *RequestError, the context's, each's, or one of the projections.
func Follow(ctx context.Context, s Sources, r FollowRequest, each func(Followed) error) error {
	if r.Limit < 0 {
		return &query.RequestError{Field: "limit", Value: r.Limit, Reason: "want 0 or more"}
	}
	if err := r.Filters.Check(); err != nil {
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

// page reads visible commands from the offsets in from on, and advances from past what it
// has read. It reports whether there are more.
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
