package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Pebble writes what it stores twice, to its WAL and to a table or blob file. So if a group has at
// least Options.BulkBytes of batches for a topic, these go to a segment file instead, once, and
// Pebble stores under each batch's key a reference to its place:
//
//  1. While the group is built each batch is assigned its place: segment, byte, length.
//  2. The batches are written, with the disk starting on the first while the rest are copied
//     (writeback_linux.go). The files are synced, and so is the directory if a file is new.
//  3. Only then is the group handed to Pebble, whose one atomic commit holds the references together with
//     the windows, log ends and everything else.
//
// So there is nothing to replay and nothing to undo: what a reference in Pebble points to was on
// disk before the reference was written anywhere. A crash before step 3 leaves bytes without a
// reference: a file without a key, which the next opening removes, or the end of a file. A later
// opening never writes to an existing file, and a number is never used for two files that
// references could confuse.
//
// Smaller amounts stay in Pebble, because a second sync costs more than writing a few kilobytes
// twice.
//
// A file holds batches of one topic in the form in which they are fetched, without gaps. Each batch
// is verified whenever it is read: its own CRC32C covers it from byte 21, and the bytes before must
// agree with its key and reference.

// segment is one file. Only the committer uses it.
type segment struct {
	id segmentID
	// end is the number of bytes in the file, including what the group being built has placed.
	end int64
	// held maps each partition with batches in the file to the last offset of its last batch. Once
	// all of these are deleted, so is the file.
	held map[int32]int64

	f vfs.File // while it is being written
	// Bytes written to f, and how many of them the disk has been asked to write.
	wrote, started int64
	// Batches of the group being built, in order, and their partitions.
	staged []wire.Batch
	moved  map[int32]struct{}
}

type segmentID struct {
	topic topicNum
	num   uint64
}

const (
	segmentDir    = "segments"
	segmentSuffix = ".batches"
	// maxSegmentWriters is the maximum number of files open for writing: the topic that has not
	// written for longest closes its file and begins another when it writes again.
	maxSegmentWriters = 64
	// Batches smaller than gatherBelow are copied together, so that fewer calls write them.
	gatherBelow = 64 << 10
	gatherBytes = 1 << 20
	// writeBackBytes is how much is written before the disk is asked to start on it, while the rest
	// of the group is copied. A smaller value would cost more than it saves.
	writeBackBytes = 1 << 20
	pageBytes      = 4 << 10
)

// segments are the segment files of a log.
type segments struct {
	fs       vfs.FS
	dir      string
	maxBytes int64 // maximum size of a file

	// Used by the committer only, and by Open before it.
	last    uint64 // last number assigned
	byTopic map[topicNum][]*segment
	writers []*segment // each topic's current segment; least recently used first
	full    []*segment // to be closed when the group is written
	staged  []*segment // those with batches of the group being built
	gather  []byte
	orphans []string // found at opening

	bytes, written atomic.Int64

	reading segmentFiles
}

func (id segmentID) name() string { return fmt.Sprintf("%06d-%06d%s", id.topic, id.num, segmentSuffix) }

func parseSegmentName(name string) (id segmentID, ok bool) {
	stem, ok := strings.CutSuffix(name, segmentSuffix)
	topic, num, ok2 := strings.Cut(stem, "-")
	t, err := strconv.ParseUint(topic, 10, 32)
	n, err2 := strconv.ParseUint(num, 10, 64)
	return segmentID{topicNum(t), n}, ok && ok2 && err == nil && err2 == nil
}

// reference is the place of a batch. It is encoded as the value of the batch's key in Pebble:
// version 1 (byte), segment u64, byte u64, length u32. A batch that Pebble stores itself is longer
// than that.
type reference struct {
	segment uint64
	at      int64
	length  int
}

const referenceSize = 1 + 8 + 8 + 4

func (r reference) encode() []byte {
	v := make([]byte, 0, referenceSize)
	v = append(v, 1)
	v = binary.BigEndian.AppendUint64(v, r.segment)
	v = binary.BigEndian.AppendUint64(v, uint64(r.at))
	return binary.BigEndian.AppendUint32(v, uint32(r.length))
}

func decodeReference(v []byte) (r reference, err error) {
	if len(v) != referenceSize || v[0] != 1 {
		return r, damaged("%d bytes that are neither a batch nor a reference to one", len(v))
	}
	r.segment = binary.BigEndian.Uint64(v[1:])
	r.at = int64(binary.BigEndian.Uint64(v[9:]))
	r.length = int(binary.BigEndian.Uint32(v[17:]))
	if r.at < 0 || r.length < wire.BatchHeaderSize {
		return r, damaged("a reference to %d bytes at %d", r.length, r.at)
	}
	return r, nil
}

