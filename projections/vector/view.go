package vector

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/recountdb/recount/schemas"
)

// view is a state of a shard. A copy of it does not change, except for the newest run of each row.
type view struct {
	tp        schemas.TopicPartition
	next      int64
	embedders []string
	steps     []*step
	sealRuns  uint32 // the minimum number of runs of a step
	events    uint32 // events in steps; so are runs and rows
	runs      uint32
	rows      uint32
	tail      columns
}

// step returns the step of a row of the shard, and the row's number in it. There must be one.
func (v *view) step(row uint32) (*step, uint32) {
	lo, hi := 0, len(v.steps)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) >> 1); v.steps[mid].firstRow <= row {
			lo = mid
		} else {
			hi = mid
		}
	}
	return v.steps[lo], row - v.steps[lo].firstRow
}

// stepOfRun returns the step of a run, and the run's number in it. There must be one. Steps have few
// runs more than the minimum, so its number is close to what follows from that.
func (v *view) stepOfRun(run uint32) (*step, uint32) {
	i := min(int(run/v.sealRuns), len(v.steps)-1)
	for v.steps[i].firstRun > run {
		i--
	}
	return v.steps[i], run - v.steps[i].firstRun
}

// event returns the id of an event in a step.
func (v *view) event(n uint32) schemas.EventID {
	i, ok := slices.BinarySearchFunc(v.steps, n, func(st *step, n uint32) int { return cmp.Compare(st.firstEvent, n) })
	if !ok {
		i--
	}
	return v.steps[i].id[n-v.steps[i].firstEvent]
}

// newest returns the newest run of a row of the shard, with the rows of the tail as they are in t.
func (v *view) newest(row uint32, t *columns) *atomic.Uint32 {
	if row >= v.rows {
		return t.newest.at(row - v.rows)
	}
	st, at := v.step(row)
	return &st.newest[at]
}

// first returns the first run of a row of the shard.
func (v *view) first(row uint32) uint32 {
	if row >= v.rows {
		return v.runs + v.tail.first[row-v.rows]
	}
	st, at := v.step(row)
	return st.firstRun + st.first[at]
}

// vector returns the vector of a row of the shard.
func (v *view) vector(row uint32) []float32 {
	if row >= v.rows {
		return v.tail.vectors[row-v.rows]
	}
	st, at := v.step(row)
	return st.vector(at)
}

// contentIn returns the content of a row of commands, with the rows of the tail as they are in t.
func (v *view) contentIn(row uint32, t *columns) uint64 {
	if row >= v.rows {
		return t.content[row-v.rows]
	}
	st, at := v.step(row)
	return st.content[at]
}

// like returns the rows similar to a row of commands, numbered in its space, with their cosines.
func (v *view) like(row uint32) ([]uint32, []float32) {
	rows, cosines, at := v.tail.like, v.tail.cosines, row-v.rows
	if row < v.rows {
		var st *step
		st, at = v.step(row)
		rows, cosines = st.like, st.cosines
	}
	return rows[at*SimilarK : (at+1)*SimilarK], cosines[at*SimilarK : (at+1)*SimilarK]
}

// run returns the place of a run: the event's offset, the object's index in it and the part's in
// the object.
func (v *view) run(run uint32) (offset int64, index, part uint32) {
	if run >= v.runs {
		i := run - v.runs
		return v.tail.offset[i], v.tail.index[i], v.tail.part[i]
	}
	st, i := v.stepOfRun(run)
	return st.offset[i], st.index[i], st.part[i]
}

// allRuns returns the number of runs.
func (v *view) allRuns() uint32 { return v.runs + uint32(len(v.tail.offset)) }

// runsBelow returns how many runs are below an offset; they are the first ones.
func (v *view) runsBelow(offset int64) uint32 {
	if offset <= 0 {
		return 0
	}
	if offset >= v.next {
		return v.allRuns()
	}
	if offset >= v.sealedNext() {
		i, _ := slices.BinarySearch(v.tail.offset, offset)
		return v.runs + uint32(i)
	}
	at, _ := slices.BinarySearchFunc(v.steps, offset, func(st *step, offset int64) int { return cmp.Compare(st.next-1, offset) })
	st := v.steps[at] // the first step that extends beyond offset
	i, _ := slices.BinarySearch(st.offset, offset)
	return st.firstRun + uint32(i)
}

// sealedNext returns the offset at which the tail begins.
func (v *view) sealedNext() int64 {
	if len(v.steps) == 0 {
		return 0
	}
	return v.steps[len(v.steps)-1].next
}

// rowOf returns a run's row of the shard, and the row's space.
func (v *view) rowOf(run uint32) (row, space uint32) {
	if run >= v.runs {
		row = v.tail.row[run-v.runs]
	} else {
		st, i := v.stepOfRun(run)
		row = st.row[i]
	}
	if row >= v.rows {
		return row, v.tail.space[row-v.rows]
	}
	st, at := v.step(row)
	return row, st.spaceOf(at)
}

// shardView is what a query sees of one partition.
type shardView struct {
	v      view
	chains *chains
	spaces []target // those that the query covers, in the order of the log
	runs   uint32   // those below the watermark: later runs, and rows without an earlier one, are ignored
}

