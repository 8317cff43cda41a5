// Package index defines a vector index: rows of unit vectors, numbered in the order in which they
// were added, and a search for the nearest of them. Two packages implement it, flat (ours, the
// default) and coder (coder/hnsw). The test suite that both pass is indextest.
//
// A caller may rely on the following for both:
//
//   - One writer (Add, AddNear, Delete, Map) and any number of readers (the other methods) may run
//     at a time. Writers wait for each other. A reader sees the rows that were added when it began,
//     and none half added.
//   - A score is the exact float32 dot product as kernel.Dot sums it, with the same bits on every
//     CPU. Results are ordered by score, best first, then by row.
//   - No method panics, whatever k, ef, row or vector it is given.
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
	// Len returns the number of rows, including deleted ones.
	Len() int

	// Add appends a vector as row Len. It fails with ErrVector for one that cannot be indexed (see
	// Check), and with ErrFull after MaxRows; the index is then unchanged.
	Add(vec []float32) error

	// AddNear is Add and returns the nearest earlier rows, at most k, without deleted ones. They
	// come from the search that adding makes anyway, so there are at most as many as that search
	// keeps (200 by default, see Options). If k is 0 or less, there are none.
	AddNear(vec []float32, k int) ([]Neighbour, error)

	// Search returns the k nearest rows, or all if there are fewer. It fails with ErrVector for a
	// query that Check rejects.
	//
	// ef is the minimum number of candidates that the walk keeps: more finds more and is slower. 0
	// or less means the default. A value below three times k is raised to that. A k of 0 or less
	// finds nothing; a k of Len or more returns every row.
	//
	// keep, if not nil, reports whether a row may be a result. It is called during the search, for
	// any rows in any order, perhaps more than once for one row. The search returns k rows if keep
	// accepts as many, however few they are.
	Search(query []float32, k, ef int, keep func(row uint32) bool) ([]Neighbour, error)

	// Delete leaves a row out of every later answer. Its vector and its links stay. Deleting a row
	// again does nothing; a row that does not exist is an error.
	Delete(row uint32) error

	// Deleted reports whether a row was deleted.
	Deleted(row uint32) bool

	// Vector returns the vector of a row as it was added, nil if there is no such row. The caller
	// must not write to it. It is valid until the memory given to Map is unmapped.
	Vector(row uint32) []float32

	// Chunk returns the memory of row i×kernel.BlockRows and the following ones, as package rows
	// describes it, nil if there is no such chunk. The caller must not write to it. A chunk changes
	// as rows are added until it is full.
	Chunk(i int) []byte

	// Map replaces the memory of full chunk i by other memory of the same content, such as that of
	// a mapped file. The caller may unmap it only when no reader is left.
	Map(i int, chunk []byte) error

	// AppendLinks appends what must be stored besides the chunks to load the index again: deletions
	// and links, as the implementing package describes them.
	AppendLinks(b []byte) []byte

	// Hash returns a hash of the whole state: vectors, deletions, links.
	Hash() [32]byte
}

// Options configure an index. The zero value is valid.
type Options struct {
	// Dim is the number of elements of each vector. Default 384.
	Dim int
	// M is the number of links that a row gets on each layer, and twice that on the lowest one. 2
	// to 64; more finds more, in more memory and time. Default 16.
	M int
	// EfConstruction is how many candidates the search for links keeps: more makes a better graph,
	// more slowly. 1 to 4096. Default 200.
	EfConstruction int
	// Ef is how many candidates a search keeps if its caller passes none. 1 to 4096. Default 50.
	Ef int
	// ScanBelow is the number of rows up to which a search compares all of them instead of walking
	// the graph. Default 2048; negative: never scan.
	ScanBelow int
	// Generic disables the CPU's vector instructions. Answers are the same and slower; it is for
	// tests.
	Generic bool
}

// MaxRows is the maximum number of rows of an index.
const MaxRows = 1 << 30

// Errors that a caller can test with errors.Is.
var (
	// ErrVector: the vector cannot be indexed or searched for. The caller must fix the vector.
	ErrVector = errors.New("not a unit vector")
	// ErrFull: the index has MaxRows rows. The caller must use another.
	ErrFull = errors.New("the index is full")
	// ErrRow: the row is not in the index.
	ErrRow = errors.New("no such row")
	// ErrCorrupt: stored bytes are not those of AppendLinks or Chunk. The index must be rebuilt.
	ErrCorrupt = errors.New("damaged vector index")
)

// WithDefaults returns the options with defaults for zero fields. Its error names the field that is
// out of range and the value.
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

// tolerance is how far the squared length of a unit vector may be from 1. It is far above the error
// of rounding to 16 bits and far below what would disturb a ranking.
const tolerance = 0.01

// Check returns an ErrVector that says what is wrong if a vector cannot be added or searched for. A
// valid vector has dim finite elements and a length of 1 within half a percent.
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

// Sort sorts by score, best first, then by row.
func Sort(ns []Neighbour) {
	slices.SortFunc(ns, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
}
