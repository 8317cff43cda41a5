package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Scrubbing removes replaced batches from the disk itself, not only from view. The bytes of an old
// batch can be in
//
//   - a segment file: there they are overwritten with zeros. Nothing refers to them.
//   - tables of the store: a compaction of the range keeps only the newest values.
//   - blob files, which other tables may still need: Pebble rewrites those with enough garbage (half of
//     their bytes) by itself; while scrubbing is set, any garbage is enough.
//   - WALs. Pebble recycles finished WALs by writing the next one over them. So WALs are rotated, with
//     scrubbing set, until none of the earlier ones is left: meanwhile each WAL is a new file.
//
// When Pebble does its part, and which files it needs, is up to Pebble. So nothing is assumed:
// every table and blob file is searched for the header of an old batch (offset, time, checksum: 61
// bytes that occur nowhere else), and scrub waits until the files that contain one are gone. Values
// are stored uncompressed and in one piece, so the search finds them.

const (
	// scrubPatience is how long to wait for files to go before Pebble is asked again, more
	// forcefully.
	scrubPatience = 3 * time.Second
	scrubPoll     = 5 * time.Millisecond
	scrubTries    = 8
)

// scrub carries out the notes and removes them. The caller holds l.rewriting.
func (l *Log) scrub(ctx context.Context) error {
	s := l.store
	notes, err := s.scrubNotes()
	if err != nil || len(notes) == 0 {
		return err
	}
	for _, n := range notes {
		if err := s.segments.blank(n); err != nil {
			return err
		}
	}
	s.scrubbing.Store(true)
	defer s.scrubbing.Store(false)
	if err := l.changeWALs(ctx); err != nil {
		return err
	}
	old := oldBatches(notes)
	for try := range scrubTries {
		// Parked iterators keep files alive.
		l.sweepReaders(0)
		if err := s.compactNotes(ctx, notes, try > 1); err != nil {
			return err
		}
		files, err := s.filesWith(ctx, old)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return s.removeNotes(ctx, notes)
		}
		if err := l.awaitGone(ctx, files); err != nil {
			return err
		}
	}
	return errors.New("the store still has files with replaced batches; removal will be tried again at the next start")
}

// resumeScrub finishes what a crash interrupted.
func (l *Log) resumeScrub() {
	l.rewriting.Lock()
	defer l.rewriting.Unlock()
	if err := l.scrub(l.ctx); err != nil && l.ctx.Err() == nil {
		l.log.Error("cannot remove replaced batches from the disk; it will be tried again at the next start", "err", err)
	}
}

// blank overwrites the batch that a note names in a segment file. The file may no longer exist.
func (ss *segments) blank(n scrubNote) (err error) {
	if n.ref == nil {
		return nil
	}
	path := ss.path(segmentID{n.topic, n.ref.segment})
	f, err := ss.fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("blank a batch in a segment file: %w", err)
	}
	if _, err = f.WriteAt(make([]byte, n.ref.length), n.ref.at); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("blank a batch in a segment file: %w", err)
	}
	return nil
}

// changeWALs returns once no WAL is left that may hold earlier writes.
func (l *Log) changeWALs(ctx context.Context) error {
	s := l.store
	before, err := s.walNumbers()
	if err != nil || len(before) == 0 {
		return err
	}
	newest := slices.Max(before)
	for {
		// Write something to flush; the value is irrelevant.
		if err := s.update(ctx, func(w *pebble.Batch) error { return w.Set(metaScrub, nil, nil) }, nil); err != nil {
			return err
		}
		if err := s.unlessFailed(s.db.Flush); err != nil {
			return err
		}
		now, err := s.walNumbers()
		if err != nil {
			return err
		}
		if len(now) == 0 || slices.Min(now) > newest {
			return nil
		}
		if err := pause(ctx, scrubPoll); err != nil {
			return err
		}
	}
}

func (s *store) walNumbers() ([]uint64, error) {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s.dir, err)
	}
	var nums []uint64
	for _, name := range names {
		if stem, ok := strings.CutSuffix(name, ".log"); ok {
			if n, err := strconv.ParseUint(stem, 10, 64); err == nil {
				nums = append(nums, n)
			}
		}
	}
	return nums, nil
}

