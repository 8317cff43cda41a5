package commands

import (
	"cmp"
	"slices"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/fusion"
)

// The paths and their weights in the fusion. BM25 over words finds what was
// typed; concepts bridge the words of a question and those of a command; the
// nearest embeddings, and the cosine of what the others found, rank by the whole
// of both; who types a part of a command as it was gets it first; and of what
// stands nearly equal, the newest does. The weights were chosen on the NL2Bash
// pairs whose description has an even first byte of its SHA-256 and are reported
// on the held-out ones (bench/pairs, bench/README.md), that of time as the largest
// that costs nothing where times say nothing; no corpus of a user changes them, as
// an answer must be reproducible.
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

// wordsDepth and conceptsDepth are how many candidates the paths bring, words as
// many as are asked for if that is more. Twice as many of each find two more of a hundred wanted commands among the first ten,
// and take a millisecond more of each question at 100,000 commands
// (bench/README.md).
const (
	wordsDepth    = 100
	conceptsDepth = 50
)

// fused is a candidate with what the paths said of it.
type fused struct {
	key    int
	score  float64
	scores []query.PathScore
}

// fuse joins lists of the candidates 0 to n-1 by reciprocal rank. before decides ties of
// equal scores.
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
