package segment

import (
	"iter"
	"math"
	"math/bits"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// vectors holds distinct embeddings. Those of a file are stored one after the other, in place.
// Those of the hot buffer are packed, because most elements that the default embedder gives are
// zero: 314 of 384 for the commands of NL2Bash. Unpacking restores them bit for bit.
type vectors struct {
	n    int
	flat []float32 // of a file; nil in the hot buffer

	// A packed embedding is a mask with a bit for each element, set unless all bits of the element
	// are zero, followed by those elements. It lies in one chunk, and chunks do not move; where has
	// its first word, counted over all chunks.
	chunks [][]uint32
	where  []uint32
	used   int // words used in the last chunk
}

// dense is an embedding as readers see it.
type dense = [schemas.EmbeddingDim]float32

const (
	vectorMask  = schemas.EmbeddingDim / 32 // in words of 32 bits
	vectorChunk = 1 << 16                   // in words: 256 KiB
)

// at returns an embedding: in place, or unpacked into room.
func (v *vectors) at(i int, room *dense) []float32 {
	if v.flat != nil {
		at := i * schemas.EmbeddingDim
		return v.flat[at : at+schemas.EmbeddingDim : at+schemas.EmbeddingDim]
	}
	packed := v.packed(i)
	mask, rest := packed[:vectorMask], packed[vectorMask:]
	clear(room[:])
	for w, set := range mask {
		for ; set != 0; set &= set - 1 {
			room[w*32+bits.TrailingZeros32(set)] = math.Float32frombits(rest[0])
			rest = rest[1:]
		}
	}
	return room[:]
}

// packed returns an embedding of the hot buffer in packed form.
func (v *vectors) packed(i int) []uint32 {
	at := v.where[i]
	words := v.chunks[at/vectorChunk][at%vectorChunk:]
	n := vectorMask
	for _, set := range words[:vectorMask] {
		n += bits.OnesCount32(set)
	}
	return words[:n]
}

// append adds an embedding in packed form.
func (v *vectors) append(packed []uint32) {
	if len(v.chunks) == 0 || v.used+len(packed) > vectorChunk {
		v.chunks, v.used = append(v.chunks, make([]uint32, vectorChunk)), 0
	}
	last := len(v.chunks) - 1
	v.where = append(v.where, uint32(last*vectorChunk+v.used))
	v.used += copy(v.chunks[last][v.used:], packed)
	v.n++
}

// pack appends an embedding's packed form.
func pack(to []uint32, e []float32) []uint32 {
	var mask [vectorMask]uint32
	at := len(to)
	to = append(to, mask[:]...)
	for i, x := range e {
		if b := math.Float32bits(x); b != 0 {
			mask[i/32] |= 1 << (i % 32)
			to = append(to, b)
		}
	}
	copy(to[at:], mask[:])
	return to
}

// bytes returns the bytes of all embeddings in order, in pieces that are valid until the next one.
func (v *vectors) bytes() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if v.flat != nil {
			yield(sealed.BytesOf(v.flat))
			return
		}
		var room dense
		const atOnce = 64
		piece := make([]float32, 0, atOnce*schemas.EmbeddingDim)
		for i := range v.n {
			piece = append(piece, v.at(i, &room)...)
			if len(piece) == cap(piece) || i == v.n-1 {
				if !yield(sealed.BytesOf(piece)) {
					return
				}
				piece = piece[:0]
			}
		}
	}
}

// set reads the embedding region in place.
func (v *vectors) set(b []byte) bool {
	f, ok := sealed.ViewOf[float32](b)
	if !ok || len(f)%schemas.EmbeddingDim != 0 {
		return false
	}
	v.n, v.flat = len(f)/schemas.EmbeddingDim, f
	return true
}

// embeddingOf returns a row's embedding, nil if it has none; a packed one is unpacked into room.
func (c *columns) embeddingOf(row int, room *dense) []float32 {
	if !c.hasEmbedding.at(row) {
		return nil
	}
	return c.vectors.at(int(c.embedding[row]), room)
}
