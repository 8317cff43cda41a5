package pipeline

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// What topic erasures says is erased (or retired: retire.go) is not read any more, wherever the bytes are:
// every record that a Log hands out goes through hide. The embedded broker's bytes
// are replaced besides (Scrub); those of other brokers stay until they delete them.

// erasures are the positions that are erased. They only grow.
type erasures struct {
	now atomic.Pointer[erased]

	// mu is held while more are read.
	mu   sync.Mutex
	next schemas.Watermark // of topic erasures
}

// erased is one state of them; it is not changed once it is there.
type erased struct {
	at  map[schemas.Position]erasedEvent
	ids map[schemas.EventID]schemas.Position
	// cuts are where partitions begin that retention has shortened.
	cuts map[schemas.TopicPartition]Cut
	// summaries are of what is retired, and summarised the records.retired that named the
	// last of them; void are those that have no effect (RecordsRetired.follows).
	summaries  []schemas.Position
	summarised schemas.Position
	void       map[schemas.Position]bool
}

type erasedEvent struct {
	schemas.Erasure
	id schemas.EventID
}

// record is the record as it may be read.
func (l *Log) record(r *kgo.Record) schemas.LogRecord { return l.erased.hide(logRecord(r)) }

// hide is the record, or what stands in its place when it is erased. An erasure is of
// the value that it names: should something else stand there, it is of another log.
func (e *erasures) hide(r schemas.LogRecord) schemas.LogRecord {
	now := e.now.Load()
	if now == nil {
		return r
	}
	x, ok := now.at[r.Position]
	if !ok || sha256.Sum256(r.Value) != x.SHA256 {
		return r
	}
	return r.Erase(x.By)
}

// ReadErasures reads what topic erasures says since it was last read, and returns
// where it stands then. From then on no record is handed out that it says is erased.
func (l *Log) ReadErasures(ctx context.Context) (schemas.Watermark, error) {
	e := &l.erased
	e.mu.Lock()
	defer e.mu.Unlock()
	ends, err := l.Ends(ctx, schemas.TopicErasures)
	if err != nil {
		return nil, fmt.Errorf("read erasures: %w", err)
	}
	if e.next.Covers(ends) {
		return ends, nil
	}
	more, err := l.ErasedSince(ctx, e.next, ends)
	if err != nil {
		return nil, err
	}
	now := &erased{at: map[schemas.Position]erasedEvent{}, ids: map[schemas.EventID]schemas.Position{}, cuts: map[schemas.TopicPartition]Cut{}, void: map[schemas.Position]bool{}}
	if old := e.now.Load(); old != nil {
		maps.Copy(now.at, old.at)
		maps.Copy(now.ids, old.ids)
		maps.Copy(now.cuts, old.cuts)
		maps.Copy(now.void, old.void)
		now.summaries, now.summarised = slices.Clone(old.summaries), old.summarised
	}
	for _, m := range more {
		l.retire(now, m)
		for _, x := range m.Events {
			at := schemas.PositionOf(x.GetPosition())
			if _, twice := now.at[at]; twice {
				continue // the first says by what it was erased
			}
			ev := erasedEvent{Erasure: schemas.Erasure{SHA256: schemas.Hash(x.GetSha256()), By: m.At}}
			if copy(ev.id[:], x.GetEventId()); !ev.id.IsZero() {
				now.ids[ev.id] = at
			}
			now.at[at] = ev
		}
	}
	if len(now.at)+len(now.cuts)+len(now.void) > 0 {
		e.now.Store(now)
	}
	e.next = ends
	return ends, nil
}

// Erasing is one events.erased of the log, or one records.retired: then it erases none.
type Erasing struct {
	At schemas.Position
	*recountv1.EventsErased
	Retired *recountv1.RecordsRetired
}

// CutsOf are those that it makes, as far as ReadErasures has read.
func (l *Log) CutsOf(e Erasing) map[schemas.TopicPartition]Cut {
	cuts := map[schemas.TopicPartition]Cut{}
	if now := l.erased.now.Load(); now != nil && now.void[e.At] {
		return cuts
	}
	l.cut(cuts, e.Retired)
	return cuts
}

