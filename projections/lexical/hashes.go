package lexical

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/recountdb/recount/schemas"
)

// hashBlock holds the content hashes of 128 successive documents.
type hashBlock struct {
	n      uint64 // which
	bitmap [2]uint64
	hashes []uint64
	dirty  bool
}

const hashesPerBlock = 128

func hashKey(b, shard []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(append(append(b, kindHash), shard...), n)
}

func (h *hashBlock) encode(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, h.bitmap[0])
	b = binary.LittleEndian.AppendUint64(b, h.bitmap[1])
	for _, v := range h.hashes {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func (h *hashBlock) decode(b []byte) error {
	if len(b) < 16 {
		return fmt.Errorf("content hashes: %d bytes", len(b))
	}
	h.bitmap = [2]uint64{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
	n := bits.OnesCount64(h.bitmap[0]) + bits.OnesCount64(h.bitmap[1])
	if len(b) != 16+8*n {
		return fmt.Errorf("content hashes: %d bytes for %d documents", len(b), n)
	}
	h.hashes = slices.Grow(h.hashes[:0], n)
	for i := range n {
		h.hashes = append(h.hashes, binary.LittleEndian.Uint64(b[16+8*i:]))
	}
	return nil
}

// of is the content hash of a document of the block.
func (h *hashBlock) of(offset uint64) (uint64, bool) {
	bit := offset % hashesPerBlock
	mask := uint64(1)<<(bit%64) - 1
	if h.bitmap[bit/64]>>(bit%64)&1 == 0 {
		return 0, false
	}
	i := bits.OnesCount64(h.bitmap[bit/64] & mask)
	if bit >= 64 {
		i += bits.OnesCount64(h.bitmap[0])
	}
	return h.hashes[i], true
}

// knownHashes keeps the content hash of every document that a search asked for,
// about 8.5 bytes each: a history is mostly repeats, so that a distinct search asks
// for many, and asking the store for a block of them costs more than all else that
// a candidate does. It may be empty at any time, and needs no word from the
// writer: the hash of a document never changes, so that a block that has it is
// right for every view, and one that lacks it was read before the document came.
type knownHashes struct {
	mu     sync.Mutex // guards the map, not what it leads to
	chunks map[chunkKey]*hashChunk
}

type chunkKey struct {
	tp schemas.TopicPartition
	n  uint64
}

// hashChunk has the blocks of 8,192 successive documents, nil where none is known.
// A block in it is never changed, only replaced.
type hashChunk [64]atomic.Pointer[hashBlock]

func (k *knownHashes) chunk(key chunkKey) *hashChunk {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.chunks[key]
	if c == nil {
		if k.chunks == nil {
			k.chunks = map[chunkKey]*hashChunk{}
		}
		c = &hashChunk{}
		k.chunks[key] = c
	}
	return c
}

// hashReader is how one search finds the content hashes of a shard's documents.
type hashReader struct {
	s     *search
	sh    *shard
	n     uint64 // of chunk
	chunk *hashChunk
}

// of is the content hash of a document.
func (r *hashReader) of(doc uint64) (uint64, error) {
	n := doc / hashesPerBlock
	if at := n / uint64(len(r.chunk)); r.chunk == nil || at != r.n {
		r.n, r.chunk = at, r.s.known.chunk(chunkKey{r.sh.tp, at})
	}
	slot := &r.chunk[n%uint64(len(r.chunk))]
	if b := slot.Load(); b != nil {
		if hash, ok := b.of(doc); ok {
			return hash, nil
		}
	}
	b := &hashBlock{n: n}
	_, err := r.s.v.Get(hashKey(nil, r.sh.key, n), func(value []byte) error {
		if err := b.decode(value); err != nil {
			return r.s.v.Damaged(err)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	hash, ok := b.of(doc)
	if !ok {
		return 0, r.s.v.Damaged(fmt.Errorf("no content hash at %s/%d", r.sh.tp, doc))
	}
	slot.Store(b)
	return hash, nil
}
