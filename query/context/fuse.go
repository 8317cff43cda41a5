package context

import (
	"cmp"
	"slices"

	"github.com/recountdb/recount/query"
)

// ranking is what one channel says of files: indexes, the best first, with scores in its own measure.
type ranking struct {
	channel string
	keys    []int32
	scores  []float64
}

// rankingOf orders scores. At most maxRanked are kept.
func rankingOf(channel string, score map[int32]float64) ranking {
	r := ranking{channel: channel, keys: byScore(score)}
	r.keys = r.keys[:min(len(r.keys), maxRanked)]
	for _, k := range r.keys {
		r.scores = append(r.scores, score[k])
	}
	return r
}

// maxRanked is the number of files of a channel that count.
const maxRanked = 300

// blend says how a channel's list becomes points: byRank of them by reciprocal rank, with the constant
// k, and the rest by score; each is at most 1.
type blend struct{ byRank, k float64 }

// points returns what the thing at a place of a ranking gets.
func (b blend) points(r *ranking, i int) float64 {
	return b.byRank*(b.k/(b.k+float64(i))) + (1-b.byRank)*r.scores[i]/r.scores[0]
}

// fused is a file or a symbol with its fused score.
type fused struct {
	key      int32
	score    float64
	channels []Channel
	// best is the channel that gave most.
	parts []float64
}

// fuse adds up the weighted points of all rankings, and orders the keys by the sum.
func fuse(all []ranking, b blend, weight map[string]float64) []fused {
	at := map[int32]int{}
	var out []fused
	for _, r := range all {
		w := weight[r.channel]
		for i, k := range r.keys {
			j, ok := at[k]
			if !ok {
				j = len(out)
				at[k] = j
				out = append(out, fused{key: k})
			}
			p := w * b.points(&r, i)
			out[j].score += p
			out[j].channels = append(out[j].channels, Channel{r.channel, i + 1, r.scores[i]})
			out[j].parts = append(out[j].parts, p)
		}
	}
	slices.SortFunc(out, func(a, b fused) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.key, b.key)) })
	return out
}

// strongest orders a fused thing's channels by what they gave.
func (f *fused) strongest() []Channel {
	order := make([]int, len(f.channels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.parts[b], f.parts[a]) })
	out := make([]Channel, len(order))
	for i, j := range order {
		out[i] = f.channels[j]
		out[i].Score = rounded(out[i].Score)
	}
	return out
}

// step returns a ranking as a step of the proof.
func (r *ranking) step(name func(int32) string) query.Step {
	s := query.Step{Operator: "channel", Inputs: map[string]string{"channel": r.channel}, Counts: map[string]int64{"files": int64(len(r.keys))}}
	if len(r.keys) > 0 {
		s.Inputs["first"] = name(r.keys[0])
	}
	return s
}

func rounded(x float64) float64 { return float64(int64(x*1e4+0.5)) / 1e4 }
