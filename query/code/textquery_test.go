package code

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSelectFirst compares with sorting the whole.
func TestSelectFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 8))
	for range 400 {
		all := make([]int, rng.IntN(60))
		for i := range all {
			all[i] = rng.IntN(30)
		}
		n := rng.IntN(70)
		want := slices.Sorted(slices.Values(all))
		selectFirst(all, n, cmp.Compare[int])
		n = min(n, len(all))
		if !slices.Equal(all[:n], want[:n]) {
			t.Fatalf("first %d: got %v, want %v", n, all[:n], want[:n])
		}
		if slices.Sort(all); !slices.Equal(all, want) {
			t.Fatalf("elements changed: got %v, want %v", all, want)
		}
	}
}
