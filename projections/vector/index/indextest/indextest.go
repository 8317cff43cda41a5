// Package indextest is the test suite that every implementation of index.Index passes. It also
// generates the vectors on which they are measured.
package indextest

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
)

// Backend is an implementation of index.Index, with what the suite expects of it.
type Backend struct {
	New func(index.Options, index.Vectors) (index.Index, error)
	// Recall is the minimum recall of walking searches in 1,000 clustered rows.
	Recall float64
	// Approximate is set for an index that does not promise to find every row.
	Approximate bool
}

// Run runs the suite.
func Run(t *testing.T, b Backend) {
	t.Run("numbers rows", func(t *testing.T) { numbersRows(t, b) })
	t.Run("refuses bad vectors", func(t *testing.T) { refuses(t, b) })
	t.Run("bounds k and ef", func(t *testing.T) { bounds(t, b) })
	t.Run("finds", func(t *testing.T) { finds(t, b) })
	t.Run("filters", func(t *testing.T) { filters(t, b) })
	t.Run("gives earlier neighbours", func(t *testing.T) { earlier(t, b) })
	t.Run("finds among copies", func(t *testing.T) { copies(t, b) })
	t.Run("reads while written", func(t *testing.T) { concurrent(t, b) })
}

const dim = 32

func build(t *testing.T, b Backend, opt index.Options, vectors [][]float32) (index.Index, *Kept) {
	t.Helper()
	kept := &Kept{}
	x, err := b.New(opt, kept.Vector)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if err := kept.Add(x, v); err != nil {
			t.Fatal(err)
		}
	}
	return x, kept
}

