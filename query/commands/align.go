package commands

import "slices"

// pair is a line of an alignment: an index into each side, or -1 if the side has no entry
// on that line.
type pair struct{ a, b int }

// align returns the global alignment of two sequences of n and m entries by Needleman and
// Wunsch (1970), with gaps that cost nothing: the pairs, in the order of both sequences,
// with the highest sum of scores. alike is the score of two entries, 0 if they may not be
// paired. Among alignments of equal score it returns the one that pairs the latest entries
// (by the sum of the indexes), with entries only in a before those only in b. It takes
// n × m steps and as many 64-bit numbers.
func align(n, m int, alike func(i, j int) int32) []pair {
	// One point of score outweighs everything that pairing later entries can add.
	point := int64(min(n, m)+1) * int64(n+m)
	score := func(i, j int) int64 {
		if s := alike(i, j); s > 0 {
			return int64(s)*point + int64(i+j)
		}
		return -1
	}
	// best[i*width+j] is the best sum for the first i and the first j entries.
	width := m + 1
	best := make([]int64, (n+1)*width)
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			b := max(best[(i-1)*width+j], best[i*width+j-1])
			if s := score(i-1, j-1); s >= 0 {
				b = max(b, best[(i-1)*width+j-1]+s)
			}
			best[i*width+j] = b
		}
	}
	var back []pair
	for i, j := n, m; i > 0 || j > 0; {
		switch here := best[i*width+j]; {
		case j > 0 && here == best[i*width+j-1]:
			j--
			back = append(back, pair{-1, j})
		case i > 0 && here == best[(i-1)*width+j]:
			i--
			back = append(back, pair{i, -1})
		default:
			i, j = i-1, j-1
			back = append(back, pair{i, j})
		}
	}
	slices.Reverse(back)
	return back
}
