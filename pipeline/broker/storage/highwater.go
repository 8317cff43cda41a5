package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// highwater writes the high-water file, which records beside the store how far the log has come, so
// that a store that lost its end is detected. Pebble takes damage in the last part of its WAL for a
// write that a crash interrupted: it opens without an error, and what was acknowledged after the
// damage is gone.
//
// After each group commit has reached the disk, and before it is acknowledged, one record is
// appended: the commit's number and the new ends of the partitions it moved. The append is synced
// once a second rather than with the commit, which would double the fsyncs. So, whatever happens to
// the store:
//
//   - after a crash of the process (the machine continues) every acknowledged commit is in the file, and
//     the loss of any is detected;
//   - after a power cut all but those of the last second are, and the loss of any older one is detected.
//     Only damage confined to the commits of the last second before a power cut can go undetected.
//
// The file is never ahead of the store, because it is written after the store's fsync: whatever it
// records and the store does not have was lost.
//
// A record is: length u32, CRC32C u32, both of what follows: commit number u64, then entries: 'e'
// topic u32, partition u32, end u64; 'n' topic u32, length u16, name (before the topic's first end
// in a file); 'd' topic u32: deleted. A file starts with a record of the complete state. When it
// has grown to maxHighwater the next file is begun, under the next number, and the old one is
// removed once that is durable.
type highwater struct {
	fs  vfs.FS
	dir string

	mu    sync.Mutex // held while syncing and while changing files
	f     vfs.File
	num   uint64
	dirty bool

	// Used by the finisher only.
	size int
	now  marks
	buf  []byte
}

const (
	highwaterPrefix = "highwater."
	maxHighwater    = 8 << 20
)

// logID identifies a partition's log for ever.
type logID struct {
	topic     topicNum
	partition int32
}

// marks is the content of the high-water files.
type marks struct {
	commit uint64
	ends   map[logID]int64
	names  map[topicNum]string
}

func newMarks() marks { return marks{ends: map[logID]int64{}, names: map[topicNum]string{}} }

// readHighwater folds the files in dir; found is false if there are none.
func readHighwater(fs vfs.FS, dir string) (m marks, last uint64, found bool, err error) {
	m = newMarks()
	nums, err := highwaterFiles(fs, dir)
	if err != nil {
		return m, 0, false, err
	}
	for _, n := range nums {
		data, err := readFile(fs, highwaterName(fs, dir, n))
		if err != nil {
			return m, 0, false, fmt.Errorf("read high-water file: %w", err)
		}
		// A file whose creation was interrupted is empty, and the one before it still exists.
		if m.fold(data) {
			found = true
		}
		last = n
	}
	return m, last, found, nil
}

func highwaterName(fs vfs.FS, dir string, n uint64) string {
	return fs.PathJoin(dir, fmt.Sprintf("%s%06d", highwaterPrefix, n))
}

func highwaterFiles(fs vfs.FS, dir string) ([]uint64, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var nums []uint64
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, highwaterPrefix); ok {
			if n, err := strconv.ParseUint(rest, 10, 64); err == nil {
				nums = append(nums, n)
			}
		}
	}
	slices.Sort(nums)
	return nums, nil
}

// fold applies a file's records, up to the first incomplete one. It reports whether there was any
// record.
func (m *marks) fold(data []byte) (any bool) {
	for len(data) >= 8 {
		n := int64(binary.BigEndian.Uint32(data))
		if n < 8 || n > int64(len(data)-8) {
			return any
		}
		body := data[8 : 8+n]
		if wire.Checksum(body) != binary.BigEndian.Uint32(data[4:]) {
			return any
		}
		m.apply(body)
		any = true
		data = data[8+n:]
	}
	return any
}

func (m *marks) apply(body []byte) {
	m.commit = max(m.commit, binary.BigEndian.Uint64(body))
	for b := body[8:]; len(b) >= 5; {
		num := topicNum(binary.BigEndian.Uint32(b[1:]))
		switch {
		case b[0] == 'e' && len(b) >= 17:
			id := logID{num, int32(binary.BigEndian.Uint32(b[5:]))}
			m.ends[id] = int64(binary.BigEndian.Uint64(b[9:]))
			b = b[17:]
		case b[0] == 'n' && len(b) >= 7 && len(b) >= 7+int(binary.BigEndian.Uint16(b[5:])):
			n := 7 + int(binary.BigEndian.Uint16(b[5:]))
			m.names[num] = string(b[7:n])
			b = b[n:]
		case b[0] == 'd':
			m.forget(num)
			b = b[5:]
		default:
			return
		}
	}
}

