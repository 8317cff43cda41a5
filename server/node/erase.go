package node

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// erasing lets one process at a time erase, as work does for rebuilds, of which an
// erasure has one.
func (n *Node) erasing(ctx context.Context) (context.Context, func(), error) {
	if n.set != nil {
		ctx, _, done, err := n.work(ctx, nil)
		return ctx, done, err
	}
	if !n.long.TryLock() {
		return nil, nil, fmt.Errorf("%w: another erasure is under way", api.ErrBusy)
	}
	return ctx, n.long.Unlock, nil
}

// settle does what the erasures on the log ask of this process since it last did, and
// returns the projections that were made anew. It calls scrubbed, unless nil, once the
// log's files have lost what is erased. n.long is held.
//
// A crash anywhere leaves erasedFile as it was, and all is done again: records that are
// replaced are found to be so, and projections that were made anew are so once more.
func (n *Node) settle(ctx context.Context, m *meter, scrubbed func()) (rebuilt []string, err error) {
	have, err := n.erased(ctx)
	if err != nil {
		return nil, err
	}
	// From here on nothing is read that is erased.
	ends, err := n.log.ReadErasures(ctx)
	if err != nil {
		return nil, err
	}
	erased, cuts, err := n.erasedBetween(ctx, have, ends)
	todo := positionsOf(erased)
	if err != nil {
		return nil, err
	}
	if len(todo)+len(cuts) == 0 {
		n.releaseDone(ends)
		return nil, n.setErased(ctx, ends)
	}
	n.withhold(erased)
	m.begin("remove from the log's files", int64(len(todo)))
	if _, err := n.log.Scrub(ctx, todo); err != nil {
		return nil, err
	}
	if err := n.log.Retire(ctx, cuts); err != nil {
		return nil, err
	}
	m.end()
	if scrubbed != nil {
		scrubbed()
	}
	todo = append(todo, before(cuts)...)
	if n.set != nil {
		rebuilt = n.holding(todo)
	}
	if len(rebuilt) > 0 {
		// What was read before is applied before, so that it is in no batch still on its
		// way to the projections that take over.
		if err := n.catchUp(ctx); err != nil {
			return nil, err
		}
		if err := n.set.Wait(ctx, n.behind(todo)); err != nil {
			return nil, err
		}
		if _, err := n.rebuild(ctx, rebuilt, m); err != nil {
			return nil, err
		}
		if err := n.awaitSwept(ctx, rebuilt); err != nil {
			return nil, err
		}
	}
	// By what they were erased, not by what was to be done here: others may have been
	// withheld a second time while this was done.
	n.releaseDone(ends)
	return rebuilt, n.setErased(ctx, ends)
}

// resume does what is left of erasures before the projections are opened: those that
// may hold what is erased start at zero, so that no question sees it.
func (n *Node) resume(ctx context.Context) error {
	have, err := n.erased(ctx)
	if err != nil {
		return err
	}
	ends, err := n.log.Ends(ctx, schemas.TopicErasures)
	if err != nil || have.Covers(ends) {
		return err
	}
	erased, cuts, err := n.erasedBetween(ctx, have, ends)
	if err != nil {
		return err
	}
	if todo := positionsOf(erased); len(todo)+len(cuts) > 0 {
		n.cfg.Logger.Info("finishing an erasure", "events", len(todo), "cuts", len(cuts))
		if _, err := n.log.Scrub(ctx, todo); err != nil {
			return err
		}
		if err := n.log.Retire(ctx, cuts); err != nil {
			return err
		}
		todo = append(todo, before(cuts)...)
		for _, k := range n.cfg.kinds() {
			if !slices.ContainsFunc(todo, func(at schemas.Position) bool { return k.Takes(concerning(at.Topic)) }) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(n.dir.path, projectionsDir, k.Name)); err != nil {
				return fmt.Errorf("remove %s, which may hold what is erased: %w", k.Name, err)
			}
		}
	}
	return n.setErased(ctx, ends)
}

// followErasures does what other processes on this log ask for, until ctx ends.
func (n *Node) followErasures(ctx context.Context) error {
	tick := time.NewTicker(erasuresEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		have, err := n.erased(ctx)
		if err != nil {
			return err
		}
		ends, err := n.log.Ends(ctx, schemas.TopicErasures)
		if err != nil || have.Covers(ends) {
			continue // an outage passes
		}
		// Read at once, so that nothing more comes in; what is there may have to wait.
		if _, err := n.log.ReadErasures(ctx); err != nil {
			continue
		}
		erased, _, err := n.erasedBetween(ctx, have, ends)
		if err != nil {
			continue
		}
		n.withhold(erased)
		inner, done, err := n.erasing(ctx)
		if err != nil {
			continue // a rebuild or verify is under way
		}
		rebuilt, err := n.settle(inner, newMeter(nil), nil)
		done()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			n.cfg.Logger.Error("an erasure on the log is not done; trying again", "err", err)
		case len(rebuilt) > 0:
			n.cfg.Logger.Info("erased what another process asked for", "projections", rebuilt)
		}
	}
}

