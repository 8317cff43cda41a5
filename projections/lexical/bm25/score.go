package bm25

import "math"

// The parameters of BM25: paramK1 limits the effect of repetitions, paramB sets that of length.
const (
	paramK1 = 1.2
	paramB  = 0.75
)

// FullWeight is the weight of a term that occurs once: weights count quarters of an occurrence.
const FullWeight = 4

// Points is a score in whole steps of 2^-32, so that sums are exact: they do not depend on the
// order of addition, and a bound is never below what it bounds.
type Points uint64

const onePoint = 1 << 32

// Float returns the score as a number.
func (p Points) Float() float64 { return float64(p) / onePoint }

// Scorer scores documents by the statistics of all collections of a search. Products are rounded
// before they are added (the conversions keep a compiler from fusing them), so that every machine
// gets the same bits. A score grows with the weight and falls with the length.
type Scorer struct{ perLength float64 }

// NewScorer returns the scorer of collections with docs documents, whose lengths add up to length.
func NewScorer(docs, length uint64) Scorer {
	if length == 0 {
		return Scorer{0}
	}
	return Scorer{paramK1 * paramB * float64(docs) / float64(length)}
}

// Score returns the score of one term: idf·(k1+1)·tf / (tf + k1·(1-b+b·length/mean)), where factor
// is idf·(k1+1). It is positive.
func (s Scorer) Score(factor float64, weight, length uint32) Points {
	return share(factor, s.divisor(weight, length))
}

// divisor returns the number by which the factor is divided in a term's score.
func (s Scorer) divisor(weight, length uint32) float64 {
	norm := paramK1*(1-paramB) + float64(s.perLength*float64(length))
	return 1 + float64(norm*FullWeight)/float64(weight)
}

func share(factor, divisor float64) Points {
	return max(1, Points(float64(factor/divisor)*onePoint))
}

// Factor returns idf·(k1+1) of a term that df of docs documents have. It is positive for every df.
func Factor(docs, df uint64) float64 {
	return IDF(docs, df) * (paramK1 + 1)
}

// IDF returns the inverse document frequency of a term that df of docs documents have.
func IDF(docs, df uint64) float64 {
	return math.Log1p((float64(docs-min(df, docs)) + 0.5) / (float64(df) + 0.5))
}

// divisors caches a scorer's divisors for common weights and lengths.
type divisors struct {
	Scorer
	set bool
	of  [commonWeight * commonLength]float64
}

const (
	commonWeight = 1 << 4
	commonLength = 1 << 8
	// uncommon is the bits that are zero in a posting of common weight and length.
	uncommon = posting(MaxWeight&^(commonWeight-1))<<lengthBits | MaxLength&^(commonLength-1)
)

func (d *divisors) use(s Scorer) {
	if d.set && d.Scorer == s {
		return
	}
	d.Scorer, d.set = s, true
	for weight := uint32(1); weight < commonWeight; weight++ {
		for length := range uint32(commonLength) {
			d.of[weight*commonLength+length] = s.divisor(weight, length)
		}
	}
}

// ofPosting returns the divisor of a posting.
func (d *divisors) ofPosting(p posting) float64 {
	if p&uncommon != 0 {
		return d.uncommon(p)
	}
	return d.of[p>>lengthBits%commonWeight*commonLength|p%commonLength]
}

func (d *divisors) uncommon(p posting) float64 { return d.divisor(p.weight(), p.length()) }

// max returns the maximum that a posting of a block can add to a score.
func (d *divisors) max(factor float64, b *block) (most Points) {
	for _, p := range b.front {
		most = max(most, share(factor, d.ofPosting(p)))
	}
	return most
}
