package lexical

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// The parameters of BM25: paramK1 limits the effect of repetitions, paramB sets that of length.
const (
	paramK1 = 1.2
	paramB  = 0.75
)

// points is a score in whole steps of 2^-32, so that sums are exact: they do not depend on the
// order of addition, and a bound is never below what it bounds.
type points uint64

const onePoint = 1 << 32

func (p points) float() float64 { return float64(p) / onePoint }

// scorer scores documents with the statistics of all shards. Products are rounded before they are
// added (the conversions keep a compiler from fusing them), so that every machine gets the same
// bits. Each step grows with the weight and falls with the length, so that the score of a block's
// bounds is never below that of its postings.
type scorer struct{ perLength float64 }

func newScorer(docs, length uint64) scorer {
	if length == 0 {
		return scorer{0}
	}
	return scorer{paramK1 * paramB * float64(docs) / float64(length)}
}

// score returns the score of one term: idf·(k1+1)·tf / (tf + k1·(1-b+b·length/mean)), where factor
// is idf·(k1+1). It is positive.
func (s scorer) score(factor float64, weight, length uint32) points {
	return share(factor, s.divisor(weight, length))
}

// divisor returns the number by which the factor is divided in a term's score.
func (s scorer) divisor(weight, length uint32) float64 {
	norm := paramK1*(1-paramB) + float64(s.perLength*float64(length))
	return 1 + float64(norm*fullWeight)/float64(weight)
}

func share(factor, divisor float64) points {
	return max(1, points(float64(factor/divisor)*onePoint))
}

// factor returns idf·(k1+1) of a term that df of docs documents have. It is positive for every df.
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
	s := &search{ctx: ctx, q: q, v: v, cache: &x.cache, want: q.wanted(), searchScratch: x.searches.Get().(*searchScratch)}
	if err := s.prepare(x.runsOf); err != nil {
		return nil, s.stats, err
	}
	for i := range s.shards {
		if err := s.shard(i); err != nil {
			return nil, s.stats, err
		}
	}
	if err := s.takeIn(); err != nil {
		return nil, s.stats, err
	}
	x.searches.Put(s.searchScratch) // after an error it is not reused, since its window may have marks
	return s.hits(), s.stats, nil
}

// searchScratch is memory that searches reuse. Its content has no meaning for the next one.
type searchScratch struct {
	window   window // nothing is marked between searches
	waiting  []candidate
	postings [][]posting // by term, of the current shard
}

// search is a search in progress.
type search struct {
	ctx     context.Context
	q       Query
	v       *store.View
	cache   *cache[blocks]
	want    []wanted
	stats   Stats
	scorer  scorer
	factors []float64 // by term
	shards  []shard
	top     top
	// required and excluded have a bit for each term that must, or must not, be in a hit.
	required, excluded uint64
	*searchScratch
}

// shard is what a search reads of one shard before it scores documents.
type shard struct {
	tp    schemas.TopicPartition
	key   []byte
	past  past
	lists []*list // by term, nil if the shard has none
	only  *choice // nil: any run
}