// compactNotes makes Pebble drop shadowed values in the notes' ranges; with whole it also rewrites
// every value of every batch.
func (s *store) compactNotes(ctx context.Context, notes []scrubNote, whole bool) error {
	type keyRange struct{ lo, hi []byte }
	var ranges []keyRange
	if whole {
		s.rewriteAll.Store(true)
		defer s.rewriteAll.Store(false)
		ranges = []keyRange{{[]byte{keyBatch}, []byte{keyBatch + 1}}}
	} else {
		// The notes are in the order of keys.
		for i, n := range notes {
			if i == 0 || n.topic != notes[i-1].topic || n.partition != notes[i-1].partition {
				ranges = append(ranges, keyRange{lo: batchKey(n.topic, n.partition, n.last)})
			}
			ranges[len(ranges)-1].hi = batchKey(n.topic, n.partition, n.last+1)
		}
	}
	for _, sp := range ranges {
		err := s.unlessFailed(func() error { return s.db.Compact(ctx, sp.lo, sp.hi, false) })
		if err != nil {
			return fmt.Errorf("compact: %w", err)
		}
	}
	return nil
}

// awaitGone waits until the files are gone, for scrubPatience at most.
func (l *Log) awaitGone(ctx context.Context, files []string) error {
	s := l.store
	for began := time.Now(); time.Since(began) < scrubPatience; {
		l.sweepReaders(0)
		names, err := s.fs.List(s.dir)
		if err != nil {
			return fmt.Errorf("list %s: %w", s.dir, err)
		}
		if !slices.ContainsFunc(files, func(f string) bool { return slices.Contains(names, f) }) {
			return nil
		}
		// Pebble looks for more work after each flush.
		if err := s.update(ctx, func(w *pebble.Batch) error { return w.Set(metaScrub, nil, nil) }, nil); err != nil {
			return err
		}
		if err := s.unlessFailed(s.db.Flush); err != nil {
			return err
		}
		if err := pause(ctx, 10*scrubPoll); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) removeNotes(ctx context.Context, notes []scrubNote) error {
	return s.update(ctx, func(w *pebble.Batch) error {
		for _, n := range notes {
			if err := w.Delete(n.key(), nil); err != nil {
				return err
			}
		}
		return w.Delete(metaScrub, nil)
	}, nil)
}

// oldBatches maps the base offsets of replaced batches to their checksums.
func oldBatches(notes []scrubNote) map[int64][]uint32 {
	m := map[int64][]uint32{}
	for _, n := range notes {
		m[n.base] = append(m[n.base], n.crc)
	}
	return m
}

// filesWith returns the tables and blob files that contain one of the old batches.
func (s *store) filesWith(ctx context.Context, old map[int64][]uint32) (found []string, err error) {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s.dir, err)
	}
	buf := make([]byte, 1<<20)
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") && !strings.HasSuffix(name, ".blob") {
			continue
		}
		has, err := s.fileHas(ctx, name, old, buf)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look through %s: %w", name, err)
		}
		if has {
			found = append(found, name)
		}
	}
	return found, nil
}

func (s *store) fileHas(ctx context.Context, name string, old map[int64][]uint32, buf []byte) (has bool, err error) {
	f, err := s.fs.Open(s.fs.PathJoin(s.dir, name), vfs.SequentialReadsOption)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	kept := 0
	for ctx.Err() == nil {
		n, err := io.ReadFull(f, buf[kept:])
		data := buf[:kept+n]
		if hasBatch(data, old) {
			return true, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buf, data[len(data)-wire.BatchHeaderSize:])
	}
	return false, ctx.Err()
}

// hasBatch reports whether data contains the header of an old batch: the base offset, then the
// magic byte at 16 and the checksum after it.
func hasBatch(data []byte, old map[int64][]uint32) bool {
	for at := 16; at+5 <= len(data); at++ {
		next := bytes.IndexByte(data[at:], 2)
		if next < 0 || at+next+5 > len(data) {
			return false
		}
		at += next
		base := int64(binary.BigEndian.Uint64(data[at-16:]))
		if crcs, ok := old[base]; ok && slices.Contains(crcs, binary.BigEndian.Uint32(data[at+1:])) {
			return true
		}
	}
	return false
}

// unlessFailed waits for work done by Pebble, which never ends if the store fails.
func (s *store) unlessFailed(work func() error) error {
	out := make(chan error, 1)
	go func() { out <- work() }()
	select {
	case err := <-out:
		return err
	case <-s.failed:
		return ErrFailed
	}
}

// pause waits for d, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
