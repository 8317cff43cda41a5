// Package store is the Pebble store of projections. It is the only package that opens Pebble, and
// it keeps what every projection in Pebble needs: the next offset of each partition and the ids of
// the events seen.
//
// A caller may rely on the following:
//
//   - Commit stores what the projection set, the ids of the new events and the next offset in one
//     atomic write. The write is not synced: after a crash the store holds the effect of all
//     batches up to some batch and of none after it. The log still has the rest.
//   - A View is one state; later commits do not show in it.
//   - Damage is reported as an error that names the directory and the fix, never as a panic. When
//     Pebble cannot continue (a full disk under its manifest, for example), the store has failed
//     permanently: every method returns the same error of class schemas.ErrFatal, and opening the
//     store again recovers.
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

// Options configure a store. Only Name is required.
type Options struct {
	// Name is the name of the projection, used in messages.
	Name string
	// FS is the file system; nil means the operating system's. Tests pass a fake.
	FS vfs.FS
	// Logger receives Pebble's warnings; nil means slog.Default().
	Logger *slog.Logger
	// CacheBytes is the size of the block cache; 0 means 64 MiB. Memory tables count towards it:
	// with less than three times MemTableBytes no room is left for blocks while a table is written,
	// and every Get of Apply then reads indexes and filters again.
	CacheBytes int64
	// MemTableBytes is the size at which the memory table is written as a table on disk; 0 means 16
	// MiB. Tests lower it to get tables sooner.
	MemTableBytes uint64
	// Depth is how many tables deep the newest data may lie before it is merged into the older; 0
	// means 2. Merging rewrites the older data, so an event costs more the more data there is and
	// the less is merged at once. A read looks into each table, or into its filter.
	Depth int
	// Prefix, if not nil, returns the length of the part of a key that Txn.Iter can seek with
	// SeekPrefixGE. Filters hold only this part, so that a table without such a key is not read.
	// The function must never change for an existing store, and the part of one key must not be a
	// prefix of the part of another, unless it is that whole key. Nil means the whole key.
	Prefix func(key []byte) int
	// BlockBytes is how much of a table is compressed and read at once; 0 means 4 KiB, compressed
	// by snappy. Set it if values resemble those of neighbouring keys: blocks are then compressed
	// by zstd.
	BlockBytes int
}

// DB is an open store. Its methods may be called from any goroutine.
type DB struct {
	name string
	dir  string
	log  *slog.Logger
	db   engine

	// failed is closed once failure is set.
	failed  chan struct{}
	failure atomic.Pointer[error]

	// mu guards next, begun, seen and committing. next has the next offsets as of the last
	// committed batches. begun has the partitions of which a batch was begun; no view has any
	// other. seen has the filters.
	mu    sync.RWMutex
	next  schemas.Watermark
	begun map[schemas.TopicPartition]bool
	seen  map[schemas.TopicPartition]*seen
	// committing is the number of batches being committed, which next may lack. A commit that
	// failed is counted for ever.
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
		d.db, err = openPebble(dir, pebbleOptions(d, o))
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

// pebbleOptions is not a method of DB, whose importers would read what it returns: see engine.go.
func pebbleOptions(d *DB, o Options) *pebble.Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	po := &pebble.Options{
		FS:        walFS{o.FS, d},
		CacheSize: o.CacheBytes,
		Cleaner:   deleter{},
		Merger:    pebble.DefaultMerger, // it concatenates: Txn.Append
		// The version is fixed, so that a newer Pebble does not write what this one cannot read.
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
			// Pebble panics after a WAL that could not be created: see walFS.
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
		// Most reads are for an id or a term that the store does not have.
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		if o.BlockBytes > 0 {
			po.Levels[i].BlockSize = o.BlockBytes
			po.Levels[i].Compression = func() *block.CompressionProfile { return block.ZstdCompression }
		}
	}
	return po
}

// openPebble turns Pebble's panic about a damaged file into an error.
func openPebble(dir string, o *pebble.Options) (db engine, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, fmt.Errorf("%w: %v", pebble.ErrCorruption, p)
		}
	}()
	opened, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return pebbleDB{opened}, nil
}

func (d *DB) readNext() error {
	it, err := d.db.iter([]byte{kindNext}, []byte{kindNext + 1})
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
	tp, rest, ok := ParseShard(key[1:])
	next, n := binary.Uvarint(value)
	if !ok || len(rest) > 0 || n <= 0 || n != len(value) || int64(next) < 0 {
		return tp, 0, fmt.Errorf("next offset: key %q, value %x", key, value)
	}
	return tp, int64(next), nil
}

