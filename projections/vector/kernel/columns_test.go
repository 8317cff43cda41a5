package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestColumnsAreSums compares every implementation with the definition, for extreme and random
// values.
func TestColumnsAreSums(t *testing.T) {
	const dim = 70
	r := rand.New(rand.NewPCG(3, 4))
	for name, next := range map[string]func() int8{
		"random":  func() int8 { return int8(r.Uint32()) },
		"lowest":  func() int8 { return -128 },
		"highest": func() int8 { return 127 },
	} {
		for _, rows := range []int{64, 192, 1024} {
			for _, elements := range []int{0, 1, 2, 31, dim} {
				codes, query := make([]int8, dim*rows), make([]int8, dim)
				for i := range codes {
					codes[i] = next()
				}
				for _, i := range r.Perm(dim)[:elements] {
					query[i] = next()
				}
				for from := 0; from < rows; from += 3 * ColumnAlign {
					n := min(2*ColumnAlign, rows-from)
					want := make([]int32, n, n+1)
					for row := range want {
						for i, q := range query {
							want[row] += int32(q) * int32(codes[i*rows+from+row])
						}
					}
					want = append(want, 42)
					for _, set := range All() {
						got := slices.Repeat([]int32{42}, n+1)
						set.Columns(codes[from:], rows, AppendPairs(nil, query), got[:n])
						if !slices.Equal(got, want) {
							t.Fatalf("%s: %s, %d elements, rows %d to %d of %d: %v, want %v", set.Name(), name, elements, from, from+n, rows, got, want)
						}
					}
				}
			}
		}
	}
}

func BenchmarkColumns(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	blocks := make([][]int8, 32) // more than fits into the caches near the core
	for i := range blocks {
		blocks[i] = make([]int8, 384*BlockRows)
		for j := range blocks[i] {
			blocks[i][j] = int8(r.Uint32())
		}
	}
	out := make([]int32, BlockRows)
	for _, set := range All() {
		for _, elements := range []int{30, 384} {
			query := make([]int8, 384)
			for _, i := range r.Perm(384)[:elements] {
				query[i] = 1
			}
			pairs := AppendPairs(nil, query)
			b.Run(set.Name()+"/"+map[bool]string{true: "dense", false: "sparse"}[elements == 384], func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					set.Columns(blocks[i%len(blocks)], BlockRows, pairs, out)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/BlockRows, "ns/row")
			})
		}
	}
}
