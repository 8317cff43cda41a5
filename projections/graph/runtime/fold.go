package runtime

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// fold is a batch being applied.
type fold struct {
	m     *memory
	t     *store.Txn
	it    *pebble.Iterator // over the traces that earlier batches stored
	tp    schemas.TopicPartition
	shard uint16
	key   []byte // of the shard

	// What the batch adds, by minutes.
	sums map[sumKey]*sum
	// The traces it changed.
	changed []*trace
	// What its observers told, by their fields.
	observed map[string]*observer

	// Room that is used again.
	k, v     []byte
	affected []callee
	before   []*span
}

func newFold(m *memory, t *store.Txn, tp schemas.TopicPartition) *fold {
	return &fold{
		m: m, t: t, tp: tp, shard: m.shard(tp), key: appendShard(nil, tp),
		sums: map[sumKey]*sum{}, observed: map[string]*observer{},
	}
}

// all folds the records in and stores what comes of it.
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
		if err := f.record(r.Origin.Offset, r.GetSpans()); err != nil {
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
		x := span{site: s, start: o.StartUnixNano, duration: max(0, o.DurationNano), offset: offset, shard: f.shard, failed: o.Status == recountv1.Status_STATUS_ERROR}
		var id [16]byte
		if len(o.SpanId) > 0 {
			id = [16]byte(o.TraceId)
			x.id = binary.BigEndian.Uint64(o.SpanId)
			if len(o.ParentId) > 0 {
				x.hasParent, x.parent = true, binary.BigEndian.Uint64(o.ParentId)
			}
			again, err := f.join(id, &x, o.Links)
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

// site finds or stores the site of an observation.
func (f *fold) site(service string, o *recountv1.Observation) (*site, error) {
	s := site{
		service: service, side: o.Side, kind: o.Kind, templated: o.Templated,
		operation: o.Operation, peer: o.Peer, system: o.System,
	}
	return f.storeSite(&s)
}

func (f *fold) storeSite(s *site) (*site, error) {
	f.v = appendSite(f.v[:0], s)
	hash := xxh3.Hash(f.v)
	if known, ok := f.m.sites.get(hash, (*site).size); ok {
		return known, nil
	}
	known := *s
	known.hash = hash
	f.m.sites.put(hash, &known, known.size())
	f.k = hashKey(f.k[:0], kindSite, hash)
	// The same bytes again change nothing, and sites are few: no need to look.
	return &known, f.t.Set(f.k, f.v)
}

// count adds a span to the sums of its minute.
func (f *fold) count(k sumKey, trace [16]byte, x *span) {
	e := example{trace: trace, span: x.id, at: place{f.tp, x.offset}, duration: x.duration}
	e.rank = rankOf(&e)
	k.bucket = bucketOf(0, x.start)
	s := f.sum(k)
	s.see(x.start, x.failed, &e)
	s.add(1, x.failed, binOf(x.duration))
}

func (f *fold) sum(k sumKey) *sum {
	s := f.sums[k]
	if s == nil {
		s = newSum()
		f.sums[k] = s
	}
	return s
}

// rankOf decides which examples stay: a hash of the span's ids, or of its place where
// it has none.
func rankOf(e *example) uint64 {
	var room [64]byte
	b := append(room[:0], e.trace[:]...)
	b = binary.BigEndian.AppendUint64(b, e.span)
	if e.span == 0 && e.trace == [16]byte{} {
		b = appendShard(b, e.at.tp)
		b = binary.BigEndian.AppendUint64(b, uint64(e.at.offset))
		b = binary.BigEndian.AppendUint64(b, uint64(e.duration))
	}
	return xxh3.Hash(b)
}

// storeSums adds the batch's sums to the rows of every level.
func (f *fold) storeSums() error {
	type row struct {
		k sumKey
		s *sum
	}
	var rows []row
	added := map[sumKey]bool{}
	for k, minute := range f.sums {
		for level := range levels {
			k := k
			k.level, k.bucket = uint8(level), coarser(k.bucket, level)
			s, err := f.m.sum(f.t, k)
			if err != nil {
				return err
			}
			before := s.size()
			s.merge(minute)
			f.m.sums.grew(s.size() - before)
			if !added[k] {
				added[k] = true
				rows = append(rows, row{k, s})
			}
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return compareSumKeys(a.k, b.k) })
	for _, r := range rows {
		f.k = r.k.append(f.k[:0])
		f.v = appendSum(f.v[:0], r.s, r.k)
		if err := f.t.Set(f.k, f.v); err != nil {
			return err
		}
	}
	return nil
}

func compareSumKeys(a, b sumKey) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.level, b.level), cmp.Compare(a.bucket, b.bucket),
		cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b))
}

// sum is the row of a key as it is stored, or a new one.
func (m *memory) sum(t *store.Txn, k sumKey) (*sum, error) {
	if s, ok := m.sums.get(k, (*sum).size); ok {
		return s, nil
	}
	value, ok, err := t.Get(k.append(nil))
	if err != nil {
		return nil, err
	}
	s := newSum()
	if ok {
		if s, err = decodeSum(k, value); err != nil {
			return nil, damage{err}
		}
	}
	m.sums.put(k, s, s.size())
	return s, nil
}

// storeTraces stores the last chunk of each trace that changed.
func (f *fold) storeTraces() error {
	slices.SortFunc(f.changed, func(a, b *trace) int { return bytes.Compare(a.id[:], b.id[:]) })
	for _, t := range f.changed {
		p := t.part(f.shard)
		p.changed = false
		f.m.traces.grew(t.size() - t.charged)
		t.charged = t.size()
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
