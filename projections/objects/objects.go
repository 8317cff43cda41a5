package objects

import (
	"cmp"
	"context"
	"sync"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// Name of the projection.
	Name = "objects"
	// Version of what it stores.
	Version = 3
)

// Kind is how a node knows this projection.
var Kind = projections.Kind{Name: Name, Version: Version, Topics: []string{schemas.TopicAgents}, Open: func(dir string) (projections.Projection, error) {
	return Open(dir, store.Options{})
}}

// Most of the work of an event is writing its rows to tables, again and again: larger
// ones in memory make it less often. Blocks of 16 KiB compressed by zstd took 40 % more
// of that for a sixth less on disk.
const (
	memTableBytes = 32 << 20
	cacheBytes    = 128 << 20
	// Most rows are found by ids, which lie all over a table: merging one writes all that
	// there is anew. Who reads a list is told by filters which tables have none of it.
	depth = 4
)

// Objects is the open projection.
type Objects struct {
	*store.DB
	rows  rowCache
	heads headCache
	folds sync.Pool // of *fold

	// mu guards the map. A table is added to by the one goroutine that applies its
	// partition.
	mu     sync.Mutex
	tables map[schemas.TopicPartition]*table
}

// Open opens or creates the projection in dir.
func Open(dir string, o store.Options) (*Objects, error) {
	o.Name, o.Prefix = Name, prefix
	o.MemTableBytes = cmp.Or(o.MemTableBytes, memTableBytes)
	o.CacheBytes = cmp.Or(o.CacheBytes, cacheBytes)
	o.Depth = cmp.Or(o.Depth, depth)
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	x := &Objects{DB: db, folds: sync.Pool{New: func() any { return &fold{} }}, tables: map[schemas.TopicPartition]*table{}}
	x.rows.rows.limit, x.heads.heads.limit = rowCacheBytes, headCacheBytes
	return x, nil
}

func concerns(r *recountv1.Record) bool { return r.GetObjects() != nil }

// Apply stores the objects and edges of a batch. It reads nothing: all that it stores
// is a function of the record, but for the numbers of names, which the partition's
// records give in their order.
func (x *Objects) Apply(ctx context.Context, b schemas.Batch) error {
	t, err := x.Begin(ctx, b, concerns)
	if err != nil || t == nil {
		return err
	}
	f := x.folds.Get().(*fold)
	defer func() {
		f.reset()
		x.folds.Put(f)
	}()
	f.t = t
	if f.table, err = x.table(b.TP()); err == nil {
		err = f.all()
	}
	if err != nil {
		t.Discard()
	} else {
		// Told before it shows, so that no view has what nobody was told of.
		batch := x.heads.tell(f.lists)
		err = t.Commit()
		x.heads.settle(batch)
	}
	if err != nil {
		// The table has what was not stored: it is loaded anew.
		x.mu.Lock()
		delete(x.tables, b.TP())
		x.mu.Unlock()
	}
	return err
}

// table is that of a partition, loaded.
func (x *Objects) table(tp schemas.TopicPartition) (*table, error) {
	x.mu.Lock()
	t := x.tables[tp]
	if t == nil {
		t = newTable(tp)
		x.tables[tp] = t
	}
	x.mu.Unlock()
	return t, t.load(x.DB)
}
