package lexical

import (
	"math/bits"
	"slices"
)

// divisors caches a scorer's divisors for common weights and lengths.
type divisors struct {
	scorer
	made bool
	of   [commonWeight * commonLength]float64
}

const (
	commonWeight = 1 << 4
	commonLength = 1 << 8
	// uncommon is the bits that are zero in a posting of common weight and length.
	uncommon = partPosting(maxPartWeight&^(commonWeight-1))<<13 | maxPartLength&^(commonLength-1)
)

func (d *divisors) set(s scorer) {
	if d.made && d.scorer == s {
		return
	}
	d.scorer, d.made = s, true
	for weight := uint32(1); weight < commonWeight; weight++ {
		for length := range uint32(commonLength) {
			d.of[weight*commonLength+length] = s.divisor(weight, length)
		}
	}
}

// by returns the divisor of a posting.
func (d *divisors) by(p partPosting) float64 {
	if p&uncommon != 0 {
		return d.uncommon(p)
	}
	return d.of[p>>13%commonWeight*commonLength|p%commonLength]
}

func (d *divisors) uncommon(p partPosting) float64 { return d.divisor(p.weight(), p.length()) }

// most returns the maximum that a posting of a block can add to a score.
func (d *divisors) most(factor float64, b *partBlock) (most points) {
	for _, p := range b.front {
		most = max(most, share(factor, d.by(p)))
	}
	return most
}

// sums holds the scores of a window, added up over several blocks.
type sums struct {
	score  [windowSize]points
	marked docSet // the documents that have a score
}

// termBlock is a term's block in a window, and the maximum that it can add to a score.
type termBlock struct {
	factor float64
	most   points
	partBlock
}

// partScore is a document of the window that may be a hit, and its score so far.
type partScore struct {
	score points
	doc   uint32 // its number in the window
}

// search finds the best hits of all shards.
func (s *objectSearch) search() error {
	s.top.k, s.top.distinct = s.q.K, s.q.Distinct
	for i := range s.shards {
		if err := s.shard(i); err != nil {
			return err
		}
	}
	return s.takeIn(nil)
}

// shard searches one shard from its newest document to its oldest, a window of documents at a time.
// A window is one block of each list. Documents that can at best equal the worst hit are considered
// too, since newer documents in another shard may have that score.
//
// In every window:
//
//  1. Blocks that may produce a hit score their documents. The others alone cannot raise a document
//     to the score of the worst hit (MaxScore).
//  2. The others add to the documents that may still be hits.
//  3. Documents with a sufficient score are queued; when there are many, they are added to the
//     hits, the best first.
//
// If the query limits the objects that may be hits, only their documents are scored.
func (s *objectSearch) shard(i int) error {
	sh, lists := &s.shards[i], s.lists[i*len(s.terms):(i+1)*len(s.terms)]
	for s.next(lists) {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.scored = s.scored[:0]
		rest := s.active
		if sh.only == nil {
			rest = s.score()
		} else {
			s.listed(sh)
		}
		s.stats.Scored += len(s.scored)
		s.add(rest)
		for _, p := range s.scored {
			if s.top.reaches(p.score) {
				s.waiting = append(s.waiting, candidate{score: p.score, doc: s.low + p.doc, shard: uint32(i)})
			}
		}
		if len(s.waiting) >= max(s.q.K, 64) {
			if err := s.takeIn(sh); err != nil {
				return err
			}
		}
	}
	return nil
}

// next moves the window down to the next blocks of a shard's lists, removes them from the lists,
// and reports whether there are any. The blocks that can add least come first.
func (s *objectSearch) next(lists []partCursor) bool {
	n := int64(-1)
	for i := range lists {
		l := &lists[i]
		n = max(n, l.nextNumber())
	}
	if n < 0 {
		return false
	}
	s.low = uint32(n) * partsPerBlock
	s.active = s.active[:0]
	for t := range lists {
		l := &lists[t]
		if l.nextNumber() != n {
			continue
		}
		b := termBlock{factor: s.factors[t], partBlock: l.next()}
		l.left--
		b.most = s.divisors.most(b.factor, &b.partBlock)
		at := len(s.active)
		for at > 0 && s.active[at-1].most > b.most {
			at--
		}
		s.active = slices.Insert(s.active, at, b)
	}
	return true
}