// Exact returns the k nearest vectors by exact score, of those that keep, if not nil, accepts.
func Exact(vectors [][]float32, query []float32, k int, keep func(row uint32) bool) []index.Neighbour {
	var all []index.Neighbour
	for i, v := range vectors {
		if keep == nil || keep(uint32(i)) {
			all = append(all, index.Neighbour{Row: uint32(i), Score: kernel.Generic().Dot(query, v)})
		}
	}
	slices.SortFunc(all, func(a, b index.Neighbour) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
	return all[:min(k, len(all))]
}

// Recall returns the fraction of want's rows that are in got.
func Recall(got, want []index.Neighbour) float64 {
	if len(want) == 0 {
		return 1
	}
	hits := 0
	for _, w := range want {
		if slices.ContainsFunc(got, func(g index.Neighbour) bool { return g.Row == w.Row }) {
			hits++
		}
	}
	return float64(hits) / float64(len(want))
}

func search(t *testing.T, x index.Index, kept *Kept, query []float32, k, ef int, keep func(uint32) bool) []index.Neighbour {
	t.Helper()
	got, err := x.Search(query, k, ef, keep)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range got {
		if keep != nil && !keep(n.Row) {
			t.Fatalf("row %d was not to be kept", n.Row)
		}
		if n.Score != kernel.Generic().Dot(query, kept.Vector(n.Row)) {
			t.Fatalf("row %d has score %v, not the exact %v", n.Row, n.Score, kernel.Generic().Dot(query, kept.Vector(n.Row)))
		}
		if i > 0 && (got[i-1].Score < n.Score || got[i-1].Score == n.Score && got[i-1].Row >= n.Row) {
			t.Fatalf("not best first, equal ones by row: %v", got)
		}
	}
	return got
}

func numbersRows(t *testing.T, b Backend) {
	vectors := Vectors(Clustered, 30, dim, 1, 0)
	x, kept := build(t, b, index.Options{Dim: dim}, nil)
	if got := search(t, x, kept, vectors[0], 5, 0, nil); len(got) != 0 || x.Len() != 0 {
		t.Errorf("an empty index has %d rows and finds %v", x.Len(), got)
	}
	for i, v := range vectors {
		if err := kept.Add(x, v); err != nil {
			t.Fatal(err)
		}
		if x.Len() != i+1 {
			t.Fatalf("after %d vectors: %d rows", i+1, x.Len())
		}
	}
	for i, v := range vectors {
		if got := search(t, x, kept, v, 1, 0, nil); len(got) != 1 || got[0].Row != uint32(i) {
			t.Errorf("the nearest to row %d is %v", i, got)
		}
	}
}

func refuses(t *testing.T, b Backend) {
	good := Vectors(Uniform, 1, dim, 1, 0)[0]
	with := func(value float32) []float32 {
		v := slices.Clone(good)
		v[dim-1] = value
		return v
	}
	x, kept := build(t, b, index.Options{Dim: dim}, [][]float32{good})
	for name, v := range map[string][]float32{
		"none":      nil,
		"too short": good[:dim-1],
		"too long":  append(slices.Clone(good), 0),
		"NaN":       with(float32(math.NaN())),
		"Inf":       with(float32(math.Inf(1))),
		"-Inf":      with(float32(math.Inf(-1))),
		"zero":      make([]float32, dim),
		"too large": with(3),
		"huge":      with(math.MaxFloat32),
		"denormal":  append([]float32{math.SmallestNonzeroFloat32}, make([]float32, dim-1)...),
	} {
		if err := x.Add(v); !errors.Is(err, index.ErrVector) {
			t.Errorf("add %s: %v", name, err)
		}
		if _, err := x.AddNear(v, 3); !errors.Is(err, index.ErrVector) {
			t.Errorf("add %s: %v", name, err)
		}
		if _, err := x.Search(v, 3, 0, nil); !errors.Is(err, index.ErrVector) {
			t.Errorf("search %s: %v", name, err)
		}
	}
	if got := search(t, x, kept, good, 2, 0, nil); x.Len() != 1 || len(got) != 1 {
		t.Error("a refused vector changed the index")
	}
	for _, o := range []index.Options{{Dim: -1}, {M: 1}, {M: 1000}, {EfConstruction: -5}, {Ef: 1 << 20}} {
		if _, err := b.New(o, nil); err == nil {
			t.Errorf("options %+v were taken", o)
		}
	}
}

func bounds(t *testing.T, b Backend) {
	vectors := Vectors(Clustered, 300, dim, 2, 0)
	for _, scan := range []int{0, -1} {
		x, kept := build(t, b, index.Options{Dim: dim, ScanBelow: scan}, vectors)
		for _, k := range []int{math.MinInt, -1, 0, 1, 7, 299, 300, 301, 100_000, math.MaxInt} {
			for _, ef := range []int{math.MinInt, -1, 0, 1, 50, 100_000, math.MaxInt} {
				if got, want := len(search(t, x, kept, vectors[3], k, ef, nil)), min(max(k, 0), 300); got != want {
					t.Fatalf("k %d, ef %d: %d rows, want %d", k, ef, got, want)
				}
			}
		}
	}
}

func finds(t *testing.T, b Backend) {
	vectors, queries := Vectors(Clustered, 1000, dim, 3, 0), Vectors(Clustered, 100, dim, 3, 1)
	for _, c := range []struct {
		name string
		scan int
		want float64
	}{{"scanning", 1000, 0.999}, {"walking", -1, b.Recall}} {
		x, kept := build(t, b, index.Options{Dim: dim, ScanBelow: c.scan}, vectors)
		var recall float64
		for _, q := range queries {
			recall += Recall(search(t, x, kept, q, 10, 0, nil), Exact(vectors, q, 10, nil)) / float64(len(queries))
		}
		t.Logf("%s: recall@10 %.4f", c.name, recall)
		if recall < c.want {
			t.Errorf("%s: recall@10 is %.3f, want %.3f", c.name, recall, c.want)
		}
	}
}

func filters(t *testing.T, b Backend) {
	vectors, queries := Vectors(Clustered, 1000, dim, 4, 0), Vectors(Clustered, 10, dim, 4, 1)
	x, kept := build(t, b, index.Options{Dim: dim, ScanBelow: -1}, vectors)
	for _, every := range []uint32{1, 2, 10, 100, 400, 999, 5000} {
		keep := func(row uint32) bool { return row%every == every/2 }
		var recall float64
		for _, q := range queries {
			got, want := search(t, x, kept, q, 10, 0, keep), Exact(vectors, q, 10, keep)
			if len(got) != len(want) {
				t.Fatalf("one row in %d: %d found of %d", every, len(got), len(want))
			}
			recall += Recall(got, want) / float64(len(queries))
		}
		if recall < b.Recall {
			t.Errorf("one row in %d: recall@10 is %.3f, want %.3f", every, recall, b.Recall)
		}
	}
	// The state at an earlier time: rows below a bound.
	keep := func(row uint32) bool { return row < 5 }
	if got, want := search(t, x, kept, queries[0], 10, 0, keep), Exact(vectors, queries[0], 10, keep); !slices.Equal(got, want) {
		t.Errorf("below row 5: %v, want %v", got, want)
	}
}

func earlier(t *testing.T, b Backend) {
	vectors := Vectors(Clustered, 400, dim, 6, 0)
	x, kept := build(t, b, index.Options{Dim: dim}, nil)
	var recall float64
	for i, v := range vectors {
		near, err := kept.AddNear(x, v, 5)
		if err != nil {
			t.Fatal(err)
		}
		want := Exact(vectors[:i], v, 5, nil)
		for _, n := range near {
			if n.Row >= uint32(i) || n.Score != kernel.Generic().Dot(v, vectors[n.Row]) {
				t.Fatalf("row %d has the earlier neighbour %v", i, n)
			}
		}
		if !slices.IsSortedFunc(near, func(a, b index.Neighbour) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
		}) {
			t.Fatalf("row %d: not best first: %v", i, near)
		}
		recall += Recall(near, want) / float64(len(vectors))
	}
	if recall < b.Recall {
		t.Errorf("recall@5 of earlier neighbours is %.3f, want %.3f", recall, b.Recall)
	}
	for _, k := range []int{math.MinInt, -1, 0, 100_000, math.MaxInt} {
		near, err := kept.AddNear(x, vectors[0], k)
		if err != nil || (k <= 0) != (len(near) == 0) {
			t.Errorf("k %d: %d neighbours, %v", k, len(near), err)
		}
	}
}

func copies(t *testing.T, b Backend) {
	if b.Approximate {
		t.Skip("this backend loses rows among copies, as its package says")
	}
	distinct := Vectors(Clustered, 499, dim, 7, 0)
	same := Vectors(Uniform, 1, dim, 8, 0)[0]
	var vectors [][]float32
	for i := range 1000 {
		vectors = append(vectors, same)
		if i < len(distinct) {
			vectors = append(vectors, distinct[i])
		}
	}
	x, kept := build(t, b, index.Options{Dim: dim, ScanBelow: -1, EfConstruction: 100}, vectors)
	lost := 0
	for i, v := range distinct {
		if got := search(t, x, kept, v, 1, 0, nil); len(got) != 1 || got[0].Row != uint32(2*i+1) {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d vectors are lost among copies of another", lost, len(distinct))
	}
}
