package commands

import (
	"cmp"
	"slices"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/fusion"
)

// The paths and their weights in the fusion, which adds up weighted scores. BM25 over words finds
// the typed words; BM25 over concepts joins the words of a query to those that explain a command:
// both are sums of inverse document frequencies, so that a weight is a rate of exchange. The cosine
// of the embeddings ranks by the whole texts, and the path exact puts commands first that contain
// the text literally. Time only breaks ties. The weights were chosen on the development halves of
// five collections (bench/docs/search.md); no user's corpus changes them, because an answer must be
// reproducible.
const (
	pathWords    = "words"
	pathConcepts = "concepts"
	pathSemantic = "semantic"
	pathExact    = "exact"
)

var pathWeights = map[string]float64{
	pathWords:    1.0,
	pathConcepts: 0.45,
	pathSemantic: 4.0,
	pathExact:    2.0,
}

// wordsDepth and conceptsDepth are the numbers of candidates of the paths; words returns as
// many as the request's limit if that is more. Doubling both puts two more of a hundred
// wanted commands among the first ten, and takes a millisecond more per query at 100,000
// commands (bench/docs/search.md).
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

// fuse joins lists of the candidates 0 to n-1 by their scores. before breaks ties.
func fuse(n int, lists []fusion.List, before func(a, b int) int) []fused {
	all := make([]fused, n)
	scores := make([]query.PathScore, n*len(lists))
	sums := fusion.Weighted(n, lists, func(path string) float64 { return pathWeights[path] })
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
	slices.SortFunc(all, func(a, b fused) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return before(a.key, b.key)
	})
	return all
}
