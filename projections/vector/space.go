package vector

import (
	"bytes"
	"sync/atomic"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/flat"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/schemas"
)

// spaceKey identifies a space, whose vectors are compared with each other: those of one embedder
// and one audience. Commands have no audience.
type spaceKey struct {
	audience schemas.AudienceID
	embedder uint32 // its number in the shard
}

// space has the locations of the rows of a space, which it numbers from 0 in the order of the log.
// There may be thousands of spaces, most of them with a few rows, so they share files and blocks.
type space struct {
	spaceKey
	number uint32

	// The following fields are guarded by the shard's write.
	n       uint32   // rows in steps
	tail    []uint32 // rows of the tail
	runs    uint32
	changed bool // tail or runs differ from what readers see

	seen   seen                   // guarded by the shard's mu
	places atomic.Pointer[places] // what indexes read

	index   index.Index                // of all rows if they are linked as they are added, else nil
	similar *similar                   // likewise
	graph   atomic.Pointer[flat.Index] // over the first rows, or nil; index is the same one, if there is one
	link    linkState
}

// seen is the part of a space that readers see.
type seen struct {
	ranges []rowRange
	n      uint32 // rows in ranges
	tail   []uint32
	runs   uint32
	named  heads // see similar
}

// places locate the vectors of a space.
type places struct {
	ranges []rowRange
	n      uint32      // rows in ranges
	tail   [][]float32 // those of the tail, if rows are linked as they are added
}

// rowRange is n consecutive rows of a space in a step, from start on. The first of them is row
// number before of the space.
type rowRange struct {
	step             *step
	start, n, before uint32
}

func newSpace(number uint32, key spaceKey) *space {
	sp := &space{spaceKey: key, number: number}
	sp.places.Store(&places{})
	return sp
}

// extend adds the rows of a new step, which include all of the tail. The caller holds the shard's
// mu.
func (sp *space) extend(st *step, start, n uint32) {
	ranges := append(sp.places.Load().ranges, rowRange{st, start, n, sp.n}) // readers keep their length of the slice
	sp.n += n
	sp.places.Store(&places{ranges: ranges, n: sp.n})
	sp.tail = nil
	sp.seen.ranges, sp.seen.n, sp.seen.tail = ranges, sp.n, nil
}

// hold makes the vector of the next row available to indexes, and returns the places before it.
func (sp *space) hold(vec []float32) (before *places) {
	before = sp.places.Load()
	sp.places.Store(&places{before.ranges, before.n, append(before.tail, vec)})
	return before
}

// rows returns the number of rows.
func (sp *space) rows() int { return int(sp.n) + len(sp.tail) }

// vector returns the vector of row i, also to an index that readers search.
func (sp *space) vector(i uint32) []float32 {
	p := sp.places.Load()
	if i >= p.n {
		return p.tail[i-p.n]
	}
	st, at := locate(p.ranges, i)
	return st.vector(at)
}

// locate returns the step, and the row in it, of row i, which must be in a step.
func (sp *space) locate(i uint32) (*step, uint32) { return locate(sp.places.Load().ranges, i) }

func locate(ranges []rowRange, i uint32) (*step, uint32) {
	lo, hi := 0, len(ranges)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) >> 1); ranges[mid].before <= i {
			lo = mid
		} else {
			hi = mid
		}
	}
	r := &ranges[lo]
	return r.step, r.start + i - r.before
}

// keyTable is a hash table that finds a row by the hash of its vector, with open addressing. A used
// slot has the row's number plus one.
type keyTable struct {
	slots []uint32
	n     int
}

// find returns the row with this key for which is returns true.
func (t *keyTable) find(key uint64, is func(row uint32) bool) (uint32, bool) {
	if t.n == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := key & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if row := t.slots[i] - 1; is(row) {
			return row, true
		}
	}
	return 0, false
}

// insert adds a row, whose number must be the next one; keyOf returns the key of a row up to it.
func (t *keyTable) insert(row uint32, keyOf func(row uint32) uint64) {
	if t.n*4 >= len(t.slots)*3 {
		t.slots = make([]uint32, max(64, 2*len(t.slots)))
		for r := range row {
			t.put(keyOf(r), r)
		}
	}
	t.put(keyOf(row), row)
	t.n++
}

func (t *keyTable) put(key uint64, row uint32) {
	mask := uint64(len(t.slots) - 1)
	i := key & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = row + 1
}

// equalBits compares vectors as bytes, as their hash does.
func equalBits(a, b []float32) bool { return bytes.Equal(sealed.BytesOf(a), sealed.BytesOf(b)) }
