package vector

import (
	"slices"
	"sync/atomic"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/schemas"
)

// objectStep is a sealed step of objects, read in place. Its rows are grouped by space and follow
// the order of the log within one.
type objectStep struct {
	*file
	firstEvent, firstRun, firstRow uint32 // how many of each the steps before it have

	id []schemas.EventID // of each event that has passages
	// Of each run.
	offset []int64
	index  []uint32
	part   []uint32
	row    []uint32
	// Of each row.
	key     []uint64
	first   []uint32 // its first run, counted in the step
	codes   []int8   // by element, see columns
	vectors []float32
	scales  []float32
	groups  []rowGroup
	// What is new with the step.
	names     [][]byte // embedders
	audiences []schemas.AudienceID
	embedder  []uint32 // of each audience's space

	newest []atomic.Uint32 // of each row: the newest run, counted over the shard
}

// rowGroup is the rows of a space in a step: n rows from start on.
type rowGroup struct{ space, start, n uint32 }

// vector returns the vector of a row of the step.
func (st *objectStep) vector(row uint32) []float32 {
	at := int(row) * dim
	return st.vectors[at : at+dim : at+dim]
}

// columns returns the codes of a block of up to 1,024 rows by element; each column is stride long.
func (st *objectStep) columns(block int) (codes []int8, stride int) {
	at := block * columnRows
	stride = kernel.ColumnStride(min(columnRows, len(st.key)-at))
	return st.codes[at*dim:][:stride*dim], stride
}

// columnRows is how many rows have their codes in the same columns.
const columnRows = 1024

// columnsSize returns the size of the codes of that many rows.
func columnsSize(rows int) int {
	return (rows/columnRows*columnRows + kernel.ColumnStride(rows%columnRows)) * dim
}

// columnsOf returns codes in columns.
func columnsOf(rows int, code func(row int) []int8) []int8 {
	out := make([]int8, columnsSize(rows))
	var some [8][]int8 // codes whose elements are adjacent
	for first := 0; first < rows; first += len(some) {
		all := some[:min(len(some), rows-first)]
		for i := range all {
			all[i] = code(first + i)[:dim]
		}
		block := first / columnRows * columnRows
		stride := kernel.ColumnStride(min(columnRows, rows-block))
		at := block*dim + first - block
		for element := range dim {
			for i, c := range all {
				out[at+i] = c[element]
			}
			at += stride
		}
	}
	return out
}

// spaceOf returns the space of a row of the step.
func (st *objectStep) spaceOf(row uint32) uint32 {
	i, ok := slices.BinarySearchFunc(st.groups, row, func(g rowGroup, row uint32) int { return int(int64(g.start) - int64(row)) })
	if !ok {
		i--
	}
	return st.groups[i].space
}

// readObjectStep binds a step's regions and checks that it can be used, after the state in v with
// that many spaces, without further bounds checks.
func readObjectStep(f *file, v *objectView, spaces int, base int64) (*objectStep, error) {
	st := &objectStep{file: f, firstEvent: v.events, firstRun: v.runs, firstRow: v.rows}
	if f.base != base || f.next < f.base {
		return nil, corrupt(f.path, "header", 0, headerSize, "from %d to %d: want from %d", f.base, f.next, base)
	}
	if err := st.bind(); err != nil {
		return nil, err
	}
	if err := st.checkRows(spaces, len(v.embedders)); err != nil {
		return nil, err
	}
	if err := st.checkRuns(); err != nil {
		return nil, err
	}
	return st, nil
}

