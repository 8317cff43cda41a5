package flat

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/index/indextest"
)

func TestIndex(t *testing.T) {
	indextest.Run(t, indextest.Backend{
		New:    func(opt index.Options, v index.Vectors) (index.Index, error) { return New(opt, v) },
		Recall: 0.99,
	})
}

// integers returns vectors that are equal on every machine: small integers, divided by their
// length.
func integers(n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([][]float32, n)
	for i := range out {
		v := make([]float64, dim)
		for j := range v {
			v[j] = float64(r.IntN(7) - 3)
		}
		v[0]++ // never all zero
		out[i] = indextest.Unit(v)
	}
	return out
}

// build returns an index of vectors, which it keeps.
func build(t testing.TB, opt index.Options, vectors [][]float32) (*Index, *indextest.Kept) {
	t.Helper()
	kept := &indextest.Kept{}
	x, err := New(opt, kept.Vector)
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

// TestGraphIsTheSameEverywhere compares the graph with a fixed hash, for every kernel: it must not
// depend on the CPU, the operating system or the architecture.
func TestGraphIsTheSameEverywhere(t *testing.T) {
	const want = "6c88b5247fee740941eee05b97d04490b43f220caad4fbe46e2b68917129b402"
	vectors := integers(1200, 384)
	for i := range 100 { // some duplicates
		vectors = append(vectors, vectors[i*7])
	}
	ways := []bool{false, true}
	if racing.On { // building starts no goroutines, and TestAnswersAreTheSameEverywhere builds in both ways
		ways = []bool{false}
	}
	for _, generic := range ways {
		x, _ := build(t, index.Options{EfConstruction: 40, Generic: generic}, vectors)
		if hash := sha256.Sum256(x.AppendLinks(nil)); hex.EncodeToString(hash[:]) != want {
			t.Errorf("generic %v: the graph has hash %x, want %s", generic, hash, want)
		}
	}
}

// TestAnswersAreTheSameEverywhere compares rows and scores with and without vector instructions.
func TestAnswersAreTheSameEverywhere(t *testing.T) {
	vectors := integers(500, 100)
	fast, kept := build(t, index.Options{Dim: 100, EfConstruction: 40, ScanBelow: -1}, nil)
	plain, same := build(t, index.Options{Dim: 100, EfConstruction: 40, ScanBelow: -1, Generic: true}, nil)
	for i, v := range vectors {
		a, errA := kept.AddNear(fast, v, 4)
		b, errB := same.AddNear(plain, v, 4)
		if errA != nil || errB != nil || !slices.Equal(a, b) {
			t.Fatalf("neighbours of row %d: %v, %v and %v, %v", i, a, errA, b, errB)
		}
	}
	for i, v := range vectors[:50] {
		a, _ := fast.Search(v, 10, 0, nil)
		b, _ := plain.Search(v, 10, 0, nil)
		if len(a) != 10 || !slices.Equal(a, b) {
			t.Errorf("query %d: %v and %v", i, a, b)
		}
	}
}

func TestDuplicatesAreFoundInOrder(t *testing.T) {
	vectors := integers(300, 64)
	var copies [][]float32
	for _, v := range vectors {
		copies = append(copies, v, v, v)
	}
	x, kept := build(t, index.Options{Dim: 64, ScanBelow: -1}, copies)
	for i, v := range vectors {
		row := uint32(3 * i)
		if got := rowsOf(x.Search(v, 3, 0, nil)); !slices.Equal(got, []uint32{row, row + 1, row + 2}) {
			t.Fatalf("copies of row %d: %v", row, got)
		}
		last := func(r uint32) bool { return r%3 == 2 }
		if got := rowsOf(x.Search(v, 1, 0, last)); !slices.Equal(got, []uint32{row + 2}) {
			t.Fatalf("last copy of row %d: %v", row, got)
		}
	}
	if got := rowsOf(kept.AddNear(x, vectors[0], 2)); !slices.Equal(got, []uint32{0, 1}) {
		t.Errorf("earlier copies of a row: %v", got)
	}
}

func rowsOf(ns []index.Neighbour, err error) (rows []uint32) {
	if err != nil {
		panic(err)
	}
	for _, n := range ns {
		rows = append(rows, n.Row)
	}
	return rows
}

func TestLevels(t *testing.T) {
	const n = 100_000
	var on [4]int
	for row := range uint32(n) {
		for l := range min(level(row, 16), 3) + 1 {
			on[l]++
		}
	}
	for l, want := range []int{n, n / 16, n / 256} {
		if on[l] < want*8/10 || on[l] > want*12/10 {
			t.Errorf("%d rows on layer %d, about %d expected", on[l], l, want)
		}
	}
}

func TestKeysOrder(t *testing.T) {
	scores := []float32{3, 1, 0.5, 1e-30, 0, -1e-30, -0.5, -1, -3}
	var keys []key
	for _, s := range scores {
		for _, row := range []uint32{0, 1, index.MaxRows - 1} {
			k := makeKey(s, row)
			keys = append(keys, k)
			if k.row() != row || k.score() != s || (k|walked).row() != row || (k|walked).score() != s {
				t.Errorf("score %v, row %d come back as %v, %d", s, row, k.score(), k.row())
			}
		}
	}
	if !slices.IsSorted(keys) {
		t.Error("keys are not in the order of falling scores, rising rows")
	}
}

func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		list := make([]key, n)
		for i := range list {
			list[i] = key(r.IntN(100))
		}
		slices.Sort(list)
		for k := range key(101) {
			if got, _ := slices.BinarySearch(list, k); got != find(list, k) {
				t.Fatalf("%d in %v: at %d, want %d", k, list, find(list, k), got)
			}
		}
	}
}