func (m *marks) forget(num topicNum) {
	delete(m.names, num)
	maps.DeleteFunc(m.ends, func(id logID, _ int64) bool { return id.topic == num })
}

func appendEnd(dst []byte, id logID, end int64) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, 'e'), uint32(id.topic))
	dst = binary.BigEndian.AppendUint32(dst, uint32(id.partition))
	return binary.BigEndian.AppendUint64(dst, uint64(end))
}

func appendName(dst []byte, num topicNum, name string) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, 'n'), uint32(num))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(name)))
	return append(dst, name...)
}

// beginRecord starts a record in dst[:0]; endRecord fills in its length and checksum.
func beginRecord(dst []byte, commit uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst[:0], make([]byte, 8)...), commit)
}

func endRecord(rec []byte) []byte {
	binary.BigEndian.PutUint32(rec, uint32(len(rec)-8))
	binary.BigEndian.PutUint32(rec[4:], wire.Checksum(rec[8:]))
	return rec
}

// startHighwater begins a new file with the content m, and removes the older ones.
func startHighwater(fs vfs.FS, dir string, last uint64, m marks) (*highwater, error) {
	h := &highwater{fs: fs, dir: dir, num: last, now: m}
	return h, h.rotate()
}

// rotate begins a new file. A crash anywhere leaves the old one or both.
func (h *highwater) rotate() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	rec := beginRecord(h.buf, h.now.commit)
	for _, num := range slices.Sorted(maps.Keys(h.now.names)) {
		rec = appendName(rec, num, h.now.names[num])
	}
	for id, end := range h.now.ends {
		rec = appendEnd(rec, id, end)
	}
	rec = endRecord(rec)
	f, err := h.fs.Create(highwaterName(h.fs, h.dir, h.num+1), vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("begin high-water file: %w", err)
	}
	if _, err = f.Write(rec); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = syncDir(h.fs, h.dir)
	}
	if err != nil {
		return fmt.Errorf("begin high-water file: %w", errors.Join(err, f.Close()))
	}
	if h.f != nil {
		if err := h.f.Close(); err != nil {
			return fmt.Errorf("close high-water file: %w", err)
		}
	}
	h.f, h.num, h.size, h.dirty, h.buf = f, h.num+1, len(rec), false, rec[:0]
	nums, err := highwaterFiles(h.fs, h.dir)
	if err != nil {
		return err
	}
	for _, n := range nums {
		if n < h.num {
			if err := h.fs.Remove(highwaterName(h.fs, h.dir, n)); err != nil {
				return fmt.Errorf("remove old high-water file: %w", err)
			}
		}
	}
	return nil
}

// record appends what a group has made durable. Only the finisher calls it.
func (h *highwater) record(commit uint64, ms []moved, gone []topicNum) error {
	if h.size > maxHighwater {
		if err := h.rotate(); err != nil {
			return err
		}
	}
	h.now.commit = commit
	rec := beginRecord(h.buf, commit)
	for _, m := range ms {
		t := m.p.topic
		if _, ok := h.now.names[t.num]; !ok {
			h.now.names[t.num] = t.Name
			rec = appendName(rec, t.num, t.Name)
		}
		id := logID{t.num, m.p.Num}
		h.now.ends[id] = m.t.End
		rec = appendEnd(rec, id, m.t.End)
	}
	for _, num := range gone {
		h.now.forget(num)
		rec = binary.BigEndian.AppendUint32(append(rec, 'd'), uint32(num))
	}
	rec = endRecord(rec)
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := h.f.Write(rec); err != nil {
		return fmt.Errorf("write high-water file: %w", err)
	}
	h.dirty, h.size, h.buf = true, h.size+len(rec), rec[:0]
	return nil
}

// sync makes the file durable, if there is anything new in it.
func (h *highwater) sync() error {
	h.mu.Lock()
	f, dirty := h.f, h.dirty
	h.dirty = false
	h.mu.Unlock()
	if !dirty {
		return nil
	}
	if err := f.SyncData(); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		if f != h.f {
			return nil // the next file has replaced it and is durable
		}
		return fmt.Errorf("sync high-water file: %w", err)
	}
	return nil
}

func (h *highwater) close() error {
	if h == nil || h.f == nil {
		return nil
	}
	err := h.sync()
	err = errors.Join(err, h.f.Close())
	h.f = nil
	return err
}
