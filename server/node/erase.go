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

// erasing makes sure that only one erasure runs at a time, in the way that work does for rebuilds,
// since an erasure includes one.
func (n *Node) erasing(ctx context.Context) (context.Context, func(), error) {
	if n.set != nil {
		ctx, _, done, err := n.work(ctx, nil)
		return ctx, done, err
	}
	if !n.long.TryLock() {
		return nil, nil, fmt.Errorf("%w: another erasure is running", api.ErrBusy)
	}
	return ctx, n.long.Unlock, nil
}

// carryOutErasures carries out all erasures on the log that this process has not done yet, and returns the
// projections that it rebuilt. It calls scrubbed, unless that is nil, once the log's files no
// longer hold the erased events. The caller holds n.long.
//
// A crash anywhere leaves erasedFile unchanged, and the next start repeats the work: records that
// are replaced already are recognised, and projections are rebuilt once more.
func (n *Node) carryOutErasures(ctx context.Context, m *meter, scrubbed func()) (rebuilt []string, err error) {
	have, err := n.erased(ctx)
	if err != nil {
		return nil, err
	}
	// From here on, reads of the log no longer return erased events.
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
	n.hide(erased)
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
		rebuilt = n.affectedProjections(todo)
	}
	if len(rebuilt) > 0 {
		// Apply what was read earlier, so that it is in no batch that is still on its way to the
		// new projections.
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
	// Release by the erasing events, not by todo: other erasures may have hidden the same events
	// in the meantime.
	n.releaseDone(ends)
	return rebuilt, n.setErased(ctx, ends)
}

// resume finishes erasures before the projections are opened: projections that may hold erased
// events start from zero, so that no question sees those events.
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
			if !slices.ContainsFunc(todo, func(at schemas.Position) bool { return k.Subscribes(concerning(at.Topic)) }) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(n.dir.path, projectionsDir, k.Name)); err != nil {
				return fmt.Errorf("remove %s, which may hold erased events: %w", k.Name, err)
			}
		}
	}
	return n.setErased(ctx, ends)
}

// followErasures carries out erasures that other processes append to this log, until ctx ends.
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
			continue // try again at the next tick
		}
		// Read them at once, so that no erased event is applied any more; rewriting may have to
		// wait.
		if _, err := n.log.ReadErasures(ctx); err != nil {
			continue
		}
		erased, _, err := n.erasedBetween(ctx, have, ends)
		if err != nil {
			continue
		}
		n.hide(erased)
		inner, done, err := n.erasing(ctx)
		if err != nil {
			continue // a rebuild or verify is running
		}
		rebuilt, err := n.carryOutErasures(inner, newMeter(nil), nil)
		done()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			n.cfg.Logger.Error("an erasure in the log could not be finished; trying again", "err", err)
		case len(rebuilt) > 0:
			n.cfg.Logger.Info("finished an erasure that another process requested", "projections", rebuilt)
		}
	}
}

// erasuresEvery is the interval at which the log is checked for erasures by other processes.
const erasuresEvery = 2 * time.Second

// erasedBetween returns the positions erased between two watermarks of topic erasures, with the id
// of each event, and the cuts made there.
func (n *Node) erasedBetween(ctx context.Context, from, until schemas.Watermark) (map[schemas.Position]schemas.EventID, map[schemas.TopicPartition]pipeline.Cut, error) {
	all, err := n.log.ErasedSince(ctx, from, until)
	erased, cuts := map[schemas.Position]schemas.EventID{}, map[schemas.TopicPartition]pipeline.Cut{}
	for _, e := range all {
		for _, x := range e.Events {
			var id schemas.EventID // zero if the event had none
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

// before returns the last position that each cut removes.
func before(cuts map[schemas.TopicPartition]pipeline.Cut) []schemas.Position {
	var at []schemas.Position
	for tp, c := range cuts {
		at = append(at, schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: c.First - 1})
	}
	return at
}

// positionsOf returns the erased positions in order.
func positionsOf(erased map[schemas.Position]schemas.EventID) []schemas.Position {
	return slices.SortedFunc(maps.Keys(erased), schemas.Position.Compare)
}

// affectedProjections returns the projections that events at these positions affect.
func (n *Node) affectedProjections(at []schemas.Position) []string {
	return slices.DeleteFunc(n.set.Names(), func(name string) bool {
		return !slices.ContainsFunc(at, func(p schemas.Position) bool {
			return n.projected(p) && n.set.Subscribes(name, p.Topic) || n.set.Subscribes(name, concerning(p.Topic)) && p.Topic == n.log.Topic(schemas.TopicFacts)
		})
	})
}

// concerning returns the topic, without its prefix, of the projections that events of a topic
// affect as a whole. Sums among the facts belong to spans (seed).
func concerning(topic string) string {
	if topic = schemas.TopicName(topic); topic == schemas.TopicFacts {
		return schemas.TopicSpans
	}
	return topic
}

// projected reports whether any projection consumes the topic of a position.
func (n *Node) projected(at schemas.Position) bool { return slices.Contains(n.topics(), at.Topic) }

// behind returns the watermark right after the positions that are projected.
func (n *Node) behind(at []schemas.Position) schemas.Watermark {
	w := schemas.Watermark{}
	for _, p := range at {
		if n.projected(p) {
			w[p.TP()] = max(w[p.TP()], p.Offset+1)
		}
	}
	return w
}

// sweptWithin is the maximum wait for questions that still read an old generation.
const sweptWithin = time.Minute

// awaitSwept waits until only one generation of each projection is left on disk: the old one is
// removed when the last question that reads it ends. Running exports are cancelled, because they
// last as long as their clients take to read.
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
				return fmt.Errorf("%s: a query still reads the old state: %w", name, context.DeadlineExceeded)
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

// tellErased returns a *query.ErasedError if ref is the complete id or the position of an erased
// event.
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
	at.Topic = n.log.Topic(at.Topic)
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
