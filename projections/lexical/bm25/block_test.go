package bm25

import (
	"encoding/binary"
	"slices"
	"testing"
)

// text is a value of a cache.
type text string

func (t text) Version() int { return len(t) }
func (t text) Size() int    { return len(t) }

// TestCacheCountsOnce checks that a value that grows is counted with its last size only.
func TestCacheCountsOnce(t *testing.T) {
	c := NewCache[text](1 << 20)
	c.Put([]byte("other"), text(make([]byte, 100)))
	for n := range 1000 {
		c.Put([]byte("key"), text(make([]byte, 10_000+n)))
	}
	if c.Get([]byte("other")) == "" || c.bytes > 20_000 {
		t.Errorf("%d bytes are counted, of %d kept", c.bytes, 11_099)
	}
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte{4, 0x40, 0, 0}, uint32(0))
	var dense []byte
	for doc := range uint32(manyPostings) {
		dense = binary.LittleEndian.AppendUint32(dense, uint32(newPosting(3*doc, 1+doc%40, 1+doc%300)))
	}
	f.Add(dense, uint32(BlockDocs))
	f.Fuzz(func(t *testing.T, v []byte, n uint32) {
		var all blocks
		if all.add(1, v, uint64(n)) != nil || len(all.heads) == 0 {
			return
		}
		b := all.at(0)
		for i, p := range b.postings {
			bounded := slices.ContainsFunc(b.front, func(f posting) bool { return f.weight() >= p.weight() && f.length() <= p.length() })
			at, found := b.seek(0, p.doc()), true
			if b.dense != nil {
				at, found = b.dense.find(p.doc())
			}
			if p.doc() >= n || !bounded || !found || at != i {
				t.Fatalf("posting %d of %+v is out of place", i, b)
			}
		}
	})
}
