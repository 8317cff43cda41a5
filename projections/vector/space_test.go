package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestRunsAreFoundFromNearby checks that queries about a content's runs at any offset return what
// counting them all gives, and need a walk of bounded length, however often the content was run
// later.
func TestRunsAreFoundFromNearby(t *testing.T) {
	p := fresh(t, Options{SealRows: 1000})
	l := newLog(0)
	rng := rand.New(rand.NewPCG(8, 8))
	var runs [3][]int64 // offsets, by content
	for range 3000 {
		content := 0 // the content of most runs
		if rng.IntN(8) == 0 {
			content = 1 + rng.IntN(2)
		}
		runs[content] = append(runs[content], l.add(uint64(content), at(float64(content)/2)))
	}
	l.apply(t, p)
	sp := &p.shards[l.TP].snapshot().spaces[0]
	for row := range uint32(3) {
		offsets := runs[sp.content[row]]
		for below := int64(0); below <= l.Next; below++ {
			n := 0
			for n < len(offsets) && offsets[n] < below {
				n++
			}
			if got := sp.runs(row, below); got != n {
				t.Fatalf("row %d has %d runs below %d, want %d", row, got, below, n)
			}
			if n > 0 {
				if got := sp.offset[sp.before(row, below)]; got != offsets[n-1] {
					t.Fatalf("row %d: the newest run below %d is %d, want %d", row, below, got, offsets[n-1])
				}
			}
			next := int64(math.MaxInt64)
			if n < len(offsets) {
				next = offsets[n]
			}
			if got := sp.after(row, below-1); got != next {
				t.Fatalf("row %d: the first run above %d is %d, want %d", row, below-1, got, next)
			}
			if _, from := sp.near(row, below); from > n+mileRuns {
				t.Fatalf("row %d: %d runs are below %d, and the walk to them begins at run %d", row, n, below, from)
			}
		}
	}
}

func BenchmarkRunsOfOneContent(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("runs=%d", n), func(b *testing.B) {
			sp := newSpace("test/1", backend{}, nil)
			sp.appendRow(1, 1, sp.closestOthers(1, nil))
			for i := range n {
				sp.appendRun(int64(i), 0)
			}
			for b.Loop() {
				if sp.after(0, 5) != 6 || sp.runs(0, 5) != 5 {
					b.Fatal("wrong")
				}
			}
		})
	}
}
