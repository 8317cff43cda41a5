package broker

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// partition is one log. It has two states: tail, which the committer has decided (including batches
// that may not be on disk yet), and view, which readers may see.
type partition struct {
	topic *topic
	num   int32

	// Used by the committer only.
	tail    tail
	windows map[int64]*window // of recent producers; see windowOf
	touched bool              // changed by the group being built
	opened  int64             // the end when the log was opened
	lineage bool              // it is stored that this opening appended from opened on
	merging []*ownAppend      // held back by the group being built

	// mu guards what readers see and the waiters for changes.
	mu      sync.Mutex
	view    tail
	waiters map[*waiter]struct{}
	retired bool // the topic has been deleted

	measured measured // the size when last computed

	readers readers
}

// tail is the state of a log. It is stored under the partition's key, in the same commit as what
// changed it.
type tail struct {
	start int64 // first offset that can be read
	end   int64 // next offset to assign; in a view: the high watermark
	bytes int64 // of all batches ever appended
	// maxTime is the largest timestamp ever appended, and maxTimeLast the last offset of the batch
	// that has it; -1 if there is none.
	maxTime, maxTimeLast int64
	indexed              int64 // value of bytes when the time index was last written
}

// leaderEpoch is the epoch of every log's leader. It never changes, because no log is ever
// truncated: a log that lost records continues after its former end.
const leaderEpoch = 0

func newTail() tail { return tail{maxTime: -1, maxTimeLast: -1} }

func (t *tail) appendTo(dst []byte) []byte {
	for _, v := range [...]int64{t.start, t.end, t.bytes, t.maxTime, t.maxTimeLast, t.indexed} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(v))
	}
	return dst
}

func decodeTail(v []byte) (t tail, err error) {
	if len(v) != 6*8 {
		return t, damaged("a partition's state of %d bytes", len(v))
	}
	for i, f := range [...]*int64{&t.start, &t.end, &t.bytes, &t.maxTime, &t.maxTimeLast, &t.indexed} {
		*f = int64(binary.BigEndian.Uint64(v[8*i:]))
	}
	if t.start < 0 || t.start > t.end {
		return t, damaged("a partition from offset %d to %d", t.start, t.end)
	}
	return t, nil
}

func (p *partition) String() string { return fmt.Sprintf("%s/%d", p.topic.name, p.num) }

// timeIndexEvery is the number of bytes of batches per entry of the time index.
const timeIndexEvery = 64 << 10

// append adds b to the commit as the next batch of the log, or detects that it is there already. It
// returns the batch's base offset. Only the committer calls it. If err is not nil, which means a
// bug or damage, nothing was written.
func (p *partition) append(s *store, w *pebble.Batch, b wire.Batch, now time.Time) (base int64, dup bool, e *kerr.Error, err error) {
	var win *window
	if b.ProducerID() >= 0 {
		if win, err = p.windowOf(s, b.ProducerID()); err != nil {
			return 0, false, nil, err
		}
		if base, dup, e = win.judge(b); dup || e != nil {
			return base, dup, e, nil
		}
	}
	t := &p.tail
	base = t.end
	b.SetOffset(base, leaderEpoch)
	t.end += int64(b.LastDelta()) + 1
	t.bytes += int64(len(b))
	if ts := b.MaxTimestamp(); ts > t.maxTime {
		t.maxTime, t.maxTimeLast = ts, t.end-1
	}
	stored := []byte(b)
	if p.topic.bulk {
		stored = s.segments.place(p.topic.num, p.num, b).encode()
	}
	if err := w.Set(batchKey(p.topic.num, p.num, t.end-1), stored, nil); err != nil {
		return 0, false, nil, err
	}
	if t.bytes-t.indexed >= timeIndexEvery {
		t.indexed = t.bytes
		key := timeKey(p.topic.num, p.num, t.maxTime)
		if err := w.Set(key, encodeUint64(uint64(t.end-1)), nil); err != nil {
			return 0, false, nil, err
		}
	}
	if win != nil {
		win.note(b, base, now)
		if err := p.writeWindow(w, b.ProducerID(), win); err != nil {
			return 0, false, nil, err
		}
	}
	return base, false, nil, nil
}

// writeTail adds the partition's state to the commit that changed it.
func (p *partition) writeTail(w *pebble.Batch) error {
	return w.Set(partitionKey(p.topic.num, p.num), p.tail.appendTo(nil), nil)
}

// publish makes t, which is on disk, the state that readers see, and returns by how many bytes it
// has grown.
func (p *partition) publish(t tail) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	grown := t.bytes - p.view.bytes
	p.view = t
	for w := range p.waiters {
		w.add(grown)
	}
	return grown
}

// now returns the state that readers may see.
func (p *partition) now() tail {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view
}

// waiter is a fetch that waits for bytes to arrive in any of its partitions.
type waiter struct {
	mu   sync.Mutex
	need int64
	ch   chan struct{} // closed when need is met
}

func newWaiter(need int64) *waiter { return &waiter{need: need, ch: make(chan struct{})} }

func (w *waiter) add(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.need <= 0 {
		return
	}
	if w.need -= n; w.need <= 0 {
		close(w.ch)
	}
}

// watch registers w, and reports to it what was appended since the log was at seen.
func (p *partition) watch(w *waiter, seen tail) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiters == nil {
		p.waiters = map[*waiter]struct{}{}
	}
	p.waiters[w] = struct{}{}
	if p.retired {
		w.add(1 << 62)
	} else {
		w.add(p.view.bytes - seen.bytes)
	}
}

func (p *partition) unwatch(w *waiter) {
	p.mu.Lock()
	delete(p.waiters, w)
	p.mu.Unlock()
}

// retire wakes the waiters of a partition whose topic has been deleted.
func (p *partition) retire() error {
	p.mu.Lock()
	p.retired = true
	for w := range p.waiters {
		w.add(1 << 62)
	}
	p.mu.Unlock()
	return p.readers.closeAll()
}

func (p *partition) isRetired() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.retired
}

// checkEpoch compares a client's epoch with the log's. -1 means that the client does not know one.
func checkEpoch(e int32) *kerr.Error {
	if e > leaderEpoch {
		return kerr.UnknownLeaderEpoch
	}
	return nil
}
