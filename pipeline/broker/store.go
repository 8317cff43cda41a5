package broker

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

// store is the Pebble database and the one way to write to it.
type store struct {
	fs    vfs.FS
	dir   string
	db    *pebble.DB
	log   *slog.Logger
	hooks Hooks

	commit    *committer
	highwater *highwater
	segments  *segments
	bulkBytes int // of a topic's batches in a group, from which they go to a segment file
	started   bool
	// lastCommit is the number of the last group built; the committer's alone.
	lastCommit uint64
	// opening is the id of what is appended from now on (lineage.go).
	opening lineageID
	// lastProducer is the last producer id given out; the committer's alone.
	lastProducer uint64

	// opened says that Pebble runs; until then its errors are Open's.
	opened atomic.Bool
	// reading is the file that Pebble opened last while it opened itself.
	reading atomic.Pointer[string]
	// scrubbing has Pebble leave nothing of what it no longer needs, and rewriteAll has
	// compactions write every value anew (scrub.go).
	scrubbing, rewriteAll atomic.Bool
	// In a row, that failed; guarded by Pebble's lock.
	flushFailures, compactionFailures int

	failOnce sync.Once
	failErr  atomic.Pointer[error]
	failed   chan struct{} // closed when the store has failed
}

const (
	// memTableSize times MemTableStopWritesThreshold is the most that an opening
	// has to replay; a group of twice maxGroupBytes still fits into half of one.
	memTableSize   = 48 << 20
	blockCacheSize = 32 << 20
	// minBlobValue is the size from which a value goes into a blob file, where
	// compactions leave it alone. Everything but record batches is smaller.
	minBlobValue = 512
)

// openStore opens Pebble with options measured for what groups below
// Options.BulkBytes make of it (values of a kilobyte and more, appended to a few
// partitions, read in sequence, deleted by range if ever): each batch is written
// once to the WAL and once to a blob file, and compactions move references to it. With Pebble's default
// options the same load is written six times over.
func openStore(fs vfs.FS, dir string, log *slog.Logger, hooks Hooks) (*store, error) {
	s := &store{fs: fs, dir: dir, log: log, hooks: hooks, opening: newLineageID(), failed: make(chan struct{})}
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
	// Batches come compressed by their producers, or not, as those wish; stored
	// as sent either way.
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings {
		return pebble.UniformDBCompressionSettings(block.NoCompression)
	})
	o.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
		p := pebble.ValueSeparationPolicy{
			Enabled:     true,
			MinimumSize: minBlobValue,
			// Deep, because partitions interleave in every flush: rewriting
			// values to make the files fewer would cost what they save.
			MaxBlobReferenceDepth: 1000,
			// Pebble asks for the age only here: a file is never too young to be scrubbed.
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

// openPebble opens Pebble. What goes wrong meanwhile is its error, be it a panic over
// a damaged file or a write that fails in one of Pebble's goroutines: those then stand
// still (see fail), and Pebble, which waits for them, is left behind with its lock.
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

// closePebble closes Pebble, which panics where a reader was lost over a damaged file,
// and does not return if its last writes fail the store.
func (s *store) closePebble() error {
	err := s.unlessFailed(func() error { return recovered(s.db.Close) })
	if failure := s.failure(); failure != nil {
		return failure
	}
	return err
}

// recovered turns a panic into an error.
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

// start begins to accept writes.
func (s *store) start() {
	s.started = true
	go s.commit.run()
	go s.commit.finish()
}

// fail stops all writing, for good. The first cause counts.
func (s *store) fail(err error) {
	s.failOnce.Do(func() {
		s.failErr.Store(&err)
		close(s.failed)
		// Wake whoever waits for room in the queue.
		if !s.opened.Load() {
			return // Open returns it
		}
		c := s.commit
		if c != nil {
			go func() {
				c.mu.Lock()
				c.room.Broadcast()
				c.mu.Unlock()
			}()
		}
		s.log.Error("log store failed: nothing is written any more; restart to recover", "err", err)
		s.hooks.onFatal(err)
	})
}

// failure is why the store failed, or nil.
func (s *store) failure() error {
	if p := s.failErr.Load(); p != nil {
		return fmt.Errorf("%w: %w", errStoreFailed, *p)
	}
	return nil
}

// close finishes what is queued and closes Pebble. After a failure Pebble is
// left as it is: its goroutines may be parked inside it (see pebbleLogger), and
// what it would still write is not to be trusted.
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

// scan calls fn with every key in [lo, hi) and its value, which are only good
// during the call.
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

// prefixEnd is the first key behind every key that starts with prefix.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// pebbleLogger passes on what Pebble has to say.
type pebbleLogger struct{ s *store }

func (l pebbleLogger) Infof(format string, args ...any) {}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.s.log.Warn("log store", "err", fmt.Sprintf(format, args...))
}

// Fatalf is called by Pebble when it cannot go on, expecting the process to end.
// Ours goes on, to tell its clients: the store is failed, so nothing more is
// acknowledged. But Pebble's code behind the call must not run, nor may its locks
// be given back for other code of Pebble's to go on writing, so the calling
// goroutine is parked for ever, holding whatever locks it holds. What disks do to
// us does not come so far (see guardFS). The commit path is the exception: nothing
// follows its call, and it runs on our committer. While the store opens the caller of
// Open is told.
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

// fatalError is what Pebble said, which it formats without wrapping the cause.
type fatalError struct {
	text  string
	cause error
}

func (e fatalError) Error() string { return e.text }
func (e fatalError) Unwrap() error { return e.cause }
