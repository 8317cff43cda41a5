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

// Records that topic erasures declares erased (or retired: retire.go) are not read any more, even
// if their bytes still exist: every record that a Log returns passes through hide. In addition the
// bytes in the embedded broker are replaced (Scrub); external brokers keep them until they delete
// them.

// erasures is the set of erased positions. It only grows.
type erasures struct {
	now atomic.Pointer[erased]

	// mu is held while more erasures are read.
	mu   sync.Mutex
	next schemas.Watermark // the next offsets of topic erasures
	read bool              // whether they were read before
}

// erased is an immutable snapshot of the erasures.
type erased struct {
	at  map[schemas.Position]erasedEvent
	ids map[schemas.EventID]schemas.Position
	// cuts holds the first offset of each partition that retention has shortened.
	cuts map[schemas.TopicPartition]Cut
	// summaries are the positions of the summaries of retired records, summarised is the position
	// of the records.retired event that named the last of them. void holds the records.retired
	// events without effect (RecordsRetired.follows).
	summaries  []schemas.Position
	summarised schemas.Position
	void       map[schemas.Position]bool
	// retiredIDs are the events with the ids of what is retired.
	retiredIDs []RetiredIDs
}

type erasedEvent struct {
	schemas.Erasure
	id schemas.EventID
}

// record converts a record for readers, with erasures applied.
func (l *Log) record(r *kgo.Record) schemas.LogRecord { return l.erased.hide(logRecord(r)) }

// hide returns the record, or its replacement if it is erased. An erasure names the hash of the
// value; if the value differs, the erasure belongs to another log and is ignored.
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

// ReadErasures reads what was appended to topic erasures since the last call, and returns the
// watermark it has read to. From then on none of the erased records is returned.
func (l *Log) ReadErasures(ctx context.Context) (schemas.Watermark, error) {
	e := &l.erased
	e.mu.Lock()
	defer e.mu.Unlock()
	ends, err := l.Ends(ctx, schemas.TopicErasures)
	if err != nil {
		return nil, fmt.Errorf("read erasures: %w", err)
	}
	if e.next.Covers(ends) {
		e.read = true
		return ends, nil
	}
	// What is on the log at the start was told of when it arrived.
	told := slog.LevelDebug
	if e.read {
		told = slog.LevelWarn
	}
	more, err := l.erasedSince(ctx, e.next, ends, told)
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
		now.retiredIDs = slices.Clone(old.retiredIDs)
	}
	for _, m := range more {
		l.retire(now, m)
		for _, x := range m.Events {
			at := schemas.PositionOf(x.GetPosition())
			if _, twice := now.at[at]; twice {
				continue // the first erasure counts
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
	e.next, e.read = ends, true
	return ends, nil
}

// Erasing is one events.erased event, or one records.retired event, which erases no single events.
type Erasing struct {
	At schemas.Position
	*recountv1.EventsErased
	Retired *recountv1.RecordsRetired
}

// CutsOf returns the cuts that the event makes, as far as ReadErasures has read.
func (l *Log) CutsOf(e Erasing) map[schemas.TopicPartition]Cut {
	cuts := map[schemas.TopicPartition]Cut{}
	if now := l.erased.now.Load(); now != nil && now.void[e.At] {
		return cuts
	}
	l.cut(cuts, e.Retired)
	return cuts
}

// ErasedSince returns the events of topic erasures between two watermarks.
func (l *Log) ErasedSince(ctx context.Context, from, until schemas.Watermark) ([]Erasing, error) {
	return l.erasedSince(ctx, from, until, slog.LevelDebug)
}

// erasedSince is ErasedSince, which tells of what is not an erasure at a level.
func (l *Log) erasedSince(ctx context.Context, from, until schemas.Watermark, told slog.Level) ([]Erasing, error) {
	var found []Erasing
	err := l.readEach(ctx, from, until, func(r schemas.LogRecord) {
		e, err := r.Event()
		if err == nil && e.Type != schemas.TypeErased && e.Type != schemas.TypeRecordsRetired {
			return
		}
		var payload any
		if err == nil {
			payload, err = e.DecodePayload()
		}
		if err != nil {
			l.cfg.Logger.Log(ctx, told, "not an erasure: skipped", slog.String("position", r.Position.String()), slog.Any("err", err))
			return
		}
		switch m := payload.(type) {
		case *recountv1.EventsErased:
			found = append(found, Erasing{At: r.Position, EventsErased: m})
		case *recountv1.RecordsRetired:
			found = append(found, Erasing{At: r.Position, EventsErased: &recountv1.EventsErased{}, Retired: m})
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read erasures: %w", err)
	}
	return found, nil
}

// ErasedAt returns what is left of the event at a position. ok is false if the event is not erased.
func (l *Log) ErasedAt(at schemas.Position) (schemas.Erasure, bool) {
	now := l.erased.now.Load()
	if now == nil {
		return schemas.Erasure{}, false
	}
	x, ok := now.at[at]
	return x.Erasure, ok
}

// Erased returns the number of erased events.
func (l *Log) Erased() int {
	now := l.erased.now.Load()
	if now == nil {
		return 0
	}
	return len(now.at)
}

// ErasedID returns the position of an erased event by its id.
func (l *Log) ErasedID(id schemas.EventID) (schemas.Position, bool) {
	now := l.erased.now.Load()
	if now == nil {
		return schemas.Position{}, false
	}
	at, ok := now.ids[id]
	return at, ok
}

// Scrub overwrites the erased records at the given positions in the embedded broker, down to the
// bytes on disk. With external brokers it does nothing.
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
			continue // deleted, or in another log
		}
		if lowest, ok := first[tp]; !ok || at.Offset < lowest {
			first[tp] = at.Offset
		}
		until[tp] = max(until[tp], at.Offset+1)
		wanted[at] = true
	}
	records := map[schemas.TopicPartition]map[int64]broker.Record{}
	err = l.readEach(ctx, first, until, func(r schemas.LogRecord) {
		if _, ok := r.Erased(); !ok || !wanted[r.Position] {
			return
		}
		tp := r.Position.TP()
		if records[tp] == nil {
			records[tp] = map[int64]broker.Record{}
		}
		records[tp][r.Position.Offset] = broker.Record{Headers: brokerHeaders(r.Headers)}
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

// bounds returns the starts and ends of the positions' topics, without topics that do not exist.
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
