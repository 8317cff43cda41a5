package storage

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Many small appends of this process (Log.Append with a record or a few) would each cost a key
// in Pebble, a place in a segment file and a header. So consecutive appends to one partition within
// a group become one batch: the committer holds them back until another op follows or the group
// ends, and then assigns each its offsets. They become durable together or not at all, like the
// whole group; the result of a call depends on its own records only.

// ownAppend is the op of one call of Append.
type ownAppend struct {
	m      *merger
	p      *Partition
	batch  wire.Batch // from EncodeBatch: without a producer, uncompressed
	sealed bool       // the batch has its checksum
	most   int        // maximum size of the topic's batches

	base int64
	err  error
	out  chan struct{} // signalled when durable or refused
}

const (
	// mergedBytes is the maximum size of a merged batch. Beyond 64 KiB nothing more is saved, and a
	// reader of one record reads all of its batch.
	mergedBytes = 128 << 10
	// maxOwnBatch limits the buffer that is kept for reuse.
	maxOwnBatch = 2 << 20
)

func (o *ownAppend) size() int { return len(o.batch) + appendOverhead }

// build holds the op back, to be merged with those that follow.
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

// merger holds the appends of the group being built that are not built yet. Only the committer uses
// it, except for the pools.
type merger struct {
	s     *store
	parts []*Partition // with appends in merging
	bufs  []*[]byte    // buffers of merged batches, until the group is written

	// Pools for reuse: ops with their channel and buffer, and bufs. Any goroutine may use them.
	ops, spare sync.Pool
}

// take returns an op for an append to p; most is the maximum size of the topic's batches.
func (m *merger) take(p *Partition, most int) *ownAppend {
	o, ok := m.ops.Get().(*ownAppend)
	if !ok {
		o = &ownAppend{m: m, out: make(chan struct{}, 1)}
	}
	o.p, o.most, o.err = p, most, nil
	return o
}

// release returns o to the pool. Nobody else may hold it.
func (o *ownAppend) release() {
	if o.p = nil; cap(o.batch) > maxOwnBatch {
		o.batch = nil
	}
	o.m.ops.Put(o)
}

// flush adds the held-back appends to the commit, those of each partition in the order of
// submission.
func (m *merger) flush(w *pebble.Batch) {
	for _, p := range m.parts {
		for rest := p.merging; len(rest) > 0; {
			n, size := 1, rest[0].batch.MergedSize()
			for n < len(rest) && size+rest[n].batch.MergedSize() <= min(mergedBytes, rest[n].most) {
				size += rest[n].batch.MergedSize()
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

// append appends the batches of ops to p as one, of size bytes at most.
func (m *merger) append(w *pebble.Batch, p *Partition, ops []*ownAppend, size int) {
	b := ops[0].batch
	if len(ops) > 1 {
		buf, ok := m.spare.Get().(*[]byte)
		if !ok {
			buf = new([]byte)
		}
		m.bufs = append(m.bufs, buf)
		*buf = slices.Grow((*buf)[:0], size)
		merging := wire.StartMerge(*buf, b)
		for _, o := range ops[1:] {
			merging.Add(o.batch)
		}
		b = merging.Finish()
	}
	if len(ops) > 1 || !ops[0].sealed {
		b.Seal()
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
		base += int64(o.batch.Count())
	}
}

// written releases the buffers of a group that has been written.
func (m *merger) written() {
	for i, buf := range m.bufs {
		m.spare.Put(buf)
		m.bufs[i] = nil
	}
	m.bufs = m.bufs[:0]
}
