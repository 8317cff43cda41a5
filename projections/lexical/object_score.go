package lexical

import (
	"math"
	"math/bits"
	"slices"
)

// divisors are those of a scorer, of the weights and lengths that most postings have.
type divisors struct {
	scorer
	made bool
	of   [commonWeight * commonLength]float64
}

const (
	commonWeight = 1 << 4
	commonLength = 1 << 8
	// uncommon has the bits of a posting that is beyond those.
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

// by is the divisor of a posting.
func (d *divisors) by(p partPosting) float64 {
	if p&uncommon != 0 {
		return d.uncommon(p)
	}
	return d.of[p>>13%commonWeight*commonLength|p%commonLength]
}

func (d *divisors) uncommon(p partPosting) float64 { return d.divisor(p.weight(), p.length()) }

// most is what the postings of a block add at most.
func (d *divisors) most(factor float64, b *partBlock) (most points) {
	for _, p := range b.front {
		most = max(most, share(factor, d.by(p)))
	}
	return most
}

// sums are what several blocks of a window add up to.
type sums struct {
	score  [windowSize]points
	marked docSet // the documents that have a score
}

// termBlock is a term's block in a window, and the most that it can add to a score.
type termBlock struct {
	factor float64
	most   points
	partBlock
}

// partScore is a document of the window that may be a hit, and its score so far.
type partScore struct {
	score points
	doc   uint32 // in the window
}

// search finds the best hits, with a guess of the least score first: what cannot reach it is
// passed over from the beginning. If there are too few that do, the guess was too high,
// and the search is done again without one.
func (s *objectSearch) search() error {
	s.top.distinct = s.q.Distinct
	least, err := s.guess()
	if err != nil {
		return err
	}
	if err := s.pass(s.q.K, least); err != nil || len(s.top.best) == s.q.K || least == 1 {
		return err
	}
	return s.pass(s.q.K, 1)
}

// A sample is of the first documents of each window, one in sampledOf; or, as looking into
// a block costs more than many a posting of it, of about sampledWindows whole windows
// where they have fewer. There is none of fewer documents than minSampled, or of shards that
// have so few that going through them is most of the work.
const (
	sampledOf       = 16
	sampledWindows  = 8
	minSampled      = 4096
	minSampledShard = 256
)

// guess is a score that likely a few more than the hits have: of as many documents of a
// sample as should have it if that is so. It is 1 where there is no sample.
func (s *objectSearch) guess() (points, error) {
	if s.q.Only != nil || s.stats.Parts < max(minSampled, sampledOf*uint64(s.q.K), minSampledShard*uint64(len(s.shards))) {
		return 1, nil
	}
	s.every = uint32(s.stats.Parts / partsPerBlock / sampledWindows)
	if s.every < sampledOf {
		s.every = 1
	}
	defer func() { s.every = 0 }()
	docs := uint64(0)
	for i := range s.shards {
		if sh := &s.shards[i]; s.every > 1 {
			for low := uint32(0); low < sh.docs; low += s.every * partsPerBlock {
				docs += uint64(min(sh.docs-low, partsPerBlock))
			}
		} else {
			docs += uint64(sh.docs) / sampledOf
		}
	}
	hits := float64(s.q.K) * float64(docs) / float64(s.stats.Parts)
	k := int(math.Ceil(1 + hits + 2*math.Sqrt(hits)))
	if err := s.pass(k, 1); err != nil || len(s.top.best) < k {
		return 1, err
	}
	return s.top.floor(), nil
}

// pass goes through all shards for the k best hits of some score.
func (s *objectSearch) pass(k int, least points) error {
	s.top.clear()
	s.top.k, s.top.least = k, least
	for i := range s.shards {
		if err := s.shard(i); err != nil {
			return err
		}
	}
	return s.takeIn(nil)
}

// shard goes through one shard from its newest document to its oldest, a window of
// documents at a time, which is a block of each list. What can at best equal the worst
// hit is looked at too, since in another shard newer ones may have that score.
//
// In every window:
//
//  1. Blocks that may make a hit score their documents. The others cannot lift a document
//     that none of those has to the worst hit (MaxScore).
//  2. The others add to those that may still be hits by which of the others have them.
//  3. What adds up to a hit waits until there are many, which are taken in the best
//     first.
//
// Where only some objects may be hits, their documents alone are looked at.
func (s *objectSearch) shard(i int) error {
	sh, lists := &s.shards[i], s.lists[i*len(s.terms):(i+1)*len(s.terms)]
	for j := range lists {
		lists[j] = lists[j].cursor()
	}
	for s.next(sh, lists) {
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
		if len(s.waiting) >= s.enough() {
			if err := s.takeIn(sh); err != nil {
				return err
			}
		}
	}
	return nil
}

// enough is how many documents wait before they are taken in: fewer where none is that is
// no better than the guess.
func (s *objectSearch) enough() int {
	if s.top.least > 1 {
		return max(s.q.K, 64)
	}
	return enoughWaiting
}

// next moves the window down to the next blocks of a shard's lists, takes them off, and
// says whether there are any: those that add least come first.
func (s *objectSearch) next(sh *objectShard, lists []partCursor) bool {
	n := int64(-1)
	for i := range lists {
		l := &lists[i]
		for s.every > 1 && l.left > 0 && l.nextNumber()%int64(s.every) > 0 {
			l.left--
		}
		n = max(n, l.nextNumber())
	}
	if n < 0 {
		return false
	}
	s.low = uint32(n) * partsPerBlock
	some := min(sh.docs-s.low, partsPerBlock) / sampledOf // of the sample
	s.active = s.active[:0]
	for t := range lists {
		l := &lists[t]
		if l.nextNumber() != n {
			continue
		}
		b := termBlock{factor: s.factors[t], partBlock: l.next()}
		l.left--
		if s.every == 1 {
			b.postings, b.dense = b.postings[:b.seek(0, some)], nil
		}
		b.most = s.divisors.most(b.factor, &b.partBlock)
		at := len(s.active)
		for at > 0 && s.active[at-1].most > b.most {
			at--
		}
		s.active = slices.Insert(s.active, at, b)
	}
	return true
}

// listed takes the documents of the window that may be hits where they are listed.
func (s *objectSearch) listed(sh *objectShard) {
	from, _ := slices.BinarySearch(sh.only, s.low)
	for _, doc := range sh.only[from:] {
		if doc-s.low >= partsPerBlock {
			break
		}
		s.scored = append(s.scored, partScore{doc: doc - s.low})
	}
}

// score scores the documents of the window that may be hits by those blocks that can make
// one, and gives the rest, which can but add to them.
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

// mayAdd is what some blocks of the window add to a score at most: one that does not have
// the document, nothing. To say so takes no look at postings, which are spread over far
// more memory than the processor's caches hold.
type mayAdd struct {
	blocks []mayAddBlock
	room   []docSet // for the blocks that have none
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

// upTo is what a document's score can come to at most.
func (m *mayAdd) upTo(score points, doc uint32) points {
	for i := range m.blocks {
		b := &m.blocks[i]
		score += b.most * points(b.has.one(doc))
	}
	return score
}

// clear lets go of the blocks.
func (m *mayAdd) clear() { clear(m.blocks[:cap(m.blocks)]) }

// add adds what blocks have of the documents that are scored, the one that can add most
// first, and drops those that cannot be hits any more.
func (s *objectSearch) add(rest []termBlock) {
	floor, left := s.top.floor(), points(0) // what the blocks can still add
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
			// Without a branch on what is still being loaded, the next is loaded meanwhile.
			s.scored[kept] = p
			if p.score >= least {
				kept++
			}
		}
		s.scored = s.scored[:kept]
	}
}