// ErasedSince reads the events of topic erasures between two watermarks.
func (l *Log) ErasedSince(ctx context.Context, from, until schemas.Watermark) ([]Erasing, error) {
	var found []Erasing
	var mu sync.Mutex
	err := l.Follow(ctx, FollowOptions{
		Partitions: until.Partitions(), Until: until,
		From: func(tp schemas.TopicPartition) int64 { return from[tp] },
	}, func(_ context.Context, _ schemas.TopicPartition, recs []schemas.LogRecord, _ int64) error {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range recs {
			e, err := r.Event()
			if err == nil && e.Type != schemas.TypeErased && e.Type != schemas.TypeRecordsRetired {
				continue
			}
			var payload any
			if err == nil {
				payload, err = e.DecodePayload()
			}
			if err != nil {
				l.cfg.Logger.Warn("no erasure: passed over", slog.String("position", r.Position.String()), slog.Any("err", err))
				continue
			}
			switch m := payload.(type) {
			case *recountv1.EventsErased:
				found = append(found, Erasing{At: r.Position, EventsErased: m})
			case *recountv1.RecordsRetired:
				found = append(found, Erasing{At: r.Position, EventsErased: &recountv1.EventsErased{}, Retired: m})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read erasures: %w", err)
	}
	return found, nil
}

// ErasedAt says what is left of the event at a position, if it is erased.
func (l *Log) ErasedAt(at schemas.Position) (schemas.Erasure, bool) {
	now := l.erased.now.Load()
	if now == nil {
		return schemas.Erasure{}, false
	}
	x, ok := now.at[at]
	return x.Erasure, ok
}

// Erased counts the events that are erased.
func (l *Log) Erased() int {
	now := l.erased.now.Load()
	if now == nil {
		return 0
	}
	return len(now.at)
}

// ErasedID says where the event of an id stood, if it is erased.
func (l *Log) ErasedID(id schemas.EventID) (schemas.Position, bool) {
	now := l.erased.now.Load()
	if now == nil {
		return schemas.Position{}, false
	}
	at, ok := now.ids[id]
	return at, ok
}

// Scrub replaces what the embedded broker holds at positions that are erased, down to
// the bytes on disk. With other brokers it does nothing.
func (l *Log) Scrub(ctx context.Context, positions []schemas.Position) (broker.Rewritten, error) {
	if l.embedded == nil || len(positions) == 0 {
		return broker.Rewritten{}, nil
	}
	starts, ends, err := l.bounds(ctx, positions)
	if err != nil {
		return broker.Rewritten{}, fmt.Errorf("scrub: %w", err)
	}
	first, until := schemas.Watermark{}, schemas.Watermark{}
	wanted := map[schemas.Position]bool{}
	for _, at := range positions {
		tp := at.TP()
		if at.Offset < starts[tp] || at.Offset >= ends[tp] {
			continue // deleted, or of another log
		}
		if lowest, ok := first[tp]; !ok || at.Offset < lowest {
			first[tp] = at.Offset
		}
		until[tp] = max(until[tp], at.Offset+1)
		wanted[at] = true
	}
	var mu sync.Mutex
	records := map[schemas.TopicPartition]map[int64]broker.Record{}
	err = l.Follow(ctx, FollowOptions{
		Partitions: until.Partitions(), Until: until,
		From: func(tp schemas.TopicPartition) int64 { return first[tp] },
	}, func(_ context.Context, tp schemas.TopicPartition, recs []schemas.LogRecord, _ int64) error {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range recs {
			if _, ok := r.Erased(); !ok || !wanted[r.Position] {
				continue
			}
			if records[tp] == nil {
				records[tp] = map[int64]broker.Record{}
			}
			records[tp][r.Position.Offset] = broker.Record{Headers: brokerHeaders(r.Headers)}
		}
		return nil
	})
	if err != nil {
		return broker.Rewritten{}, fmt.Errorf("scrub: %w", err)
	}
	var all []broker.Rewriting
	for _, tp := range until.Partitions() {
		all = append(all, broker.Rewriting{Topic: tp.Topic, Partition: tp.Partition, Records: records[tp]})
	}
	return l.embedded.Rewrite(ctx, all...)
}

// bounds are the starts and ends of the positions' topics, of those that there are.
func (l *Log) bounds(ctx context.Context, positions []schemas.Position) (starts, ends schemas.Watermark, err error) {
	topics, err := l.Topics(ctx)
	if err != nil {
		return nil, nil, err
	}
	starts, ends = schemas.Watermark{}, schemas.Watermark{}
	for _, t := range topics {
		for _, p := range t.Partitions {
			tp := schemas.TopicPartition{Topic: t.Name, Partition: p.Partition}
			starts[tp], ends[tp] = p.Start, p.End
		}
	}
	return starts, ends, nil
}

func brokerHeaders(hs []schemas.Header) []broker.Header {
	out := make([]broker.Header, len(hs))
	for i, h := range hs {
		out[i] = broker.Header{Key: h.Key, Value: h.Value}
	}
	return out
}
