package commands

import "slices"

// pair is a line of an alignment: an index into each side, -1 where the side has
// nothing there.
type pair struct{ a, b int }

// align lays two sequences of n and m side by side, by the global alignment of
// Needleman and Wunsch (1970) with gaps that cost nothing: the pairs, in the
// order of both, whose sum of scores is the highest. alike is the score of two, 0
// for two that may not stand on one line. Of alignments of equal score it is the
// one that pairs the latest of both sides (by the sum of the indexes), and it has
// what only a has before what only b has. It takes n × m steps and as many
// 64-bit numbers.
func align(n, m int, alike func(i, j int) int32) []pair {
	// A point of score outweighs all that pairing later can bring.
	point := int64(min(n, m)+1) * int64(n+m)
	score := func(i, j int) int64 {
		if s := alike(i, j); s > 0 {
			return int64(s)*point + int64(i+j)
		}
		return -1
	}
	// best[i*width+j] is the best sum of the first i and the first j.
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
