package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/intake"
)

// recentAppends is the number of appended ids that are remembered. They bridge the time
// between an append and its projection, so it need not be large.
const recentAppends = 1 << 15

// appender puts events into the log once.
//
// Appending an id again returns the position of the first append: find knows the projected ids,
// tail those that a crash left at the log's end, underway and recent those still on their way. An
// id that all of them miss (because another process appends, or a tail is too long) is in the log
// twice and applied once, which the projections ensure.
type appender struct {
	// log is pipeline.Log.Append.
	log    func(ctx context.Context, topic string, events ...schemas.Event) ([]schemas.Position, error)
	intake intake.Intake
	// find returns the position of a projected event of the topic, by schemas.SeenAs.
	find func(topic string, id schemas.EventID) (schemas.Position, bool)
	// tail returns the position of an event at the log's end that is not projected (tail.go).
	tail func(ctx context.Context, topic string, id schemas.EventID) (schemas.Position, bool, error)
	// retired reports whether retention removed an event of the topic, by schemas.SeenAs, and
	// returns the position of an event that was removed with it.
	retired func(ctx context.Context, topic string, id schemas.EventID) (schemas.Position, bool, error)
	// read is pipeline.Log.Read; it reads an event of the log to compare it with a new one.
	read func(ctx context.Context, at schemas.Position) (schemas.LogRecord, error)

	mu       sync.Mutex
	underway map[schemas.EventID]*pending
	recent   *lru.Cache[schemas.EventID, appended]
	topics   []string // the topics in recent, by number
}

// pending is the append of an id in progress; pos and err may be read once done is closed.
type pending struct {
	done chan struct{}
	// content is the hash of the event's content; the same id with other content is refused.
	content schemas.Hash
	pos     schemas.Position
	err     error
	// retired reports that retention removed the event; pos is that of one removed with it.
	retired bool
}

// appended is the position of an id. There are tens of thousands in memory, so it has no pointers,
// which spares the garbage collector.
type appended struct {
	content schemas.Hash
	offset  int64
	topic   int32 // its index in topics
	part    int32
}

func newAppender(log *pipeline.Log, r *redact.Redactor, find func(topic string, id schemas.EventID) (schemas.Position, bool)) *appender {
	recent, err := lru.New[schemas.EventID, appended](recentAppends)
	if err != nil {
		panic(err) // only a number below 1 is refused
	}
	return &appender{log: log.Append, intake: intake.Intake{Redact: r, Check: processors.Check, Now: time.Now}, find: find, tail: noTail, retired: noTail, read: log.Read, underway: map[schemas.EventID]*pending{}, recent: recent}
}

