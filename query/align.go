package query

// pair is a line of an alignment: an index into each side, -1 where the side has
// nothing there.
type pair struct{ a, b int }

// align lays two sequences of n and m side by side, by the global alignment of
// Needleman and Wunsch (1970) with gaps that cost nothing: the pairs, in the
// order of both, whose sum of scores is the highest. alike is the score of two,
// 0 for two that may not stand on one line. Of alignments of equal score it is
// the one that pairs as late as can be, and has what only a has before what only
// b has. It takes n × m steps and as many 32-bit numbers.
func align(n, m int, alike func(i, j int) int32) []pair {
	// best[i][j] is the best sum of the first i and the first j.
	width := m + 1
	best := make([]int32, (n+1)*width)
	scores := make([]int32, n*m)
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			s := alike(i-1, j-1)
			scores[(i-1)*m+j-1] = s
			b := max(best[(i-1)*width+j], best[i*width+j-1])
			if s > 0 {
				b = max(b, best[(i-1)*width+j-1]+s)
			}
			best[i*width+j] = b
		}
	}
	var back []pair
	for i, j := n, m; i > 0 || j > 0; {
		switch {
		case i > 0 && j > 0 && scores[(i-1)*m+j-1] > 0 && best[i*width+j] == best[(i-1)*width+j-1]+scores[(i-1)*m+j-1]:
			i, j = i-1, j-1
			back = append(back, pair{i, j})
		case j > 0 && best[i*width+j] == best[i*width+j-1]:
			j--
			back = append(back, pair{-1, j})
		default:
			i--
			back = append(back, pair{i, -1})
		}
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}