// openSegments reads which files there should be and compares them with those that exist: a missing
// or short file is damage.
func (l *Log) openSegments() error {
	vf, dir := l.opts.FS, l.disk.segmentDir()
	if err := makeDir(vf, dir); err != nil {
		return fmt.Errorf("create %s: %w", dir, err)
	}
	ss := &segments{fs: vf, dir: dir, maxBytes: int64(l.opts.SegmentBytes), byTopic: map[topicNum][]*segment{}}
	ss.reading = segmentFiles{fs: vf, dir: dir, open: map[segmentID]*segmentFile{}}
	l.store.segments, l.store.bulkBytes = ss, l.opts.BulkBytes
	names := map[topicNum]string{}
	for _, t := range l.topics.all() {
		names[t.num] = t.Name
	}
	if err := ss.load(l.store, names); err != nil {
		return err
	}
	return ss.findOrphans()
}

// load reads the segments from the store.
func (ss *segments) load(s *store, names map[topicNum]string) error {
	known := map[segmentID]*segment{}
	err := s.scan([]byte{keySegment}, []byte{keySegment + 1}, func(k, v []byte) error {
		id, ok := decodeSegmentKey(k)
		if !ok || len(k) != 13 || len(v) != 8 {
			return damaged("a segment of no topic: %x", k)
		}
		name, ok := names[id.topic]
		if !ok {
			return damaged("segment file %s belongs to no topic", id.name())
		}
		seg := &segment{id: id, end: int64(binary.BigEndian.Uint64(v)), held: map[int32]int64{}}
		switch info, err := ss.fs.Stat(ss.path(id)); {
		case errors.Is(err, fs.ErrNotExist):
			return damaged("segment file %s of topic %q is missing", id.name(), name)
		case err != nil:
			return fmt.Errorf("segment file %s of topic %q: %w", id.name(), name, err)
		case info.Size() < seg.end:
			return damaged("segment file %s of topic %q has %d bytes, and had %d", id.name(), name, info.Size(), seg.end)
		}
		known[id] = seg
		ss.byTopic[id.topic] = append(ss.byTopic[id.topic], seg) // in order, because the keys are
		ss.last = max(ss.last, id.num)
		ss.bytes.Add(seg.end)
		return nil
	})
	if err != nil {
		return err
	}
	return s.scan([]byte{keyHeld}, []byte{keyHeld + 1}, func(k, v []byte) error {
		id, ok := decodeSegmentKey(k)
		seg := known[id]
		if !ok || len(k) != 17 || len(v) != 8 || seg == nil {
			return damaged("what a segment holds: %x", k)
		}
		seg.held[int32(binary.BigEndian.Uint32(k[13:]))] = int64(binary.BigEndian.Uint64(v))
		return nil
	})
}

// findOrphans finds the files without a key.
func (ss *segments) findOrphans() error {
	names, err := ss.fs.List(ss.dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", ss.dir, err)
	}
	for _, name := range names {
		id, ok := parseSegmentName(name)
		if !ok || slices.ContainsFunc(ss.byTopic[id.topic], func(seg *segment) bool { return seg.id == id }) {
			continue
		}
		ss.orphans = append(ss.orphans, name)
		ss.last = max(ss.last, id.num)
	}
	return nil
}

// removeOrphans removes the files that no commit refers to: of a group that a crash interrupted, or
// of a topic that was just deleted. It runs after the store was found to be complete.
func (ss *segments) removeOrphans() error {
	for _, name := range ss.orphans {
		if err := ss.fs.Remove(ss.fs.PathJoin(ss.dir, name)); err != nil {
			return fmt.Errorf("remove a segment file that holds nothing: %w", err)
		}
	}
	ss.orphans = nil
	return nil
}

// place assigns b, a batch of partition p, the place behind those that the group being built has
// placed already.
func (ss *segments) place(t topicNum, p int32, b wire.Batch) reference {
	seg := ss.current(t, len(b))
	ref := reference{seg.id.num, seg.end, len(b)}
	if len(seg.staged) == 0 {
		ss.staged = append(ss.staged, seg)
	}
	seg.staged = append(seg.staged, b)
	seg.end += int64(len(b))
	seg.held[p] = b.LastOffset()
	seg.moved[p] = struct{}{}
	return ref
}

