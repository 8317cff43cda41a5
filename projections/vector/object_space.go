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

// spaceKey says which vectors are compared with each other: those that one
// embedder made for one audience.
type spaceKey struct {
	audience schemas.AudienceID
	embedder uint32 // its number in the shard
}

// objectSpace is where the rows of a space are. There may be thousands, most of
// them with a few rows: what they have in files and blocks, they share.
type objectSpace struct {
	spaceKey
	number uint32
	n      uint32 // rows that steps have
	// ranges are those rows, in the order of the log. They are replaced under the
	// shard's mu, together with its view.
	ranges  atomic.Pointer[[]rowRange]
	tail    []uint32 // rows of the tail
	seen    []uint32 // what readers see of tail; guarded by the shard's mu
	touched bool     // tail is longer than seen

	graph atomic.Pointer[flat.Index] // over the first rows that steps have, or nil
	link  linkState                  // of the linker
}

// rowRange is n rows of a space that stand side by side in a step, from start on.
// The first of them is the space's row before.
type rowRange struct {
	step             *objectStep
	start, n, before uint32
}

func newObjectSpace(number uint32, key spaceKey) *objectSpace {
	sp := &objectSpace{spaceKey: key, number: number}
	sp.ranges.Store(new([]rowRange))
	return sp
}

// extend takes in the rows that a new step has.
func (sp *objectSpace) extend(st *objectStep, start, n uint32) {
	ranges := append(*sp.ranges.Load(), rowRange{st, start, n, sp.n}) // readers keep the length that they have
	sp.ranges.Store(&ranges)
	sp.n += n
}

// locate is where the space's row i stands; steps have it.
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

// vector is that of the space's row i.
func (sp *objectSpace) vector(i uint32) []float32 {
	st, at := sp.locate(i)
	return st.vector(at)
}

// objectColumns are what is known of the runs and rows of the tail. They are only
// appended to, so that a copy of the struct is a snapshot, but for the newest run
// of each row, which changes: see columns.
type objectColumns struct {
	// Of each run: the offset of its event, the number of the object and of the
	// part in it, and its row in the shard.
	offset []int64
	index  []uint32
	part   []uint32
	row    []uint32
	// Of each row: its space; its first run, counted from the tail's first; the
	// newest one, counted over the shard; its vector.
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
	at    []int64  // of each id: its offset
	key   []uint64 // of each row
	table keyTable
}

func newObjectTail() *objectTail {
	return &objectTail{ids: map[schemas.EventID]struct{}{}, objectColumns: objectColumns{rows: rows.New(dim)}}
}

// addRow adds a row whose first run is the tail's run first, and gives its number
// in the tail.
func (t *objectTail) addRow(space uint32, p *passage, first uint32) uint32 {
	row := uint32(len(t.key))
	t.key, t.space, t.first = append(t.key, p.key), append(t.space, space), append(t.first, first)
	t.newest.grow(row)
	t.rows.Write(p.vec)
	t.rows.Publish()
	t.table.insert(row, func(row uint32) uint64 { return t.key[row] })
	return row
}

// runHeads are the newest runs of rows, in blocks that do not move.
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

// keyTable finds a row by the hash of its vector: open addressing, a row's number
// plus one in each slot that is taken.
type keyTable struct {
	slots []uint32
	n     int
}

// find gives the row with this key that is the one; is tells.
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

// insert adds a row, which is the next number; keyOf gives the key of it and of
// those before it.
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

// byStep is the step that has a number of those that steps count: first gives the
// first of each. There is one.
func byStep(steps []*objectStep, n uint32, first func(*objectStep) uint32) *objectStep {
	i, ok := slices.BinarySearchFunc(steps, n, func(st *objectStep, n uint32) int {
		return int(int64(first(st)) - int64(n))
	})
	if !ok {
		i--
	}
	return steps[i]
}

// step is where a row of the shard that steps have stands.
func (v *objectView) step(row uint32) (*objectStep, uint32) {
	st := byStep(v.steps, row, func(st *objectStep) uint32 { return st.firstRow })
	return st, row - st.firstRow
}

// event is the id of an event that steps have.
func (v *objectView) event(n uint32) schemas.EventID {
	st := byStep(v.steps, n, func(st *objectStep) uint32 { return st.firstEvent })
	return st.id[n-st.firstEvent]
}

// newest is the newest run of a row of the shard, with the tail's as they are in t.
func (v *objectView) newest(row uint32, t *objectColumns) *atomic.Uint32 {
	if row >= v.rows {
		return t.newest.at(row - v.rows)
	}
	st, at := v.step(row)
	return &st.newest[at]
}

// first is the first run of a row of the shard.
func (v *objectView) first(row uint32) uint32 {
	if row >= v.rows {
		return v.runs + v.tail.first[row-v.rows]
	}
	st, at := v.step(row)
	return st.firstRun + st.first[at]
}

// vector is that of a row of the shard.
func (v *objectView) vector(row uint32) []float32 {
	if row >= v.rows {
		return v.tail.rows.Vector(row - v.rows)
	}
	st, at := v.step(row)
	return st.vector(at)
}

// run says which passage a run is.
func (v *objectView) run(run uint32) (offset int64, index, part uint32) {
	if run >= v.runs {
		i := run - v.runs
		return v.tail.offset[i], v.tail.index[i], v.tail.part[i]
	}
	st := byStep(v.steps, run, func(st *objectStep) uint32 { return st.firstRun })
	i := run - st.firstRun
	return st.offset[i], st.index[i], st.part[i]
}

// runsBelow counts the runs below an offset: they are the first ones.
func (v *objectView) runsBelow(offset int64) uint32 {
	if offset >= v.next {
		return v.runs + uint32(len(v.tail.offset))
	}
	if offset >= v.sealedNext() {
		i, _ := slices.BinarySearch(v.tail.offset, offset)
		return v.runs + uint32(i)
	}
	at, _ := slices.BinarySearchFunc(v.steps, offset, func(st *objectStep, offset int64) int { return cmp.Compare(st.next-1, offset) })
	st := v.steps[at] // the first one that reaches so far
	i, _ := slices.BinarySearch(st.offset, offset)
	return st.firstRun + uint32(i)
}

// sealedNext is where the tail begins.
func (v *objectView) sealedNext() int64 {
	if len(v.steps) == 0 {
		return 0
	}
	return v.steps[len(v.steps)-1].next
}

// rowOf is a run's row of the shard, and the space of that.
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
