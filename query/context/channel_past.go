package context

import (
	"cmp"
	"math"
	"slices"
)

// maxAlike is the number of past commits that count as being of the task's kind.
const maxAlike = 40

// byPast ranks files by the commits whose messages are like the task: what past work of this kind
// touched.
func (x *corpus) byPast(terms []taskTerm) map[int32]float64 {
	if len(x.past.commits) == 0 {
		return nil
	}
	wanted := map[term]int{}
	for i, t := range terms {
		wanted[t.term] = i
	}
	df := make([]float64, len(terms))
	type hit struct {
		commit int
		tf     map[int]float64
	}
	var hits []hit
	for c := range x.past.commits {
		var h hit
		for _, t := range x.past.commits[c].words.terms {
			if i, ok := wanted[t.term]; ok {
				if h.tf == nil {
					h = hit{c, map[int]float64{}}
				}
				h.tf[i] = float64(t.n)
				df[i]++
			}
		}
		if h.tf != nil {
			hits = append(hits, h)
		}
	}
	n := float64(len(x.past.commits))
	type scored struct {
		commit int
		score  float64
	}
	var all []scored
	for _, h := range hits {
		s := 0.0
		c := &x.past.commits[h.commit]
		for i := range terms {
			if tf := h.tf[i]; tf > 0 {
				idf := math.Log(1 + (n-df[i]+0.5)/(df[i]+0.5))
				s += idf * weightOfTerm(terms[i]) * tf * 2.2 / (tf + 1.2*(0.4+0.6*c.words.length/x.past.length))
			}
		}
		all = append(all, scored{h.commit, s})
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.commit, b.commit)) })
	score := map[int32]float64{}
	for _, s := range all[:min(len(all), maxAlike)] {
		c := &x.past.commits[s.commit]
		// The square favours the few that are much alike over the many that share a common word.
		points := s.score * s.score * (0.3 + 0.7*math.Exp2(-float64(s.commit)/halfLife)) / math.Log2(1+float64(len(c.files)))
		for _, f := range c.files {
			score[f] += points
		}
	}
	for f := range score {
		// A file that changes all the time is in commits of every kind.
		score[f] /= math.Pow(1+float64(len(x.past.of[f])), 0.3)
	}
	return score
}

// byTogether ranks files by how often they changed with the given ones.
func (x *corpus) byTogether(given []int32) map[int32]float64 {
	score := x.past.together(given)
	for _, g := range given {
		delete(score, g)
	}
	return score
}
