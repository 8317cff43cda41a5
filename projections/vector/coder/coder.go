// Package coder implements index.Index with github.com/coder/hnsw v0.6.1, as an alternative to
// compare with. The default is flat, for these reasons.
//
// Measured by bench/vectors at 10,000 × 384, M=16, and reported in bench/README.md, recall@10 is
// 0.26 on clustered, 0.10 on low-rank and 0.02 on uniform vectors at ef=50, and 0.30 and 0.26 on
// the first two at ef=400. Walks begin at a row that Go's map order picks, so two builds of the
// same rows differ, and so do two searches of the same index. Among copies of one vector it misses
// nearly all other rows.
//
// This package adds the following, to keep the promises of index as far as possible. Scores are
// exact and answers sorted. If the library returns fewer than k rows although there are as many,
// all rows are scanned. A filtered search requests more rows from the library until enough match,
// then scans. Vectors are checked before the library gets them, and rows are never deleted from it,
// since both can make it panic; deleted rows are left out of answers. If it panics nevertheless,
// its graph is dropped and every later search scans.
//
// Readers wait for the writer. The graph is not stored: AppendLinks returns
//
//	offset  bytes
//	0       8     "RCODR" 0 0, and the version: 1
//	8       4     Dim
//	12      4     rows
//	16      …     deleted rows, see rows.AppendDeleted
//
// and Load adds all rows again, which takes as long as it did at first. Hash covers the rows and
// the deletions only. Map saves no memory: the library keeps the vectors in the memory in which
// they were added.
package coder

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"sync"

	"github.com/coder/hnsw"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/projections/vector/rows"
)

// Index is a coder/hnsw graph over rows. It implements index.Index.
type Index struct {
	opt  index.Options
	kern *kernel.Set
	rows *rows.Rows

	mu    sync.RWMutex        // guards graph: written under Lock, searched under RLock
	graph *hnsw.Graph[uint32] // nil after a panic
}

var _ index.Index = (*Index)(nil)

// New returns an empty index.
func New(opt index.Options) (*Index, error) {
	opt, err := opt.WithDefaults()
	if err != nil {
		return nil, err
	}
	return open(opt, rows.New(opt.Dim)), nil
}

func open(opt index.Options, r *rows.Rows) *Index {
	x := &Index{opt: opt, kern: kernel.Best(), rows: r, graph: &hnsw.Graph[uint32]{
		M: opt.M, Ml: 1 / float64(opt.M), EfSearch: opt.EfConstruction,
		Distance: hnsw.CosineDistance, Rng: rand.New(rand.NewSource(1)),
	}}
	if opt.Generic {
		x.kern = kernel.Generic()
	}
	return x
}

// Add appends a vector as row Len.
func (x *Index) Add(vec []float32) error {
	_, err := x.AddNear(vec, 0)
	return err
}

// AddNear appends a vector as row Len and returns the k nearest earlier rows. They come from a
// separate search, since the library does not report what it found while adding.
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
	near := x.search(vec, min(k, x.opt.EfConstruction), x.opt.Ef, nil)
	x.rows.Write(vec)
	x.insert(row, x.rows.Table().Vector(row))
	x.rows.Publish()
	return near, nil
}

// insert adds a row to the library's graph.
func (x *Index) insert(row uint32, vec []float32) {
	if x.graph == nil {
		return
	}
	defer func() {
		if recover() != nil {
			x.graph = nil // its state is unknown
		}
	}()
	x.graph.Add(hnsw.MakeNode(row, vec))
}

