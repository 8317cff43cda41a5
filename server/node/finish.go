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

// forgetPatience is how long a request to forget waits, from its beginning, for the
// projections to be rebuilt. It bounds the wait, not the work.
const forgetPatience = 8 * time.Second

// finishing is an erasure whose event is on the log, and which is being done.
type finishing struct {
	events int
	began  time.Time
	meter  *meter
	// scrubbed: the log's files have lost it.
	scrubbed atomic.Bool

	// ended is closed when it is done, or has failed. What is below is set before.
	ended   chan struct{}
	rebuilt []string
	err     error
}

// finish does what the erasures on the log ask for, and goes on when ctx ends: only the
// node's end ends it, and then the next start goes on. It calls done, which gives n.long
// back. followErasures tries again what failed.
func (n *Node) finish(ctx context.Context, events int, m *meter, done func()) *finishing {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(n.stopping, func() { cancel(errors.New("the node stops")) })
	f := &finishing{events: events, began: time.Now(), meter: m, ended: make(chan struct{})}
	n.finishing.Store(f)
	n.behindRequests.Go(func() {
		f.rebuilt, f.err = n.settle(ctx, m, func() { f.scrubbed.Store(true) })
		if f.err != nil && n.stopping.Err() == nil {
			n.cfg.Logger.Error("an erasure is on the log and not done", "err", f.err)
		}
		unhook()
		cancel(nil)
		n.finishing.Store(nil)
		done() // before ended: whoever waited may rebuild or verify at once
		close(f.ended)
	})
	return f
}

// awaitErased waits until what was found is erased, and says in the report how far that
// has come. Without r.Wait it waits for forgetPatience; a local node has nobody who would
// go on, and so waits for all. f is nil where an erasure from before is finished first:
// then followErasures is who does this one.
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
			return fmt.Errorf("forget: the erasure is on the log: %w", err)
		}
		if _, err := n.log.Scrub(ctx, at); err != nil {
			return fmt.Errorf("forget: the erasure is on the log, and will be tried again: %w", err)
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
				return fmt.Errorf("forget: the erasure is on the log and will be finished at the next start: %w", f.err)
			}
			report.Rebuilt = f.rebuilt
			return nil
		case <-look:
			have, err := n.erased(ctx)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(report.Erasures, func(e schemas.Position) bool { return have[e.TP()] <= e.Offset }) {
				report.Rebuilt = n.holding(at)
				return nil
			}
		case <-enough:
			if f != nil {
				scrubbed = f.scrubbed.Load()
			}
			n.remaining(at, scrubbed, report)
			return nil
		case <-ctx.Done():
			return fmt.Errorf("forget: the erasure is on the log and goes on: %w", ctx.Err())
		}
	}
}

// remaining says in a report what an erasure has not come to yet.
func (n *Node) remaining(at []schemas.Position, scrubbed bool, report *api.ForgetReport) {
	var left []string
	if n.set != nil {
		report.Remaining = n.holding(at)
		left = append(left, "the projections "+strings.Join(report.Remaining, ", "))
	}
	if !scrubbed {
		report.Log = "pending"
		left = append(left, "the log")
	}
	report.Explanation = "No answer shows what is erased. The files of " + strings.Join(left, " and of ") +
		" still hold it until they are rewritten: the server goes on with that (recount status says how far it is), and finishes it after a restart."
}

// erasingStatus is the erasure that is being finished, or nil.
func (n *Node) erasingStatus() *api.ErasingStatus {
	f := n.finishing.Load()
	if f == nil {
		return nil
	}
	p := f.meter.now()
	return &api.ErasingStatus{Events: f.events, Since: f.began.UTC(), Phase: p.Phase, Done: p.Done, Total: p.Total}
}