// listed collects the documents of the window that may be hits if the query limits them.
func (s *objectSearch) listed(sh *objectShard) {
	from, _ := slices.BinarySearch(sh.only, s.low)
	for _, doc := range sh.only[from:] {
		if doc-s.low >= partsPerBlock {
			break
		}
		s.scored = append(s.scored, partScore{doc: doc - s.low})
	}
}

// score scores the documents of the window that may be hits by the blocks that can produce one, and
// returns the other blocks, which can only add to them.
func (s *objectSearch) score() (rest []termBlock) {
	floor, sum, n := s.top.floor(), points(0), 0
	for n < len(s.active) && sum+s.active[n].most < floor {
		sum += s.active[n].most
		n++
	}
	least := floor - min(floor, sum)
	rest, marking := s.active[:n], s.active[n:]
	if len(marking) == 0 {
		return rest
	}
	s.rest.set(rest)
	if len(marking) == 1 {
		b := &marking[0]
		for _, p := range b.postings {
			if score := share(b.factor, s.divisors.by(p)); score >= least && s.rest.upTo(score, p.doc()) >= floor {
				s.scored = append(s.scored, partScore{score, p.doc()})
			}
		}
		return rest
	}
	w := &s.window
	for i := range marking {
		b := &marking[i]
		if b.dense != nil {
			for k, has := range b.dense.has {
				w.marked[k] |= has
			}
		}
		for _, p := range b.postings {
			doc := p.doc()
			if b.dense == nil {
				w.marked[doc/64] |= 1 << (doc % 64)
			}
			w.score[doc] += share(b.factor, s.divisors.by(p))
		}
	}
	for k, marked := range w.marked {
		for ; marked != 0; marked &= marked - 1 {
			doc := uint32(k*64 + bits.TrailingZeros64(marked))
			if score := w.score[doc]; score >= least && s.rest.upTo(score, doc) >= floor {
				s.scored = append(s.scored, partScore{score, doc})
			}
			w.score[doc] = 0
		}
		w.marked[k] = 0
	}
	return rest
}

// mayAdd bounds what some blocks of the window can add to a document's score: nothing for a block
// without the document. It reads no postings, which are spread over far more memory than the
// processor's caches hold.
type mayAdd struct {
	blocks []mayAddBlock
	room   []docSet // for blocks without a set of their own
}

type mayAddBlock struct {
	most points
	has  *docSet
}

func (m *mayAdd) set(blocks []termBlock) {
	m.blocks = m.blocks[:0]
	if len(m.room) < len(blocks) {
		m.room = make([]docSet, len(blocks))
	}
	for i := range blocks {
		b, has := &blocks[i], &m.room[i]
		if b.dense != nil {
			has = &b.dense.has
		} else {
			*has = docSet{}
			has.add(b.postings)
		}
		m.blocks = append(m.blocks, mayAddBlock{b.most, has})
	}
}

// upTo returns an upper bound of a document's final score.
func (m *mayAdd) upTo(score points, doc uint32) points {
	for i := range m.blocks {
		b := &m.blocks[i]
		score += b.most * points(b.has.one(doc))
	}
	return score
}

// clear drops the references to the blocks.
func (m *mayAdd) clear() { clear(m.blocks[:cap(m.blocks)]) }

// add adds what the blocks contribute to the scored documents, starting with the block that can add
// most, and drops documents that can no longer be hits.
func (s *objectSearch) add(rest []termBlock) {
	floor, left := s.top.floor(), points(0) // left is what the blocks can still add
	for i := range rest {
		left += rest[i].most
	}
	for i := len(rest) - 1; i >= 0 && len(s.scored) > 0; i-- {
		b := &rest[i]
		left -= b.most
		least := floor - min(floor, left)
		kept, from := 0, 0
		for _, p := range s.scored {
			at, has := 0, false
			if b.dense != nil {
				at, has = b.dense.find(p.doc)
			} else {
				from = b.seek(from, p.doc)
				at, has = from, from < len(b.postings) && b.postings[from].doc() == p.doc
			}
			if has {
				p.score += share(b.factor, s.divisors.by(b.postings[at]))
			}
			// There is no branch on data that is still being loaded, so the next load can start
			// meanwhile.
			s.scored[kept] = p
			if p.score >= least {
				kept++
			}
		}
		s.scored = s.scored[:kept]
	}
}
