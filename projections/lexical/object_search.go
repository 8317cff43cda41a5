package lexical

import (
	"bytes"
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// SearchObjects returns the best hits, best first; of equal scores the one with the
// higher offset, then by partition.
func (x *Index) SearchObjects(ctx context.Context, q ObjectQuery) ([]ObjectHit, ObjectStats, error) {
	if q.K <= 0 {
		q.K = 10
	}
	v, err := x.View()
	if err != nil {
		return nil, ObjectStats{}, err
	}
	defer v.Close()
	s := &objectSearch{
		ctx: ctx, x: x, q: q, v: v, terms: q.terms(), objectScratch: x.scratch.Get().(*objectScratch),
	}
	s.top.k, s.top.distinct = q.K, q.Distinct
	if err := s.prepare(); err != nil {
		return nil, s.stats, err
	}
	for i := range s.shards {
		if err := s.shard(i); err != nil {
			return nil, s.stats, err
		}
	}
	if err := s.takeIn(nil); err != nil {
		return nil, s.stats, err
	}
	hits, err := s.hits()
	s.objectScratch.clear()
	x.scratch.Put(s.objectScratch) // after an error its window may have marks
	return hits, s.stats, err
}

// objectScratch is what searches for objects leave to the next ones: none of it is of any
// meaning there.
type objectScratch struct {
	window   window // nothing marked
	waiting  []candidate
	room     room
	top      top
	blocks   map[uint64]entries // by shard and number
	resolved map[uint64]bool    // objects of several parts, by shard and first document
}

func newObjectScratch() any {
	return &objectScratch{top: top{held: map[uint64]found{}}, blocks: map[uint64]entries{}, resolved: map[uint64]bool{}}
}

func (s *objectScratch) clear() {
	s.room.clear()
	s.top.best = s.top.best[:0]
	clear(s.top.held)
	clear(s.blocks)
	clear(s.resolved)
}

// objectSearch is one search for objects under way.
type objectSearch struct {
	ctx     context.Context
	x       *Index
	q       ObjectQuery
	v       *store.View
	terms   []string
	stats   ObjectStats
	scorer  scorer
	factors []float64 // by term
	shards  []objectShard
	lists   [][]partBlock // of shard i and term t: i·terms + t
	active  []termBlock   // in the window at hand
	made    uint32        // objectShard.id of the last
	*objectScratch

	key       []byte
	blockAt   uint64 // of blockLast
	blockLast entries
}

// objectShard is one audience in one partition, as of the moment asked.
type objectShard struct {
	tp        schemas.TopicPartition
	partition int    // of those there are
	id        uint32 // of the search's own
	key       []byte // of the partition
	number    uint32
	docs      uint32
	length    uint64
	only      []uint32 // ascending; nil: any document
}

// complete is how many of its blocks are full, which never change.
func (sh *objectShard) complete() uint32 { return sh.docs / partsPerBlock }

// prepare finds the shards, reads their lists, and adds the statistics up.
func (s *objectSearch) prepare() error {
	mark, err := s.v.Watermark()
	if err != nil {
		return err
	}
	if s.stats.Watermark = mark; s.q.Below != nil {
		s.stats.Watermark = mark.Min(s.q.Below)
	}
	ids := slices.SortedFunc(slices.Values(s.q.Audiences), func(a, b schemas.AudienceID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	has := make([]bool, len(ids))
	for i, tp := range s.stats.Watermark.Partitions() {
		if err := s.partition(i, tp, ids, has); err != nil {
			return err
		}
	}
	for _, has := range has {
		if has {
			s.stats.Audiences++
		}
	}
	if s.q.Only != nil {
		if err := s.choose(s.q.Only); err != nil {
			return err
		}
	}
	if err := s.readLists(); err != nil {
		return err
	}
	var length uint64
	for i := range s.shards {
		s.stats.Parts += uint64(s.shards[i].docs)
		length += s.shards[i].length
	}
	if s.stats.Parts > 0 {
		s.stats.MeanLength = float64(length) / float64(s.stats.Parts)
	}
	s.scorer = newScorer(s.stats.Parts, length)
	for t, term := range s.terms {
		df := uint64(0)
		for i := t; i < len(s.lists); i += len(s.terms) {
			for k := range s.lists[i] {
				df += uint64(s.lists[i][k].len())
			}
		}
		s.factors = append(s.factors, factor(s.stats.Parts, df))
		s.stats.Terms = append(s.stats.Terms, TermStats{Term: term, Documents: df, IDF: idf(s.stats.Parts, df)})
	}
	return nil
}

// partition adds the shards of partition n, by their number; has says which of the
// audiences have any.
func (s *objectSearch) partition(n int, tp schemas.TopicPartition, ids []schemas.AudienceID, has []bool) error {
	all, err := s.x.audiencesOf(tp)
	if err != nil {
		return err
	}
	type asked struct {
		audience
		i int // in ids
	}
	var found []asked
	for i, id := range ids {
		if a, ok := all.get(id); ok {
			found = append(found, asked{a, i})
		}
	}
	slices.SortFunc(found, func(a, b asked) int { return cmp.Compare(a.number, b.number) })
	key := store.AppendShard(nil, tp)
	for _, a := range found {
		s.made++
		sh := objectShard{tp: tp, partition: n, key: key, id: s.made, number: a.number}
		if err := s.past(&sh, a.audience, s.stats.Watermark[tp]); err != nil {
			return err
		}
		if sh.docs > 0 {
			has[a.i] = true
			s.shards = append(s.shards, sh)
		}
	}
	return nil
}

// termBlock is a term's block in a window, and the most that it can add to a score.
type termBlock struct {
	term int
	most points
	*partBlock
}

// shard goes through one shard from its newest document to its oldest, a window of
// documents at a time, which is a block of each list. What can at best equal the worst
// hit is looked at too, since in another shard newer ones may have that score.
//
// In every window:
//
//  1. Blocks that may make a hit mark and score their documents. The others cannot lift
//     a document that none of those has to the worst hit (MaxScore).
//  2. The others add to what is marked and may still be a hit.
//  3. What adds up to a hit waits until there are many, which are taken in the best
//     first.
//
// Where only some objects may be hits, their documents alone are marked.
func (s *objectSearch) shard(i int) error {
	sh, lists, w := &s.shards[i], s.lists[i*len(s.terms):(i+1)*len(s.terms)], &s.window
	for {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		active := s.next(sh, lists)
		if len(active) == 0 {
			return nil
		}
		if sh.only == nil {
			s.score(active)
		} else if s.mark(sh) {
			s.addToMarked(active)
		}
		w.each(func(doc uint64, score points, terms uint64) {
			if terms != 0 {
				s.stats.Scored++
			}
			if s.top.reaches(score) {
				s.waiting = append(s.waiting, candidate{score, terms, uint32(doc), uint32(i)})
			}
		})
		if len(s.waiting) >= enoughWaiting {
			if err := s.takeIn(sh); err != nil {
				return err
			}
		}
	}
}

// next moves the window down to the next blocks of a shard's lists, and takes them off.
func (s *objectSearch) next(sh *objectShard, lists [][]partBlock) []termBlock {
	n := int64(-1)
	for _, blocks := range lists {
		if last := len(blocks) - 1; last >= 0 {
			n = max(n, int64(blocks[last].n))
		}
	}
	s.active = s.active[:0]
	if n < 0 {
		return nil
	}
	s.window.low = uint64(n) * partsPerBlock
	s.window.high = min(s.window.low+partsPerBlock, uint64(sh.docs)) - 1
	for t, blocks := range lists {
		if last := len(blocks) - 1; last >= 0 && int64(blocks[last].n) == n {
			b := &blocks[last]
			s.active = append(s.active, termBlock{t, s.scorer.score(s.factors[t], b.maxWeight, b.minLength), b})
			lists[t] = blocks[:last]
		}
	}
	return s.active
}

// mark marks the documents of the window that may be hits where they are listed, and
// says whether there are any.
func (s *objectSearch) mark(sh *objectShard) bool {
	w := &s.window
	from, _ := slices.BinarySearch(sh.only, uint32(w.low))
	marked := false
	for _, doc := range sh.only[from:] {
		if uint64(doc) > w.high {
			break
		}
		w.touch(uint64(doc))
		marked = true
	}
	return marked
}

// score scores the documents of the window that may be hits.
func (s *objectSearch) score(active []termBlock) {
	w := &s.window
	slices.SortFunc(active, func(a, b termBlock) int { return cmp.Or(cmp.Compare(a.most, b.most), cmp.Compare(a.term, b.term)) })
	var sum points
	marking := 0
	for ; marking < len(active); marking++ {
		if sum += active[marking].most; s.top.reaches(sum) {
			break
		}
	}
	// Of a document that one block alone marks, its posting tells whether it may be a hit.
	least := points(0)
	if floor := s.top.floor(); len(active)-marking == 1 && floor > sum-active[marking].most {
		least = floor - (sum - active[marking].most)
	}
	for _, b := range active[marking:] {
		bit, factor := uint64(1)<<b.term, s.factors[b.term]
		for i := range b.len() {
			p := b.at(i)
			score := s.scorer.score(factor, p.weight(), p.length())
			if score < least {
				continue
			}
			doc := p.doc()
			w.touched[doc/64] |= 1 << (doc % 64)
			w.score[doc] += score
			w.terms[doc] |= bit
		}
	}
	if marking < len(active) {
		s.addToMarked(active[:marking])
	}
}

// addToMarked adds what the blocks that did not mark the documents have of those that are
// marked, the one that can add most first, and drops those that cannot be hits any more.
func (s *objectSearch) addToMarked(rest []termBlock) {
	var left points // what the blocks can add
	for _, b := range rest {
		left += b.most
	}
	for len(rest) > 0 {
		b := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		marked := s.drop(left)
		if marked == 0 {
			return
		}
		if b.len() <= marked*seekPostings {
			s.addAll(b)
		} else {
			s.addEach(b)
		}
		left -= b.most
	}
}

// seekPostings is how many postings are gone through in the time in which a document is
// looked up among them.
const seekPostings = 24

// drop unmarks the documents that with so much more cannot be hits, and gives how many
// are left.
func (s *objectSearch) drop(left points) int {
	w, n, floor := &s.window, 0, s.top.floor()
	for k, marked := range w.touched {
		for ; marked != 0; marked &= marked - 1 {
			i := bits.TrailingZeros64(marked)
			if doc := k*64 + i; w.score[doc]+left < floor {
				w.touched[k] &^= 1 << i
				w.score[doc], w.terms[doc] = 0, 0
				continue
			}
			n++
		}
	}
	return n
}

// addAll goes through a block and adds what it has of marked documents.
func (s *objectSearch) addAll(b termBlock) {
	w, bit := &s.window, uint64(1)<<b.term
	for i := range b.len() {
		p := b.at(i)
		if doc := p.doc(); w.touched[doc/64]>>(doc%64)&1 == 1 {
			w.score[doc] += s.scorer.score(s.factors[b.term], p.weight(), p.length())
			w.terms[doc] |= bit
		}
	}
}

// addEach looks each marked document up in a block, and adds what it has of it.
func (s *objectSearch) addEach(b termBlock) {
	w, bit, from := &s.window, uint64(1)<<b.term, 0
	for k, marked := range w.touched {
		for ; marked != 0; marked &= marked - 1 {
			doc := uint32(k*64 + bits.TrailingZeros64(marked))
			if from = b.seek(from, doc); from == b.len() {
				return
			}
			if p := b.at(from); p.doc() == doc {
				w.score[doc] += s.scorer.score(s.factors[b.term], p.weight(), p.length())
				w.terms[doc] |= bit
			}
		}
	}
}

// takeIn takes in what waits: of each object the best part. Inside a shard, the object
// that the next window may have more parts of waits on.
func (s *objectSearch) takeIn(inside *objectShard) error {
	var held []candidate
	q := s.waiting
	if inside != nil && s.window.low > 0 {
		e, err := s.entry(inside, uint32(s.window.low))
		if err != nil {
			return err
		}
		if end := s.window.low - uint64(e.part) + uint64(e.parts); e.part > 0 {
			q = slices.DeleteFunc(q, func(c candidate) bool {
				wait := &s.shards[c.shard] == inside && uint64(c.doc) < end
				if wait {
					held = append(held, c)
				}
				return wait
			})
		}
	}
	for i := len(q)/2 - 1; i >= 0; i-- {
		sink(q, i)
	}
	clear(s.resolved)
	for len(q) > 0 && s.top.reaches(q[0].score) {
		if err := s.resolve(q[0]); err != nil {
			return err
		}
		last := len(q) - 1
		q[0] = q[last]
		q = q[:last]
		sink(q, 0)
	}
	s.waiting = append(s.waiting[:0], held...)
	return nil
}

// resolve takes in an object by its best part.
func (s *objectSearch) resolve(c candidate) error {
	sh := &s.shards[c.shard]
	e, err := s.entry(sh, c.doc)
	if err != nil {
		return err
	}
	if e.parts > 1 {
		object := uint64(c.shard)<<32 | uint64(c.doc-e.part)
		if s.resolved[object] {
			return nil
		}
		s.resolved[object] = true
	}
	h := found{partition: sh.partition, at: c.shard, offset: e.offset, index: e.index, doc: c.doc, score: c.score, terms: c.terms}
	if s.q.Distinct {
		h.hash = e.hash
	}
	if s.top.takes(h) && s.top.betters(h) && (s.q.Filter == nil || s.q.Filter(s.ref(h))) {
		s.top.add(h)
	}
	return nil
}

func (s *objectSearch) ref(h found) schemas.ObjectRef {
	tp := s.shards[h.at].tp
	return schemas.ObjectRef{Position: schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: h.offset}, Index: h.index}
}

// hits are those that were kept.
func (s *objectSearch) hits() ([]ObjectHit, error) {
	hits := make([]ObjectHit, len(s.top.best))
	n := 0
	for _, f := range s.top.best {
		n += bits.OnesCount64(f.terms)
	}
	terms := make([]string, 0, n) // of all hits
	for i, f := range s.top.best {
		e, err := s.entry(&s.shards[f.at], f.doc)
		if err != nil {
			return nil, err
		}
		hits[i] = ObjectHit{Ref: s.ref(f), Part: e.part, Score: f.score.float(), ContentHash: e.hash}
		from := len(terms)
		for t, term := range s.terms {
			if f.terms>>t&1 == 1 {
				terms = append(terms, term)
			}
		}
		hits[i].Terms = terms[from:len(terms):len(terms)]
	}
	return hits, nil
}
