package runtime

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// fold is the state of one Apply.
type fold struct {
	m     *memory
	t     *store.Txn
	it    store.Iterator // over the traces stored by earlier batches
	shard uint16
	key   []byte // key of the shard

	// sums are the additions of the batch, by minute.
	sums map[sumKey]*sum
	// rows are the rows that it changes.
	rows []row
	// changed are the traces that it changes.
	changed []*trace
	// observed are the observers of the batch, by their encoded fields.
	observed map[string]*observer

	// The rest are reused buffers.
	k, v     []byte
	affected []callee
	before   []*span
}

func newFold(m *memory, t *store.Txn, tp schemas.TopicPartition) *fold {
	return &fold{
		m: m, t: t, shard: m.shards.number(tp), key: appendShard(nil, tp),
		sums: map[sumKey]*sum{}, observed: map[string]*observer{},
	}
}

// all applies the records and stores the result.
func (f *fold) all() (err error) {
	f.it, err = f.t.Iter([]byte{kindTrace}, []byte{kindTrace + 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.t.Explain(f.it.Close())) }()
	if err := f.readTimes(); err != nil {
		return err
	}
	for _, r := range f.t.New {
		var err error
		if m := r.GetSpansSummarised(); m != nil {
			err = f.summary(m)
		} else {
			err = f.record(r.Origin.Offset, r.GetSpans())
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(f.storeTraces(), f.storeSums(), f.storeTimes(), f.storeObservers())
}

func (f *fold) record(offset int64, b *recountv1.SpanBatch) error {
	seen := make([]observer, len(b.Observers))
	for _, o := range b.Observations {
		by := b.Observers[o.Observer]
		s, err := f.site(by.Service, o)
		if err != nil {
			return err
		}
		x := span{start: o.StartUnixNano, duration: max(0, o.DurationNano), offset: offset, shard: f.shard, failed: o.Status == recountv1.Status_STATUS_ERROR}
		x.setSite(s)
		var id [16]byte
		if len(o.SpanId) > 0 {
			id = [16]byte(o.TraceId)
			x.id = binary.BigEndian.Uint64(o.SpanId)
			if len(o.ParentId) > 0 {
				x.hasParent, x.parent = true, binary.BigEndian.Uint64(o.ParentId)
			}
			again, err := f.join(id, &x, o.Kind, o.Links)
			if err != nil {
				return err
			}
			if again {
				continue
			}
			if x.failed {
				f.k = failedKey(f.k[:0], x.id, id)
				if err := f.t.Set(f.k, nil); err != nil {
					return err
				}
			}
		}
		seen[o.Observer].see(x.start)
		switch o.Side {
		case recountv1.Side_SIDE_CALLED:
			f.count(sumKey{kind: kindServed, a: s.hash}, id, &x)
		case recountv1.Side_SIDE_CALLER:
			f.count(sumKey{kind: kindAsked, a: s.hash}, id, &x)
		}
	}
	for i := range seen {
		if seen[i].spans > 0 {
			f.observe(b.Observers[i], &seen[i])
		}
	}
	return nil
}

// site returns the site of an observation and stores it if it is new. The operation is Other if the
// partition keeps no more operations of its service.
func (f *fold) site(service string, o *recountv1.Observation) (*site, error) {
	s := site{
		service: service, side: o.Side, kind: o.Kind, templated: o.Templated,
		operation: o.Operation, peer: o.Peer, system: o.System,
	}
	f.v = appendSite(f.v[:0], &s)
	k := siteKey{f.shard, xxh3.Hash(f.v)}
	if known, ok := f.m.summed.Get(k); ok {
		return known, nil
	}
	kept, err := f.keeps(s.service, s.operation)
	if err != nil {
		return nil, err
	}
	if !kept {
		s.operation, s.templated = Other, false
	}
	known, err := f.storeSite(&s)
	if err == nil {
		f.m.summed.Put(k, known, toldSize)
	}
	return known, err
}

func (f *fold) storeSite(s *site) (*site, error) {
	f.v = appendSite(f.v[:0], s)
	hash := xxh3.Hash(f.v)
	if known, ok := f.m.sites.Get(hash); ok {
		return known, nil
	}
	known := *s
	// The strings are slices of their event, which must not be kept in memory with the site.
	for _, text := range []*string{&known.service, &known.operation, &known.peer, &known.system} {
		*text = strings.Clone(*text)
	}
	known.hash, known.named = hash, xxh3.HashString(s.service)
	f.m.sites.Put(hash, &known, known.size())
	f.k = hashKey(f.k[:0], kindSite, hash)
	// Storing the same bytes again changes nothing, and sites are few, so there is no lookup.
	return &known, f.t.Set(f.k, f.v)
}

// count adds a span to the sums of its minute.
func (f *fold) count(k sumKey, trace [16]byte, x *span) {
	e := f.m.shards.example(trace, x)
	k.bucket = bucketOf(0, x.start)
	s := f.sum(k)
	s.see(x.start, x.failed, &e)
	s.add(1, x.failed, binOf(x.duration))
}

func (f *fold) sum(k sumKey) *sum {
	s := f.sums[k]
	if s == nil {
		s = f.m.fresh()
		f.sums[k] = s
	}
	return s
}

// fresh returns an empty sum.
func (m *memory) fresh() *sum {
	n := len(m.free)
	if n == 0 {
		return newSum()
	}
	s := m.free[n-1]
	m.free = m.free[:n-1]
	return s
}

func (m *memory) release(s *sum) {
	if len(m.free) < maxFree {
		s.reset()
		m.free = append(m.free, s)
	}
}

// row is a sum with its key.
type row struct {
	k sumKey
	s *sum
}

// storeSums adds the batch's sums to the rows of every level.
func (f *fold) storeSums() error {
	minutes := make([]row, 0, len(f.sums))
	for k, s := range f.sums {
		minutes = append(minutes, row{k, s})
	}
	// Sorted by site, then by time, the minutes of a longer bucket are adjacent and are added to
	// its row at once.
	slices.SortFunc(minutes, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.k.kind, b.k.kind), cmp.Compare(a.k.a, b.k.a), cmp.Compare(a.k.b, b.k.b), cmp.Compare(a.k.bucket, b.k.bucket))
	})
	var open [len(levels)]row
	for _, minute := range minutes {
		open[0] = minute
		for level := range open {
			k := minute.k
			k.level, k.bucket = uint8(level), coarser(k.bucket, level)
			if level > 0 && open[level].s != nil && open[level].k != k {
				if err := f.close(&open, level); err != nil {
					return err
				}
			}
			if open[level].s == nil {
				open[level] = row{k, f.m.fresh()}
			}
		}
		if err := f.close(&open, 0); err != nil {
			return err
		}
	}
	for level := 1; level < len(open); level++ {
		if open[level].s != nil {
			if err := f.close(&open, level); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(f.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.k.kind, b.k.kind), cmp.Compare(a.k.level, b.k.level), cmp.Compare(a.k.bucket, b.k.bucket),
			cmp.Compare(a.k.a, b.k.a), cmp.Compare(a.k.b, b.k.b))
	})
	for i, r := range f.rows {
		if i > 0 && f.rows[i-1].k == r.k {
			continue // the same sum
		}
		f.k = r.k.append(f.k[:0])
		f.v = appendSum(f.v[:0], r.s, r.k, f.m.shards)
		if err := f.t.Set(f.k, f.v); err != nil {
			return err
		}
	}
	return nil
}