// Search returns the k nearest rows for which keep, if not nil, returns true.
func (x *Index) Search(query []float32, k, ef int, keep func(row uint32) bool) ([]index.Neighbour, error) {
	if err := index.Check(query, x.opt.Dim); err != nil {
		return nil, err
	}
	if ef <= 0 {
		ef = x.opt.Ef
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.search(query, k, ef, keep), nil
}

func (x *Index) search(query []float32, k, ef int, keep func(row uint32) bool) []index.Neighbour {
	n := x.rows.Len()
	if k = min(k, n); k <= 0 {
		return nil
	}
	t := x.rows.Table()
	counts := func(row uint32) bool { return !t.Deleted(row) && (keep == nil || keep(row)) }
	// ask is how many rows are requested from the library. It grows while too few of them match.
	for ask := max(3*k, min(ef, n)); n > x.opt.ScanBelow && ask < n/2; ask *= 4 {
		found := x.ask(query, ask, max(ask, ef))
		if found = slices.DeleteFunc(found, func(row uint32) bool { return !counts(row) }); len(found) >= k {
			return x.rank(t, query, found, k)
		}
	}
	var all []uint32
	for row := range uint32(n) {
		if counts(row) {
			all = append(all, row)
		}
	}
	return x.rank(t, query, all, k)
}

// ask returns the rows that the library finds, none if it panics.
func (x *Index) ask(query []float32, k, ef int) (found []uint32) {
	if x.graph == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	graph := *x.graph // a copy, for its own EfSearch
	graph.EfSearch = ef
	for _, node := range graph.Search(query, k) {
		found = append(found, node.Key)
	}
	return found
}

// rank returns the k best of candidates by exact score.
func (x *Index) rank(t *rows.Table, query []float32, candidates []uint32, k int) []index.Neighbour {
	out := make([]index.Neighbour, len(candidates))
	for i, row := range candidates {
		out[i] = index.Neighbour{Row: row, Score: x.kern.Dot(query, t.Vector(row))}
	}
	index.Sort(out)
	return out[:min(k, len(out))]
}

// Len returns the number of rows.
func (x *Index) Len() int { return x.rows.Len() }

// Delete leaves a row out of every later answer.
func (x *Index) Delete(row uint32) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rows.Delete(row)
}

// Deleted reports whether a row was deleted.
func (x *Index) Deleted(row uint32) bool { return x.rows.Deleted(row) }

// Vector returns the vector of a row, nil if there is none.
func (x *Index) Vector(row uint32) []float32 { return x.rows.Vector(row) }

// Chunk returns the memory of chunk i, nil if there is none.
func (x *Index) Chunk(i int) []byte { return x.rows.Chunk(i) }

// Map replaces the memory of full chunk i.
func (x *Index) Map(i int, chunk []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rows.Map(i, chunk)
}

const magic = "RCODR\x00\x00\x01"

// AppendLinks appends the deletions.
func (x *Index) AppendLinks(b []byte) []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(x.opt.Dim))
	b = binary.LittleEndian.AppendUint32(b, uint32(x.rows.Len()))
	return x.rows.AppendDeleted(b)
}

// Load returns an index of stored rows, each added to a new graph.
func Load(opt index.Options, links []byte, chunks [][]byte) (*Index, error) {
	opt, err := opt.WithDefaults()
	if err != nil {
		return nil, err
	}
	if len(links) < 16 || string(links[:8]) != magic {
		return nil, fmt.Errorf("%w: it does not begin with %q", index.ErrCorrupt, magic)
	}
	if dim := binary.LittleEndian.Uint32(links[8:]); int64(dim) != int64(opt.Dim) {
		return nil, fmt.Errorf("stored vector index has Dim %d, not %d: open it with that, or build it again", dim, opt.Dim)
	}
	n := binary.LittleEndian.Uint32(links[12:])
	if n > index.MaxRows {
		return nil, fmt.Errorf("%w: %d rows", index.ErrCorrupt, n)
	}
	r, err := rows.Load(opt.Dim, int(n), chunks)
	if err != nil {
		return nil, err
	}
	rest, err := r.LoadDeleted(links[16:])
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%w: %d bytes behind the deleted rows", index.ErrCorrupt, len(rest))
	}
	x := open(opt, r)
	for row := range n {
		vec := r.Vector(row)
		if err := index.Check(vec, opt.Dim); err != nil {
			return nil, fmt.Errorf("%w: row %d: %w", index.ErrCorrupt, row, err)
		}
		x.insert(row, vec)
	}
	return x, nil
}

// Hash returns a hash of the rows and the deletions.
func (x *Index) Hash() (out [32]byte) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	h := sha256.New()
	h.Write(x.rows.AppendDeleted(nil))
	x.rows.Hash(h)
	h.Sum(out[:0])
	return out
}