// Append implements api.Backend.
func (a *appender) Append(ctx context.Context, events []schemas.Event) ([]api.Appended, error) {
	out := make([]api.Appended, len(events))
	waits := make([]*pending, len(events))
	topics := map[string][]int{} // indexes of the events that this call appends, by topic
	all := make([]intake.Prepared, len(events))
	for i, e := range events {
		var err error
		if all[i], out[i].Redacted, err = a.intake.Prepare(ctx, e); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &api.EventError{Index: i, Of: len(events), Err: err}
		}
	}
	for i, e := range all {
		out[i].ID = e.ID
		p, ours := a.claim(e)
		waits[i] = p
		err := same(e, p.content)
		if ours {
			pos, ok := a.find(e.Topic, e.As)
			var unread error
			if !ok {
				pos, p.retired, unread = a.retired(ctx, e.Topic, e.As)
			}
			if unread == nil && !ok && !p.retired {
				pos, ok, unread = a.tail(ctx, e.Topic, e.As)
			}
			if unread == nil && !ok && !p.retired {
				// The event may have been projected in the meantime, and then tail did not return
				// it.
				pos, ok = a.find(e.Topic, e.As)
			}
			switch {
			case unread != nil:
				a.completeAppend(e.As, p, pos, unread)
				for _, ours := range topics {
					for _, i := range ours {
						a.completeAppend(all[i].As, waits[i], schemas.Position{}, unread)
					}
				}
				return nil, unread
			case p.retired:
				out[i].Duplicate = true
				a.completeAppend(e.As, p, pos, nil)
			case ok:
				out[i].Duplicate = true
				err = a.compare(ctx, e, pos)
				a.completeAppend(e.As, p, pos, err)
			default:
				topics[e.Topic] = append(topics[e.Topic], i)
			}
		} else {
			out[i].Duplicate = true
		}
		if err != nil {
			err = &api.EventError{Index: i, Of: len(events), Err: err}
			for _, ours := range topics {
				for _, i := range ours {
					a.completeAppend(all[i].As, waits[i], schemas.Position{}, err)
				}
			}
			return nil, err
		}
	}
	for _, topic := range schemas.Topics() {
		ours := topics[topic]
		if len(ours) == 0 {
			continue
		}
		batch := make([]schemas.Event, len(ours))
		for j, i := range ours {
			batch[j] = all[i].Event
		}
		// The append continues if the caller goes away, because others may wait for the same ids
		// and need the result. The log limits its duration.
		positions, err := a.log(context.WithoutCancel(ctx), topic, batch...)
		for j, i := range ours {
			// On an error some events may have been stored nevertheless.
			var failed error
			if positions == nil || positions[j] == pipeline.NotAppended {
				failed = err
			}
			pos := schemas.Position{}
			if failed == nil {
				pos = positions[j]
			}
			a.completeAppend(all[i].As, waits[i], pos, failed)
		}
	}
	for i, p := range waits {
		select {
		case <-p.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if p.err != nil && out[i].Duplicate {
			// The attempt of another caller failed, perhaps because of a different event in its
			// request.
			again, err := a.Append(ctx, events[i:i+1])
			if err != nil {
				return nil, err
			}
			out[i] = again[0]
			continue
		}
		if p.err != nil {
			return nil, p.err
		}
		out[i].Position, out[i].Retired = p.pos, p.retired
	}
	return out, nil
}

// same fails if content, that of the event with the same id, differs from e's.
func same(e intake.Prepared, content schemas.Hash) error {
	if e.Content == content {
		return nil
	}
	return fmt.Errorf("id %s: %w: another event with this id has different content: give this one an id of its own, or none", e.ID, api.ErrReused)
}

// compare fails if the event that the log has at a position has the same id but other content. An
// event that cannot be read counts as equal.
func (a *appender) compare(ctx context.Context, e intake.Prepared, at schemas.Position) error {
	if e.Content == (schemas.Hash{}) {
		return nil
	}
	lr, err := a.read(ctx, at)
	if err != nil {
		return nil
	}
	have, err := lr.Event()
	if err != nil {
		return nil
	}
	m, err := have.DecodePayload()
	if err != nil {
		return nil
	}
	content, err := intake.ContentOf(have.Type, m)
	if err != nil {
		return nil
	}
	return same(e, content)
}

// claim reports whether the caller is to append an event (ours); if so, the caller must call
// settle. Otherwise p is the append of another caller.
func (a *appender) claim(e intake.Prepared) (p *pending, ours bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.underway[e.As]; p != nil {
		return p, false
	}
	p = &pending{done: make(chan struct{}), content: e.Content}
	if r, ok := a.recent.Get(e.As); ok {
		p.content, p.pos = r.content, schemas.Position{Topic: a.topics[r.topic], Partition: r.part, Offset: r.offset}
		close(p.done)
		return p, false
	}
	a.underway[e.As] = p
	return p, true
}

func (a *appender) completeAppend(id schemas.EventID, p *pending, pos schemas.Position, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.pos, p.err = pos, err
	close(p.done)
	delete(a.underway, id)
	if err != nil || p.retired {
		return // the next caller tries again
	}
	topic := slices.Index(a.topics, pos.Topic)
	if topic < 0 {
		topic, a.topics = len(a.topics), append(a.topics, pos.Topic)
	}
	a.recent.Add(id, appended{p.content, pos.Offset, int32(topic), pos.Partition})
}

// noTail is the tail of a log whose events are all projected.
func noTail(context.Context, string, schemas.EventID) (at schemas.Position, found bool, err error) {
	return at, false, nil
}
