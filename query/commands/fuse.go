package commands

import (
	"cmp"
	"slices"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/fusion"
)

// The paths and their weights in the fusion. BM25 over words finds the typed words;
// concepts connect the words of a query with those of a command; the nearest embeddings,
// and the cosine of other paths' candidates, rank by the whole texts; the path exact puts
// commands first that contain the text literally; and time decides between nearly equal
// candidates. The weights were chosen on the NL2Bash pairs whose description has an even
// first byte of its SHA-256 and are reported on the held-out ones (bench/pairs,
// bench/README.md). The weight of time is the largest that costs nothing if times are
// meaningless. No user's corpus changes the weights, because an answer must be
// reproducible.
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

// wordsDepth and conceptsDepth are the numbers of candidates of the paths; words returns as
// many as the request's limit if that is more. Doubling both puts two more of a hundred
// wanted commands among the first ten, and takes a millisecond more per query at 100,000
// commands (bench/README.md).
const (
	wordsDepth    = 100
	conceptsDepth = 50
)

// fused is a candidate with its rank and score in each path.
type fused struct {
	key    int
	score  float64
	scores []query.PathScore
}

// fuse joins lists of the candidates 0 to n-1 by reciprocal rank. before breaks ties.
func fuse(n int, lists []fusion.List, before func(a, b int) int) []fused {
	all := make([]fused, n)
	scores := make([]query.PathScore, n*len(lists))
	sums := fusion.Reciprocal(n, lists, func(path string) float64 { return pathWeights[path] }, fusion.BehindLast)
	for key := range all {
		at := key * len(lists)
		all[key] = fused{key: key, score: sums[key], scores: scores[at : at : at+len(lists)]}
	}
	for _, l := range lists {
		for i, key := range l.Keys {
			f := &all[key]
			f.scores = append(f.scores, query.PathScore{Path: l.Path, Rank: i + 1, Score: l.Scores[i]})
		}
	}
	all = slices.DeleteFunc(all, func(f fused) bool { return len(f.scores) == 0 })
	slices.SortFunc(all, func(a, b fused) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return before(a.key, b.key)
	})
	return all
}
