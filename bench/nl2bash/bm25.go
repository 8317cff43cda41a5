package main

import (
	"math"
	"strings"
)

// bm25 is the smallest honest BM25 (k1 = 1.2, b = 0.75), the yardstick.
type bm25 struct {
	postings map[string][]posting
	lengths  map[int32]int
	total    int
}

type posting struct {
	doc int32
	n   int
}

func (b *bm25) init() {
	b.postings, b.lengths = map[string][]posting{}, map[int32]int{}
}

func (b *bm25) add(doc int32, terms []string) {
	counts := map[string]int{}
	for _, t := range terms {
		counts[t]++
	}
	for t, n := range counts {
		b.postings[t] = append(b.postings[t], posting{doc, n})
	}
	b.lengths[doc] = len(terms)
	b.total += len(terms)
}

// search ranks the documents that hold any of the terms.
func (b *bm25) search(terms []string) []int32 {
	n := float64(len(b.lengths))
	mean := float64(b.total) / n
	scores := map[int32]float64{}
	for _, t := range terms {
		list := b.postings[t]
		idf := math.Log(1 + (n-float64(len(list))+0.5)/(float64(len(list))+0.5))
		for _, p := range list {
			tf := float64(p.n)
			scores[p.doc] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(b.lengths[p.doc])/mean))
		}
	}
	return ranked(scores)
}

// terms are the runs of letters and digits, in lower case.
func terms(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127)
	})
}
