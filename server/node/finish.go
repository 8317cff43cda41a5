package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// forgetPatience is how long a request to forget waits, from its beginning, until the projections
// are rebuilt. It limits the wait, not the work.
const forgetPatience = 8 * time.Second

// finishing is an erasure whose event is on the log and whose work is running.
type finishing struct {
	events int
	began  time.Time
	meter  *meter
	// scrubbed reports that the log's files no longer hold the events.
	scrubbed atomic.Bool

	// ended is closed at the end, successful or not. The fields below are set before.
	ended   chan struct{}
	rebuilt []string
	err     error
}

// finish starts to carry out the erasures on the log. The work continues if ctx ends; if the node
// stops, the next start continues it. finish calls done, which releases n.long. followErasures
// retries what failed.
func (n *Node) finish(ctx context.Context, events int, m *meter, done func()) *finishing {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(n.stopping, func() { cancel(errors.New("the node is shutting down")) })
	f := &finishing{events: events, began: time.Now(), meter: m, ended: make(chan struct{})}
	n.finishing.Store(f)
	n.behindRequests.Go(func() {
		f.rebuilt, f.err = n.carryOutErasures(ctx, m, func() { f.scrubbed.Store(true) })
		if f.err != nil && n.stopping.Err() == nil {
			n.cfg.Logger.Error("an erasure in the log is not finished", "err", f.err)
		}
		unhook()
		cancel(nil)
		n.finishing.Store(nil)
		done() // before ended is closed: a waiting caller may rebuild or verify at once
		close(f.ended)
	})
	return f
}

// awaitErased waits until the events are erased and reports the progress in report. Without r.Wait
// it waits for forgetPatience at most; a local node always waits until the end, because nothing
// would continue the work. f is nil if an earlier erasure is still being finished; followErasures
// then carries out this one.
func (n *Node) awaitErased(ctx context.Context, r api.ForgetRequest, began time.Time, f *finishing, at []schemas.Position, report *api.ForgetReport) error {
	var enough, look <-chan time.Time
	if !r.Wait && !n.local {
		timer := time.NewTimer(cmp.Or(n.cfg.forgetWait, forgetPatience) - time.Since(began))
		defer timer.Stop()
		enough = timer.C
	}
	var ended <-chan struct{}
	scrubbed := true
	if f != nil {
		ended = f.ended
		defer f.meter.mute()
	} else {
		if _, err := n.log.ReadErasures(ctx); err != nil {
			return fmt.Errorf("forget: the erasure is in the log: %w", err)
		}
		if _, err := n.log.Scrub(ctx, at); err != nil {
			return fmt.Errorf("forget: the erasure is in the log and will be tried again: %w", err)
		}
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		look = ticker.C
	}
	report.Log = "rewritten"
	for {
		select {
		case <-ended:
			if f.err != nil {
				return fmt.Errorf("forget: the erasure is in the log and will be finished at the next start: %w", f.err)
			}
			report.Rebuilt = f.rebuilt
			return nil
		case <-look:
			have, err := n.erased(ctx)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(report.Erasures, func(e schemas.Position) bool { return have[e.TP()] <= e.Offset }) {
				report.Rebuilt = n.affectedProjections(at)
				return nil
			}
		case <-enough:
			if f != nil {
				scrubbed = f.scrubbed.Load()
			}
			n.remaining(at, scrubbed, report)
			return nil
		case <-ctx.Done():
			return fmt.Errorf("forget: the erasure is in the log and continues in the background: %w", ctx.Err())
		}
	}
}

// remaining adds to the report what still holds the erased events.
func (n *Node) remaining(at []schemas.Position, scrubbed bool, report *api.ForgetReport) {
	var left []string
	if n.set != nil {
		report.Remaining = n.affectedProjections(at)
		left = append(left, "the projections "+strings.Join(report.Remaining, ", "))
	}
	if !scrubbed {
		report.Log = "pending"
		left = append(left, "the log")
	}
	report.Explanation = "No answer shows the erased events any more. The files of " + strings.Join(left, " and of ") +
		" hold their bytes until the server has rewritten them. It continues in the background, also after a restart; recount status shows the progress."
}

// erasingStatus returns the progress of the erasure that is being finished, or nil.
func (n *Node) erasingStatus() *api.ErasingStatus {
	f := n.finishing.Load()
	if f == nil {
		return nil
	}
	p := f.meter.now()
	return &api.ErasingStatus{Events: f.events, Since: f.began.UTC(), Phase: p.Phase, Done: p.Done, Total: p.Total}
}
