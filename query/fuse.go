package query

import (
	"cmp"
	"slices"
)

// The paths and their weights in the fusion. BM25 over words finds what was
// typed; concepts bridge the words of a question and those of a command; the
// nearest embeddings, and the cosine of what the others found, rank by the whole
// of both; who types a part of a command as it was gets it first; and of what
// stands nearly equal, the newest does. The weights were chosen on the even half
// of the NL2Bash pairs (by the first byte of the SHA-256 of the description) and
// are reported on the odd one (bench/README.md), that of time as the largest that
// costs nothing where times say nothing; no corpus of a user changes them, as an
// answer must be reproducible.
const (
	pathWords    = "words"
	pathConcepts = "concepts"
	pathSemantic = "semantic"
	pathExact    = "exact"
	// PathTime ranks by recency. Its score is a time, in seconds since 1970.
	PathTime = "time"
)

var pathWeights = map[string]float64{
	pathWords:    1.0,
	pathConcepts: 0.2,
	pathSemantic: 0.3,
	pathExact:    1.0,
	PathTime:     0.01,
}

// rrfK damps the weight of the first ranks (Cormack, Clarke and Büttcher 2009).
const rrfK = 60

// wordsDepth and conceptsDepth are how many candidates the paths bring, words as
// many as are asked for if that is more. Twice as many of each find two more of a hundred wanted commands among the first ten,
// and take a millisecond more of each question at 100,000 commands
// (bench/README.md).
const (
	wordsDepth    = 100
	conceptsDepth = 50
)

// rrf is what a rank in a path adds to a score.
func rrf(path string, rank int) float64 { return pathWeights[path] / float64(rrfK+rank) }

// ranked is a path's list, best first.
type ranked struct {
	path string
	// keys identify candidates: indexes into a list that the paths share.
	keys   []int
	scores []float64
	// For the proof: with what the path looked, and what it counted.
	inputs map[string]string
	counts map[string]int64
}

// fused is a candidate with what the paths said of it.
type fused struct {
	key    int
	score  float64
	scores []PathScore
}

// fuse joins lists by reciprocal rank. A candidate that a list lacks counts as
// right behind its last: where a list is short, being in it at all says little.
// before decides ties of equal scores; the
// sums are made in the order of the lists, so that equal input gives equal bits.
func fuse(lists []ranked, before func(a, b int) int) []fused {
	byKey := map[int]*fused{}
	var order []*fused
	for _, l := range lists {
		for _, key := range l.keys {
			if byKey[key] == nil {
				byKey[key] = &fused{key: key}
				order = append(order, byKey[key])
			}
		}
	}
	for _, l := range lists {
		for i, key := range l.keys {
			f := byKey[key]
			f.score += rrf(l.path, i+1)
			f.scores = append(f.scores, PathScore{Path: l.path, Rank: i + 1, Score: l.scores[i]})
		}
		for _, f := range order {
			if n := len(f.scores); n == 0 || f.scores[n-1].Path != l.path {
				f.score += rrf(l.path, len(l.keys)+1)
			}
		}
	}
	slices.SortFunc(order, func(a, b *fused) int {
		return cmp.Or(cmp.Compare(b.score, a.score), before(a.key, b.key))
	})
	out := make([]fused, len(order))
	for i, f := range order {
		out[i] = *f
	}
	return out
}
