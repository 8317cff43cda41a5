package fusion_test

import (
	"slices"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/fusion"
)

func TestReciprocal(t *testing.T) {
	var words, exact fusion.List
	words.Path, exact.Path = "words", "exact"
	words.Add(1, 9)
	words.Add(0, 7)
	exact.Add(0, 1)
	lists := []fusion.List{words, exact}
	weightOf := func(path string) float64 { return map[string]float64{"words": 1, "exact": 0.5}[path] }
	// The candidate 2 is in no list.
	for name, tc := range map[string]struct {
		absent fusion.Absent
		want   []float64
	}{
		"nothing":         {fusion.Nothing, []float64{1.0/62 + 0.5/61, 1.0 / 61, 0}},
		"behind the last": {fusion.BehindLast, []float64{1.0/62 + 0.5/61, 1.0/61 + 0.5/62, 1.0/63 + 0.5/62}},
	} {
		if got := fusion.Reciprocal(3, lists, weightOf, tc.absent); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
	want := []query.PathScore{{Path: "words", Rank: 2, Score: 7}, {Path: "exact", Rank: 1, Score: 1}}
	if got := fusion.ScoresOf(0, lists); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
