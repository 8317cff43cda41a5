package vector

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/flat"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

// spaceKey identifies a space, whose vectors are compared with each other: those of one embedder
// and one audience.
type spaceKey struct {
	audience schemas.AudienceID
	embedder uint32 // its number in the shard
}

// objectSpace has the locations of the rows of a space. There may be thousands of spaces, most of
// them with a few rows, so they share files and blocks.
type objectSpace struct {
	spaceKey
	number uint32
	n      uint32 // rows in steps
	// ranges locate those rows, in the order of the log. They are replaced under the shard's mu,
	// together with its view.
	ranges  atomic.Pointer[[]rowRange]
	tail    []uint32 // rows of the tail
	seen    []uint32 // the part of tail that readers see; guarded by the shard's mu
	touched bool     // tail is longer than seen

	graph atomic.Pointer[flat.Index] // over the first rows in steps, or nil
	link  linkState                  // used by the linker
}

// rowRange is n consecutive rows of a space in a step, from start on. The first of them is row
// number before of the space.
type rowRange struct {
	step             *objectStep
	start, n, before uint32
}

func newObjectSpace(number uint32, key spaceKey) *objectSpace {
	sp := &objectSpace{spaceKey: key, number: number}
	sp.ranges.Store(new([]rowRange))
	return sp
}

// extend adds the rows of a new step.
func (sp *objectSpace) extend(st *objectStep, start, n uint32) {
	ranges := append(*sp.ranges.Load(), rowRange{st, start, n, sp.n}) // readers keep their length of the slice
	sp.ranges.Store(&ranges)
	sp.n += n
}

// locate returns the step, and the row in it, of the space's row i, which must be in a step.
func (sp *objectSpace) locate(i uint32) (*objectStep, uint32) {
	return locate(*sp.ranges.Load(), i)
}

func locate(ranges []rowRange, i uint32) (*objectStep, uint32) {
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

// vector returns the vector of the space's row i.
func (sp *objectSpace) vector(i uint32) []float32 {
	st, at := sp.locate(i)
	return st.vector(at)
}

// objectColumns holds the runs and rows of the tail. They are only appended to, so that a copy of
// the struct is a snapshot, except for the newest run of each row, which changes: see columns.
type objectColumns struct {
	// Of each run: the offset of its event, the index of the object in the event and of the part in
	// the object, and its row in the shard.
	offset []int64
	index  []uint32
	part   []uint32
	row    []uint32
	// Of each row: its space; its first run, counted from the tail's first; the newest one, counted
	// over the shard; its vector.
	space  []uint32
	first  []uint32
	newest runHeads
	rows   *rows.Rows
}

// objectTail is what came since the last sealed step.
type objectTail struct {
	objectColumns
	ids   map[schemas.EventID]struct{}
	id    []schemas.EventID
	at    []int64  // the offset of each id
	key   []uint64 // the key of each row
	table keyTable
}

func newObjectTail() *objectTail {
	return &objectTail{ids: map[schemas.EventID]struct{}{}, objectColumns: objectColumns{rows: rows.New(dim)}}
}

// addRow adds a row whose first run is the tail's run first, and returns its number in the tail.
func (t *objectTail) addRow(space uint32, p *passage, first uint32) uint32 {
	row := uint32(len(t.key))
	t.key, t.space, t.first = append(t.key, p.key), append(t.space, space), append(t.first, first)
	t.newest.grow(row)
	t.rows.Write(p.vec)
	t.rows.Publish()
	t.table.insert(row, func(row uint32) uint64 { return t.key[row] })
	return row
}

// runHeads has the newest run of each row, in blocks that do not move.
type runHeads []*[block]atomic.Uint32

func (h *runHeads) grow(row uint32) {
	if int(row/block) == len(*h) {
		b := new([block]atomic.Uint32)
		for i := range b {
			b[i].Store(noRun)
		}
		*h = append(*h, b)
	}
}

func (h runHeads) at(row uint32) *atomic.Uint32 { return &h[row/block][row%block] }

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

// byStep returns the step that contains number n of what steps count (rows, runs or events); first
// returns the first such number of a step. There must be one.
func byStep(steps []*objectStep, n uint32, first func(*objectStep) uint32) *objectStep {
	i, ok := slices.BinarySearchFunc(steps, n, func(st *objectStep, n uint32) int {
		return int(int64(first(st)) - int64(n))
	})
	if !ok {
		i--
	}
	return steps[i]
}

// step returns the step of a row of the shard, and the row's number in it.
func (v *objectView) step(row uint32) (*objectStep, uint32) {
	st := byStep(v.steps, row, func(st *objectStep) uint32 { return st.firstRow })
	return st, row - st.firstRow
}

// event returns the id of an event in a step.
func (v *objectView) event(n uint32) schemas.EventID {
	st := byStep(v.steps, n, func(st *objectStep) uint32 { return st.firstEvent })
	return st.id[n-st.firstEvent]
}

// newest returns the newest run of a row of the shard, with the rows of the tail as they are in t.
func (v *objectView) newest(row uint32, t *objectColumns) *atomic.Uint32 {
	if row >= v.rows {
		return t.newest.at(row - v.rows)
	}
	st, at := v.step(row)
	return &st.newest[at]
}

// first returns the first run of a row of the shard.
func (v *objectView) first(row uint32) uint32 {
	if row >= v.rows {
		return v.runs + v.tail.first[row-v.rows]
	}
	st, at := v.step(row)
	return st.firstRun + st.first[at]
}

// vector returns the vector of a row of the shard.
func (v *objectView) vector(row uint32) []float32 {
	if row >= v.rows {
		return v.tail.rows.Vector(row - v.rows)
	}
	st, at := v.step(row)
	return st.vector(at)
}

// run returns the passage of a run: the event's offset, the object's index in it and the part's in
// the object.
func (v *objectView) run(run uint32) (offset int64, index, part uint32) {
	if run >= v.runs {
		i := run - v.runs
		return v.tail.offset[i], v.tail.index[i], v.tail.part[i]
	}
	st := byStep(v.steps, run, func(st *objectStep) uint32 { return st.firstRun })
	i := run - st.firstRun
	return st.offset[i], st.index[i], st.part[i]
}

// runsBelow returns how many runs are below an offset; they are the first ones.
func (v *objectView) runsBelow(offset int64) uint32 {
	if offset >= v.next {
		return v.runs + uint32(len(v.tail.offset))
	}
	if offset >= v.sealedNext() {
		i, _ := slices.BinarySearch(v.tail.offset, offset)
		return v.runs + uint32(i)
	}
	at, _ := slices.BinarySearchFunc(v.steps, offset, func(st *objectStep, offset int64) int { return cmp.Compare(st.next-1, offset) })
	st := v.steps[at] // the first step that extends beyond offset
	i, _ := slices.BinarySearch(st.offset, offset)
	return st.firstRun + uint32(i)
}

// sealedNext returns the offset at which the tail begins.
func (v *objectView) sealedNext() int64 {
	if len(v.steps) == 0 {
		return 0
	}
	return v.steps[len(v.steps)-1].next
}

// rowOf returns a run's row of the shard, and the row's space.
func (v *objectView) rowOf(run uint32) (row, space uint32) {
	if run >= v.runs {
		row = v.tail.row[run-v.runs]
	} else {
		st := byStep(v.steps, run, func(st *objectStep) uint32 { return st.firstRun })
		row = st.row[run-st.firstRun]
	}
	if row >= v.rows {
		return row, v.tail.space[row-v.rows]
	}
	st, at := v.step(row)
	return row, st.spaceOf(at)
}
