package lexical

import "math"

// cursor traverses the blocks of one term in one shard.
type cursor struct {
	s        *search
	term     int // index in search.want
	factor   float64
	excluded bool
	df       uint64
	// blocks are those that the search has not passed yet, ascending.
	blocks []block
	// most is the maximum that the term can add to a score.
	most points
	// touches is true if documents of this list may be hits in the current window.
	touches bool

	// of is the first document of the block whose postings s.postings has for the term.
	of uint64
}

func (s *search) cursor(sh *shard, term int, l *list) (*cursor, error) {
	c := &cursor{s: s, term: term, factor: s.factors[term], excluded: s.want[term].excluded, df: l.df, of: math.MaxUint64}
	prefix := append(append([]byte{kindBlock}, sh.key...), byte(s.q.Field))
	prefix = append(append(prefix, s.want[term].term...), 0)
	var err error
	if c.blocks, err = s.blocks(prefix, l); err != nil {
		return nil, err
	}
	if l.sealed() {
		c.most = c.score(l.maxWeight, l.minLength)
	}
	if t := &l.tail; t.count > 0 {
		c.most = max(c.most, c.score(t.maxWeight, t.minLength))
	}
	return c, nil
}

// score returns what the term adds to the score of a document.
func (c *cursor) score(weight, length uint32) points {
	if c.excluded {
		return 0
	}
	return c.s.scorer.score(c.factor, weight, length)
}

// within calls use with the remaining blocks that have documents from low on, the last first.
func (c *cursor) within(low uint64, use func(b *block) error) error {
	for i := len(c.blocks) - 1; i >= 0 && c.blocks[i].last >= low; i-- {
		if err := use(&c.blocks[i]); err != nil {
			return err
		}
	}
	return nil
}

// pass drops the blocks that have no documents below low.
func (c *cursor) pass(low uint64) {
	for n := len(c.blocks); n > 0 && c.blocks[n-1].first >= low; n-- {
		c.blocks = c.blocks[:n-1]
	}
}

// read returns the postings of a block, valid until the next call.
func (c *cursor) read(b *block) ([]posting, error) {
	postings := &c.s.postings[c.term]
	if c.of == b.first {
		return *postings, nil
	}
	var err error
	if *postings, err = b.postings((*postings)[:0]); err != nil {
		c.of = math.MaxUint64
		return nil, c.s.v.Damaged(err)
	}
	c.of = b.first
	return *postings, nil
}
