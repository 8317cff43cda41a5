// Package index defines a vector index: rows of unit vectors, numbered in the order in which they
// were added, and a search for the nearest of them. Two packages implement it, flat (ours, the
// default) and coder (coder/hnsw). The test suite that both pass is indextest.
//
// A caller may rely on the following for both:
//
//   - One writer (Add, AddNear) and any number of readers (the other methods) may run at a time.
//     Writers wait for each other. A reader sees the rows that were added when it began, and none
//     half added.
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

	"github.com/recountdb/recount/projections/vector/kernel"
)

// Neighbour is a row and its cosine to the query, in -1..1 up to rounding.
type Neighbour struct {
	Row   uint32
	Score float32
}

// Index is a vector index.
type Index interface {
	// Len returns the number of rows.
	Len() int

	// Add appends a vector as row Len. It fails with ErrVector for one that cannot be indexed (see
	// Check), and with ErrFull after MaxRows; the index is then unchanged.
	Add(vec []float32) error

	// AddNear is Add and returns the nearest earlier rows, at most k; none if k is 0 or less. They
	// are a function of the vectors and their order. An index may find them in the search that
	// adding makes anyway, and then returns at most as many as that search keeps (200 by default,
	// see Options).
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
}

// Vectors returns the vector of a row, including that of a row that is being added. An index keeps
// no vectors itself; its caller does.
type Vectors func(row uint32) []float32

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
		{"Dim", o.Dim, 1, kernel.MaxDim},
		{"M", o.M, 2, 64},
		{"EfConstruction", o.EfConstruction, 1, 4096},
		{"Ef", o.Ef, 1, 4096},
	} {
		if f.value < f.low || f.value > f.high {
			return o, fmt.Errorf("vector index option %s is %d: want %d to %d", f.name, f.value, f.low, f.high)
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
	// Four sums, since each addition waits for the one before it. A sum is NaN or infinite if an
	// element is.
	var a, b, c, d float64
	square := func(x float32) float64 { return float64(float64(x) * float64(x)) } // not fused
	rest := vec
	for ; len(rest) >= 4; rest = rest[4:] {
		a, b, c, d = a+square(rest[0]), b+square(rest[1]), c+square(rest[2]), d+square(rest[3])
	}
	for _, x := range rest {
		a += square(x)
	}
	sum := a + b + c + d
	if math.Abs(sum-1) <= tolerance {
		return nil
	}
	for i, x := range vec {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%w: element %d is %v", ErrVector, i, x)
		}
	}
	if sum == 0 {
		return fmt.Errorf("%w: all its elements are zero", ErrVector)
	}
	return fmt.Errorf("%w: its length is %.4g, divide by it first", ErrVector, math.Sqrt(sum))
}

// Sort sorts by score, best first, then by row.
func Sort(ns []Neighbour) {
	slices.SortFunc(ns, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
}
