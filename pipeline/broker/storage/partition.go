package storage

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Partition is one log. It has two states: tail, which the committer has decided (including batches
// that may not be on disk yet), and view, which readers may see.
type Partition struct {
	topic *Topic
	Num   int32

	// Used by the committer only.
	tail    State
	windows map[int64]*window // of recent producers; see windowOf
	touched bool              // changed by the group being built
	opened  int64             // the end when the log was opened
	lineage bool              // it is stored that this opening appended from opened on
	merging []*ownAppend      // held back by the group being built

	// mu guards what readers see and the waiters for changes.
	mu      sync.Mutex
	view    State
	waiters map[*Waiter]struct{}
	retired bool // the topic has been deleted

	measured measured // the size when last computed

	readers readers
}

// State is how far a log has come. It is stored under the partition's key, in the same commit as what
// changed it.
type State struct {
	Start int64 // first offset that can be read
	End   int64 // next offset to assign; in a view: the high watermark
	Bytes int64 // of all batches ever appended
	// MaxTime is the largest timestamp ever appended, and MaxTimeLast the last offset of the batch
	// that has it; -1 if there is none.
	MaxTime, MaxTimeLast int64
	indexed              int64 // value of bytes when the time index was last written
}

// LeaderEpoch is the epoch of every log's leader. It never changes, because no log is ever
// truncated: a log that lost records continues after its former end.
const LeaderEpoch = 0

func newState() State { return State{MaxTime: -1, MaxTimeLast: -1} }

func (t *State) appendTo(dst []byte) []byte {
	for _, v := range [...]int64{t.Start, t.End, t.Bytes, t.MaxTime, t.MaxTimeLast, t.indexed} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(v))
	}
	return dst
}

func decodeState(v []byte) (t State, err error) {
	if len(v) != 6*8 {
		return t, damaged("a partition's state of %d bytes", len(v))
	}
	for i, f := range [...]*int64{&t.Start, &t.End, &t.Bytes, &t.MaxTime, &t.MaxTimeLast, &t.indexed} {
		*f = int64(binary.BigEndian.Uint64(v[8*i:]))
	}
	if t.Start < 0 || t.Start > t.End {
		return t, damaged("a partition from offset %d to %d", t.Start, t.End)
	}
	return t, nil
}

func (p *Partition) String() string { return fmt.Sprintf("%s/%d", p.topic.Name, p.Num) }

// timeIndexEvery is the number of bytes of batches per entry of the time index.
const timeIndexEvery = 64 << 10

// append adds b to the commit as the next batch of the log, or detects that it is there already. It
// returns the batch's base offset. Only the committer calls it. If err is not nil, which means a
// bug or damage, nothing was written.
func (p *Partition) append(s *store, w *pebble.Batch, b wire.Batch, now time.Time) (base int64, dup bool, e *kerr.Error, err error) {
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
	base = t.End
	b.SetOffset(base, LeaderEpoch)
	t.End += int64(b.LastDelta()) + 1
	t.Bytes += int64(len(b))
	if ts := b.MaxTimestamp(); ts > t.MaxTime {
		t.MaxTime, t.MaxTimeLast = ts, t.End-1
	}
	stored := []byte(b)
	if p.topic.bulk {
		stored = s.segments.place(p.topic.num, p.Num, b).encode()
	}
	if err := w.Set(batchKey(p.topic.num, p.Num, t.End-1), stored, nil); err != nil {
		return 0, false, nil, err
	}
	if t.Bytes-t.indexed >= timeIndexEvery {
		t.indexed = t.Bytes
		key := timeKey(p.topic.num, p.Num, t.MaxTime)
		if err := w.Set(key, encodeUint64(uint64(t.End-1)), nil); err != nil {
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

// writeState adds the partition's state to the commit that changed it.
func (p *Partition) writeState(w *pebble.Batch) error {
	return w.Set(partitionKey(p.topic.num, p.Num), p.tail.appendTo(nil), nil)
}

// publish makes t, which is on disk, the state that readers see, and returns by how many bytes it
// has grown.
func (p *Partition) publish(t State) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	grown := t.Bytes - p.view.Bytes
	p.view = t
	for w := range p.waiters {
		w.add(grown)
	}
	return grown
}

// View returns the state that readers may see.
func (p *Partition) View() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view
}

// Waiter is a fetch that waits for bytes to arrive in any of its partitions.
type Waiter struct {
	mu    sync.Mutex
	need  int64
	Ready chan struct{} // closed when need is met
}

// NewWaiter returns a waiter for this many bytes.
func NewWaiter(need int64) *Waiter { return &Waiter{need: need, Ready: make(chan struct{})} }

func (w *Waiter) add(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.need <= 0 {
		return
	}
	if w.need -= n; w.need <= 0 {
		close(w.Ready)
	}
}

// Watch registers w, and reports to it what was appended since the log was at seen.
func (p *Partition) Watch(w *Waiter, seen State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiters == nil {
		p.waiters = map[*Waiter]struct{}{}
	}
	p.waiters[w] = struct{}{}
	if p.retired {
		w.add(1 << 62)
	} else {
		w.add(p.view.Bytes - seen.Bytes)
	}
}

// Unwatch ends what Watch began.
func (p *Partition) Unwatch(w *Waiter) {
	p.mu.Lock()
	delete(p.waiters, w)
	p.mu.Unlock()
}

// retire wakes the waiters of a partition whose topic has been deleted.
func (p *Partition) retire() error {
	p.mu.Lock()
	p.retired = true
	for w := range p.waiters {
		w.add(1 << 62)
	}
	p.mu.Unlock()
	return p.readers.closeAll()
}

// Retired reports whether the topic has been deleted.
func (p *Partition) Retired() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.retired
}

// CheckEpoch compares a client's epoch with the log's. -1 means that the client does not know one.
func CheckEpoch(e int32) *kerr.Error {
	if e > LeaderEpoch {
		return kerr.UnknownLeaderEpoch
	}
	return nil
}
