package vector

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

// step is a sealed step, or a checkpoint of a tail, read in place. Its rows are grouped by space and follow
// the order of the log within one.
type step struct {
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
	vectors []float32
	// Likewise, of objects.
	codes  []int8 // by element, see columns
	scales []float32
	// Likewise, of commands: the content, and the SimilarK most similar earlier rows of the space
	// with their cosines.
	content []uint64
	like    []uint32
	cosines []float32
	groups  []rowGroup
	// What is new with the step.
	names     [][]byte // embedders
	audiences []schemas.AudienceID
	embedder  []uint32 // of each audience's space

	newest []atomic.Uint32 // of each row: the newest run, counted over the shard

	// checked has a bit of each row whose vector was compared with its key; nil if opening the file
	// has checked them all.
	checked []atomic.Uint32
	damage  *damage
}

// rowGroup is the rows of a space in a step: n rows from start on.
type rowGroup struct{ space, start, n uint32 }

// vector returns the vector of a row of the step.
func (st *step) vector(row uint32) []float32 {
	at := int(row) * dim
	vec := st.vectors[at : at+dim : at+dim]
	if st.checked != nil && st.checked[row/32].Load()>>(row%32)&1 == 0 {
		if keyOf(vec, st.content[row]) != st.key[row] {
			st.damage.add(st.wrong(tagVectors, ofShard, "vector %d is not the one of its key", row))
		}
		st.checked[row/32].Or(1 << (row % 32))
	}
	return vec
}

// damage keeps the first damage that is found in vectors, which are read deep inside of a search. Who
// may have read some asks for it before he relies on a result.
type damage struct{ first atomic.Pointer[error] }

func (d *damage) add(err error) { d.first.CompareAndSwap(nil, &err) }

// found returns the damage that was found so far.
func (d *damage) found() error {
	if err := d.first.Load(); err != nil {
		return *err
	}
	return nil
}

