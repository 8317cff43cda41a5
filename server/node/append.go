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
	c := &appending{appender: a, events: events, out: make([]api.Appended, len(events)), waits: make([]*pending, len(events)), ours: map[string][]int{}}
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	for i := range events {
		if err := c.place(ctx, i); err != nil {
			for _, ours := range c.ours {
				for _, i := range ours {
					a.settle(c.all[i].As, c.waits[i], schemas.Position{}, err)
				}
			}
			return nil, err
		}
	}
	c.append(ctx)
	return c.wait(ctx)
}

// appending is one call of Append.
type appending struct {
	*appender
	events []schemas.Event
	all    []intake.Prepared
	out    []api.Appended
	waits  []*pending
	ours   map[string][]int // indexes of the events that this call appends, by topic
}

// prepare checks and redacts the events. Nothing is claimed yet.
func (c *appending) prepare(ctx context.Context) error {
	c.all = make([]intake.Prepared, len(c.events))
	for i, e := range c.events {
		var err error
		if c.all[i], c.out[i].Redacted, err = c.intake.Prepare(ctx, e); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return c.refused(i, err)
		}
		c.out[i].ID = c.all[i].ID
	}
	return nil
}

// refused is the error of one event.
func (c *appending) refused(i int, err error) error {
	return &api.EventError{Index: i, Of: len(c.events), Err: err}
}

// place finds out whether an event is stored already, or is being stored by another caller; if not, this
// call is to append it.
func (c *appending) place(ctx context.Context, i int) error {
	e := c.all[i]
	p, ours := c.claim(e)
	c.waits[i] = p
	if !ours {
		c.out[i].Duplicate = true
		if err := same(e, p.content); err != nil {
			return c.refused(i, err)
		}
		return nil
	}
	pos, stored, err := c.stored(ctx, e, p)
	switch {
	case err != nil:
		c.settle(e.As, p, pos, err)
		return err
	case p.retired:
		c.out[i].Duplicate = true
		c.settle(e.As, p, pos, nil)
	case stored:
		c.out[i].Duplicate = true
		err := c.compare(ctx, e, pos)
		c.settle(e.As, p, pos, err)
		if err != nil {
			return c.refused(i, err)
		}
	default:
		c.ours[e.Topic] = append(c.ours[e.Topic], i)
	}
	return nil
}

// stored returns where the log has an event; if retention removed it, p.retired is set instead.
func (c *appending) stored(ctx context.Context, e intake.Prepared, p *pending) (pos schemas.Position, ok bool, err error) {
	if pos, ok = c.find(e.Topic, e.As); ok {
		return pos, true, nil
	}
	if pos, p.retired, err = c.retired(ctx, e.Topic, e.As); err != nil || p.retired {
		return pos, false, err
	}
	if pos, ok, err = c.tail(ctx, e.Topic, e.As); err != nil || ok {
		return pos, ok, err
	}
	// The event may have been projected in the meantime, and then tail did not return it.
	pos, ok = c.find(e.Topic, e.As)
	return pos, ok, nil
}

// append puts the events of this call into the log, and tells those who wait for them.
func (c *appending) append(ctx context.Context) {
	for _, topic := range schemas.Topics() {
		ours := c.ours[topic]
		if len(ours) == 0 {
			continue
		}
		batch := make([]schemas.Event, len(ours))
		for j, i := range ours {
			batch[j] = c.all[i].Event
		}
		// The append continues if the caller goes away, because others may wait for the same ids
		// and need the result. The log limits its duration.
		positions, err := c.log(context.WithoutCancel(ctx), topic, batch...)
		for j, i := range ours {
			// On an error some events may have been stored nevertheless.
			if positions == nil || positions[j] == pipeline.NotAppended {
				c.settle(c.all[i].As, c.waits[i], schemas.Position{}, err)
			} else {
				c.settle(c.all[i].As, c.waits[i], positions[j], nil)
			}
		}
	}
}

// wait returns once every event is stored, by this call or by others.
func (c *appending) wait(ctx context.Context) ([]api.Appended, error) {
	for i, p := range c.waits {
		select {
		case <-p.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if p.err != nil && c.out[i].Duplicate {
			// The attempt of another caller failed, perhaps because of a different event in its
			// request.
			again, err := c.Append(ctx, c.events[i:i+1])
			if err != nil {
				return nil, err
			}
			c.out[i] = again[0]
			continue
		}
		if p.err != nil {
			return nil, p.err
		}
		c.out[i].Position, c.out[i].Retired = p.pos, p.retired
	}
	return c.out, nil
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

// settle ends what claim began: callers that wait for the event get its position, or the error.
func (a *appender) settle(id schemas.EventID, p *pending, pos schemas.Position, err error) {
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
