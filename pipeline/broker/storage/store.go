package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// store is the Pebble database and the only way to write to it.
type store struct {
	fs  vfs.FS
	dir string
	db  *pebble.DB
	log *slog.Logger

	commit    *committer
	highwater *highwater
	segments  *segments
	bulkBytes int // bytes of a topic's batches in a group from which they go to a segment file
	started   bool
	// lastCommit is the number of the last group built; used by the committer only.
	lastCommit uint64
	// opening is the id of this opening, for whatever is appended from now on (lineage.go).
	opening lineageID
	// lastProducer is the last producer id assigned; used by the committer only.
	lastProducer uint64

	// opened reports that Pebble is open; until then its errors are returned by Open.
	opened atomic.Bool
	// reading is the file that Pebble opened last while it was opening.
	reading atomic.Pointer[string]
	// scrubbing makes Pebble remove all obsolete data, and rewriteAll makes compactions rewrite
	// every value (scrub.go).
	scrubbing, rewriteAll atomic.Bool
	// Numbers of consecutive failures; guarded by Pebble's lock.
	flushFailures, compactionFailures int

	failOnce sync.Once
	failErr  atomic.Pointer[error]
	failed   chan struct{} // closed when the store has failed
}

const (
	// memTableSize times MemTableStopWritesThreshold is the maximum that an opening has to replay;
	// a group of twice maxGroupBytes still fits into half of one.
	memTableSize   = 48 << 20
	blockCacheSize = 32 << 20
	// minBlobValue is the size from which a value goes into a blob file, where compactions leave it
	// alone. Everything but record batches is smaller.
	minBlobValue = 512
)

// openStore opens Pebble with options chosen by measurement for the load of groups below
// Options.BulkBytes (values of a kilobyte and more, appended to a few partitions, read in sequence,
// rarely deleted and then by range): each batch is written once to the WAL and once to a blob file,
// and compactions move references to it. With Pebble's default options the same load is written six
// times.
func openStore(fs vfs.FS, dir string, log *slog.Logger) (*store, error) {
	s := &store{fs: fs, dir: dir, log: log, opening: newLineageID(), failed: make(chan struct{})}
	cache := pebble.NewCache(blockCacheSize)
	defer cache.Unref()
	o := &pebble.Options{
		FS:                          guardFS{fs, s},
		FormatMajorVersion:          pebble.FormatValueSeparation,
		Cache:                       cache,
		MemTableSize:                memTableSize,
		MemTableStopWritesThreshold: 3,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       64,
		BytesPerSync:                1 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		Logger:                      pebbleLogger{s},
	}
	// Producers decide whether batches are compressed; they are stored as sent either way.
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings {
		return pebble.UniformDBCompressionSettings(block.NoCompression)
	})
	o.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
		p := pebble.ValueSeparationPolicy{
			Enabled:     true,
			MinimumSize: minBlobValue,
			// The limit is high because partitions interleave in every flush: rewriting values to
			// reduce the number of files would cost what it saves.
			MaxBlobReferenceDepth: 1000,
			// The minimum age is 0, so that no file is too young to be scrubbed.
			RewriteMinimumAge:  0,
			TargetGarbageRatio: 0.5,
		}
		if s.scrubbing.Load() {
			p.TargetGarbageRatio = 0
		}
		if s.rewriteAll.Load() {
			p.MaxBlobReferenceDepth = 0
		}
		return p
	}
	o.EventListener = &pebble.EventListener{
		BackgroundError: func(err error) { log.Warn("log store: background work will be retried", "err", err) },
		FlushEnd:        func(i pebble.FlushInfo) { s.background("flush", &s.flushFailures, i.Err) },
		CompactionEnd:   func(i pebble.CompactionInfo) { s.background("compaction", &s.compactionFailures, i.Err) },
		DataCorruption: func(i pebble.DataCorruptionInfo) {
			log.Error("log store: damaged file", "path", i.Path, "err", i.Details)
		},
		DiskSlow: func(i pebble.DiskSlowInfo) { log.Warn("log store: slow disk", "path", i.Path, "took", i.Duration) },
	}
	if err := checkStore(fs, dir); err != nil {
		return nil, err
	}
	db, err := s.openPebble(o)
	if err != nil {
		reading := ""
		if p := s.reading.Load(); p != nil {
			reading = *p
		}
		return nil, explainStore(err, dir, reading)
	}
	s.db = db
	if s.lastCommit, err = s.getUint64(metaCommit); err == nil {
		s.lastProducer, err = s.getUint64(metaNextProducer)
	}
	if err != nil {
		return nil, errors.Join(err, s.closePebble())
	}
	s.commit = newCommitter(s)
	s.opened.Store(true)
	return s, nil
}