// columns returns the codes of a block of up to 1,024 rows by element; each column is stride long.
func (st *step) columns(block int) (codes []int8, stride int) {
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

// columnsOf returns the codes of rows in columns, and their scales.
func columnsOf(t *rows.Table, order []uint32) (codes []int8, scales []float32) {
	codes = make([]int8, columnsSize(len(order)))
	var some [8][]int8 // codes whose elements are adjacent
	for first := 0; first < len(order); first += len(some) {
		all := some[:min(len(some), len(order)-first)]
		for i := range all {
			all[i] = t.Code(order[first+i])[:dim]
			scales = append(scales, t.Scale(order[first+i]))
		}
		block := first / columnRows * columnRows
		stride := kernel.ColumnStride(min(columnRows, len(order)-block))
		at := block*dim + first - block
		for element := range dim {
			for i, c := range all {
				codes[at+i] = c[element]
			}
			at += stride
		}
	}
	return codes, scales
}

// spaceOf returns the space of a row of the step.
func (st *step) spaceOf(row uint32) uint32 {
	i, ok := slices.BinarySearchFunc(st.groups, row, func(g rowGroup, row uint32) int { return int(int64(g.start) - int64(row)) })
	if !ok {
		i--
	}
	return st.groups[i].space
}

// openStep opens the shard's i-th step. The vectors of commands, which are nearly all of a file and of
// which a search reads few, are checked when they are read: each of them has a hash, its row's key.
func (s *shard) openStep(name string, i int) (*step, error) {
	var unread []tag
	if s.linked {
		unread = append(unread, tagVectors)
	}
	f, err := s.open(filepath.Join(s.folder.Dir, name), kindStep, uint64(i), unread...)
	if err != nil {
		return nil, err
	}
	st, err := s.readStep(f)
	if err != nil {
		f.close()
		return nil, err
	}
	if s.linked {
		st.checked = make([]atomic.Uint32, (len(st.key)+31)/32)
	}
	return st, nil
}

// readStep binds a step's regions and checks that it can be used, after the shard's steps, without
// further bounds checks.
func (s *shard) readStep(f *file) (*step, error) {
	v := &s.view
	st := &step{file: f, damage: s.damage, firstEvent: v.events, firstRun: v.runs, firstRow: v.rows}
	if f.base != s.base || f.next < f.base {
		return nil, corrupt(f.path, "header", 0, headerSize, "from %d to %d: want from %d", f.base, f.next, s.base)
	}
	if err := st.bind(s.linked); err != nil {
		return nil, err
	}
	sealed := s.spaces
	for n := len(sealed); n > 0 && sealed[n-1].n == 0; n-- {
		sealed = sealed[:n-1] // the tail named it
	}
	if err := st.checkRows(sealed, len(v.embedders)); err != nil {
		return nil, err
	}
	if err := st.checkRuns(); err != nil {
		return nil, err
	}
	return st, nil
}

// bind finds the regions and checks only their lengths.
func (st *step) bind(linked bool) error {
	f := st.file
	var groups []uint32
	var err error
	regions := []func() error{
		func() error { st.id, err = array[schemas.EventID](f, tagIDs, ofShard); return err },
		func() error { st.offset, err = array[int64](f, tagOffsets, ofShard); return err },
		func() error { st.index, err = array[uint32](f, tagIndexes, ofShard); return err },
		func() error { st.part, err = array[uint32](f, tagParts, ofShard); return err },
		func() error { st.row, err = array[uint32](f, tagRows, ofShard); return err },
		func() error { st.key, err = array[uint64](f, tagKeys, ofShard); return err },
		func() error { st.first, err = array[uint32](f, tagFirst, ofShard); return err },
		func() error { st.vectors, err = f.vectors(); return err },
		func() error { groups, err = array[uint32](f, tagGroups, ofShard); return err },
		func() error { st.audiences, err = array[schemas.AudienceID](f, tagAudiences, ofShard); return err },
		func() error { st.embedder, err = array[uint32](f, tagEmbedders, ofShard); return err },
	}
	if linked {
		regions = append(regions,
			func() error { st.content, err = array[uint64](f, tagContent, ofShard); return err },
			func() error { st.like, err = array[uint32](f, tagLike, ofShard); return err },
			func() error { st.cosines, err = array[float32](f, tagCosines, ofShard); return err },
		)
	} else {
		regions = append(regions,
			func() error { st.codes, err = array[int8](f, tagCodes, ofShard); return err },
			func() error { st.scales, err = array[float32](f, tagScales, ofShard); return err },
		)
	}
	for _, read := range regions {
		if err := read(); err != nil {
			return err
		}
	}
	for i := uint32(0); ; i++ {
		if _, ok := f.regions[regionKey{tagName, i}]; !ok {
			break
		}
		name, _ := f.get(tagName, i) // the directory lists it
		st.names = append(st.names, name)
	}
	runs, rows := len(st.offset), len(st.key)
	codes, scales, contents := columnsSize(rows), rows, 0
	if linked {
		codes, scales, contents = 0, 0, rows
	}
	for _, r := range []struct {
		tag       tag
		got, want int
	}{
		{tagIndexes, len(st.index), runs},
		{tagParts, len(st.part), runs},
		{tagRows, len(st.row), runs},
		{tagFirst, len(st.first), rows},
		{tagVectors, len(st.vectors), rows * dim},
		{tagCodes, len(st.codes), codes},
		{tagScales, len(st.scales), scales},
		{tagContent, len(st.content), contents},
		{tagLike, len(st.like), contents * SimilarK},
		{tagCosines, len(st.cosines), contents * SimilarK},
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

// checkRows checks that groups are in the order of spaces, that each new space has one, that each
// row's first run is its own and in the order of rows, and that similar rows are earlier ones. spaces
// are those of earlier steps.
func (st *step) checkRows(spaces []*space, embedders int) error {
	f := st.file
	all, fresh := len(spaces)+len(st.audiences), len(spaces)
	for i, g := range st.groups {
		if int(g.space) >= all || i > 0 && g.space <= st.groups[i-1].space {
			return f.wrong(tagGroups, ofShard, "group %d is of space %d of %d", i, g.space, all)
		}
		before := uint32(0)
		if int(g.space) < len(spaces) {
			before = spaces[g.space].n
		} else {
			fresh++
		}
		if uint64(before)+uint64(g.n) > index.MaxRows {
			return f.wrong(tagGroups, ofShard, "%d rows after %d", g.n, before)
		}
		for row := g.start; row < g.start+g.n; row++ {
			if at := st.first[row]; int(at) >= len(st.row) || st.row[at] != st.firstRow+row || row > g.start && at <= st.first[row-1] {
				return f.wrong(tagFirst, ofShard, "row %d has run %d of %d", row, at, len(st.row))
			}
			if st.like == nil {
				continue
			}
			for i := row * SimilarK; i < (row+1)*SimilarK; i++ {
				if like := st.like[i]; like != none && like >= before+row-g.start {
					return f.wrong(tagLike, ofShard, "row %d of the space is like row %d, which is not earlier", before+row-g.start, like)
				}
				if c := float64(st.cosines[i]); math.IsNaN(c) || math.IsInf(c, 0) {
					return f.wrong(tagCosines, ofShard, "value %d is %v", i, c)
				}
			}
		}
	}
	if fresh != all {
		return f.wrong(tagAudiences, ofShard, "%d spaces, rows are of %d", all, fresh)
	}
	for i, e := range st.embedder {
		if int(e) >= embedders+len(st.names) {
			return f.wrong(tagEmbedders, ofShard, "space %d has embedder %d of %d", len(spaces)+i, e, embedders+len(st.names))
		}
	}
	return nil
}

// checkRuns checks that runs ascend by offset, object and part, belong to as many events as there
// are ids, and refer to rows that exist by then.
func (st *step) checkRuns() error {
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

// stepRegions returns the regions of a step, or of a checkpoint, with the content of the tail.
func (s *shard) stepRegions(kind fileKind) []region {
	t := s.tail
	order := make([]uint32, len(t.key)) // rows of the tail, by space
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(t.space[a], t.space[b]), cmp.Compare(a, b))
	})
	var (
		place  = make([]uint32, len(order)) // the place in order of each row of the tail
		vecs   = make([][]byte, len(order))
		groups []uint32
	)
	for at, row := range order {
		place[row], vecs[at] = uint32(at), sealed.BytesOf(t.vectors[row])
		if n := len(groups); n == 0 || groups[n-2] != t.space[row] {
			groups = append(groups, t.space[row], 0)
		}
		groups[len(groups)-1]++
	}
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
		regionOf(tagIDs, t.id),
		regionOf(tagOffsets, t.offset),
		regionOf(tagIndexes, t.index),
		regionOf(tagParts, t.part),
		regionOf(tagRows, rowOf),
		regionOf(tagKeys, inOrder(order, t.key, 1)),
		regionOf(tagFirst, inOrder(order, t.first, 1)),
		regionOf(tagGroups, groups),
		regionOf(tagAudiences, audiences),
		regionOf(tagEmbedders, embedder),
	}
	for i, name := range s.embedders[names:] {
		all = append(all, region{tagName, uint32(i), [][]byte{[]byte(name)}})
	}
	if s.linked {
		all = append(all,
			regionOf(tagContent, inOrder(order, t.content, 1)),
			regionOf(tagLike, inOrder(order, t.like, SimilarK)),
			regionOf(tagCosines, inOrder(order, t.cosines, SimilarK)),
		)
	} else {
		codes, scales := columnsOf(t.codes.Table(), order)
		all = append(all, regionOf(tagCodes, codes), regionOf(tagScales, scales))
	}
	if kind == kindTail {
		var packed []uint32
		for _, row := range order {
			packed = sealed.Pack(packed, t.vectors[row])
		}
		return append(all, regionOf(tagPacked, packed))
	}
	return append(all, region{tagVectors, ofShard, vecs})
}