// current returns the segment that topic t writes to, with space for n bytes.
func (ss *segments) current(t topicNum, n int) *segment {
	var seg *segment
	if i := slices.IndexFunc(ss.writers, func(s *segment) bool { return s.id.topic == t }); i >= 0 {
		seg = ss.writers[i]
		ss.writers = slices.Delete(ss.writers, i, i+1)
		if seg.end+int64(n) > ss.maxBytes {
			ss.full = append(ss.full, seg)
			seg = nil
		}
	}
	if seg == nil {
		ss.last++
		seg = &segment{id: segmentID{t, ss.last}, held: map[int32]int64{}, moved: map[int32]struct{}{}}
		ss.byTopic[t] = append(ss.byTopic[t], seg)
	}
	ss.writers = append(ss.writers, seg)
	return seg
}

// write makes the placed batches durable and adds the new state of the segments to the commit. If
// it fails the commit must not be made.
func (ss *segments) write(w *pebble.Batch) error {
	if len(ss.staged) == 0 {
		return nil
	}
	created := false
	for _, seg := range ss.staged {
		if seg.f == nil {
			f, err := ss.fs.Create(ss.path(seg.id), vfs.WriteCategoryUnspecified)
			if err != nil {
				return fmt.Errorf("begin segment file: %w", err)
			}
			seg.f, created = f, true
		}
		if err := ss.writeBatches(seg); err != nil {
			return fmt.Errorf("write segment file %s: %w", seg.id.name(), err)
		}
	}
	for _, seg := range ss.staged {
		if err := seg.f.SyncData(); err != nil {
			return fmt.Errorf("sync segment file %s: %w", seg.id.name(), err)
		}
		seg.started = seg.wrote &^ (pageBytes - 1)
		if err := seg.writeKeys(w); err != nil {
			return err
		}
	}
	if created {
		if err := syncDir(ss.fs, ss.dir); err != nil {
			return err
		}
	}
	ss.staged = ss.staged[:0]
	if n := len(ss.writers) - maxSegmentWriters; n > 0 {
		ss.full = append(ss.full, ss.writers[:n]...)
		ss.writers = slices.Delete(ss.writers, 0, n)
	}
	for _, seg := range ss.full {
		if err := seg.close(); err != nil {
			return err
		}
	}
	ss.full = ss.full[:0]
	return nil
}

// writeBatches writes the batches staged in seg to its file.
func (ss *segments) writeBatches(seg *segment) error {
	put := func(b []byte) error {
		if len(b) == 0 {
			return nil
		}
		if err := seg.startWriteBack(); err != nil {
			return err
		}
		n, err := seg.f.Write(b)
		seg.wrote += int64(n)
		ss.bytes.Add(int64(n))
		ss.written.Add(int64(n))
		return err
	}
	for i, b := range seg.staged {
		seg.staged[i] = nil
		if len(b) < gatherBelow {
			ss.gather = append(ss.gather, b...)
		}
		if len(b) >= gatherBelow || len(ss.gather) > gatherBytes-gatherBelow || i == len(seg.staged)-1 {
			if err := put(ss.gather); err != nil {
				return err
			}
			ss.gather = ss.gather[:0]
		}
		if len(b) >= gatherBelow {
			if err := put(b); err != nil {
				return err
			}
		}
	}
	seg.staged = seg.staged[:0]
	return nil
}

// startWriteBack asks the disk to start on what has been written, if that is much and more will
// follow.
func (seg *segment) startWriteBack() error {
	// Only whole pages, because an incomplete page would be written twice.
	if whole := seg.wrote &^ (pageBytes - 1); whole-seg.started >= writeBackBytes {
		from := seg.started
		seg.started = whole
		return startWriteBack(seg.f, from, whole-from)
	}
	return nil
}

// writeKeys adds the state of seg to the commit that references it.
func (seg *segment) writeKeys(w *pebble.Batch) error {
	if err := w.Set(segmentKey(seg.id), encodeUint64(uint64(seg.end)), nil); err != nil {
		return err
	}
	for p := range seg.moved {
		if err := w.Set(heldKey(seg.id, p), encodeUint64(uint64(seg.held[p])), nil); err != nil {
			return err
		}
	}
	clear(seg.moved)
	return nil
}

func (seg *segment) close() error {
	if seg.f == nil {
		return nil
	}
	f := seg.f
	seg.f = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("close segment file %s: %w", seg.id.name(), err)
	}
	return nil
}

func (ss *segments) path(id segmentID) string { return ss.fs.PathJoin(ss.dir, id.name()) }

// close closes every file. Files marked for removal are left to the next opening.
func (ss *segments) close() error {
	if ss == nil {
		return nil
	}
	errs := []error{ss.reading.close()}
	for _, seg := range ss.writers {
		errs = append(errs, seg.close())
	}
	ss.writers = nil
	return errors.Join(errs...)
}
