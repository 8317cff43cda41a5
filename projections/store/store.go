// Package store is Pebble as projections use it: the one place that opens it,
// and what every projection in Pebble keeps alike: the next offset of each
// partition and the events it has seen.
//
// What a caller may rely on:
//
//   - Commit stores what the projection set, the ids of the new events and the
//     next offset in one atomic write. It is not synced: after a crash the store
//     holds the effect of all batches up to some one, and of nothing behind it.
//     The log still has the rest.
//   - A View is one state; what is committed later does not show in it.
//   - Damage is an error that names the directory and what mends it, never a
//     panic. When Pebble cannot go on (a full disk under its manifest, say), the
//     store is failed for good: everything returns the same error of class
//     schemas.ErrFatal, and opening it anew recovers.
//
// # Keys
//
// The first byte of a key is its kind. Shard is the topic, a zero byte and the
// partition (uint32, big-endian).
//
//	0x01 Shard             the next offset to read, uvarint
//	0x02 Shard id          offset of the event with this id (16 bytes, schemas.SeenAs),
//	                       uvarint
//	0x10 to 0xff           the projection's own
package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/schemas"
)

const (
	kindNext = 0x01
	kindSeen = 0x02
	// FirstKind is the lowest kind byte that a projection may use.
	FirstKind = 0x10
)

// Options say how a store is opened. Only Name is needed.
type Options struct {
	// Name is the projection's, for messages.
	Name string
	// FS is the file system; nil means the machine's own. Tests fake it.
	FS vfs.FS
	// Logger takes Pebble's warnings; nil means slog.Default().
	Logger *slog.Logger
	// CacheBytes is the size of the block cache; 0 means 64 MiB. What is held in
	// memory before it is a table counts towards it, so that less than three times
	// MemTableBytes is no cache while a table is written, and every get of Apply
	// then reads indexes and filters anew.
	CacheBytes int64
	// MemTableBytes is how much is held in memory before it is written as a
	// table; 0 means 16 MiB. Rarely changed but by tests, to see tables sooner.
	MemTableBytes uint64
	// Depth is how many tables deep what came last may lie before it is merged into what
	// is there; 0 means 2. Merging writes what is there anew, so that each event costs
	// more the more there is, and the less the more is merged at once. Reads look into
	// each table, or into its filter.
	Depth int
	// Prefix, if not nil, is the length of the part of a key for which Txn.Iter can
	// be asked with SeekPrefixGE, and which alone stands in the filters: a table that
	// has no such key is then not read. It is fixed for as long as the store lives, and
	// of two keys neither one's part may be the beginning of the other's, unless it is
	// all of that key. Nil means: all of the key.
	Prefix func(key []byte) int
	// BlockBytes is how much of a table is compressed, and read, at once. Set it where
	// values are much like those of the keys beside them: then blocks are compressed
	// by zstd. 0 means 4 KiB, compressed by snappy.
	BlockBytes int
}

// DB is an open store.
type DB struct {
	name string
	dir  string
	log  *slog.Logger
	db   *pebble.DB

	// failed is closed once failure is set.
	failed  chan struct{}
	failure atomic.Pointer[error]

	seenBytes atomic.Int64 // of all filters
	// mu guards next, what the last committed batch of each partition left, begun, the
	// partitions that a batch was begun of: there is none else in any view; and seen,
	// the filters.
	mu    sync.RWMutex
	next  schemas.Watermark
	begun map[schemas.TopicPartition]bool
	seen  map[schemas.TopicPartition]*seen
	// committing is how many batches are being committed: next may lack them. One that
	// failed stays one.
	committing int
}

