package look

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/fusion"
)

// The weights of the parts of a score add up to 1. They were chosen on the half dev of bench/look.
var weights = map[string]float64{"words": 0.5, "title": 0.1, "standing": 0.3, "named": 0.1}

// sureWords is the share of the text's words that a sure hit has at least.
const sureWords = 0.5

// rank orders the hits of all kinds, the best first, and returns the step of the proof. Equal scores
// are ordered by kind, then by the order within the kind.
func rank(text string, all []candidate) ([]candidate, query.Step) {
	a := newAsked(text)
	contents := make([]content, len(all))
	for i := range all {
		contents[i] = all[i].content
	}
	words, title, standing, named := fusion.List{Path: "words"}, fusion.List{Path: "title"}, fusion.List{Path: "standing"}, fusion.List{Path: "named"}
	for i, f := range a.fitsOf(contents) {
		c := &all[i]
		c.Sure = f.words >= sureWords
		c.Parts = Parts{Words: f.words, Title: f.title, Standing: c.standing}
		words.Add(i, f.words)
		title.Add(i, f.title)
		standing.Add(i, c.standing)
		if a.named[c.Kind] {
			c.Parts.Named = 1
			named.Add(i, 1)
		}
	}
	step := query.Step{
		Operator: "fuse", Inputs: map[string]string{"method": "sum of weighted scores"},
		Counts: map[string]int64{"candidates": int64(len(all))},
	}
	for path, weight := range weights {
		step.Inputs["weight of "+path] = strconv.FormatFloat(weight, 'g', -1, 64)
	}
	scores := fusion.Weighted(len(all), []fusion.List{words, title, standing, named}, func(path string) float64 { return weights[path] })
	for i := range all {
		all[i].Score = scores[i]
	}
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(x, y candidate) int { return cmp.Compare(y.Score, x.Score) })
	return ranked, step
}
