package runtime

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/zeebo/xxh3"
)

// sum is a row of a table of sums. Counts are added and everything else is monotone, so the result
// does not depend on the order.
type sum struct {
	count, errors int64
	first, last   int64
	examples      [2][]example // that did not fail, and that did; sorted by rank
	durations     sketch
}

// maxExamples is the number of examples of each outcome that a row keeps; the rows of a minute keep
// one.
const maxExamples = 3

// example is an Example with its rank, a hash of its ids that decides which are kept. If a span was
// reported twice, its position decides, the hash of its partition first.
type example struct {
	rank     uint64
	trace    [16]byte
	span     uint64
	tie      uint64
	offset   int64
	duration int64
	shard    uint16 // index in shards
}

func compareExamples(a, b example) int {
	if a.rank != b.rank {
		return cmp.Compare(a.rank, b.rank)
	}
	return cmp.Or(bytes.Compare(a.trace[:], b.trace[:]), cmp.Compare(a.span, b.span), cmp.Compare(a.tie, b.tie),
		cmp.Compare(a.offset, b.offset), cmp.Compare(a.duration, b.duration))
}

// example returns an example of a span.
func (s shards) example(trace [16]byte, x *span) example {
	e := example{trace: trace, span: x.id, offset: x.offset, duration: x.duration, shard: x.shard}
	var room [300]byte
	e.weigh(appendShard(room[:0], s[x.shard]))
	return e
}

// weigh sets rank and tie. A line of an access log has no ids and is ranked by its position alone.
func (e *example) weigh(shard []byte) {
	e.tie = xxh3.Hash(shard)
	var room [24]byte
	copy(room[:], e.trace[:])
	binary.BigEndian.PutUint64(room[16:], e.span)
	if room == [24]byte{} {
		binary.BigEndian.PutUint64(room[:], e.tie)
		binary.BigEndian.PutUint64(room[8:], uint64(e.offset))
		binary.BigEndian.PutUint64(room[16:], uint64(e.duration))
	}
	e.rank = xxh3.Hash(room[:])
}

func newSum() *sum { return &sum{first: math.MaxInt64, last: math.MinInt64} }

// reset empties the sum and keeps its memory.
func (s *sum) reset() {
	*s = sum{
		first: math.MaxInt64, last: math.MinInt64,
		examples: [2][]example{s.examples[0][:0], s.examples[1][:0]}, durations: s.durations[:0],
	}
}

// see records a time and an example without counting.
func (s *sum) see(start int64, failed bool, e *example) {
	s.first, s.last = min(s.first, start), max(s.last, start)
	s.keep(failed, e)
}

// keep adds the example if its rank is among the lowest.
func (s *sum) keep(failed bool, e *example) {
	list := &s.examples[index(failed)]
	if len(*list) == maxExamples && e.rank > (*list)[maxExamples-1].rank {
		return
	}
	i, found := slices.BinarySearchFunc(*list, *e, compareExamples)
	if found || i == maxExamples {
		return
	}
	if len(*list) == maxExamples {
		*list = (*list)[:maxExamples-1]
	}
	*list = slices.Insert(*list, i, *e)
}

func index(failed bool) int {
	if failed {
		return 1
	}
	return 0
}

// add adds n spans, which may be negative, to the counts.
func (s *sum) add(n int64, failed bool, bin uint16) {
	s.count += n
	if failed {
		s.errors += n
	}
	s.durations.add(bin, n)
}

func (s *sum) merge(o *sum) {
	s.mergeRest(o)
	s.durations.merge(o.durations)
}

// mergeRest merges everything except the durations.
func (s *sum) mergeRest(o *sum) {
	s.count += o.count
	s.errors += o.errors
	s.first, s.last = min(s.first, o.first), max(s.last, o.last)
	for i := range o.examples {
		for j := range o.examples[i] {
			s.keep(i == 1, &o.examples[i][j])
		}
	}
}

func (s *sum) size() int {
	return 160 + 16*cap(s.durations) + 72*(cap(s.examples[0])+cap(s.examples[1]))
}

// appendSum appends a row of a level: see the package comment.
func appendSum(b []byte, s *sum, k sumKey, in shards) []byte {
	b = binary.AppendUvarint(b, uint64(s.count))
	b = binary.AppendUvarint(b, uint64(s.errors))
	b = binary.AppendUvarint(b, uint64(s.first)-uint64(k.start()))
	b = binary.AppendUvarint(b, uint64(s.last)-uint64(s.first))
	b = appendSketch(b, s.durations)
	for _, list := range s.examples {
		if k.level == 0 {
			list = list[:min(1, len(list))]
		}
		b = append(b, byte(len(list)))
		for i := range list {
			e := &list[i]
			b = append(b, e.trace[:]...)
			b = binary.BigEndian.AppendUint64(b, e.span)
			b = appendShard(b, in[e.shard])
			b = binary.AppendUvarint(b, uint64(e.offset))
			b = binary.AppendUvarint(b, uint64(e.duration))
		}
	}
	return b
}

// start returns the time at which the row's bucket begins. The first bucket of all begins before
// the minimum int64; its start wraps around, and so do the differences from it.
func (k sumKey) start() int64 { return int64(k.bucket) * levels[k.level] }

// decodeSum decodes a row into a sum, replacing its contents and reusing its memory.
func decodeSum(s *sum, k sumKey, value []byte, in *shards) error {
	r := s.decodeCounts(k, value)
	s.durations = decodeSketch(s.durations, &r)
	for i := range s.examples {
		n := int(r.byte())
		if n > maxExamples {
			r.fail("%d examples", n)
		}
		for range min(n, maxExamples) {
			var e example
			e.trace = [16]byte(r.bytes(16))
			e.span = r.uint64()
			shard := r.b
			e.shard = in.number(r.shard())
			shard = shard[:len(shard)-len(r.b)]
			e.offset = int64(r.uvarint())
			e.duration = int64(r.uvarint())
			e.weigh(shard)
			s.examples[i] = append(s.examples[i], e)
		}
	}
	if err := r.end(); err != nil {
		return fmt.Errorf("sum: %w", err)
	}
	return nil
}

// decodeCounts decodes a row up to its durations.
func decodeCounts(s *sum, k sumKey, value []byte, _ *shards) error {
	r := s.decodeCounts(k, value)
	if r.err != nil {
		return fmt.Errorf("sum: %w", r.err)
	}
	return nil
}

// decodeCounts decodes the counts and times of a row. The returned reader continues at the
// durations.
func (s *sum) decodeCounts(k sumKey, value []byte) reader {
	s.reset()
	r := reader{b: value}
	s.count, s.errors = int64(r.uvarint()), int64(r.uvarint())
	s.first = int64(uint64(k.start()) + r.uvarint())
	s.last = int64(uint64(s.first) + r.uvarint())
	return r
}
