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
	s := &search{ctx: ctx, q: q, v: v, want: q.wanted()}
	if err := s.prepare(x.runsOf); err != nil {
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
	past  past
	lists []*list // by term, nil where the shard has none
	only  *choice // nil: any run
}

// prepare reads the statistics of every shard and the lists' heads.
func (s *search) prepare(runsOf func(schemas.TopicPartition) (*runs, error)) error {
	var err error
	if s.stats.Watermark, err = s.v.Watermark(); err != nil {
		return err
	}
	var length uint64
	df := make([]uint64, len(s.want))
	for _, tp := range s.stats.Watermark.Partitions() {
		sh := shard{tp: tp, key: store.AppendShard(nil, tp), lists: make([]*list, len(s.want))}
		stats, err := readStats(s.v, sh.key)
		if err != nil {
			return err
		}
		s.stats.Documents += stats.docs[s.q.Field.index()]
		length += stats.length[s.q.Field.index()]
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
		below := s.stats.Watermark[tp]
		if s.q.Below != nil {
			below = min(below, s.q.Below[tp])
		}
		if (s.q.Shards != nil && !slices.Contains(s.q.Shards, tp)) || (s.q.Only != nil && len(s.q.Only[tp]) == 0) {
			continue
		}
		r, err := runsOf(tp)
		if err != nil {
			return err
		}
		if sh.past = r.below(below, s.q.Field); sh.past.n == 0 {
			continue
		}
		if s.q.Only != nil {
			c := sh.past.choose(s.q.Only[tp])
			sh.only = &c
		}
		s.shards = append(s.shards, sh)
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

// shard goes through one shard from its newest document to its oldest. What can at
// best equal the worst hit is looked at too: its newest run may be newer.
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
// Where only some runs may be hits, a pivot that none of them is is moved down to
// the next document that one is, and the round begins again.
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
	from := int64(sh.past.count) - 1
	for _, c := range all {
		if err := c.seek(from); err != nil {
			return err
		}
	}
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
			if s.top.reaches(listBound(all, c.doc)) {
				pivot = c.doc
				break
			}
		}
		if pivot < 0 {
			return nil
		}
		if sh.only != nil {
			n, exact := slices.BinarySearch(sh.only.docs, pivot)
			if !exact {
				if n == 0 {
					return nil
				}
				for _, c := range live {
					if err := c.seek(sh.only.docs[n-1]); err != nil {
						return err
					}
				}
				continue
			}
			sh.only.docs = sh.only.docs[:n+1] // the search never goes up
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
		if !s.top.reaches(blockBound(all, pivot)) {
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
		if err := s.candidate(sh, all, excluded, pivot); err != nil {
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

// candidate scores a document and keeps what runs of it are hits.
func (s *search) candidate(sh *shard, all, excluded []*cursor, doc int64) error {
	s.stats.Scored++
	h := found{tp: sh.tp}
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
	if !s.top.reaches(h.score) {
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
	walk := sh.runs(doc)
	for asked := 1; ; asked++ {
		x := walk.next()
		if x == nil {
			return nil
		}
		h.offset = x.offset
		if !s.top.takes(h) {
			return nil // nor is an older one
		}
		if asked%4096 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if s.q.Distinct {
			if h.hash = *sh.past.content(x); !s.top.betters(h) {
				if s.q.Field == Words {
					return nil // all of them have this content hash
				}
				continue
			}
		}
		if s.q.Filter != nil && !s.q.Filter(sh.tp, x.offset) {
			continue
		}
		s.top.add(h)
		if s.q.Distinct && s.q.Field == Words {
			return nil
		}
	}
}

// runs are those of a document that may be hits. Of what is listed it is the last
// document that is left.
func (sh *shard) runs(doc int64) walk {
	if c := sh.only; c != nil {
		i := len(c.docs) - 1
		return walk{listed: c.runs[c.from[i]:c.from[i+1]]}
	}
	return sh.past.of(uint32(doc))
}
