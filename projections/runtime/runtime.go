package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/cache"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// Name is the name of the projection.
	Name = "runtime"
	// Version is the version of the stored state. Changing it rebuilds the projection.
	Version = 3
)

// Rows that every batch changes are written once per in-memory table, and traces are spread over
// all keys: 64 MiB instead of the default 16 saved a quarter of the CPU time of a fold
// (bench/docs/spans.md). The in-memory tables count towards the cache, and Pebble keeps the memory of
// one flushed table for the next: a cache of twice the table size would leave nothing for the
// blocks that queries read.
const (
	memTableBytes = 64 << 20
	cacheBytes    = 192 << 20
)

// Kind registers this projection with a server.
var Kind = projections.Definition{Name: Name, Version: Version, Topics: []string{schemas.TopicSpans}, Open: func(dir string) (projections.Projection, error) {
	return Open(dir, store.Options{})
}}

// Runtime is the open projection.
type Runtime struct {
	*store.DB
	names names

	// mu is held while a batch is applied: the spans of a trace come from several partitions, so
	// each batch must see what the others stored. It guards memory.
	mu     sync.Mutex
	memory *memory
}

// Open opens the projection in dir and creates it if needed.
func Open(dir string, o store.Options) (*Runtime, error) {
	o.Name = Name
	o.Prefix = prefix
	o.MemTableBytes = cmp.Or(o.MemTableBytes, memTableBytes)
	o.CacheBytes = cmp.Or(o.CacheBytes, cacheBytes)
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	r := &Runtime{DB: db, names: names{all: cache.New[uint64, *site](siteBytes)}, memory: newMemory()}
	if len(db.Watermark()) == 0 {
		r.memory.known = &store.IDFilter{}
	}
	return r, nil
}

// prefix returns the length of the part of a key that the Bloom filters of tables cover: for the
// chunks of a trace, the trace.
func prefix(key []byte) int {
	if len(key) > 17 && key[0] == kindTrace {
		return 17
	}
	return len(key)
}

func concerns(r *recountv1.Record) bool {
	return r.GetSpans() != nil || r.GetSpansSummarised() != nil
}

// Apply stores the spans of a batch and the calls that it completes.
func (r *Runtime) Apply(ctx context.Context, b schemas.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := r.Begin(ctx, b, concerns)
	if err != nil || t == nil {
		return err
	}
	if err := check(t.New); err != nil {
		t.Discard()
		return err
	}
	f := newFold(r.memory, t, b.TP())
	if err = t.Do(f.all); err == nil {
		err = t.Commit()
	} else {
		t.Discard()
	}
	if err != nil {
		r.memory = newMemory()
		if d := (damage{}); errors.As(err, &d) {
			err = r.Damaged(err)
		}
		return err
	}
	r.memory.trim()
	return nil
}

// check returns the error of the first record that cannot be applied.
func check(records []*recountv1.Record) error {
	for _, r := range records {
		err := checkBatch(r.GetSpans())
		if m := r.GetSpansSummarised(); m != nil {
			err = CheckSummary(m)
		}
		if err != nil {
			return projections.Poison(schemas.PositionOf(r.Origin), "%w", err)
		}
	}
	return nil
}

func checkBatch(b *recountv1.SpanBatch) error {
	for i, o := range b.GetObservations() {
		if int(o.Observer) >= len(b.Observers) {
			return fmt.Errorf("observation %d: observer %d of %d", i, o.Observer, len(b.Observers))
		}
		if len(o.SpanId) == 0 && (len(o.TraceId) == 0 || len(o.TraceId) == 16) && len(o.ParentId) == 0 && len(o.Links) == 0 {
			continue // a line of an access log: it may name its trace but is not a span
		}
		if len(o.TraceId) != 16 || len(o.SpanId) != 8 || len(o.ParentId) != 0 && len(o.ParentId) != 8 {
			return fmt.Errorf("observation %d: ids of trace, span and parent of %d, %d and %d bytes, want 16, 8 and 8 or 0", i, len(o.TraceId), len(o.SpanId), len(o.ParentId))
		}
		for j, l := range o.Links {
			if len(l.TraceId) != 16 || len(l.SpanId) != 8 {
				return fmt.Errorf("observation %d: ids of link %d of %d and %d bytes, want 16 and 8", i, j, len(l.TraceId), len(l.SpanId))
			}
		}
	}
	return nil
}
