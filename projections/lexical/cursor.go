package lexical

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/projections/store"
)

// cursor goes down the documents of one term in one shard.
type cursor struct {
	s      *search
	term   int // in search.want
	list   *list
	factor float64
	prefix []byte // of the sealed blocks' keys

	// doc is where the cursor stands; -1 behind the oldest document.
	doc int64
	// block holds doc; its postings are read when one is needed.
	block    block
	postings []posting
	read     bool
	at       int // of doc in postings, where read
	// listMax and blockMax bound what the term adds to a score.
	listMax, blockMax float64

	it *pebble.Iterator // nil until a sealed block is needed
}

func (s *search) cursor(sh *shard, term int, l *list) *cursor {
	c := &cursor{s: s, term: term, list: l, factor: s.factors[term], doc: math.MaxInt64}
	c.prefix = append(append([]byte{kindBlock}, sh.key...), byte(s.q.Field))
	c.prefix = append(append(c.prefix, s.want[term].term...), 0)
	if l.sealed() {
		c.listMax = s.scorer.score(c.factor, l.maxWeight, l.minLength)
	}
	if l.tail.count > 0 {
		c.listMax = max(c.listMax, s.scorer.score(c.factor, l.tail.maxWeight, l.tail.minLength))
	}
	c.block = block{first: math.MaxUint64} // above everything
	return c
}

func (c *cursor) close() {
	if c.it != nil {
		_ = c.it.Close()
	}
}

// seek goes to the newest document that is not above doc. It never goes up.
func (c *cursor) seek(doc int64) error {
	if c.doc <= doc {
		return nil
	}
	if doc < 0 {
		c.doc = -1
		return nil
	}
	if uint64(doc) < c.block.first {
		if err := c.load(uint64(doc)); err != nil || c.doc < 0 {
			return err
		}
	}
	if uint64(doc) >= c.block.last {
		c.doc, c.at = int64(c.block.last), c.block.count-1
		return nil
	}
	if err := c.decode(); err != nil {
		return err
	}
	i := min(c.at, len(c.postings)-1)
	for c.postings[i].doc > uint64(doc) { // ends: the block's first is not above
		i--
	}
	c.at, c.doc = i, int64(c.postings[i].doc)
	return nil
}

// load makes the block current that holds the newest document not above doc.
func (c *cursor) load(doc uint64) error {
	c.read, c.at = false, blockSize-1
	if t := &c.list.tail; t.count > 0 && t.first <= doc {
		c.setBlock(*t)
		return nil
	}
	if !c.list.sealed() {
		c.doc = -1
		return nil
	}
	if c.it == nil {
		var err error
		if c.it, err = c.s.v.Iter(c.prefix, store.PrefixEnd(c.prefix)); err != nil {
			return err
		}
	}
	// Mostly it is the block before.
	found := c.it.Valid() && c.it.Prev()
	if !found || c.firstOfKey() > doc {
		found = c.it.SeekLT(binary.BigEndian.AppendUint64(c.prefix[:len(c.prefix):len(c.prefix)], doc+1))
	}
	if !found {
		c.doc = -1
		return c.s.v.Explain(c.it.Error())
	}
	value, err := c.it.ValueAndErr()
	if err != nil {
		return c.s.v.Explain(err)
	}
	b, err := decodeBlock(value)
	if err == nil && (c.firstOfKey() != b.first || b.count != blockSize ||
		b.maxWeight > c.list.maxWeight || b.minLength < c.list.minLength) {
		err = fmt.Errorf("block at %d does not fit its list", b.first)
	}
	if err != nil {
		return c.s.v.Damaged(err)
	}
	c.setBlock(b)
	return nil
}

// firstOfKey is the document that the key at hand names, or one beyond all where
// it is no key of a block.
func (c *cursor) firstOfKey() uint64 {
	key := c.it.Key()
	if len(key) != len(c.prefix)+8 {
		return math.MaxUint64
	}
	return binary.BigEndian.Uint64(key[len(c.prefix):])
}

func (c *cursor) setBlock(b block) {
	c.block = b
	c.blockMax = c.s.scorer.score(c.factor, b.maxWeight, b.minLength)
}

// decode reads the block's postings. The iterator still stands at it.
func (c *cursor) decode() error {
	if c.read {
		return nil
	}
	var err error
	if c.postings, err = c.block.postings(c.postings[:0]); err != nil {
		return c.s.v.Damaged(err)
	}
	c.read = true
	return nil
}

// posting is that of doc.
func (c *cursor) posting() (posting, error) {
	if err := c.decode(); err != nil {
		return posting{}, err
	}
	return c.postings[c.at], nil
}
