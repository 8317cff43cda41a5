package bm25

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// BlockDocs is the number of documents that a block of a list covers.
const BlockDocs = 1 << 11

// A posting is a document of a list: its number within the block in the upper 11 bits, then 8 bits
// of weight and 13 of the document's length. So postings sort by document as numbers, and a term's
// score rises with one field and falls with the other.
type posting uint32

const (
	lengthBits = 13
	// MaxWeight and MaxLength are the highest weight of a term and length of a document that a
	// posting can hold. A Writer limits both; statistics must count limited lengths.
	MaxWeight    = 1<<8 - 1
	MaxLength    = 1<<lengthBits - 1
	postingBytes = 4
)

func newPosting(doc, weight, length uint32) posting {
	return posting(doc%BlockDocs<<21 | min(weight, MaxWeight)<<lengthBits | min(length, MaxLength))
}

func (p posting) doc() uint32    { return uint32(p >> 21) }
func (p posting) weight() uint32 { return uint32(p >> lengthBits & MaxWeight) }
func (p posting) length() uint32 { return uint32(p & MaxLength) }

// block is the postings of a term in the documents from n·BlockDocs on.
type block struct {
	n        uint32
	postings []posting
	// front is the postings that are not dominated by another, which has at least the weight and at
	// most the length. Their maximum score bounds the block.
	front []posting
	dense *denseIndex // nil for a block with few postings
}