// close adds the sum of a bucket to its row and to the bucket of the next level. Levels are closed
// from the shortest to the longest.
func (f *fold) close(open *[len(levels)]row, level int) error {
	got := open[level]
	open[level] = row{}
	if err := f.merge(got.k, got.s); err != nil {
		return err
	}
	if level+1 < len(levels) {
		open[level+1].s.merge(got.s)
	}
	f.m.release(got.s)
	return nil
}

// sum returns the stored row of a key, or an empty one.
func (m *memory) sum(t *store.Txn, k sumKey) (*sum, error) {
	if s, ok := m.sums.Get(k); ok {
		return s, nil
	}
	s := newSum()
	isNew, err := m.isNew(t, k)
	if err != nil {
		return nil, err
	}
	if !isNew {
		value, ok, err := t.Get(k.append(nil))
		if err != nil {
			return nil, err
		}
		if ok {
			if err := decodeSum(s, k, value, &m.shards); err != nil {
				return nil, damage{err}
			}
		}
	}
	m.sums.Put(k, s, s.size())
	return s, nil
}

// isNew reports whether a row's bucket begins after everything in the longer bucket around it. Then
// there is no stored row to read, which is the case for most rows.
func (m *memory) isNew(t *store.Txn, k sumKey) (bool, error) {
	around := k
	around.level++
	if int(around.level) == len(levels) || k.bucket < 0 {
		return false, nil
	}
	around.bucket = int32(int64(k.bucket) / (levels[around.level] / levels[k.level]))
	s, err := m.sum(t, around)
	return err == nil && s.last < k.start(), err
}

// storeTraces stores the last chunk of each trace that changed.
func (f *fold) storeTraces() error {
	slices.SortFunc(f.changed, func(a, b *trace) int { return bytes.Compare(a.id[:], b.id[:]) })
	for _, t := range f.changed {
		p := t.part(f.shard)
		p.changed = false
		f.m.traces.Put(t.id, t, t.size())
		if p.last.n == 0 {
			continue
		}
		f.k = traceKey(f.k[:0], t.id, f.key, p.full)
		if err := f.t.Set(f.k, p.last.b); err != nil {
			return err
		}
	}
	return nil
}
