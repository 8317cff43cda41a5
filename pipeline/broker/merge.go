package broker

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Appends of this process that are small and many (Broker.Append, a record or a few
// each) would cost a key in Pebble, a place in a segment file and a header for each
// call. So those of one partition that meet in a group, with nothing else between
// them, become one batch: the committer holds them back until another op follows, or
// the group ends, and then gives each its offsets in it. They are made durable
// together or not at all, as the group is; what a call is told depends on its own
// records alone.

// ownAppend is the op of one call of Append.
type ownAppend struct {
	m      *merger
	p      *partition
	batch  batch // without a producer, uncompressed: encodeBatch's
	sealed bool  // it has its checksum
	most   int   // how large a batch of the topic may be

	base int64
	err  error
	out  chan struct{} // told when durable or refused
}

const (
	// mergedBytes is how large a batch of several calls becomes. From 64 KiB on
	// nothing is saved by more, and whoever wants one record reads all of its batch.
	mergedBytes = 128 << 10
	// maxOwnBatch bounds the memory that is kept for the next.
	maxOwnBatch = 2 << 20
	// mergedGrowth is by how much a record may grow when others come before it: its
	// length, its time and its place in the batch are of variable size.
	mergedGrowth = 1 + 9 + 4
)

func (o *ownAppend) size() int { return len(o.batch) + appendOverhead }

// mergedSize is how much of a batch it may fill.
func (o *ownAppend) mergedSize() int { return len(o.batch) + mergedGrowth*int(o.batch.count()) }

// build has it wait for those that come after it.
func (o *ownAppend) build(*pebble.Batch) error {
	if len(o.p.merging) == 0 {
		o.m.parts = append(o.m.parts, o.p)
	}
	o.p.merging = append(o.p.merging, o)
	return nil
}

func (o *ownAppend) done(err error) {
	if err != nil {
		o.err = fmt.Errorf("%w: %w", err, kerr.KafkaStorageError)
	}
	o.out <- struct{}{}
}

// merger holds the appends of the group being built that have not been built yet. It
// is the committer's alone, but for what it says.
type merger struct {
	s     *store
	parts []*partition // with appends in merging
	bufs  []*[]byte    // of batches made of several, until the group is written

	// What nobody uses, for the next: ops, with channel and memory, and bufs. Not the
	// committer's alone.
	ops, spare sync.Pool
}

// take returns an op for an append to p, whose topic's batches may be so large.
func (m *merger) take(p *partition, most int) *ownAppend {
	o, ok := m.ops.Get().(*ownAppend)
	if !ok {
		o = &ownAppend{m: m, out: make(chan struct{}, 1)}
	}
	o.p, o.most, o.err = p, most, nil
	return o
}

// release gives o back. Nobody but the caller may hold it.
func (o *ownAppend) release() {
	if o.p = nil; cap(o.batch) > maxOwnBatch {
		o.batch = nil
	}
	o.m.ops.Put(o)
}

// flush adds what has been held back to the commit, each partition's in the order
// in which it was submitted.
func (m *merger) flush(w *pebble.Batch) {
	for _, p := range m.parts {
		for rest := p.merging; len(rest) > 0; {
			n, size := 1, rest[0].mergedSize()
			for n < len(rest) && size+rest[n].mergedSize() <= min(mergedBytes, rest[n].most) {
				size += rest[n].mergedSize()
				n++
			}
			m.append(w, p, rest[:n], size)
			rest = rest[n:]
		}
		clear(p.merging)
		p.merging = p.merging[:0]
	}
	m.parts = m.parts[:0]
}

// append appends the batches of ops to p as one, of at most so many bytes.
func (m *merger) append(w *pebble.Batch, p *partition, ops []*ownAppend, size int) {
	b := ops[0].batch
	if len(ops) > 1 {
		buf, ok := m.spare.Get().(*[]byte)
		if !ok {
			buf = new([]byte)
		}
		m.bufs = append(m.bufs, buf)
		*buf = slices.Grow((*buf)[:0], size)
		b = mergeBatches(*buf, ops)
	}
	if len(ops) > 1 || !ops[0].sealed {
		b.seal()
	}
	base, err := int64(0), error(nil)
	if p.topic.deleted {
		err = fmt.Errorf("the topic has been deleted: %w", kerr.UnknownTopicOrPartition)
	} else if base, _, _, err = p.append(m.s, w, b, time.Time{}); err != nil {
		m.s.log.Error("append", "partition", p.String(), "err", err)
		err = fmt.Errorf("%w: %w", err, kerr.KafkaStorageError)
	} else {
		m.s.commit.touch(p)
	}
	for _, o := range ops {
		if o.base = base; err != nil {
			o.err = err
		}
		base += int64(o.batch.count())
	}
}

// written gives back the memory of a group that has been written.
func (m *merger) written() {
	for i, buf := range m.bufs {
		m.spare.Put(buf)
		m.bufs[i] = nil
	}
	m.bufs = m.bufs[:0]
}

// mergeBatches makes one batch of those of ops, in buf: the one that encodeUnsealed
// would have made of all their records.
func mergeBatches(buf []byte, ops []*ownAppend) batch {
	first := ops[0].batch
	b := batch(append(buf, first...))
	n, base, latest := int(first.count()), first.baseTimestamp(), first.maxTimestamp()
	for _, o := range ops[1:] {
		latest = max(latest, o.batch.maxTimestamp())
		later := o.batch.baseTimestamp() - base
		for rest := o.batch.records(); len(rest) > 0; n++ {
			size, k := binary.Varint(rest)
			r := rest[k : k+int(size)]
			rest = rest[k+int(size):]
			delta, k := binary.Varint(r[1:]) // behind the attributes
			at := 1 + k
			_, k = binary.Varint(r[at:]) // its place in its own batch
			r = r[at+k:]
			delta += later
			b = binary.AppendVarint(b, int64(1+varintLen(delta)+varintLen(int64(n))+len(r)))
			b = append(b, 0)
			b = binary.AppendVarint(b, delta)
			b = binary.AppendVarint(b, int64(n))
			b = append(b, r...)
		}
	}
	b.fill(n, base, latest)
	return b
}
