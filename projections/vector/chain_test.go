package vector

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestRunsAreFoundFromNearby checks that queries about a content's runs at any offset return what
// counting them all gives.
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
	in := p.parts(commands, "test/1", noAudience, nil)[0]
	for row := range uint32(3) {
		offsets := runs[in.content(&in.spaces[0], row)]
		for below := int64(0); below <= l.Next; below++ {
			n := 0
			for n < len(offsets) && offsets[n] < below {
				n++
			}
			run, number, next := in.before(row, in.v.runsBelow(below))
			if number != n {
				t.Fatalf("row %d has %d runs below %d, want %d", row, number, below, n)
			}
			if n > 0 && in.offset(run) != offsets[n-1] {
				t.Fatalf("row %d: the newest run below %d is at %d, want %d", row, below, in.offset(run), offsets[n-1])
			}
			if (next != none) != (n < len(offsets)) || next != none && in.offset(next) != offsets[n] {
				t.Fatalf("row %d: the run that follows those below %d is %d", row, below, next)
			}
		}
	}
}

// TestWalksAreShort counts the steps from the newest run to any other.
func TestWalksAreShort(t *testing.T) {
	c := newChains()
	const n = 5000
	last := none
	for i := range uint32(n) {
		c.add(last)
		last = i
	}
	for end := range uint32(n + 1) {
		steps := 0
		for run := last; run != none && run >= end; steps++ {
			x := c.at(run)
			if x.jump != run && x.jump >= end {
				run = x.jump
			} else {
				run = x.prev
			}
		}
		if steps > 3*bits.Len(n) {
			t.Fatalf("%d steps to the newest run below %d of %d", steps, end, n)
		}
	}
}

func BenchmarkRunsOfOneContent(b *testing.B) {
	for _, n := range []uint32{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("runs=%d", n), func(b *testing.B) {
			c := newChains()
			last := none
			for i := range n {
				c.add(last)
				last = i
			}
			for b.Loop() {
				if run, number, next := c.before(last, 5); run != 4 || number != 5 || next != 5 {
					b.Fatal("wrong")
				}
			}
		})
	}
}