// Name returns the name of the projection.
func (d *DB) Name() string { return d.name }

// begin records that a batch of a partition has begun.
func (d *DB) begin(tp schemas.TopicPartition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun[tp] = true
}

// partitions returns the partitions that a view may have.
func (d *DB) partitions() []schemas.TopicPartition {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Collect(maps.Keys(d.begun))
}

// Next returns the next offset to read of a partition.
func (d *DB) Next(tp schemas.TopicPartition) int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.next[tp]
}

// Watermark returns Next for every partition seen.
func (d *DB) Watermark() schemas.Watermark {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return maps.Clone(d.next)
}

// DiskUsage flushes memory tables and estimates how many bytes of tables hold the keys from lower
// (included) to upper (excluded).
func (d *DB) DiskUsage(lower, upper []byte) (uint64, error) {
	if err := d.guard(d.db.Flush); err != nil {
		return 0, d.explain("flush", err)
	}
	bytes, err := d.db.EstimateDiskUsage(lower, upper)
	return bytes, d.explain("read", err)
}

// Flush makes everything committed durable.
func (d *DB) Flush() error {
	return d.explain("flush", d.guard(d.db.sync))
}

// Dump yields every key and value of one state in ascending order of keys.
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

// Close closes the store. No View may be open. A store that has failed is not closed: Pebble may be
// stuck, and the process is about to end.
func (d *DB) Close() error {
	if err := d.Failed(); err != nil {
		return fmt.Errorf("close %s: it had failed: %w", d.name, err)
	}
	return d.explain("close", d.guard(d.db.Close))
}

// Failed returns why the store can no longer be used, or nil.
func (d *DB) Failed() error {
	if p := d.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// fail marks the store as failed permanently. The first cause is kept.
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

// giveUp fails the store after a flush or compaction that the disk refused. Pebble would retry at
// once and for ever, at the cost of a core. Goexit ends its goroutine instead: its deferred calls
// release what it holds, and no second one is started because the first is never reported as ended.
func (d *DB) giveUp(err error) {
	if err == nil || errors.Is(err, pebble.ErrCancelledCompaction) || err.Error() == emptyTable {
		return
	}
	d.fail(err)
	runtime.Goexit()
}

// emptyTable is the error that Pebble reports for a flush with nothing to write.
const emptyTable = "pebble: empty table"

// guard runs f, which calls into Pebble and may write. If Pebble panics, or blocks because it
// cannot continue, the store fails and guard returns the error. A blocked call is left behind,
// since nothing but the end of the process can end it.
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

// Damaged returns the error for a stored value that cannot be decoded.
func (d *DB) Damaged(cause error) error {
	return schemas.Fatalf("%s: state in %s is damaged: %w; `recount rebuild --projection %s` rebuilds it from the log", d.name, d.dir, cause, d.name)
}

// explain adds to an error of Pebble what it means for the operator, once.
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
		return fmt.Errorf("%s: %s %s: the disk is full: free some space, then start again; nothing was lost: %w", d.name, doing, d.dir, err)
	case doing == opening && !errors.As(err, &errno):
		// Neither the system nor another process caused the error, so it comes from the content of
		// the files.
		return d.Damaged(err)
	}
	return fmt.Errorf("%s: %s %s: %w", d.name, doing, d.dir, err)
}

const opening = "open"

// pebbleLogger logs Pebble's errors and drops its progress messages.
type pebbleLogger struct{ d *DB }

func (l pebbleLogger) Infof(string, ...any) {}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.d.log.Warn("store", "err", fmt.Sprintf(format, args...))
}

// Fatalf is called when Pebble cannot continue. The code after the call must not run: it would,
// for example, delete the WALs of a flush that was never recorded. So Fatalf fails the store and
// blocks the calling goroutine for ever; guard releases the goroutines that wait for it.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	err := fatalError{text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if cause, ok := a.(error); ok {
			err.cause = cause
		}
	}
	l.d.stopOn(err)
}

// fatalError is a fatal message of Pebble, which formats its cause without wrapping it.
type fatalError struct {
	text  string
	cause error
}

func (e fatalError) Error() string { return e.text }
func (e fatalError) Unwrap() error { return e.cause }
