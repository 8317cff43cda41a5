package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// batchSize returns the size of the batch at the iterator's position, without reading it.
func batchSize(it *pebble.Iterator) (int, error) {
	v := it.LazyValue()
	if v.Len() >= wire.BatchHeaderSize {
		return v.Len(), nil
	}
	raw, err := it.ValueAndErr()
	if err != nil {
		return 0, err
	}
	ref, err := decodeReference(raw)
	return ref.length, err
}

// appendBatch appends the batch of topic t at the iterator's position to dst. Its errors name the
// batch; after one that wraps ErrDamaged the iterator can be moved on.
func (s *store) appendBatch(dst []byte, it *pebble.Iterator, t topicNum) ([]byte, error) {
	last := lastOfBatchKey(it.Key())
	start := len(dst)
	v, err := it.ValueAndErr()
	if err != nil {
		return dst, fmt.Errorf("batch ending at offset %d: %w", last, err)
	}
	if len(v) >= wire.BatchHeaderSize {
		// Pebble has verified every byte of it.
		if bt := wire.Batch(v); !bt.WellFormed() || bt.LastOffset() != last {
			return dst, damaged("batch ending at offset %d is not one", last)
		}
		return append(dst, v...), nil
	}
	ref, err := decodeReference(v)
	if err != nil {
		return dst, fmt.Errorf("batch ending at offset %d: %w", last, err)
	}
	id := segmentID{t, ref.segment}
	if dst, err = s.segments.reading.append(dst, id, ref); err == nil {
		if bt := wire.Batch(dst[start:]); bt.WellFormed() && bt.LastOffset() == last && bt.LeaderEpoch() == LeaderEpoch && bt.ChecksumOK() {
			return dst, nil
		}
		err = damaged("segment file %s is not what was written, in the %d bytes from %d on", id.name(), ref.length, ref.at)
	}
	// The batch may have been rewritten since the iterator was opened, and its old place
	// overwritten.
	if now, gerr := s.get(it.Key()); gerr == nil && len(now) >= wire.BatchHeaderSize {
		if bt := wire.Batch(now); bt.WellFormed() && bt.LastOffset() == last {
			return append(dst[:start], now...), nil
		}
	}
	return dst[:start], fmt.Errorf("batch ending at offset %d: %w", last, err)
}

// segmentFiles are the segment files open for reading.
type segmentFiles struct {
	fs  vfs.FS
	dir string

	mu       sync.Mutex
	open     map[segmentID]*segmentFile
	clock    int64
	unwanted []segmentID // to be removed once nobody reads them
}

type segmentFile struct {
	vfs.File
	readers int
	used    int64 // time of the last use, by clock
}

// maxSegmentReaders is the maximum number of files kept open while nobody reads them.
const maxSegmentReaders = 64

// append appends the bytes that ref refers to to dst, unverified.
func (r *segmentFiles) append(dst []byte, id segmentID, ref reference) ([]byte, error) {
	f, err := r.acquire(id)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return dst, damaged("segment file %s is missing", id.name())
		}
		return dst, fmt.Errorf("segment file %s: %w", id.name(), err)
	}
	defer r.release(f)
	start := len(dst)
	dst = slices.Grow(dst, ref.length)[:start+ref.length]
	if _, err := f.ReadAt(dst[start:], ref.at); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return dst[:start], damaged("segment file %s ends before byte %d", id.name(), ref.at+int64(ref.length))
	} else if err != nil {
		return dst[:start], fmt.Errorf("segment file %s: %w", id.name(), err)
	}
	return dst, nil
}

func (r *segmentFiles) acquire(id segmentID) (*segmentFile, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.open[id]
	if f == nil {
		file, err := r.fs.Open(r.fs.PathJoin(r.dir, id.name()))
		if err != nil {
			return nil, err
		}
		r.evict()
		f = &segmentFile{File: file}
		r.open[id] = f
	}
	r.clock++
	f.readers++
	f.used = r.clock
	return f, nil
}

func (r *segmentFiles) release(f *segmentFile) {
	r.mu.Lock()
	f.readers--
	r.mu.Unlock()
}

// evict closes a file that nobody reads, if too many are open.
func (r *segmentFiles) evict() {
	if len(r.open) < maxSegmentReaders {
		return
	}
	var oldest segmentID
	found := false
	for id, f := range r.open {
		if f.readers == 0 && (!found || f.used < r.open[oldest].used) {
			oldest, found = id, true
		}
	}
	if found {
		r.open[oldest].Close() // opened for reading: there is nothing to lose
		delete(r.open, oldest)
	}
}

// markForRemoval marks files for removal by the next sweep.
func (r *segmentFiles) markForRemoval(ids []segmentID) {
	r.mu.Lock()
	r.unwanted = append(r.unwanted, ids...)
	r.mu.Unlock()
}

// sweep removes the files marked for removal that nobody reads.
func (r *segmentFiles) sweep() error {
	r.mu.Lock()
	var ready []segmentID
	r.unwanted = slices.DeleteFunc(r.unwanted, func(id segmentID) bool {
		f := r.open[id]
		if f != nil && f.readers > 0 {
			return false
		}
		if f != nil {
			f.Close()
			delete(r.open, id)
		}
		ready = append(ready, id)
		return true
	})
	r.mu.Unlock()
	var errs []error
	for _, id := range ready {
		if err := r.fs.Remove(r.fs.PathJoin(r.dir, id.name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove segment file %s: %w", id.name(), err))
		}
	}
	return errors.Join(errs...)
}

func (r *segmentFiles) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for id, f := range r.open {
		errs = append(errs, f.Close())
		delete(r.open, id)
	}
	return errors.Join(errs...)
}