// target is a space that a query covers, as it is in the view.
type target struct {
	*space
	seen
	rows uint32 // the number of rows below the watermark; they are the first ones
}

// parts returns one state of all partitions of a source. Of each it has the spaces of an embedder and
// of audiences, up to a watermark; nil means all that is visible.
func (p *Projection) parts(of *source, embedder string, audiences []schemas.AudienceID, below schemas.Watermark) (all []shardView) {
	p.read(of, func(s *shard) { all = append(all, s.part(embedder, audiences)) })
	for i := range all {
		all[i].limit(below)
	}
	return all
}

// part returns what a query sees of the shard, without a watermark. The caller holds mu.
func (s *shard) part(embedder string, audiences []schemas.AudienceID) shardView {
	out := shardView{v: s.view, chains: s.chains}
	number := slices.Index(s.view.embedders, embedder)
	if number < 0 {
		return out
	}
	for _, a := range audiences {
		if n, ok := s.number[spaceKey{a, uint32(number)}]; ok {
			out.spaces = append(out.spaces, target{space: s.spaces[n], seen: s.spaces[n].seen})
		}
	}
	slices.SortFunc(out.spaces, func(a, b target) int { return cmp.Compare(a.number, b.number) })
	out.spaces = slices.CompactFunc(out.spaces, func(a, b target) bool { return a.number == b.number })
	return out
}

// limit sets the watermark of a query.
func (p *shardView) limit(below schemas.Watermark) {
	p.runs = p.v.allRuns()
	if below != nil {
		p.runs = p.v.runsBelow(below[p.v.tp])
	}
	for i := range p.spaces {
		p.spaces[i].rows = p.existing(&p.spaces[i])
	}
}

// existing returns how many rows of a space are below the watermark.
func (p *shardView) existing(t *target) uint32 {
	n := uint32(0)
	for i := len(t.ranges) - 1; i >= 0; i-- {
		r := &t.ranges[i]
		if r.step.firstRun+uint32(len(r.step.offset)) <= p.runs {
			n = r.before + r.n
			break
		}
		if r.step.firstRun < p.runs {
			in, _ := slices.BinarySearch(r.step.first[r.start:r.start+r.n], p.runs-r.step.firstRun)
			n = r.before + uint32(in)
			break
		}
	}
	if p.runs <= p.v.runs {
		return n
	}
	in, _ := slices.BinarySearchFunc(t.seen.tail, p.runs-p.v.runs, func(row, run uint32) int { return cmp.Compare(p.v.tail.first[row], run) })
	return n + uint32(in)
}

// all returns the number of visible rows of a space, whatever the watermark.
func (t *target) all() uint32 { return t.seen.n + uint32(len(t.seen.tail)) }

// row returns the number in the shard of row i of a space.
func (p *shardView) row(t *target, i uint32) uint32 {
	if i >= t.seen.n {
		return p.v.rows + t.seen.tail[i-t.seen.n]
	}
	st, at := locate(t.seen.ranges, i)
	return st.firstRow + at
}

// numberOf returns the number in a space of a row of the shard.
func (p *shardView) numberOf(t *target, row uint32) uint32 {
	if row >= p.v.rows {
		i, _ := slices.BinarySearch(t.seen.tail, row-p.v.rows)
		return t.seen.n + uint32(i)
	}
	i, ok := slices.BinarySearchFunc(t.seen.ranges, row, func(r rowRange, row uint32) int { return cmp.Compare(r.step.firstRow+r.start, row) })
	if !ok {
		i--
	}
	r := &t.seen.ranges[i]
	return r.before + row - r.step.firstRow - r.start
}

// newest returns the newest run of a row of the shard, which may be later than the view.
func (p *shardView) newest(row uint32) uint32 { return p.v.newest(row, &p.v.tail).Load() }

// before returns the newest run below end of a row, its number among the row's, and the visible run
// that follows it. What does not exist is none, and its number 0.
func (p *shardView) before(row, end uint32) (run uint32, number int, next uint32) {
	run, number, next = p.chains.before(p.newest(row), end)
	if next != none && next >= p.v.allRuns() {
		next = none
	}
	return run, number, next
}

// head returns the newest run of row i of a space, which may be later than the view.
func (p *shardView) head(t *target, i uint32) uint32 {
	if i >= t.seen.n {
		return p.v.tail.newest.at(t.seen.tail[i-t.seen.n]).Load()
	}
	st, at := locate(t.seen.ranges, i)
	return st.newest[at].Load()
}

// content returns the content of row i of a space of commands.
func (p *shardView) content(t *target, i uint32) uint64 {
	if i >= t.seen.n {
		return p.v.tail.content[t.seen.tail[i-t.seen.n]]
	}
	st, at := locate(t.seen.ranges, i)
	return st.content[at]
}

// offset returns the offset of a run.
func (p *shardView) offset(run uint32) int64 {
	if run >= p.v.runs {
		return p.v.tail.offset[run-p.v.runs]
	}
	st, i := p.v.stepOfRun(run)
	return st.offset[i]
}

var noAudience = []schemas.AudienceID{{}} // that of commands
