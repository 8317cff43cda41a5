package broker

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
)

// Pebble writes what it stores twice, to its WAL and to a table or blob file. So
// the batches of a topic that are much together (Options.BulkBytes in one group)
// go to a segment file instead, once, and Pebble stores under each batch's key
// where it stands there:
//
//  1. While the group is built each batch gets its place: segment, byte, length.
//  2. The batches are written, the disk beginning with the first while the rest are
//     copied (writeback_linux.go), the files synced, and the directory if a file is new.
//  3. Only then is the group handed to Pebble, whose one atomic commit holds the
//     references with the windows, log ends and all else.
//
// So there is nothing to replay and nothing to undo: what a reference in Pebble
// points at was on disk before the reference was written anywhere. A crash before
// step 3 leaves bytes that nothing points at: a file without a key, which the next
// opening removes, or the end of one. A file is never written to again by a later
// opening, and a number never used for two files that references could mean.
//
// Little things stay out of it, because a second sync costs more than writing a
// few kilobytes twice.
//
// A file holds batches of one topic, as they are fetched, with nothing between
// them. Each is verified whenever it is read: the batch's own CRC32C covers it from
// byte 21 on, and what stands before must be what its key and reference say.

// segment is one file. All of it is the committer's alone.
type segment struct {
	id segmentID
	// end is how far it is filled, with what the group being built has placed.
	end int64
	// held is, for each partition with batches in it, the last offset of the last:
	// when all of them are deleted the file is.
	held map[int32]int64

	f vfs.File // while it is written to
	// Of f: bytes written, and how many of them the disk has been told to write.
	wrote, started int64
	// Of the group being built: batches in order, and their partitions.
	staged []batch
	moved  map[int32]struct{}
}

type segmentID struct {
	topic topicNum
	num   uint64
}

const (
	segmentDir    = "segments"
	segmentSuffix = ".batches"
	// maxSegmentWriters bounds the files open for writing: a topic that has not
	// written for longest gives its own up, and begins another when it comes back.
	maxSegmentWriters = 64
	// Batches below gatherBelow are copied together, to be written by fewer calls.
	gatherBelow = 64 << 10
	gatherBytes = 1 << 20
	// writeBackBytes is how much is written before the disk is told to begin with it,
	// while the rest of the group is copied. Sooner would cost more than it saves.
	writeBackBytes = 1 << 20
	pageBytes      = 4 << 10
)

// segments are the segment files of a log.
type segments struct {
	fs       vfs.FS
	dir      string
	maxBytes int64 // of one file

	// The committer's alone, and before it Open's.
	last    uint64 // number given out
	byTopic map[topicNum][]*segment
	writers []*segment // a topic's current one; least lately used first
	full    []*segment // to be closed when the group is written
	staged  []*segment // with batches of the group being built
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

// reference says where a batch stands. It is what the batch's key holds in
// Pebble: version 1 (byte), segment u64, byte u64, length u32. A batch that Pebble
// holds itself is longer than that.
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
	if r.at < 0 || r.length < batchHeaderSize {
		return r, damaged("a reference to %d bytes at %d", r.length, r.at)
	}
	return r, nil
}

// openSegments reads which files there should be, and compares them with those
// that are there: a missing or short one is damage.
func (b *Broker) openSegments() error {
	vf, dir := b.opts.FS, b.disk.segmentDir()
	if err := makeDir(vf, dir); err != nil {
		return fmt.Errorf("create %s: %w", dir, err)
	}
	ss := &segments{fs: vf, dir: dir, maxBytes: int64(b.opts.SegmentBytes), byTopic: map[topicNum][]*segment{}}
	ss.reading = segmentFiles{fs: vf, dir: dir, open: map[segmentID]*segmentFile{}}
	b.store.segments, b.store.bulkBytes = ss, b.opts.BulkBytes
	names := map[topicNum]string{}
	for _, t := range b.topics.all() {
		names[t.num] = t.name
	}
	if err := ss.load(b.store, names); err != nil {
		return err
	}
	return ss.findOrphans()
}

// load reads from the store which segments there are.
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
		ss.byTopic[id.topic] = append(ss.byTopic[id.topic], seg) // in order, as keys are
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

// findOrphans finds the files that no key stands for.
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

// removeOrphans removes the files that no commit speaks of: of a group that a
// crash cut short, or of a topic deleted just before. It comes after the store has
// been found to hold all that it should.
func (ss *segments) removeOrphans() error {
	for _, name := range ss.orphans {
		if err := ss.fs.Remove(ss.fs.PathJoin(ss.dir, name)); err != nil {
			return fmt.Errorf("remove a segment file that holds nothing: %w", err)
		}
	}
	ss.orphans = nil
	return nil
}

// place gives b, of partition p, its place behind what the group being built has
// placed before.
func (ss *segments) place(t topicNum, p int32, b batch) reference {
	seg := ss.current(t, len(b))
	ref := reference{seg.id.num, seg.end, len(b)}
	if len(seg.staged) == 0 {
		ss.staged = append(ss.staged, seg)
	}
	seg.staged = append(seg.staged, b)
	seg.end += int64(len(b))
	seg.held[p] = b.lastOffset()
	seg.moved[p] = struct{}{}
	return ref
}

// current is the segment that topic t writes to, with room for n bytes.
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

// write makes what is placed durable, and adds to the commit what the segments then
// hold. If it fails the commit must not be made.
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

// writeBatches writes what is staged in seg to its file.
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

// startWriteBack has the disk begin with what has been written, if that is much and
// more is to come.
func (seg *segment) startWriteBack() error {
	// A page that is not full yet would be written twice.
	if whole := seg.wrote &^ (pageBytes - 1); whole-seg.started >= writeBackBytes {
		from := seg.started
		seg.started = whole
		return startWriteBack(seg.f, from, whole-from)
	}
	return nil
}

// writeKeys adds what seg holds to the commit that references it.
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

// close closes every file. What is doomed is left to the next opening.
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
