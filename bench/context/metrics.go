package main

import "slices"

// budget is that of the yield, in tokens of codeToken.
const budget = 8_000

// figures are the means of a ranking's metrics over samples.
type figures struct {
	Samples  int     `json:"samples"`
	MRR      float64 `json:"mrr"`
	Recall20 float64 `json:"recall_20"`
	Yield8K  float64 `json:"yield_8k"`
}

// measure returns the metrics of one ranking, as Agent Retrieval Bench defines them: the reciprocal
// rank of the first right file, the share of right files among the first 20, and the share of them
// of which a token fits into the budget when files are shown in the order of the ranking.
func measure(ranked, gold []string, shown map[string]file) (f figures) {
	f.Samples = 1
	used := 0
	for i, path := range ranked {
		t, have := shown[path]
		if !have {
			continue
		}
		header := codeTokens("### " + path)
		if slices.Contains(gold, path) {
			share := 1 / float64(len(gold))
			if f.MRR == 0 {
				f.MRR = 1 / float64(i+1)
			}
			if i < 20 {
				f.Recall20 += share
			}
			if i < 20 && used+header < budget && t.shown > 0 {
				f.Yield8K += share
			}
		}
		used += header + t.shown + 1
	}
	return f
}

func (f *figures) add(more figures) {
	f.Samples += more.Samples
	f.MRR += more.MRR
	f.Recall20 += more.Recall20
	f.Yield8K += more.Yield8K
}

// mean divides sums by the number of samples.
func (f figures) mean() figures {
	n := float64(max(1, f.Samples))
	return figures{f.Samples, f.MRR / n, f.Recall20 / n, f.Yield8K / n}
}
