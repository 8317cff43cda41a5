package runtime

import (
	"math"
	"slices"
)

// total is a sum into which many rows are merged. From the second row on, durations are counted in
// an array; in a sorted list every new bin would move the others.
type total struct {
	sum    sum // without durations while counts is used, until end
	rows   int
	counts []int64 // of the bins from lowest on
	lowest int

	examples [2][maxExamples]example // memory for those of sum
}

// spareBins is the number of extra bins allocated at either end.
const spareBins = 64

func newTotal() *total {
	t := &total{sum: *newSum()}
	for i := range t.examples {
		t.sum.examples[i] = t.examples[i][:0]
	}
	return t
}

// merge adds a row and keeps no reference to it.
func (t *total) merge(row *sum) {
	t.sum.mergeRest(row)
	switch t.rows++; t.rows {
	case 1:
		t.sum.durations = slices.Clone(row.durations)
		return
	case 2:
		t.count(t.sum.durations)
		t.sum.durations = nil
	}
	t.count(row.durations)
}

func (t *total) count(s sketch) {
	if len(s) == 0 {
		return
	}
	t.hold(int(s[0].at), int(s[len(s)-1].at))
	for _, b := range s {
		t.counts[int(b.at)-t.lowest] += b.n
	}
}

// hold extends counts to include the bins from first to last.
func (t *total) hold(first, last int) {
	if n := len(t.counts); n > 0 {
		if first >= t.lowest && last < t.lowest+n {
			return
		}
		first, last = min(first, t.lowest), max(last, t.lowest+n-1)
	}
	first, last = max(0, first-spareBins), min(math.MaxUint16, last+spareBins)
	wider := make([]int64, last-first+1)
	if len(t.counts) > 0 {
		copy(wider[t.lowest-first:], t.counts)
	}
	t.counts, t.lowest = wider, first
}

// end returns the sum of the rows.
func (t *total) end() *sum {
	if t.rows < 2 {
		return &t.sum
	}
	n := 0
	for _, count := range t.counts {
		if count != 0 {
			n++
		}
	}
	t.sum.durations = make(sketch, 0, n)
	for i, count := range t.counts {
		if count != 0 {
			t.sum.durations = append(t.sum.durations, bin{uint16(t.lowest + i), count})
		}
	}
	return &t.sum
}
