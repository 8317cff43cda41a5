package storage

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// windowSize is how many of a producer's last batches each partition remembers: as many as an
// idempotent producer may have in flight.
const windowSize = 5

// window is what a partition remembers about an idempotent producer. It is written in the same
// commit as the batch it remembers, so a batch that is sent again, even after a crash, is
// recognised and gets its first offset again.
type window struct {
	epoch   int16
	written time.Time // time of the last batch by this machine's clock, used only for expiry
	batches []sequenced
}

// sequenced is one batch: its sequence numbers and its base offset.
type sequenced struct {
	first, last int32
	base        int64
}

// judge decides what to do with batch b: append it (nil, false), answer with the offset of its
// first copy (dup true), or refuse it.
func (w *window) judge(b wire.Batch) (base int64, dup bool, e *kerr.Error) {
	first, last := b.BaseSequence(), b.LastSequence()
	switch {
	case len(w.batches) == 0:
		// Nothing is remembered, because the producer is new or was silent for long: any number is
		// accepted as the next, as in Apache Kafka.
		return 0, false, nil
	case b.ProducerEpoch() < w.epoch:
		return 0, false, kerr.InvalidProducerEpoch
	case b.ProducerEpoch() > w.epoch:
		if first != 0 {
			return 0, false, kerr.OutOfOrderSequenceNumber
		}
		return 0, false, nil
	}
	for _, s := range w.batches {
		if s.first == first && s.last == last {
			return s.base, true, nil
		}
	}
	want := wire.AddSequence(w.batches[len(w.batches)-1].last, 1)
	if first == want {
		return 0, false, nil
	}
	// Sequence numbers form a circle of 2^31. Up to half of it behind is the past: such a batch is
	// stored, but its offset is forgotten.
	if behind := uint32(want-first) & (1<<31 - 1); behind < 1<<30 {
		return 0, false, kerr.DuplicateSequenceNumber
	}
	return 0, false, kerr.OutOfOrderSequenceNumber
}

// note remembers that b was appended at base.
func (w *window) note(b wire.Batch, base int64, now time.Time) {
	if b.ProducerEpoch() != w.epoch {
		w.epoch, w.batches = b.ProducerEpoch(), w.batches[:0]
	}
	if len(w.batches) == windowSize {
		w.batches = w.batches[:copy(w.batches, w.batches[1:])]
	}
	w.batches = append(w.batches, sequenced{b.BaseSequence(), b.LastSequence(), base})
	w.written = now
}

func (w *window) appendTo(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(w.epoch))
	dst = binary.BigEndian.AppendUint64(dst, uint64(w.written.UnixMilli()))
	for _, s := range w.batches {
		dst = binary.BigEndian.AppendUint32(dst, uint32(s.first))
		dst = binary.BigEndian.AppendUint32(dst, uint32(s.last))
		dst = binary.BigEndian.AppendUint64(dst, uint64(s.base))
	}
	return dst
}

func decodeWindow(v []byte) (*window, error) {
	if len(v) < 10 || (len(v)-10)%16 != 0 || (len(v)-10)/16 > windowSize {
		return nil, damaged("a producer's window of %d bytes", len(v))
	}
	w := &window{
		epoch:   int16(binary.BigEndian.Uint16(v)),
		written: time.UnixMilli(int64(binary.BigEndian.Uint64(v[2:]))),
	}
	for v = v[10:]; len(v) > 0; v = v[16:] {
		w.batches = append(w.batches, sequenced{
			first: int32(binary.BigEndian.Uint32(v)),
			last:  int32(binary.BigEndian.Uint32(v[4:])),
			base:  int64(binary.BigEndian.Uint64(v[8:])),
		})
	}
	return w, nil
}

// maxWindows is the maximum number of windows that a partition keeps in memory; the others are read
// when needed.
const maxWindows = 1000

// windowOf returns the window of a producer, from memory or the store. Only the committer calls it.
func (p *Partition) windowOf(s *store, producer int64) (*window, error) {
	if w, ok := p.windows[producer]; ok {
		return w, nil
	}
	v, err := s.get(windowKey(p.topic.num, p.Num, producer))
	if err != nil {
		return nil, err
	}
	w := &window{}
	if v != nil {
		if w, err = decodeWindow(v); err != nil {
			return nil, fmt.Errorf("%s: producer %d: %w", p, producer, err)
		}
	}
	if p.windows == nil {
		p.windows = map[int64]*window{}
	}
	p.windows[producer] = w
	return w, nil
}

// writeWindow adds a window to the commit that appends its last batch.
func (p *Partition) writeWindow(b *pebble.Batch, producer int64, w *window) error {
	return b.Set(windowKey(p.topic.num, p.Num, producer), w.appendTo(nil), nil)
}

// trimWindows forgets the windows in memory if there are too many. It runs when a group has been
// built, so that all of them are in the batch; they can be read back once it is applied.
func (p *Partition) trimWindows() {
	if len(p.windows) > maxWindows {
		clear(p.windows)
	}
}

// expireWindows forgets producers that have written nothing since before, so that the store does
// not keep a window for every program that ever ran.
func (l *Log) expireWindows(before time.Time) (n int, err error) {
	type expired struct {
		p        *Partition
		producer int64
	}
	byNum := map[topicNum]*Topic{}
	for _, t := range l.topics.all() {
		byNum[t.num] = t
	}
	var old []expired
	err = l.store.scan([]byte{keyWindow}, []byte{keyWindow + 1}, func(k, v []byte) error {
		w, err := decodeWindow(v)
		if err != nil {
			return err
		}
		num, part, ok := decodePartitionKey(k[:min(len(k), 9)])
		if t := byNum[num]; ok && t != nil && len(k) == 17 && w.written.Before(before) {
			if p := t.Partition(part); p != nil {
				old = append(old, expired{p, int64(binary.BigEndian.Uint64(k[9:]))})
			}
		}
		return nil
	})
	for ; len(old) > 0 && err == nil; old = old[min(len(old), 1000):] {
		some := old[:min(len(old), 1000)]
		err = l.store.update(context.Background(), func(w *pebble.Batch) error {
			for _, e := range some {
				// The producer may have written again since the window was read.
				win, err := e.p.windowOf(l.store, e.producer)
				if err != nil {
					return err
				}
				if !win.written.Before(before) || e.p.topic.deleted {
					continue
				}
				delete(e.p.windows, e.producer)
				if err := w.Delete(windowKey(e.p.topic.num, e.p.Num, e.producer), nil); err != nil {
					return err
				}
				n++
			}
			return nil
		}, nil)
	}
	return n, err
}