// bind finds the regions and checks only their lengths.
func (st *objectStep) bind() error {
	f := st.file
	var groups []uint32
	var err error
	for _, read := range []func() error{
		func() error { st.id, err = array[schemas.EventID](f, tagIDs, ofShard); return err },
		func() error { st.offset, err = array[int64](f, tagOffsets, ofShard); return err },
		func() error { st.index, err = array[uint32](f, tagIndexes, ofShard); return err },
		func() error { st.part, err = array[uint32](f, tagParts, ofShard); return err },
		func() error { st.row, err = array[uint32](f, tagRows, ofShard); return err },
		func() error { st.key, err = array[uint64](f, tagKeys, ofShard); return err },
		func() error { st.first, err = array[uint32](f, tagFirst, ofShard); return err },
		func() error { st.codes, err = array[int8](f, tagCodes, ofShard); return err },
		func() error { st.vectors, err = array[float32](f, tagVectors, ofShard); return err },
		func() error { st.scales, err = array[float32](f, tagScales, ofShard); return err },
		func() error { groups, err = array[uint32](f, tagGroups, ofShard); return err },
		func() error { st.audiences, err = array[schemas.AudienceID](f, tagAudiences, ofShard); return err },
		func() error { st.embedder, err = array[uint32](f, tagEmbedders, ofShard); return err },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	for i := uint32(0); ; i++ {
		if _, ok := f.regions[place{tagName, i}]; !ok {
			break
		}
		name, _ := f.get(tagName, i) // the directory lists it
		st.names = append(st.names, name)
	}
	runs, rows := len(st.offset), len(st.key)
	for _, r := range []struct {
		tag       tag
		got, want int
	}{
		{tagIndexes, len(st.index), runs},
		{tagParts, len(st.part), runs},
		{tagRows, len(st.row), runs},
		{tagFirst, len(st.first), rows},
		{tagCodes, len(st.codes), columnsSize(rows)},
		{tagVectors, len(st.vectors), rows * dim},
		{tagScales, len(st.scales), rows},
		{tagGroups, len(groups) % 2, 0},
		{tagEmbedders, len(st.embedder), len(st.audiences)},
	} {
		if r.got != r.want {
			return f.wrong(r.tag, ofShard, "%d values, want %d", r.got, r.want)
		}
	}
	start := uint32(0)
	for i := 0; i < len(groups); i += 2 {
		st.groups = append(st.groups, rowGroup{groups[i], start, groups[i+1]})
		if start += groups[i+1]; groups[i+1] == 0 || start < groups[i+1] || int(start) > rows {
			return f.wrong(tagGroups, ofShard, "group %d of %d rows, up to %d of %d", i/2, groups[i+1], start, rows)
		}
	}
	if int(start) != rows {
		return f.wrong(tagGroups, ofShard, "of %d rows, there are %d", start, rows)
	}
	return nil
}

// checkRows checks that groups are in the order of spaces, that each new space has one, and that
// each row's first run is its own and in the order of rows.
func (st *objectStep) checkRows(spaces, embedders int) error {
	f := st.file
	all, fresh := uint32(spaces+len(st.audiences)), spaces
	for i, g := range st.groups {
		if g.space >= all || i > 0 && g.space <= st.groups[i-1].space {
			return f.wrong(tagGroups, ofShard, "group %d is of space %d of %d", i, g.space, all)
		}
		if int(g.space) >= spaces {
			fresh++
		}
		for row := g.start; row < g.start+g.n; row++ {
			if at := st.first[row]; int(at) >= len(st.row) || st.row[at] != st.firstRow+row || row > g.start && at <= st.first[row-1] {
				return f.wrong(tagFirst, ofShard, "row %d has run %d of %d", row, at, len(st.row))
			}
		}
	}
	if fresh != int(all) {
		return f.wrong(tagAudiences, ofShard, "%d spaces, rows are of %d", all, fresh)
	}
	for i, e := range st.embedder {
		if int(e) >= embedders+len(st.names) {
			return f.wrong(tagEmbedders, ofShard, "space %d has embedder %d of %d", spaces+i, e, embedders+len(st.names))
		}
	}
	return nil
}

// checkRuns checks that runs ascend by offset, object and part, belong to as many events as there
// are ids, and refer to rows that exist by then.
func (st *objectStep) checkRuns() error {
	f := st.file
	last, events := f.base, 0
	for i, off := range st.offset {
		again := i > 0 && off == last
		if !again {
			events++
		}
		if off < last || off >= f.next || again && (st.index[i] < st.index[i-1] || st.index[i] == st.index[i-1] && st.part[i] <= st.part[i-1]) {
			return f.wrong(tagOffsets, ofShard, "run %d: offset %d, object %d, part %d after offset %d, before %d", i, off, st.index[i], st.part[i], last, f.next)
		}
		last = off
		switch row := st.row[i]; {
		case row < st.firstRow:
		case row-st.firstRow >= uint32(len(st.first)) || st.first[row-st.firstRow] > uint32(i):
			return f.wrong(tagRows, ofShard, "run %d is of row %d, which is not there", i, row)
		}
	}
	if len(st.id) != events {
		return f.wrong(tagIDs, ofShard, "%d ids, want %d", len(st.id), events)
	}
	return nil
}

// stepRegions returns the regions of a step with the content of the tail.
func (s *objectShard) stepRegions() []region {
	t := s.tail
	order := make([]uint32, len(t.key)) // rows of the tail, by space
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		if t.space[a] != t.space[b] {
			return int(int64(t.space[a]) - int64(t.space[b]))
		}
		return int(a) - int(b)
	})
	var (
		place  = make([]uint32, len(order)) // the place in order of each row of the tail
		key    = make([]uint64, len(order))
		first  = make([]uint32, len(order))
		scales = make([]float32, len(order))
		vecs   = make([][]byte, len(order))
		groups []uint32
		table  = t.rows.Table()
	)
	for at, row := range order {
		place[row], key[at], first[at] = uint32(at), t.key[row], t.first[row]
		vecs[at], scales[at] = sealed.BytesOf(table.Vector(row)), table.Scale(row)
		if n := len(groups); n == 0 || groups[n-2] != t.space[row] {
			groups = append(groups, t.space[row], 0)
		}
		groups[len(groups)-1]++
	}
	codes := columnsOf(len(order), func(at int) []int8 { return table.Code(order[at]) })
	rowOf := slices.Clone(t.row)
	for i, row := range rowOf {
		if row >= s.view.rows {
			rowOf[i] = s.view.rows + place[row-s.view.rows]
		}
	}
	var audiences []schemas.AudienceID
	var embedder []uint32
	names := 0 // embedders that steps name
	for _, sp := range s.spaces {
		if sp.n > 0 {
			names = max(names, int(sp.embedder)+1)
			continue
		}
		audiences, embedder = append(audiences, sp.audience), append(embedder, sp.spaceKey.embedder)
	}
	all := []region{
		{tagIDs, ofShard, [][]byte{sealed.BytesOf(t.id)}},
		{tagOffsets, ofShard, [][]byte{sealed.BytesOf(t.offset)}},
		{tagIndexes, ofShard, [][]byte{sealed.BytesOf(t.index)}},
		{tagParts, ofShard, [][]byte{sealed.BytesOf(t.part)}},
		{tagRows, ofShard, [][]byte{sealed.BytesOf(rowOf)}},
		{tagKeys, ofShard, [][]byte{sealed.BytesOf(key)}},
		{tagFirst, ofShard, [][]byte{sealed.BytesOf(first)}},
		{tagGroups, ofShard, [][]byte{sealed.BytesOf(groups)}},
		{tagAudiences, ofShard, [][]byte{sealed.BytesOf(audiences)}},
		{tagEmbedders, ofShard, [][]byte{sealed.BytesOf(embedder)}},
	}
	for i, name := range s.embedders[names:] {
		all = append(all, region{tagName, uint32(i), [][]byte{[]byte(name)}})
	}
	return append(all,
		region{tagCodes, ofShard, [][]byte{sealed.BytesOf(codes)}},
		region{tagScales, ofShard, [][]byte{sealed.BytesOf(scales)}},
		region{tagVectors, ofShard, vecs},
	)
}