// erasuresEvery is how often the log is asked for erasures of other processes.
const erasuresEvery = 2 * time.Second

// erasedBetween are the positions erased between two watermarks of topic erasures, with
// the id that each event had, and the cuts made there.
func (n *Node) erasedBetween(ctx context.Context, from, until schemas.Watermark) (map[schemas.Position]schemas.EventID, map[schemas.TopicPartition]pipeline.Cut, error) {
	all, err := n.log.ErasedSince(ctx, from, until)
	erased, cuts := map[schemas.Position]schemas.EventID{}, map[schemas.TopicPartition]pipeline.Cut{}
	for _, e := range all {
		for _, x := range e.Events {
			var id schemas.EventID // zero where it had none
			copy(id[:], x.GetEventId())
			erased[schemas.PositionOf(x.GetPosition())] = id
		}
		for tp, c := range n.log.CutsOf(e) {
			if c.First > cuts[tp].First {
				cuts[tp] = c
			}
		}
	}
	return erased, cuts, err
}

// before are the last positions that cuts give up.
func before(cuts map[schemas.TopicPartition]pipeline.Cut) []schemas.Position {
	var at []schemas.Position
	for tp, c := range cuts {
		at = append(at, schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: c.First - 1})
	}
	return at
}

// positionsOf are what is erased, in order.
func positionsOf(erased map[schemas.Position]schemas.EventID) []schemas.Position {
	return slices.SortedFunc(maps.Keys(erased), schemas.Position.Compare)
}

// holding are the projections that events at these positions concern.
func (n *Node) holding(at []schemas.Position) []string {
	return slices.DeleteFunc(n.set.Names(), func(name string) bool {
		return !slices.ContainsFunc(at, func(p schemas.Position) bool {
			return (n.projected(p) || p.Topic == n.log.Topic(schemas.TopicFacts)) && n.set.Takes(name, concerning(p.Topic))
		})
	})
}

// concerning is the topic, without its prefix, whose projections events of a topic concern:
// facts are of spans (seed).
func concerning(topic string) string {
	if topic = schemas.TopicName(topic); topic == schemas.TopicFacts {
		return schemas.TopicSpans
	}
	return topic
}

// projected reports whether projections are made of a position's topic.
func (n *Node) projected(at schemas.Position) bool { return slices.Contains(n.topics(), at.Topic) }

// behind is the watermark behind these positions, of what is projected.
func (n *Node) behind(at []schemas.Position) schemas.Watermark {
	w := schemas.Watermark{}
	for _, p := range at {
		if n.projected(p) {
			w[p.TP()] = max(w[p.TP()], p.Offset+1)
		}
	}
	return w
}

// sweptWithin bounds the wait for questions that still read an old generation.
const sweptWithin = time.Minute

// awaitSwept returns when only one generation of each projection is left on disk: the
// old one goes when the last question that reads it has ended. Exports are ended: they
// would go on for as long as their clients take to read.
func (n *Node) awaitSwept(ctx context.Context, names []string) error {
	defer n.exporters.endOld()()
	deadline := time.Now().Add(sweptWithin)
	for _, name := range names {
		for {
			found, err := os.ReadDir(filepath.Join(n.dir.path, projectionsDir, name))
			if err != nil {
				return err
			}
			generations := 0
			for _, e := range found {
				if strings.HasPrefix(e.Name(), "gen-") {
					generations++
				}
			}
			if generations == 1 {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("%s: a question still reads the state from before: %w", name, context.DeadlineExceeded)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	return nil
}

// tellErased is a *query.ErasedError where a whole id or a position is that of an event
// that was erased.
func (n *Node) tellErased(ctx context.Context, ref string) error {
	at, err := schemas.ParsePosition(ref)
	if err != nil {
		id, err := schemas.ParseEventID(strings.ToLower(ref))
		if err != nil {
			return nil
		}
		var ok bool
		if at, ok = n.log.ErasedID(id); !ok {
			return nil
		}
	}
	e, ok := n.log.ErasedAt(at)
	if !ok {
		return nil
	}
	gone := &query.ErasedError{Position: at, Erasure: e}
	if lr, err := n.log.Read(ctx, e.By); err == nil {
		if ev, err := lr.Event(); err == nil {
			gone.At = ev.Time
			if m, err := ev.DecodePayload(); err == nil {
				gone.Reason = m.(*recountv1.EventsErased).GetReason()
			}
		}
	}
	return gone
}
