package flat

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/projections/vector/rows"
)

// Index is an HNSW graph over rows. It implements index.Index.
type Index struct {
	opt     index.Options
	kern    *kernel.Set
	rows    *rows.Rows
	vectors index.Vectors

	graph atomic.Pointer[graph] // never nil
	entry atomic.Uint64         // a packed entry; valid if there are rows

	pool sync.Pool // of *scratch

	mu      sync.Mutex        // allows one writer at a time
	upper   uint32            // lists in use above layer 0
	ends    map[uint32]uint32 // the last row of each head's chain, if it has one
	scratch *scratch
}

var _ index.Index = (*Index)(nil)

// New returns an empty index of rows whose vectors are kept by the caller.
func New(opt index.Options, vectors index.Vectors) (*Index, error) {
	opt, err := opt.WithDefaults()
	if err != nil {
		return nil, err
	}
	return open(opt, rows.New(opt.Dim), vectors), nil
}

func open(opt index.Options, r *rows.Rows, vectors index.Vectors) *Index {
	x := &Index{opt: opt, rows: r, vectors: vectors, kern: kernel.Best(), scratch: newScratch(kernel.Stride(opt.Dim)), ends: map[uint32]uint32{}}
	if opt.Generic {
		x.kern = kernel.Generic()
	}
	x.pool.New = func() any { return newScratch(kernel.Stride(opt.Dim)) }
	x.graph.Store(&graph{base: lists{width: 2 * opt.M}, upper: lists{width: opt.M}})
	return x
}

// Add appends a vector as row Len.
func (x *Index) Add(vec []float32) error {
	_, err := x.AddNear(vec, 0)
	return err
}

// AddNear appends a vector as row Len and returns the k nearest earlier rows, chosen by exact score
// from the 4×k best candidates, or from EfConstruction if that is less.
func (x *Index) AddNear(vec []float32, k int) ([]index.Neighbour, error) {
	if err := index.Check(vec, x.opt.Dim); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	row := uint32(x.rows.Len())
	if row >= index.MaxRows {
		return nil, fmt.Errorf("add a vector: %w", index.ErrFull)
	}
	// From here on nothing fails. No reader follows a link to this row before it is published, so
	// the order of the writes before that does not matter.
	x.rows.Write(vec)
	top := level(row, x.opt.M)
	g := x.room(row, top)
	var near []index.Neighbour
	linked := true
	if row > 0 {
		near, linked = x.link(&view{n: row, rows: x.rows.Table(), graph: g, kern: x.kern}, row, top, vec, k)
	}
	x.rows.Publish()
	if row == 0 || linked && top > unpackEntry(x.entry.Load()).level {
		x.entry.Store(entry{row, top}.pack())
	}
	return near, nil
}

// room allocates lists for a new row.
func (x *Index) room(row uint32, top int) *graph {
	g := x.graph.Load()
	if end := x.upper + uint32(top); !g.has(row, end) {
		g = g.with(row, end)
		x.graph.Store(g)
	}
	if top > 0 {
		g.start[row/perBlock][row%perBlock] = x.upper
		x.upper += uint32(top)
	}
	return g
}

// link finds the neighbours of a new row on each of its layers and links both ways. If an earlier
// row has the same code, it appends the row to that one's chain instead and returns false. It
// returns the k nearest rows.
func (x *Index) link(v *view, row uint32, top int, vec []float32, k int) ([]index.Neighbour, bool) {
	s := x.scratch
	copy(s.code, v.rows.Code(row))
	scale := v.rows.Scale(row)
	e := unpackEntry(x.entry.Load())
	at := s.descend(v, e, top)
	var near []index.Neighbour
	for layer := min(top, e.level); layer >= 0; layer-- {
		s.walk(v, layer, at, x.opt.EfConstruction)
		at = s.pool[0].row()
		ls, _ := v.graph.list(row, layer)
		s.links[layer] = x.choose(v, s, s.pool, scale, ls.width, s.links[layer])
		if layer == 0 && k > 0 {
			near = x.rank(v, vec, s.unfold(v, s.pool, min(4*min(k, index.MaxRows), x.opt.EfConstruction)), k)
		}
	}
	if head, ok := s.head(v, x.self(v, s, row)); ok {
		x.appendDuplicate(v.graph, head, row)
		return near, false
	}
	for layer := min(top, e.level); layer >= 0; layer-- {
		ls, i := v.graph.list(row, layer)
		ls.fill(i, s.links[layer])
		for _, other := range s.links[layer] {
			x.linkBack(v, s, other, row, layer)
		}
	}
	return near, true
}

// self returns the score of a row with itself. Its code is in s.
func (x *Index) self(v *view, s *scratch, row uint32) float32 {
	s.batch = append(s.batch[:0], row)
	s.score(v)
	return s.scores[0]
}

// Len returns the number of rows.
func (x *Index) Len() int { return x.rows.Len() }

// Chunk returns the memory of chunk i, nil if there is none.
func (x *Index) Chunk(i int) []byte { return x.rows.Chunk(i) }

// Map replaces the memory of full chunk i.
func (x *Index) Map(i int, chunk []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rows.Map(i, chunk)
}