// vectors returns the vectors of a step in place, and those of a checkpoint unpacked.
func (f *file) vectors() ([]float32, error) {
	if f.kind != kindTail {
		return array[float32](f, tagVectors, ofShard)
	}
	words, err := array[uint32](f, tagPacked, ofShard)
	if err != nil {
		return nil, err
	}
	n := 0
	for rest := words; len(rest) > 0; n++ {
		if len(rest) < sealed.PackedMask || len(rest) < sealed.PackedLen(rest) {
			return nil, f.wrong(tagPacked, ofShard, "vector %d is longer than what is left", n)
		}
		rest = rest[sealed.PackedLen(rest):]
	}
	all := make([]float32, n*dim)
	for i := range n {
		at := sealed.PackedLen(words)
		sealed.Unpack(all[i*dim:(i+1)*dim], words[:at])
		words = words[at:]
	}
	return all, nil
}

func regionOf[T sealed.Fixed](t tag, values []T) region {
	return region{t, ofShard, [][]byte{sealed.BytesOf(values)}}
}

// inOrder returns the values of rows, of which each has n, in an order of the rows.
func inOrder[T any](order []uint32, values []T, n uint32) []T {
	out := make([]T, 0, len(values))
	for _, row := range order {
		out = append(out, values[row*n:(row+1)*n]...)
	}
	return out
}
