package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// partBlock is the postings of a term in the 2048 documents from n·2048 on.
type partBlock struct {
	n        uint32
	postings []partPosting
	// front is the postings that are not dominated by another, which has at least the weight and at
	// most the length. Their maximum score bounds the block.
	front []partPosting
	dense *denseIndex // nil for a block with few postings
}

// seek returns the index of the first posting at or after from whose document is not below doc. In
// most cases it is one of the next.
func (b *partBlock) seek(from int, doc uint32) int {
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
type docSet [partsPerBlock / 64]uint64

func (d *docSet) add(postings []partPosting) {
	for _, p := range postings {
		d[p.doc()/64] |= 1 << (p.doc() % 64)
	}
}

// one returns 1 for a document in the set, 0 for another.
func (d *docSet) one(doc uint32) uint64 { return d[doc/64%uint32(len(d))] >> (doc % 64) & 1 }

// denseIndex finds the posting of a document of a block in constant time.
type denseIndex struct {
	has    docSet
	before [partsPerBlock / 64]uint16 // number of postings before each word
}

// manyPostings is the minimum number of postings of a block with such an index: with so many it
// takes no more memory than half of them.
const manyPostings = 160

func newDenseIndex(postings []partPosting) (d denseIndex) {
	d.has.add(postings)
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

// partBlocks are consecutive blocks, ascending.
type partBlocks struct {
	heads    []partHead
	postings []partPosting
	fronts   []partPosting
	dense    []denseIndex
}

// partHead is the beginning of a block and the number of its index in partBlocks.dense, counted
// from 1.
type partHead struct{ n, from, front, dense uint32 }

func (b *partBlocks) at(i int) partBlock {
	h, postings, fronts := b.heads[i], b.postings, b.fronts
	if i+1 < len(b.heads) {
		next := &b.heads[i+1]
		postings, fronts = postings[:next.from], fronts[:next.front]
	}
	block := partBlock{n: h.n, postings: postings[h.from:], front: fronts[h.front:]}
	if h.dense > 0 {
		block.dense = &b.dense[h.dense-1]
	}
	return block
}

// add adds the postings of block n from a value of the store, those of documents below n·2048 +
// end.
func (b *partBlocks) add(n uint32, v []byte, end uint64) error {
	if len(v) == 0 || len(v)%postingBytes != 0 {
		return fmt.Errorf("postings of parts: %d bytes", len(v))
	}
	from, last := len(b.postings), -1
	for ; len(v) >= postingBytes; v = v[postingBytes:] {
		p := partPosting(binary.LittleEndian.Uint32(v))
		if int(p.doc()) <= last || p.weight() == 0 || p.length() == 0 {
			return errors.New("postings of parts are nonsense")
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
func (b *partBlocks) close(n uint32, from int) {
	h, postings := partHead{n: n, from: uint32(from), front: uint32(len(b.fronts))}, b.postings[from:]
	// For each weight the shortest; the last kind is for all higher weights, too.
	const kinds = 16
	var shortest [kinds]uint32
	heaviest := uint32(kinds - 1)
	for _, p := range postings {
		kind := p.weight()
		if kind >= kinds-1 {
			heaviest, kind = max(heaviest, kind), kinds-1
		}
		if s := &shortest[kind]; *s == 0 || p.length() < *s {
			*s = p.length()
		}
	}
	least := uint32(maxPartLength + 1)
	for kind := kinds - 1; kind > 0; kind-- {
		if s := shortest[kind]; s > 0 && s < least {
			b.fronts = append(b.fronts, newPartPosting(0, heaviest, s))
			least = s
		}
		heaviest = uint32(kind - 1)
	}
	if len(postings) >= manyPostings {
		b.dense = append(b.dense, newDenseIndex(postings))
		h.dense = uint32(len(b.dense))
	}
	b.heads = append(b.heads, h)
}

// first returns the blocks with numbers below n.
func (b *partBlocks) first(n uint32) partBlocks {
	k := sort.Search(len(b.heads), func(i int) bool { return b.heads[i].n >= n })
	if k == len(b.heads) {
		return *b
	}
	return partBlocks{b.heads[:k], b.postings[:b.heads[k].from], b.fronts[:b.heads[k].front], b.dense}
}

// join returns a copy of the blocks of both, those of b first.
func (b *partBlocks) join(o *partBlocks) partBlocks {
	all := partBlocks{
		slices.Concat(b.heads, o.heads), slices.Concat(b.postings, o.postings), slices.Concat(b.fronts, o.fronts), slices.Concat(b.dense, o.dense),
	}
	for i := len(b.heads); i < len(all.heads); i++ {
		h := &all.heads[i]
		h.from += uint32(len(b.postings))
		h.front += uint32(len(b.fronts))
		if h.dense > 0 {
			h.dense += uint32(len(b.dense))
		}
	}
	return all
}

func (b *partBlocks) size() int {
	return len(b.heads)*16 + (len(b.postings)+len(b.fronts))*postingBytes + len(b.dense)*partsPerBlock*10/64
}

// partList is a term's list for an audience's documents below docs. It does not change.
type partList struct {
	docs uint32
	full partBlocks // blocks whose documents all exist
	tail partBlocks // the last block, if it is not full and has postings
}

func (l *partList) postings() int { return len(l.full.postings) + len(l.tail.postings) }

// below returns the list of the documents below docs, which must not exceed l.docs.
func (l *partList) below(docs uint32) *partList {
	if l.docs == docs {
		return l
	}
	n := docs / partsPerBlock
	cut := &partList{docs: docs, full: l.full.first(n)}
	end := docs % partsPerBlock
	for _, all := range []*partBlocks{&l.full, &l.tail} {
		k := sort.Search(len(all.heads), func(i int) bool { return all.heads[i].n >= n })
		if end == 0 || k == len(all.heads) || all.heads[k].n != n {
			continue
		}
		b := all.at(k)
		to := sort.Search(len(b.postings), func(i int) bool { return b.postings[i].doc() >= end })
		if to > 0 {
			cut.tail.postings = b.postings[:to:to]
			cut.tail.close(n, 0)
		}
	}
	return cut
}

func (l *partList) count() int {
	if l == nil {
		return 0
	}
	return int(l.docs)
}

func (l *partList) size() int { return 4*keptHead + l.full.size() + l.tail.size() }

// partCursor traverses a list from its last block to its first.
type partCursor struct {
	*partList
	left int // number of remaining blocks
}

func (l *partList) cursor() partCursor {
	return partCursor{l, len(l.full.heads) + len(l.tail.heads)}
}

// next returns the next block.
func (c *partCursor) next() partBlock {
	if i := c.left - 1 - len(c.full.heads); i >= 0 {
		return c.tail.at(i)
	}
	return c.full.at(c.left - 1)
}

// nextNumber returns the number of the next block, -1 after the last.
func (c *partCursor) nextNumber() int64 {
	switch i := c.left - 1; {
	case i < 0:
		return -1
	case i < len(c.full.heads):
		return int64(c.full.heads[i].n)
	}
	return int64(c.tail.heads[0].n)
}

// room is memory for the lists that one search reads, until it is cleared.
type room struct {
	blocks partBlocks // of all lists
	lists  []partList
}

// maxRoom is the maximum number of postings whose memory is kept for the next search.
const maxRoom = 1 << 18

func (r *room) clear() {
	if cap(r.blocks.postings) > maxRoom {
		*r = room{}
	}
	b := &r.blocks
	b.heads, b.postings, b.fronts, b.dense, r.lists = b.heads[:0], b.postings[:0], b.fronts[:0], b.dense[:0], r.lists[:0]
}

// begin returns empty blocks to append to; keep then keeps them.
func (r *room) begin() partBlocks {
	b := &r.blocks
	b.heads, b.postings, b.fronts, b.dense = roomy(b.heads, 1<<10), roomy(b.postings, 1<<14), roomy(b.fronts, 1<<12), roomy(b.dense, 1<<4)
	return partBlocks{b.heads[len(b.heads):], b.postings[len(b.postings):], b.fronts[len(b.fronts):], b.dense[len(b.dense):]}
}

// roomy returns all if it has free capacity for a sixteenth of n elements, and otherwise a new
// slice of capacity n. Existing elements are not moved.
func roomy[T any](all []T, n int) []T {
	if cap(all)-len(all) >= n/16 {
		return all
	}
	return make([]T, 0, n)
}

func (r *room) keep(b partBlocks) {
	r.blocks = partBlocks{behind(r.blocks.heads, b.heads), behind(r.blocks.postings, b.postings), behind(r.blocks.fronts, b.fronts), behind(r.blocks.dense, b.dense)}
}

// behind returns all extended by added, which was appended in its free capacity, or added alone if
// that was reallocated.
func behind[T any](all, added []T) []T {
	if n := len(all) + len(added); n <= cap(all) {
		return all[:n]
	}
	return added
}

func (r *room) list(l partList) *partList {
	r.lists = append(r.lists, l)
	return &r.lists[len(r.lists)-1]
}
