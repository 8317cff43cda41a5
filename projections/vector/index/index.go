// Package index says what a vector index is: rows of unit vectors, numbered in
// the order they were added, and the nearest of them to a query. Two packages
// implement it, flat (ours, the default) and coder (coder/hnsw); the suite that
// both pass is in indextest.
//
// A caller may rely on this of either:
//
//   - One writer (Add, AddNear, Delete, Map) and any number of readers (the other
//     methods) at a time. Writers wait for each other; a reader sees the rows that
//     were added when it began, and none half added.
//   - A score is the exact float32 dot product as kernel.Dot sums it: the same
//     bits on every CPU. Rankings are by score, best first, equal ones by row.
//   - Nothing panics whatever k, ef, row or vector is given.
package index

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Neighbour is a row and its cosine to the query, in -1..1 up to rounding.
type Neighbour struct {
	Row   uint32
	Score float32
}

// Index is a vector index.
type Index interface {
	// Len is the number of rows, deleted ones included.
	Len() int

	// Add appends a vector as the row Len. It fails with ErrVector for one that
	// cannot be indexed (see Check), with ErrFull after MaxRows; the index is then
	// as it was.
	Add(vec []float32) error

	// AddNear is Add, and gives the nearest rows that were there before, at most k,
	// deleted ones left out. They come from the search that adding makes anyway, so
	// there are never more than that search found (200 by default, see Options).
	// Where k is 0 or less there are none.
	AddNear(vec []float32, k int) ([]Neighbour, error)

	// Search gives the k nearest rows, or all if there are fewer. It fails with
	// ErrVector for a query that Check refuses.
	//
	// ef is how many candidates the walk keeps, or some more where a backend needs
	// it: more is slower and finds more. 0 or less is the default, and it is never
	// less than three times k. k of 0 or less
	// finds nothing; a k of the index's size or more gives every row.
	//
	// keep, if not nil, says which rows count. It is asked during the search, for
	// any row and in any order, perhaps more than once; a search gives k rows if it
	// keeps as many, however few they are.
	Search(query []float32, k, ef int, keep func(row uint32) bool) ([]Neighbour, error)

	// Delete leaves a row out of every later answer. Its vector and its links stay.
	// Deleting twice is deleting once; a row that is not there is an error.
	Delete(row uint32) error

	// Deleted says whether a row was deleted.
	Deleted(row uint32) bool

	// Vector is the vector of a row as it was added, not to be written to, and valid
	// until the memory given to Map is unmapped. A row that is not there gives nil.
	Vector(row uint32) []float32

	// Chunk gives the memory of rows i×kernel.BlockRows and the following ones, as
	// package rows describes it, not to be written to. A chunk that is not full
	// changes as rows are added; a full one never does. Nil if there is no such.
	Chunk(i int) []byte

	// Map puts other memory, of the same content, in the place of full chunk i: that
	// of a mapped file. Whoever unmaps it sees to it that no reader is left.
	Map(i int, chunk []byte) error

	// AppendLinks appends what must be stored besides the chunks to load the index
	// again: deletions and links, as the package that implements it describes them.
	AppendLinks(b []byte) []byte

	// Hash stands for the whole state: vectors, deletions, links.
	Hash() [32]byte
}

// Options of an index. The zero value is valid.
type Options struct {
	// Dim is the number of elements of each vector. Default 384.
	Dim int
	// M is the number of links a row gets on each layer, twice that on the lowest.
	// 2 to 64; more finds more, in more memory and time. Default 16.
	M int
	// EfConstruction is how many candidates the search for links keeps: more makes a
	// better graph, slower. 1 to 4096. Default 200.
	EfConstruction int
	// Ef is how many candidates a search keeps that does not say. 1 to 4096. Default 50.
	Ef int
	// ScanBelow is the number of rows up to which a search compares all of them
	// rather than walk the graph. Default 2048; negative: never scan.
	ScanBelow int
	// Generic leaves the CPU's vector instructions alone. Answers are the same and
	// slower: for tests.
	Generic bool
}

// MaxRows is how many rows an index takes.
const MaxRows = 1 << 30

// Errors that a caller can tell apart.
var (
	// ErrVector is of a vector that cannot be indexed or asked for: mend the vector.
	ErrVector = errors.New("not a unit vector")
	// ErrFull is of an index with MaxRows rows: use another.
	ErrFull = errors.New("the index is full")
	// ErrRow is of a row that is not in the index.
	ErrRow = errors.New("no such row")
	// ErrCorrupt is of stored bytes that are not what AppendLinks or Chunk gave:
	// build the index again.
	ErrCorrupt = errors.New("damaged vector index")
)

// WithDefaults fills in what is zero, and fails naming the field that is out of
// range and its value.
func (o Options) WithDefaults() (Options, error) {
	fill := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	fill(&o.Dim, 384)
	fill(&o.M, 16)
	fill(&o.EfConstruction, 200)
	fill(&o.Ef, 50)
	fill(&o.ScanBelow, 2048)
	for _, f := range []struct {
		name             string
		value, low, high int
	}{
		{"Dim", o.Dim, 1, 1 << 16},
		{"M", o.M, 2, 64},
		{"EfConstruction", o.EfConstruction, 1, 4096},
		{"Ef", o.Ef, 1, 4096},
	} {
		if f.value < f.low || f.value > f.high {
			return o, fmt.Errorf("vector index option %s is %d: %d to %d is allowed", f.name, f.value, f.low, f.high)
		}
	}
	return o, nil
}

// tolerance is how far the squared length of a unit vector may be from 1: far
// above what rounding to 16 bits does, far below what would disturb a ranking.
const tolerance = 0.01

// Check says whether a vector can be added or asked for: dim elements, each
// finite, of length 1 within half a percent. The error is an ErrVector and says
// what is wrong.
func Check(vec []float32, dim int) error {
	if len(vec) != dim {
		return fmt.Errorf("%w: it has %d elements, the index %d", ErrVector, len(vec), dim)
	}
	var sum float64
	for i, x := range vec {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%w: element %d is %v", ErrVector, i, x)
		}
		sum += float64(float64(x) * float64(x))
	}
	if sum == 0 {
		return fmt.Errorf("%w: all its elements are zero", ErrVector)
	}
	if math.Abs(sum-1) > tolerance {
		return fmt.Errorf("%w: its length is %.4g, divide by it first", ErrVector, math.Sqrt(sum))
	}
	return nil
}

// Sort puts the best first, equal ones by row.
func Sort(ns []Neighbour) {
	slices.SortFunc(ns, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
}
