package node

import (
	"context"
	"fmt"
	"sync"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// An event that was appended just before a crash is not projected yet when it is sent again
// afterwards, and a process without projections knows no ids at all. So before the first append to
// a topic, the ids at the log's end are read: with projections those that they have not applied
// yet, without them as many as tailBound allows. Appends wait meanwhile.

// bound limits how much is read from the end of a topic, over all its partitions.
type bound struct {
	events int64
	bytes  int
}

var (
	// tailBound applies to a process without projections.
	tailBound = bound{events: 100_000, bytes: 32 << 20}
	// behindBound applies if projections are far behind, usually because they are being rebuilt.
	behindBound = bound{events: 1_000_000, bytes: 1 << 30}
)

// firstTail is the number of events of a partition that are read in the first step; each further
// step is four times as long, until the bound is reached.
const firstTail = 256

// tails holds the ids at the ends of topics.
type tails struct {
	log *pipeline.Log
	// next returns the watermark of the projection that knows the ids of a topic, if there is one.
	next func(topic string) (w schemas.Watermark, known bool)
	// through reports that the projections have applied all ids held here for a topic, so that they
	// are not needed any more.
	through func(topic string) bool

	mu     sync.Mutex
	topics map[string]*tail
}

type tail struct {
	once sync.Mutex
	ids  map[schemas.EventID]tailPosition // nil until it is read
}

// tailPosition has no pointers, which spares the garbage collector.
type tailPosition struct {
	offset    int64
	partition int32
}

func newTails(log *pipeline.Log, next func(string) (schemas.Watermark, bool), through func(string) bool) *tails {
	return &tails{log: log, next: next, through: through, topics: map[string]*tail{}}
}

func (ts *tails) tailOf(topic string) *tail {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.topics[topic]
	if t == nil {
		t = &tail{}
		ts.topics[topic] = t
	}
	return t
}

// find returns the position of an id at a topic's end, by schemas.SeenAs.
func (ts *tails) find(ctx context.Context, topic string, id schemas.EventID) (at schemas.Position, ok bool, err error) {
	t := ts.tailOf(topic)
	t.once.Lock()
	defer t.once.Unlock()
	if ts.through(topic) {
		t.ids = map[schemas.EventID]tailPosition{}
		return at, false, nil
	}
	if t.ids == nil {
		// Others wait for the result too, so the read does not end with this context.
		if t.ids, err = ts.read(context.WithoutCancel(ctx), topic); err != nil {
			return at, false, schemas.Transientf("read the ids at the end of the log: %w", err)
		}
	}
	p, ok := t.ids[id]
	return schemas.Position{Topic: ts.log.Topic(topic), Partition: p.partition, Offset: p.offset}, ok, nil
}

// read reads the ids of a topic, from its end backwards as far as the bound allows.
func (ts *tails) read(ctx context.Context, topic string) (map[schemas.EventID]tailPosition, error) {
	ends, err := ts.log.Ends(ctx, topic)
	if err != nil {
		return nil, err
	}
	low, err := ts.log.Starts(ctx, topic)
	if err != nil {
		return nil, err
	}
	b := tailBound
	if w, known := ts.next(topic); known {
		b = behindBound
		for tp, end := range ends {
			low[tp] = max(low[tp], min(w[tp], end))
		}
	}
	each := bound{b.events / int64(len(ends)), b.bytes / len(ends)}
	for tp := range low {
		low[tp] = max(low[tp], ends[tp]-each.events)
	}
	ids := map[schemas.EventID]tailPosition{}
	bytes := map[schemas.TopicPartition]int{}
	from := schemas.Watermark{}
	for tp, end := range ends {
		from[tp] = end
	}
	for step := int64(firstTail); ; step *= 4 {
		todo, back := schemas.Watermark{}, schemas.Watermark{}
		for tp, at := range from {
			if at > low[tp] && bytes[tp] < each.bytes {
				todo[tp], back[tp] = at, max(low[tp], at-step)
			}
		}
		if len(todo) == 0 {
			return ids, nil
		}
		var mu sync.Mutex
		err := ts.log.Follow(ctx, pipeline.FollowOptions{
			Partitions: todo.Partitions(), Until: todo,
			From: func(tp schemas.TopicPartition) int64 { return back[tp] },
		}, func(_ context.Context, tp schemas.TopicPartition, recs []schemas.LogRecord, _ int64) error {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range recs {
				bytes[tp] += len(r.Value)
				id, ok := seenAs(r)
				if have, twice := ids[id]; !ok || twice && have.partition == tp.Partition && have.offset < r.Position.Offset {
					continue
				}
				ids[id] = tailPosition{r.Position.Offset, tp.Partition} // the first position counts
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", topic, err)
		}
		for tp, at := range back {
			from[tp] = at
		}
	}
}

// seenAs returns the id by which an event is recognised, as schemas.SeenAs does for its record.
func seenAs(r schemas.LogRecord) (schemas.EventID, bool) {
	if _, erased := r.Erased(); erased {
		return schemas.EventID{}, false // the list of erasures knows it
	}
	e, err := r.Event()
	if err != nil {
		return schemas.EventID{}, false
	}
	if kind, _ := e.Kind(); kind.Topic != schemas.TopicAgents {
		return e.ID, true
	}
	m, err := e.DecodePayload()
	if err != nil {
		return schemas.EventID{}, false
	}
	ae, ok := m.(*recountv1.AgentEvent)
	if !ok {
		return schemas.EventID{}, false
	}
	return schemas.EventObjectID(ae.Tenant, ae.Workspace, ae.Agent, e.ID), true
}
