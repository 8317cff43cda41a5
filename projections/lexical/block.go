package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// blockSize is the number of postings of a sealed block.
const blockSize = 128

// fullWeight is the weight of a term that occurs once in the text.
const fullWeight = 4

// posting is one document in a list.
type posting struct {
	doc    uint64
	weight uint32 // of the term in the document
	length uint32 // of the document's field
}

// block is up to 128 postings; a sealed one has exactly 128. maxWeight and minLength bound the
// score of every posting.
type block struct {
	count       int
	first, last uint64
	maxWeight   uint32
	minLength   uint32
	entries     []byte
}

func (b *block) add(p posting) {
	if b.count == 0 {
		b.first, b.maxWeight, b.minLength = p.doc, p.weight, p.length
	} else {
		b.entries = binary.AppendUvarint(b.entries, p.doc-b.last)
	}
	other := uint64(0)
	if p.weight != fullWeight {
		other = 1
	}
	b.entries = binary.AppendUvarint(b.entries, uint64(p.length)<<1|other)
	if other == 1 {
		b.entries = binary.AppendUvarint(b.entries, uint64(p.weight))
	}
	b.last = p.doc
	b.maxWeight = max(b.maxWeight, p.weight)
	b.minLength = min(b.minLength, p.length)
	b.count++
}

func (b *block) encode(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(b.count))
	to = binary.AppendUvarint(to, b.first)
	to = binary.AppendUvarint(to, b.last-b.first)
	to = binary.AppendUvarint(to, uint64(b.maxWeight))
	to = binary.AppendUvarint(to, uint64(b.minLength))
	return append(to, b.entries...)
}

// decodeBlock decodes a block's head; postings checks its entries. The entries are a slice of v.
func decodeBlock(v []byte) (block, error) {
	r := reader{b: v}
	count, first, span, maxWeight, minLength := r.uvarint(), r.uvarint(), r.uvarint(), r.uvarint(), r.uvarint()
	if r.failed || count == 0 || count > blockSize || first > math.MaxInt64 || span > math.MaxInt64-first ||
		maxWeight == 0 || maxWeight > math.MaxUint32 || minLength > math.MaxUint32 {
		return block{}, errors.New("head of a block is nonsense")
	}
	return block{int(count), first, first + span, uint32(maxWeight), uint32(minLength), r.b}, nil
}

// postings appends the block's postings. It never panics and never returns postings outside the
// bounds in the head. Searches spend much of their time here, so numbers of one byte and lengths of
// two are decoded inline.
func (b *block) postings(to []posting) ([]posting, error) {
	e, doc := b.entries, b.first
	for i := range b.count {
		if i > 0 {
			var delta uint64
			if len(e) > 0 && e[0] < 0x80 {
				delta, e = uint64(e[0]), e[1:]
			} else {
				delta, e = longUvarint(e)
			}
			if delta == 0 || delta > b.last-doc {
				return to, errors.New("documents of a block are out of order")
			}
			doc += delta
		}
		var length uint64
		switch {
		case len(e) > 1 && e[0] >= 0x80 && e[1] < 0x80:
			length, e = uint64(e[0]&0x7f)|uint64(e[1])<<7, e[2:]
		case len(e) > 0 && e[0] < 0x80:
			length, e = uint64(e[0]), e[1:]
		default:
			length, e = longUvarint(e)
		}
		weight := uint64(fullWeight)
		if length&1 == 1 {
			if len(e) > 0 && e[0] < 0x80 {
				weight, e = uint64(e[0]), e[1:]
			} else {
				weight, e = longUvarint(e)
			}
		}
		length >>= 1
		if length < uint64(b.minLength) || length > math.MaxUint32 || weight == 0 || weight > uint64(b.maxWeight) {
			return to, errors.New("postings of a block are beyond its bounds")
		}
		to = append(to, posting{doc, uint32(weight), uint32(length)})
	}
	switch {
	case doc != b.last:
		return to, errors.New("last document of a block is another")
	case len(e) > 0:
		return to, fmt.Errorf("block: %d bytes too many", len(e))
	}
	return to, nil
}

// longUvarint reads a number of any size; a truncated one is returned as a value beyond every
// bound.
func longUvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return math.MaxUint64, nil
	}
	return v, b[n:]
}

// list is a term's statistics in a shard and its unsealed block.
type list struct {
	name                 string // field and term
	df                   uint64
	maxWeight, minLength uint32 // of the sealed blocks
	tail                 block
	dirty                bool
}

// seal starts a new tail, after the old one was stored as a block.
func (l *list) seal() {
	if l.df == blockSize {
		l.minLength = l.tail.minLength
	}
	l.maxWeight = max(l.maxWeight, l.tail.maxWeight)
	l.minLength = min(l.minLength, l.tail.minLength)
	l.tail = block{entries: l.tail.entries[:0]}
}

func (l *list) encode(to []byte) []byte {
	to = binary.AppendUvarint(to, l.df)
	to = binary.AppendUvarint(to, uint64(l.maxWeight))
	to = binary.AppendUvarint(to, uint64(l.minLength))
	if l.tail.count > 0 {
		to = l.tail.encode(to)
	}
	return to
}

func decodeList(v []byte) (list, error) {
	r := reader{b: v}
	l := list{df: r.uvarint()}
	maxWeight, minLength := r.uvarint(), r.uvarint()
	if r.failed || l.df == 0 || maxWeight > math.MaxUint32 || minLength > math.MaxUint32 {
		return l, errors.New("head of a list is nonsense")
	}
	l.maxWeight, l.minLength = uint32(maxWeight), uint32(minLength)
	if len(r.b) > 0 {
		var err error
		if l.tail, err = decodeBlock(r.b); err != nil {
			return l, err
		}
	}
	if uint64(l.tail.count) != l.df%blockSize || (l.sealed() && l.maxWeight == 0) {
		return l, fmt.Errorf("a list of %d documents has %d in its tail", l.df, l.tail.count)
	}
	return l, nil
}

// sealed reports whether the list has sealed blocks.
func (l *list) sealed() bool { return l.df >= blockSize }

// reader reads uvarints. After a failure all later reads fail.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 { // the common case
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	return r.long()
}

func (r *reader) long() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.failed, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// end returns an error if a number could not be read or bytes are left over.
func (r *reader) end(what string) error {
	if r.failed || len(r.b) > 0 {
		return fmt.Errorf("%s: cut short, or %d bytes too many", what, len(r.b))
	}
	return nil
}