// Open opens or creates the store in dir, which exists.
func Open(dir string, o Options) (*DB, error) {
	d := &DB{name: o.Name, dir: dir, log: o.Logger, failed: make(chan struct{}), next: schemas.Watermark{}, begun: map[schemas.TopicPartition]bool{}, seen: map[schemas.TopicPartition]*seen{}}
	if d.log == nil {
		d.log = slog.Default()
	}
	d.log = d.log.With("projection", o.Name)
	err := d.guard(func() (err error) {
		d.db, err = openPebble(dir, d.options(o))
		return err
	})
	if err != nil {
		return nil, d.explain(opening, err)
	}
	if err := d.readNext(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *DB) options(o Options) *pebble.Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	po := &pebble.Options{
		FS:        walFS{o.FS, d},
		CacheSize: o.CacheBytes,
		Cleaner:   deleter{},
		Merger:    pebble.DefaultMerger, // which concatenates: Txn.Append
		// Fixed, so that a newer Pebble does not write what this one cannot read.
		FormatMajorVersion:         pebble.FormatTableFormatV6,
		MemTableSize:               o.MemTableBytes,
		BytesPerSync:               1 << 20,
		WALBytesPerSync:            0,
		L0CompactionThreshold:      2 * cmp.Or(o.Depth, 2), // Pebble merges at half of it
		L0StopWritesThreshold:      24,
		CompactionConcurrencyRange: func() (int, int) { return 1, 2 },
		Logger:                     pebbleLogger{d},
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) { d.log.Warn("store: background work failed", "err", err) },
			// Behind a WAL that could not be made Pebble panics: see walFS.
			WALCreated:    func(i pebble.WALCreateInfo) { d.stopOn(i.Err) },
			FlushEnd:      func(i pebble.FlushInfo) { d.giveUp(i.Err) },
			CompactionEnd: func(i pebble.CompactionInfo) { d.giveUp(i.Err) },
			DataCorruption: func(i pebble.DataCorruptionInfo) {
				d.fail(fmt.Errorf("%w: %s: %w", pebble.ErrCorruption, i.Path, i.Details))
			},
		},
	}
	if po.CacheSize == 0 {
		po.CacheSize = 64 << 20
	}
	if po.MemTableSize == 0 {
		po.MemTableSize = 16 << 20
	}
	if o.Prefix != nil {
		c := *pebble.DefaultComparer
		c.Name, c.Split = "recount."+o.Name, o.Prefix
		po.Comparer = &c
	}
	for i := range po.Levels {
		// Most gets ask for an id or a term that is not there.
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		if o.BlockBytes > 0 {
			po.Levels[i].BlockSize = o.BlockBytes
			po.Levels[i].Compression = func() *block.CompressionProfile { return block.ZstdCompression }
		}
	}
	return po
}

// openPebble turns a panic over a damaged file into an error.
func openPebble(dir string, o *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, fmt.Errorf("%w: %v", pebble.ErrCorruption, p)
		}
	}()
	return pebble.Open(dir, o)
}

func (d *DB) readNext() error {
	it, err := d.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kindNext}, UpperBound: []byte{kindNext + 1}})
	if err != nil {
		return d.explain("read offsets", err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		tp, next, err := decodeNext(it.Key(), it.Value())
		if err != nil {
			return errors.Join(d.Damaged(err), it.Close())
		}
		d.next[tp], d.begun[tp] = next, true
	}
	return d.explain("read offsets", it.Close())
}

func decodeNext(key, value []byte) (schemas.TopicPartition, int64, error) {
	tp, rest, ok := CutShard(key[1:])
	next, n := binary.Uvarint(value)
	if !ok || len(rest) > 0 || n <= 0 || n != len(value) || int64(next) < 0 {
		return tp, 0, fmt.Errorf("next offset: key %q, value %x", key, value)
	}
	return tp, int64(next), nil
}

// Name is the projection's name.
func (d *DB) Name() string { return d.name }

// begin notes that a batch of a partition is begun.
func (d *DB) begin(tp schemas.TopicPartition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun[tp] = true
}

// partitions are those that a view may have.
func (d *DB) partitions() []schemas.TopicPartition {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Collect(maps.Keys(d.begun))
}

// Next is the next offset to read of a partition.
func (d *DB) Next(tp schemas.TopicPartition) int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.next[tp]
}

// Watermark is Next for every partition seen.
func (d *DB) Watermark() schemas.Watermark {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return maps.Clone(d.next)
}

// DiskUsage writes what is in memory as tables, and is about how many bytes of tables
// the keys from lower up to, but without, upper take.
func (d *DB) DiskUsage(lower, upper []byte) (uint64, error) {
	if err := d.guard(d.db.Flush); err != nil {
		return 0, d.explain("flush", err)
	}
	bytes, err := d.db.EstimateDiskUsage(lower, upper)
	return bytes, d.explain("read", err)
}

// Flush makes everything committed durable.
func (d *DB) Flush() error {
	return d.explain("flush", d.guard(func() error { return d.db.LogData(nil, pebble.Sync) }))
}

