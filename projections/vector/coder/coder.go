// Package coder implements index.Index with github.com/coder/hnsw v0.6.1, to compare with. The
// default is flat, because the library's recall@10 at 10,000 × 384, M=16 is 0.26 on clustered and
// 0.02 on uniform vectors at ef=50 (bench/vectors, bench/docs/vectors.md), and because its walks begin at
// a row that Go's map order picks: two builds of the same rows differ.
//
// To keep the promises of index, scores are exact, AddNear compares the new row with all earlier
// ones, and a search that gets too few rows from the library compares all rows. If the library
// panics, its graph is dropped and every later search compares all rows. The graph cannot be stored:
// the caller adds all rows again. Readers wait for the writer.
package coder

import (
	"fmt"
	"math/rand"
	"slices"
	"sync"

	"github.com/coder/hnsw"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
)

// Index is a coder/hnsw graph. It implements index.Index.
type Index struct {
	opt     index.Options
	dot     func(a, b []float32) float32
	vectors index.Vectors

	mu    sync.RWMutex        // guards the fields below: written under Lock, searched under RLock
	graph *hnsw.Graph[uint32] // nil after a panic
	n     uint32              // rows
}

var _ index.Index = (*Index)(nil)

// New returns an empty index of rows whose vectors are kept by the caller.
func New(opt index.Options, vectors index.Vectors) (*Index, error) {
	opt, err := opt.WithDefaults()
	if err != nil {
		return nil, err
	}
	kern := kernel.Best()
	if opt.Generic {
		kern = kernel.Generic()
	}
	return &Index{opt: opt, dot: kern.Dot, vectors: vectors, graph: &hnsw.Graph[uint32]{
		M: opt.M, Ml: 1 / float64(opt.M), EfSearch: opt.EfConstruction,
		Distance: hnsw.CosineDistance, Rng: rand.New(rand.NewSource(1)),
	}}, nil
}

// Len returns the number of rows.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return int(x.n)
}

// Add appends a vector as row Len.
func (x *Index) Add(vec []float32) error {
	_, err := x.AddNear(vec, 0)
	return err
}

// AddNear appends a vector as row Len and returns the k nearest of all earlier rows.
func (x *Index) AddNear(vec []float32, k int) ([]index.Neighbour, error) {
	if err := index.Check(vec, x.opt.Dim); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.n >= index.MaxRows {
		return nil, fmt.Errorf("add a vector: %w", index.ErrFull)
	}
	near := x.compareAll(vec, k, nil)
	x.insert(x.n, slices.Clone(vec)) // the library keeps it
	x.n++
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
	n := int(x.n)
	if k = min(k, n); k <= 0 {
		return nil, nil
	}
	// ask is how many rows are requested from the library. It grows while too few of them match.
	for ask := max(3*k, min(ef, n)); n > x.opt.ScanBelow && ask < n/2; ask *= 4 {
		if found := x.ask(query, ask, max(ask, ef), keep); len(found) >= k {
			return best(found, k), nil
		}
	}
	return x.compareAll(query, k, keep), nil
}

// ask returns the matching ones of the rows that the library finds, none if it panics.
func (x *Index) ask(query []float32, k, ef int, keep func(row uint32) bool) (found []index.Neighbour) {
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
		if keep == nil || keep(node.Key) {
			found = append(found, index.Neighbour{Row: node.Key, Score: x.dot(query, x.vectors(node.Key))})
		}
	}
	return found
}

// compareAll returns the k nearest of all matching rows.
func (x *Index) compareAll(query []float32, k int, keep func(row uint32) bool) []index.Neighbour {
	if k <= 0 {
		return nil
	}
	k = min(k, index.MaxRows)
	var all []index.Neighbour
	for row := range x.n {
		if keep == nil || keep(row) {
			all = append(all, index.Neighbour{Row: row, Score: x.dot(query, x.vectors(row))})
		}
		if len(all) == 64*k {
			all = best(all, k)
		}
	}
	return best(all, k)
}

func best(all []index.Neighbour, k int) []index.Neighbour {
	index.Sort(all)
	return all[:min(k, len(all))]
}
