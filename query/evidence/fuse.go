package evidence

import (
	"slices"

	"github.com/recountdb/recount/query"
)

// ranked is a path's list of candidates, best first.
type ranked struct {
	path   string
	keys   []int // indexes of candidates
	scores []float64
	// The fields below are for the proof: what the path did, its inputs and its counts.
	operator string
	inputs   map[string]string
	counts   map[string]int64
}

// add appends a candidate that is not in the list.
func (l *ranked) add(key int, score float64) {
	l.keys, l.scores = append(l.keys, key), append(l.scores, score)
}

// fuse computes the scores of the candidates by reciprocal rank. A path that did not find a
// candidate adds nothing. Sums are computed in the order of the lists, so that equal input gives
// equal bits.
func fuse(candidates []candidate, lists []ranked, w *Weights) {
	for i := range candidates {
		candidates[i].fused = 0
	}
	for _, l := range lists {
		weight := w.of(l.path)
		for i, key := range l.keys {
			candidates[key].fused += weight / float64(rrfK+i+1)
		}
	}
}

// scoresOf returns what each path contributed to a candidate.
func scoresOf(key int, lists []ranked) (all []query.PathScore) {
	for _, l := range lists {
		if i := slices.Index(l.keys, key); i >= 0 {
			all = append(all, query.PathScore{Path: l.path, Rank: i + 1, Score: l.scores[i]})
		}
	}
	return all
}
