package lexical

import (
	"context"
	"math"
	"slices"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// BM25's parameters: how soon repetitions stop to count, and how much length does.
const (
	paramK1 = 1.2
	paramB  = 0.75
)

// scorer scores documents with the statistics of all shards. Products are
// rounded before they are added (the conversions keep a compiler from fusing
// them), so that every machine gets the same bits; and each step grows with the
// weight and falls with the length, so that the score of a block's bounds is
// never below that of its postings.
type scorer struct{ perLength float64 }

func newScorer(docs, length uint64) scorer {
	if length == 0 {
		return scorer{0}
	}
	return scorer{paramK1 * paramB * float64(docs) / float64(length)}
}

// score of one term: idf·(k1+1)·tf / (tf + k1·(1-b+b·length/mean)), where factor is
// idf·(k1+1).
func (s scorer) score(factor float64, weight, length uint32) float64 {
	norm := paramK1*(1-paramB) + float64(s.perLength*float64(length))
	return factor / (1 + float64(norm*fullWeight)/float64(weight))
}

// factor of a term that df of docs documents have. It is positive for every df.
func factor(docs, df uint64) float64 {
	return idf(docs, df) * (paramK1 + 1)
}

func idf(docs, df uint64) float64 {
	return math.Log1p((float64(docs-min(df, docs)) + 0.5) / (float64(df) + 0.5))
}

// Search returns the best hits, best first.
func (x *Index) Search(ctx context.Context, q Query) ([]Hit, Stats, error) {
	if q.Field == 0 {
		q.Field = Words
	}
	if q.K <= 0 {
		q.K = 10
	}
	v, err := x.View()
	if err != nil {
		return nil, Stats{}, err
	}
	defer v.Close()
	s := &search{ctx: ctx, q: q, v: v, known: &x.hashes, want: q.wanted()}
	if err := s.prepare(); err != nil {
		return nil, s.stats, err
	}
	for i := range s.shards {
		if err := s.shard(&s.shards[i]); err != nil {
			return nil, s.stats, err
		}
	}
	return s.top.hits(s.want), s.stats, nil
}

// search is one search under way.
type search struct {
	ctx     context.Context
	q       Query
	v       *store.View
	known   *knownHashes
	want    []wanted
	stats   Stats
	scorer  scorer
	factors []float64 // by term
	shards  []shard
	top     top
	// required: some term must be there.
	required bool
}

// shard is what a search knows of one shard before it goes through it.
type shard struct {
	tp    schemas.TopicPartition
	key   []byte
	below uint64
	lists []*list // by term, nil where the shard has none
	only  []int64 // nil: any document
}

// prepare reads the statistics of every shard and the lists' heads.
func (s *search) prepare() error {
	var err error
	if s.stats.Watermark, err = s.v.Watermark(); err != nil {
		return err
	}
	var length uint64
	df := make([]uint64, len(s.want))
	for _, tp := range s.stats.Watermark.Partitions() {
		sh := shard{tp: tp, key: store.AppendShard(nil, tp), below: math.MaxInt64, lists: make([]*list, len(s.want))}
		_, err := s.v.Get(append([]byte{kindStats}, sh.key...), func(value []byte) error {
			stats, err := decodeStats(value)
			if err != nil {
				return s.v.Damaged(err)
			}
			s.stats.Documents += stats.docs
			length += stats.length[s.q.Field]
			return nil
		})
		if err != nil {
			return err
		}
		for i, w := range s.want {
			key := append(append([]byte{kindTerm}, sh.key...), byte(s.q.Field))
			_, err := s.v.Get(append(key, w.term...), func(value []byte) error {
				l, err := decodeList(slices.Clone(value))
				if err != nil {
					return s.v.Damaged(err)
				}
				sh.lists[i] = &l
				df[i] += l.df
				return nil
			})
			if err != nil {
				return err
			}
		}
		if s.q.Below != nil {
			sh.below = uint64(max(0, s.q.Below[tp]))
		}
		if s.q.Only != nil {
			if sh.only = s.q.Only[tp]; len(sh.only) == 0 {
				continue
			}
		}
		if (s.q.Shards == nil || slices.Contains(s.q.Shards, tp)) && sh.below > 0 {
			s.shards = append(s.shards, sh)
		}
	}
	s.scorer = newScorer(s.stats.Documents, length)
	if s.stats.Documents > 0 {
		s.stats.MeanLength = float64(length) / float64(s.stats.Documents) / fullWeight
	}
	for i, w := range s.want {
		s.factors = append(s.factors, factor(s.stats.Documents, df[i]))
		s.stats.Terms = append(s.stats.Terms, TermStats{w.term, df[i], idf(s.stats.Documents, df[i]), w.required, w.excluded})
	}
	s.top = top{k: s.q.K, distinct: s.q.Distinct, held: map[uint64]found{}}
	s.required = slices.ContainsFunc(s.want, func(w wanted) bool { return w.required })
	return nil
}

// shard goes through one shard from its newest document to its oldest, so that of
// equal scores the first one met is the one to keep, and whatever can at best
// equal the worst hit is passed over.
//
// Each term has a cursor. In every round (block-max WAND):
//
//  1. With the cursors in the order of their documents, newest first, the pivot
//     is the first document at which the best scores that the lists so far can
//     give add up to a hit. Nothing newer can be one.
//  2. All cursors go to the pivot or below. If the best scores of the blocks that
//     hold it cannot add up to a hit, the search goes on below the lot.
//  3. Else the pivot is scored.
//
// Where only some documents may be hits, a pivot that is none of them is moved
// down to the next that is, and the round begins again.
//
// Sums are always made in the order of terms, so that a bound is never below what
// it bounds.
func (s *search) shard(sh *shard) error {
	var all, live, excluded []*cursor
	defer func() {
		for _, c := range append(all, excluded...) {
			c.close()
		}
	}()
	for i, l := range sh.lists {
		switch w := s.want[i]; {
		case w.required && (l == nil || w.excluded):
			return nil // nothing has it; or nothing can have and lack it
		case l == nil:
		case w.excluded:
			excluded = append(excluded, s.cursor(sh, i, l))
		default:
			all = append(all, s.cursor(sh, i, l))
		}
	}
	from := int64(sh.below) - 1
	for _, c := range all {
		if err := c.seek(from); err != nil {
			return err
		}
	}
	hashes := hashReader{s: s, sh: sh}
	live = slices.Clone(all)
	for round := 0; ; round++ {
		if round%1024 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if done, err := s.alignRequired(all); err != nil || done {
			return err
		}
		newestFirst(live)
		for len(live) > 0 && live[len(live)-1].doc < 0 {
			live = live[:len(live)-1]
		}
		pivot := int64(-1)
		for i, c := range live {
			if i+1 < len(live) && live[i+1].doc == c.doc {
				continue
			}
			if s.top.takes(listBound(all, c.doc), c.doc, sh.tp) {
				pivot = c.doc
				break
			}
		}
		if pivot < 0 {
			return nil
		}
		if sh.only != nil {
			n, exact := slices.BinarySearch(sh.only, pivot)
			if !exact {
				if n == 0 {
					return nil
				}
				for _, c := range live {
					if err := c.seek(sh.only[n-1]); err != nil {
						return err
					}
				}
				continue
			}
			sh.only = sh.only[:n+1] // the search never goes up
		}
		moved := false
		for _, c := range live {
			if c.doc > pivot {
				moved = true
				if err := c.seek(pivot); err != nil {
					return err
				}
			}
		}
		if moved && s.required {
			continue // they may stand apart again
		}
		at := func(c *cursor) bool { return c.doc == pivot }
		if !s.top.takes(blockBound(all, pivot), pivot, sh.tp) {
			below := int64(0)
			for _, c := range live {
				if at(c) {
					below = max(below, int64(c.block.first))
				} else {
					below = max(below, c.doc+1)
				}
			}
			for _, c := range live {
				if at(c) {
					if err := c.seek(below - 1); err != nil {
						return err
					}
				}
			}
			continue
		}
		if err := s.candidate(sh, all, excluded, pivot, &hashes); err != nil {
			return err
		}
		for _, c := range live {
			if at(c) {
				if err := c.seek(pivot - 1); err != nil {
					return err
				}
			}
		}
	}
}

// alignRequired brings the cursors of required terms to one document, the newest
// that has them all, and the others to it or below. It reports whether there is
// none.
func (s *search) alignRequired(all []*cursor) (done bool, err error) {
	if !s.required {
		return false, nil
	}
	for {
		lowest := int64(math.MaxInt64)
		for _, c := range all {
			if s.want[c.term].required {
				lowest = min(lowest, c.doc)
			}
		}
		if lowest < 0 {
			return true, nil
		}
		aligned := true
		for _, c := range all {
			if c.doc > lowest {
				if err := c.seek(lowest); err != nil {
					return false, err
				}
				aligned = aligned && (!s.want[c.term].required || c.doc == lowest)
			}
		}
		if aligned {
			return false, nil
		}
	}
}

// newestFirst sorts cursors that are nearly in order.
func newestFirst(live []*cursor) {
	for i := 1; i < len(live); i++ {
		for j := i; j > 0 && live[j].doc > live[j-1].doc; j-- {
			live[j], live[j-1] = live[j-1], live[j]
		}
	}
}

// listBound is the most that a document can score that lies between doc and the
// cursors at or above it. It adds up in the order of terms.
func listBound(all []*cursor, doc int64) float64 {
	sum := 0.0
	for _, c := range all {
		if c.doc >= doc {
			sum += c.listMax
		}
	}
	return sum
}

// blockBound is listBound of the blocks that hold doc.
func blockBound(all []*cursor, doc int64) float64 {
	sum := 0.0
	for _, c := range all {
		if c.doc == doc {
			sum += c.blockMax
		}
	}
	return sum
}

// candidate scores a document and keeps it if it is a hit.
func (s *search) candidate(sh *shard, all, excluded []*cursor, doc int64, hashes *hashReader) error {
	s.stats.Scored++
	h := found{tp: sh.tp, doc: doc}
	for _, c := range all {
		if c.doc != doc {
			continue
		}
		p, err := c.posting()
		if err != nil {
			return err
		}
		h.score += s.scorer.score(c.factor, p.weight, p.length)
		h.terms |= 1 << c.term
	}
	if !s.top.takes(h.score, doc, sh.tp) {
		return nil
	}
	for _, c := range excluded {
		if err := c.seek(doc); err != nil {
			return err
		}
		if c.doc == doc {
			return nil
		}
	}
	if s.q.Distinct {
		var err error
		if h.hash, err = hashes.of(uint64(doc)); err != nil {
			return err
		}
		if !s.top.betters(h) {
			return nil
		}
	}
	if s.q.Filter == nil || s.q.Filter(sh.tp, doc) {
		s.top.add(h)
	}
	return nil
}