// Dump yields every key and value, ascending, of one state.
func (d *DB) Dump(ctx context.Context, yield func(key, value []byte) error) error {
	v, err := d.View()
	if err != nil {
		return err
	}
	defer v.Close()
	it, err := v.Iter(nil, nil)
	if err != nil {
		return err
	}
	defer it.Close()
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return d.explain("read", err)
		}
		if err := yield(it.Key(), value); err != nil {
			return err
		}
	}
	return d.explain("read", it.Error())
}

// Close closes the store. No View may be open. A store that has failed is left
// as it is: Pebble may be stuck, and the process is about to end.
func (d *DB) Close() error {
	if err := d.Failed(); err != nil {
		return fmt.Errorf("close %s: it had failed: %w", d.name, err)
	}
	return d.explain("close", d.guard(d.db.Close))
}

// Failed is why the store cannot be used any more, or nil.
func (d *DB) Failed() error {
	if p := d.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// fail ends the store's use, for good; the first cause counts.
func (d *DB) fail(err error) {
	err = d.explain("store", err)
	if !errors.Is(err, schemas.ErrFatal) {
		err = schemas.Fatalf("%w", err)
	}
	if d.failure.CompareAndSwap(nil, &err) {
		close(d.failed)
		d.log.Error("store: failed", "err", err)
	}
}

// giveUp fails the store after a flush or compaction that the disk refused.
// Pebble would try again at once, and for ever, at the cost of a core. Goexit
// ends its goroutine instead: what it holds is released by its deferred calls,
// and no second one is started since the first is never reported as ended.
func (d *DB) giveUp(err error) {
	if err == nil || errors.Is(err, pebble.ErrCancelledCompaction) || err.Error() == emptyTable {
		return
	}
	d.fail(err)
	runtime.Goexit()
}

// emptyTable is how Pebble reports a flush that had nothing to write.
const emptyTable = "pebble: empty table"

// guard runs f, which calls into Pebble and may write. If Pebble panics, or gets
// stuck because it cannot go on, the store is failed and the caller told; a stuck
// call is left behind, since nothing can end it but the process.
func (d *DB) guard(f func() error) error {
	if err := d.Failed(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				d.fail(fmt.Errorf("%v", p))
				done <- d.Failed()
			}
		}()
		done <- f()
	}()
	select {
	case err := <-done:
		if failed := d.Failed(); failed != nil {
			return failed
		}
		return err
	case <-d.failed:
		return d.Failed()
	}
}

// Damaged is the error for a value that cannot be what it is read as.
func (d *DB) Damaged(cause error) error {
	return schemas.Fatalf("%s: state in %s is damaged: %w; `recount rebuild --projection %s` makes it anew from the log", d.name, d.dir, cause, d.name)
}

// explain says what an error of Pebble's means for who runs this, once.
func (d *DB) explain(doing string, err error) error {
	var errno syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, schemas.ErrFatal):
		return err
	case pebble.IsCorruptionError(err), errors.Is(err, fs.ErrNotExist):
		return d.Damaged(err)
	case doing == opening && (errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process")):
		return schemas.Fatalf("%s: %s is in use: %w", d.name, d.dir, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return schemas.Fatalf("%s: %s cannot be written: %w", d.name, d.dir, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s: %s %s: there is no room on the disk: free some, then start again; nothing is lost for it: %w", d.name, doing, d.dir, err)
	case doing == opening && !errors.As(err, &errno):
		// Neither the system nor another process is in the way, so it is what the
		// files hold.
		return d.Damaged(err)
	}
	return fmt.Errorf("%s: %s %s: %w", d.name, doing, d.dir, err)
}

const opening = "open"

// pebbleLogger takes what Pebble says. Its progress is of no interest.
type pebbleLogger struct{ d *DB }

func (l pebbleLogger) Infof(string, ...any) {}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.d.log.Warn("store", "err", fmt.Sprintf(format, args...))
}

// Fatalf is called when Pebble cannot go on, and what follows the call must not
// run: it would, for one, delete the WALs of a flush that was never recorded. So
// the store is failed and the calling goroutine parked for ever; those who wait
// for it are freed by guard.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	err := fatalError{text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if cause, ok := a.(error); ok {
			err.cause = cause
		}
	}
	l.d.stopOn(err)
}

// fatalError is what Pebble said, which it formats without wrapping the cause.
type fatalError struct {
	text  string
	cause error
}

func (e fatalError) Error() string { return e.text }
func (e fatalError) Unwrap() error { return e.cause }