// prepare reads the statistics of every shard and the heads of the lists.
func (s *search) prepare(runsOf func(schemas.TopicPartition) (*runs, error)) error {
	var err error
	if s.stats.Watermark, err = s.v.Watermark(); err != nil {
		return err
	}
	maps.DeleteFunc(s.stats.Watermark, func(tp schemas.TopicPartition, _ int64) bool {
		return tp.Topic[strings.LastIndexByte(tp.Topic, '.')+1:] == schemas.TopicAgents // without commands
	})
	heads, err := s.v.Iter([]byte{kindTerm}, []byte{kindTerm + 1})
	if err != nil {
		return err
	}
	defer heads.Close()
	var length uint64
	df := make([]uint64, len(s.want))
	for _, tp := range s.stats.Watermark.Partitions() {
		sh := shard{tp: tp, key: store.AppendShard(nil, tp)}
		stats, err := readStats(s.v, sh.key)
		if err != nil {
			return err
		}
		s.stats.Documents += stats.docs[s.q.Field.index()]
		length += stats.length[s.q.Field.index()]
		if sh.lists, err = s.lists(heads, sh.key); err != nil {
			return err
		}
		for i, l := range sh.lists {
			if l != nil {
				df[i] += l.df
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
	s.top = newTop(s.q.K, s.q.Distinct)
	s.postings = slices.Grow(s.postings, len(s.want))[:max(len(s.postings), len(s.want))]
	for i, w := range s.want {
		switch {
		case w.required:
			s.required |= 1 << i
		case w.excluded:
			s.excluded |= 1 << i
		}
	}
	return nil
}

// lists returns the lists of a shard, one for each term. Shards and terms ascend, so the iterator
// never goes back.
func (s *search) lists(it *pebble.Iterator, shard []byte) ([]*list, error) {
	lists := make([]*list, len(s.want))
	key := append(append([]byte{kindTerm}, shard...), byte(s.q.Field))
	prefix := len(key)
	for i, w := range s.want {
		key = append(key[:prefix], w.term...)
		if !it.SeekGE(key) {
			break
		}
		if !bytes.Equal(it.Key(), key) {
			continue
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, s.v.Explain(err)
		}
		l, err := decodeList(slices.Clone(value))
		if err != nil {
			return nil, s.v.Damaged(err)
		}
		lists[i] = &l
	}
	return lists, s.v.Explain(it.Error())
}

// shard searches one shard from its newest document to its oldest, a window of documents at a time.
// Documents that can at best equal the worst hit are considered too, since their newest run may be
// newer.
//
// In every window:
//
//  1. Lists that may produce a hit mark and score their documents. The others alone cannot raise a
//     document to the score of the worst hit (MaxScore); nor can a block whose own maximum score is
//     too low.
//  2. All other lists add to the marked documents. Blocks without a marked document are not read.
//  3. Documents with a sufficient score are queued; when there are many, they are added to the
//     hits, the best first, so that few of them are later replaced by better ones.
//
// If a term is required, only its documents are marked; if the query limits the runs, only their
// documents.
func (s *search) shard(i int) error {
	sh := &s.shards[i]
	var all []*cursor
	for i, l := range sh.lists {
		switch w := s.want[i]; {
		case w.required && (l == nil || w.excluded):
			return nil // no document has it, or it is both required and excluded
		case l != nil:
			c, err := s.cursor(sh, i, l)
			if err != nil {
				return err
			}
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *cursor) int { return cmp.Compare(a.most, b.most) })
	var most points
	for _, c := range all {
		most += c.most
	}
	w := &s.window
	for high := int64(sh.past.count) - 1; high >= 0; high = int64(w.low) - 1 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if !s.top.reaches(most) {
			return nil
		}
		w.low, w.high = uint64(high)&^(windowSize-1), uint64(high)
		if err := s.score(sh, all, most); err != nil {
			return err
		}
		w.each(func(doc uint64, score points, terms uint64) {
			s.stats.Scored++
			if terms&s.required == s.required && terms&s.excluded == 0 && s.top.reaches(score) {
				s.waiting = append(s.waiting, candidate{score, terms, uint32(doc), uint32(i)})
			}
		})
		if len(s.waiting) >= enoughWaiting {
			if err := s.takeIn(); err != nil {
				return err
			}
		}
		for _, c := range all {
			c.pass(w.low)
		}
	}
	return nil
}

// score marks and scores the documents of the window that may be hits. The lists ascend by what
// they can add; most is the sum of that.
func (s *search) score(sh *shard, all []*cursor, most points) error {
	w := &s.window
	s.choose(sh, all)
	// marks reports whether a block's documents may be hits.
	marks := func(c *cursor, b *block) bool {
		return c.touches && (s.required != 0 || s.top.reaches(most-c.most+c.score(b.maxWeight, b.minLength)))
	}
	for _, c := range all {
		if !c.touches {
			continue
		}
		err := c.within(w.low, func(b *block) error {
			if b.first > w.high || !marks(c, b) {
				return nil
			}
			postings, err := c.read(b)
			w.add(c, postings, true)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, c := range all {
		err := c.within(w.low, func(b *block) error {
			if marks(c, b) || !w.touchedIn(b.first, b.last) {
				return nil
			}
			postings, err := c.read(b)
			w.add(c, postings, false)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// choose selects the lists that mark documents in this window.
func (s *search) choose(sh *shard, all []*cursor) {
	for _, c := range all {
		c.touches = false
	}
	switch {
	case sh.only != nil:
		docs := sh.only.docs
		n, _ := slices.BinarySearch(docs, int64(s.window.high)+1)
		for ; n > 0 && docs[n-1] >= int64(s.window.low); n-- {
			s.window.touch(uint64(docs[n-1]))
		}
	case s.required != 0:
		var rarest *cursor
		for _, c := range all {
			if s.required>>c.term&1 == 1 && (rarest == nil || c.df < rarest.df) {
				rarest = c
			}
		}
		rarest.touches = true
	default:
		var sum points
		for _, c := range all {
			sum += c.most
			c.touches = !c.excluded && s.top.reaches(sum)
		}
	}
}

// enoughWaiting is how many documents are queued before they are added to the hits: enough that the
// best of them are good, and few enough that the next windows soon benefit.
const enoughWaiting = 1 << 10

// takeIn adds the queued documents to the hits.
func (s *search) takeIn() error {
	q := s.waiting
	for i := len(q)/2 - 1; i >= 0; i-- {
		sink(q, i)
	}
	for len(q) > 0 && s.top.reaches(q[0].score) {
		if err := s.runsOf(q[0]); err != nil {
			return err
		}
		last := len(q) - 1
		q[0] = q[last]
		q = q[:last]
		sink(q, 0)
	}
	s.waiting = s.waiting[:0]
	return nil
}

// candidate is a document that may have hits.
type candidate struct {
	score points
	terms uint64
	doc   uint32
	shard uint32 // index in search.shards
}

// before orders candidates: the better score first, then the later document, whose runs are
// probably newer.
func (c *candidate) before(o *candidate) bool {
	return c.score > o.score || c.score == o.score && c.doc > o.doc
}

// sink moves an element of a heap, with the best at its root, down to its place.
func sink(q []candidate, i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if child+1 < len(q) && q[child+1].before(&q[child]) {
			child++
		}
		if !q[child].before(&q[i]) {
			return
		}
		q[i], q[child] = q[child], q[i]
		i = child
	}
}

// runsOf adds the runs of a document that are hits.
func (s *search) runsOf(c candidate) error {
	sh := &s.shards[c.shard]
	h := found{shard: int(c.shard), score: c.score, terms: c.terms}
	if s.q.Distinct && s.q.Field == Words {
		h.hash = sh.past.contentOf(c.doc)
		if o, held := s.top.held[h.hash]; held && o.score > c.score {
			return nil
		}
	}
	walk := sh.runs(int64(c.doc))
	for asked := 1; ; asked++ {
		x := walk.next()
		if x == nil {
			return nil
		}
		h.offset = x.offset
		if !s.top.takes(h) {
			return nil // older runs are not hits either
		}
		if asked%4096 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if s.q.Distinct {
			if s.q.Field == Concepts {
				h.hash = sh.past.contentOf(x.doc[Words.index()])
			}
			if !s.top.betters(h) {
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

// hits returns the hits that were kept.
func (s *search) hits() []Hit {
	hits := make([]Hit, len(s.top.best))
	for i, f := range s.top.best {
		hits[i] = Hit{TP: s.shards[f.shard].tp, Offset: f.offset, Score: f.score.float(), ContentHash: f.hash}
		for term, w := range s.want {
			if f.terms>>term&1 == 1 {
				hits[i].Terms = append(hits[i].Terms, w.term)
			}
		}
	}
	return hits
}

// runs returns the runs of a document that may be hits.
func (sh *shard) runs(doc int64) walk {
	if c := sh.only; c != nil {
		i, _ := slices.BinarySearch(c.docs, doc)
		return walk{listed: c.runs[c.from[i]:c.from[i+1]]}
	}
	return sh.past.of(uint32(doc))
}
