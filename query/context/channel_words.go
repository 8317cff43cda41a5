package context

import (
	"cmp"
	"math"
	"slices"
)

// These are the parameters of BM25 over the contents of files; words of the path and of the names
// that a file declares count as more occurrences.
const (
	bm25K1, bm25B         = 1.2, 0.7
	pathTimes, namesTimes = 2.5, 1.2
	// codedTimes is the weight of a whole identifier beside that of its parts, and titleTimes that of
	// a word of the first line.
	codedTimes, titleTimes = 1.2, 1.6
	// maxTerms is the number of terms that count, those with the highest idf.
	maxTerms = 64
)

// found is a term of a query with the files that have it.
type found struct {
	taskTerm
	idf   float64
	files []int32
	tf    []float32
	named []int32 // the files whose paths have it
}

// lookup finds the files that have each term, and its idf. Terms that no file has are left out of the
// second result.
func (x *corpus) lookup(terms []taskTerm) (all []found, missing []taskTerm) {
	for _, t := range terms {
		f := found{taskTerm: t}
		f.files, f.tf, f.named = x.words.find(t.term)
		if len(f.files) == 0 {
			missing = append(missing, t)
			continue
		}
		n, df := float64(len(x.files)), float64(len(f.files))
		f.idf = math.Log(1 + (n-df+0.5)/(df+0.5))
		all = append(all, f)
	}
	return all, missing
}

// weightOfTerm is how much a term counts beside its idf.
func weightOfTerm(t taskTerm) float64 {
	w := t.weight
	if t.coded {
		w *= codedTimes
	}
	if t.title {
		w *= titleTimes
	}
	return w
}

// byWords ranks files by BM25.
func (x *corpus) byWords(all []found) map[int32]float64 {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Compare(b.idf*weightOfTerm(b.taskTerm), a.idf*weightOfTerm(a.taskTerm))
	})
	score := map[int32]float64{}
	for _, f := range all[:min(len(all), maxTerms)] {
		w := f.idf * weightOfTerm(f.taskTerm)
		for i, k := range f.files {
			tf := float64(f.tf[i])
			score[k] += w * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*x.files[k].length/x.length))
		}
	}
	return score
}

// byPathWords ranks files by the words that their paths have, by idf: what a file is called says more of
// what it is for than the words in it, and how often a long file has them says nothing.
func byPathWords(all []found) map[int32]float64 {
	score := map[int32]float64{}
	for _, f := range all {
		w := f.idf * weightOfTerm(f.taskTerm)
		for _, k := range f.named {
			score[k] += w
		}
	}
	return score
}

// alike ranks files by the words that they share with the given ones: those that are frequent in a
// given file and rare elsewhere.
func (x *corpus) alike(given []int32) map[int32]float64 {
	var all []found
	for _, g := range given {
		var terms []taskTerm
		for _, c := range x.files[g].terms {
			terms = append(terms, taskTerm{term: c.term, weight: 1 + math.Log(float64(c.n))})
		}
		// Names say most of what a file is about, and there are few of them.
		for i := range terms {
			if x.files[g].declares(terms[i].term) {
				terms[i].weight *= 2
			}
		}
		slices.SortStableFunc(terms, func(a, b taskTerm) int { return cmp.Compare(b.weight, a.weight) })
		found, _ := x.lookup(terms[:min(len(terms), 120)])
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.idf*b.weight, a.idf*a.weight) })
	score := x.byWords(all[:min(len(all), 40)])
	for _, g := range given {
		delete(score, g)
	}
	return score
}