// seek returns the index of the first posting at or after from whose document is not below doc. In
// most cases it is one of the next.
func (b *block) seek(from int, doc uint32) int {
	all, step := b.postings, 1
	for from+step < len(all) && all[from+step].doc() < doc {
		from += step
		step *= 2
	}
	for to := min(from+step, len(all)); from < to; {
		if mid := int(uint(from+to) / 2); all[mid].doc() < doc {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return from
}

// docSet has a bit for each document of a block.
type docSet [BlockDocs / 64]uint64

func (d *docSet) add(doc uint32) { d[doc/64%uint32(len(d))] |= 1 << (doc % 64) }

// one returns 1 for a document in the set, 0 for another.
func (d *docSet) one(doc uint32) uint64 { return d[doc/64%uint32(len(d))] >> (doc % 64) & 1 }

// docs sets the set to the documents of a block.
func (d *docSet) docs(b *block) {
	if b.dense != nil {
		*d = b.dense.has
		return
	}
	*d = docSet{}
	for _, p := range b.postings {
		d.add(p.doc())
	}
}

// denseIndex finds the posting of a document of a block in constant time.
type denseIndex struct {
	has    docSet
	before [BlockDocs / 64]uint16 // number of postings before each word
}

// manyPostings is the minimum number of postings of a block with such an index: with so many it
// takes no more memory than half of them.
const manyPostings = 160

func newDenseIndex(postings []posting) (d denseIndex) {
	d.has.docs(&block{postings: postings})
	n := 0
	for k, has := range d.has {
		d.before[k] = uint16(n)
		n += bits.OnesCount64(has)
	}
	return d
}

// find returns the index of a document's posting, if it has one.
func (d *denseIndex) find(doc uint32) (int, bool) {
	has, bit := d.has[doc/64%uint32(len(d.has))], uint64(1)<<(doc%64)
	if has&bit == 0 {
		return 0, false
	}
	return int(d.before[doc/64%uint32(len(d.has))]) + bits.OnesCount64(has&(bit-1)), true
}

// blocks are blocks of a list, ascending. Several lists may share the memory behind the heads.
type blocks struct {
	heads    []head
	postings []posting
	fronts   []posting
	dense    []denseIndex
}

// head is where a block has its postings and its front, and the number of its index in
// blocks.dense, counted from 1.
type head struct{ n, from, to, front, frontTo, dense uint32 }

func (b *blocks) at(i int) block {
	h := &b.heads[i]
	block := block{n: h.n, postings: b.postings[h.from:h.to], front: b.fronts[h.front:h.frontTo]}
	if h.dense > 0 {
		block.dense = &b.dense[h.dense-1]
	}
	return block
}

// add adds the postings of block n from a value of the store, those of documents below end, which
// is a number within the block.
func (b *blocks) add(n uint32, v []byte, end uint64) error {
	if len(v) == 0 || len(v)%postingBytes != 0 {
		return fmt.Errorf("postings: %d bytes", len(v))
	}
	from, last := len(b.postings), -1
	for ; len(v) >= postingBytes; v = v[postingBytes:] {
		p := posting(binary.LittleEndian.Uint32(v))
		if int(p.doc()) <= last || p.weight() == 0 || p.length() == 0 {
			return errors.New("postings are nonsense")
		}
		if last = int(p.doc()); uint64(last) >= end {
			break
		}
		b.postings = append(b.postings, p)
	}
	if len(b.postings) > from {
		b.close(n, from)
	}
	return nil
}

// close makes a block of the postings from index from on.
func (b *blocks) close(n uint32, from int) {
	h := head{n: n, from: uint32(from), to: uint32(len(b.postings)), front: uint32(len(b.fronts))}
	// For each weight the shortest; the last kind is for all higher weights, too.
	const kinds = 16
	var shortest [kinds]uint32
	heaviest := uint32(kinds - 1)
	for _, p := range b.postings[from:] {
		kind := p.weight()
		if kind >= kinds-1 {
			heaviest, kind = max(heaviest, kind), kinds-1
		}
		if s := &shortest[kind]; *s == 0 || p.length() < *s {
			*s = p.length()
		}
	}
	least := uint32(MaxLength + 1)
	for kind := kinds - 1; kind > 0; kind-- {
		if s := shortest[kind]; s > 0 && s < least {
			b.fronts = append(b.fronts, newPosting(0, heaviest, s))
			least = s
		}
		heaviest = uint32(kind - 1)
	}
	h.frontTo = uint32(len(b.fronts))
	if h.to-h.from >= manyPostings {
		b.dense = append(b.dense, newDenseIndex(b.postings[from:]))
		h.dense = uint32(len(b.dense))
	}
	b.heads = append(b.heads, h)
}

// from returns the blocks from index i on. Blocks that are added to b later do not show.
func (b *blocks) from(i int) blocks {
	return blocks{b.heads[i:len(b.heads):len(b.heads)], b.postings, b.fronts, b.dense}
}

// clone returns a copy to which blocks can be added.
func (b *blocks) clone() blocks {
	return blocks{slices.Clone(b.heads), slices.Clone(b.postings), slices.Clone(b.fronts), slices.Clone(b.dense)}
}

// clear removes all blocks and keeps the memory.
func (b *blocks) clear() {
	*b = blocks{b.heads[:0], b.postings[:0], b.fronts[:0], b.dense[:0]}
}

func (b *blocks) size() int {
	return len(b.heads)*24 + (len(b.postings)+len(b.fronts))*postingBytes + len(b.dense)*BlockDocs*10/64
}

// list is a term's blocks of a collection's documents below docs. It does not change.
type list struct {
	docs uint32
	full blocks // blocks whose documents all exist
	tail blocks // the last block, if it is not full and has postings
}

// postings returns the number of documents with the term.
func (l *list) postings() (n uint64) {
	for _, all := range [...][]head{l.full.heads, l.tail.heads} {
		for i := range all {
			n += uint64(all[i].to - all[i].from)
		}
	}
	return n
}

// below returns the list of the documents below docs, which must not exceed l.docs.
func (l *list) below(docs uint32) *list {
	if l.docs == docs {
		return l
	}
	n, end := docs/BlockDocs, docs%BlockDocs
	cut := &list{docs: docs, full: l.full}
	k := l.full.search(n)
	cut.full.heads = l.full.heads[:k:k]
	for _, all := range []*blocks{&l.full, &l.tail} {
		k := all.search(n)
		if k == len(all.heads) || all.heads[k].n != n {
			continue
		}
		b := all.at(k)
		if to := sort.Search(len(b.postings), func(i int) bool { return b.postings[i].doc() >= end }); to > 0 {
			cut.tail.postings = b.postings[:to:to]
			cut.tail.close(n, 0)
		}
	}
	return cut
}

// search returns the index of the first block with a number of at least n.
func (b *blocks) search(n uint32) int {
	return sort.Search(len(b.heads), func(i int) bool { return b.heads[i].n >= n })
}

// Version is the number of documents that the list covers: of two versions of a list the one with
// more is newer.
func (l *list) Version() int { return int(l.docs) }

// Size is the approximate size of the list in memory.
func (l *list) Size() int { return 256 + l.full.size() + l.tail.size() }

// cursor traverses a list from its last block to its first.
type cursor struct {
	*list
	left int // number of remaining blocks
}

func (l *list) cursor() cursor { return cursor{l, len(l.full.heads) + len(l.tail.heads)} }

// head returns the blocks that have the next block, and its index in them.
func (c *cursor) head() (*blocks, int) {
	if i := c.left - 1 - len(c.full.heads); i >= 0 {
		return &c.tail, i
	}
	return &c.full, c.left - 1
}

// number returns the number of the next block, -1 after the last.
func (c *cursor) number() int64 {
	if c.left == 0 {
		return -1
	}
	all, i := c.head()
	return int64(all.heads[i].n)
}

// next returns the next block and goes on to the one before it.
func (c *cursor) next() block {
	all, i := c.head()
	c.left--
	return all.at(i)
}