// openPebble opens Pebble. It converts everything that goes wrong meanwhile into an error,
// including a panic over a damaged file and a failed write in one of Pebble's goroutines: such a
// goroutine is parked (see fail), and Pebble, which waits for it, is abandoned with its lock.
func (s *store) openPebble(o *pebble.Options) (*pebble.DB, error) {
	type result struct {
		db  *pebble.DB
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() { done <- r }()
		r.err = recovered(func() (err error) { r.db, err = pebble.Open(s.dir, o); return err })
	}()
	select {
	case r := <-done:
		return r.db, r.err
	case <-s.failed:
		return nil, *s.failErr.Load()
	}
}

// closePebble closes Pebble, which panics if a damaged file made it lose a reader, and never
// returns if its last writes fail the store.
func (s *store) closePebble() error {
	err := s.unlessFailed(func() error { return recovered(s.db.Close) })
	if failure := s.failure(); failure != nil {
		return failure
	}
	return err
}

// recovered converts a panic into an error.
func recovered(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = fmt.Errorf("store: %w", p)
		default:
			err = fmt.Errorf("store: %v", p)
		}
	}()
	return f()
}

// start starts to accept writes.
func (s *store) start() {
	s.started = true
	go s.commit.run()
	go s.commit.finish()
}

// fail stops all writing for good. Only the first cause is kept.
func (s *store) fail(err error) {
	s.failOnce.Do(func() {
		s.failErr.Store(&err)
		close(s.failed)
		// Wake those that wait for space in the queue.
		if !s.opened.Load() {
			return // Open returns the error
		}
		c := s.commit
		if c != nil {
			go func() {
				c.mu.Lock()
				c.room.Broadcast()
				c.mu.Unlock()
			}()
		}
		s.log.Error("log store failed: no more writes are possible; restart to recover", "err", err)
	})
}

// failure returns why the store failed, or nil.
func (s *store) failure() error {
	if p := s.failErr.Load(); p != nil {
		return fmt.Errorf("%w: %w", ErrFailed, *p)
	}
	return nil
}

// close finishes what is queued and closes Pebble. After a failure Pebble is left as it is: its
// goroutines may be parked inside it (see pebbleLogger), and further writes of it cannot be
// trusted.
func (s *store) close() error {
	if s.started {
		s.commit.close()
	}
	if err := s.failure(); err != nil {
		return err
	}
	return errors.Join(s.highwater.close(), s.segments.close(), s.closePebble())
}

// get reads one small value; nil if there is none.
func (s *store) get(key []byte) ([]byte, error) {
	v, c, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", key, err)
	}
	v = append([]byte(nil), v...)
	if err := c.Close(); err != nil {
		return nil, fmt.Errorf("read %q: %w", key, err)
	}
	return v, nil
}

// scan calls fn with every key in [lo, hi) and its value, which are valid only during the call.
func (s *store) scan(lo, hi []byte, fn func(k, v []byte) error) (err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	if err != nil {
		return fmt.Errorf("scan %q: %w", lo, err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return fmt.Errorf("scan %q: at %q: %w", lo, it.Key(), err)
		}
		if err := fn(it.Key(), v); err != nil {
			return err
		}
	}
	return it.Error()
}

func (s *store) getUint64(key []byte) (uint64, error) {
	v, err := s.get(key)
	if err != nil || v == nil {
		return 0, err
	}
	if len(v) != 8 {
		return 0, damaged("%q holds %d bytes, want 8", key, len(v))
	}
	return binary.BigEndian.Uint64(v), nil
}

func encodeUint64(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// prefixEnd returns the first key after all keys that start with prefix.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// pebbleLogger forwards Pebble's messages.
type pebbleLogger struct{ s *store }

func (l pebbleLogger) Infof(format string, args ...any) {}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.s.log.Warn("log store", "err", fmt.Sprintf(format, args...))
}

// Fatalf is called by Pebble when it cannot continue and expects the process to end. This process
// continues, to answer its clients: the store is failed, so nothing more is acknowledged. But
// Pebble's code after the call must not run, nor may its locks be released for other code of Pebble
// to write, so the calling goroutine is parked for ever, holding its locks. Errors of the disk do
// not reach this point (see guardFS). The commit path is the exception: nothing follows its call,
// and it runs on our committer. While the store opens, Open returns the error.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	err := fatalError{text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if cause, ok := a.(error); ok {
			err.cause = cause
		}
	}
	l.s.fail(err)
	if strings.HasPrefix(format, "pebble: fatal commit error") {
		return
	}
	select {}
}

// fatalError is a message of Pebble, which formats it without wrapping the cause.
type fatalError struct {
	text  string
	cause error
}

func (e fatalError) Error() string { return e.text }
func (e fatalError) Unwrap() error { return e.cause }
