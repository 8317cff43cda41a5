package segment

import (
	"fmt"
	"iter"
	"slices"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// vectors holds distinct embeddings. Those of a sealed file are stored one after the other, in place.
// Those of the hot buffer and of its checkpoint are packed (sealed.Pack).
type vectors struct {
	n    int
	flat []float32 // of a sealed file; nil in the hot buffer

	// A packed embedding lies in one chunk, and chunks do not move; where has its first word, counted
	// over all chunks.
	chunks [][]uint32
	where  []uint32
	used   int // words used in the last chunk, which is shorter than the others if it is of a checkpoint
}

// dense is an embedding as readers see it.
type dense = [schemas.EmbeddingDim]float32

// vectorChunk is the length of a chunk in words of 32 bits: 256 KiB.
const vectorChunk = 1 << 16

// at returns an embedding: in place, or unpacked into room.
func (v *vectors) at(i int, room *dense) []float32 {
	if v.flat != nil {
		at := i * schemas.EmbeddingDim
		return v.flat[at : at+schemas.EmbeddingDim : at+schemas.EmbeddingDim]
	}
	clear(room[:])
	sealed.Unpack(room[:], v.packed(i))
	return room[:]
}

// packed returns an embedding of the hot buffer in packed form.
func (v *vectors) packed(i int) []uint32 {
	at := v.where[i]
	words := v.chunks[at/vectorChunk][at%vectorChunk:]
	return words[:sealed.PackedLen(words)]
}

// append adds an embedding in packed form.
func (v *vectors) append(packed []uint32) {
	if len(v.chunks) == 0 || v.used+len(packed) > vectorChunk {
		v.chunks, v.used = append(v.chunks, make([]uint32, vectorChunk)), 0
	}
	last := len(v.chunks) - 1
	if v.used == len(v.chunks[last]) { // of a checkpoint: readers keep what is mapped
		grown := make([]uint32, vectorChunk)
		copy(grown, v.chunks[last])
		v.chunks = append(slices.Clone(v.chunks[:last]), grown)
	}
	v.where = append(v.where, uint32(last*vectorChunk+v.used))
	v.used += copy(v.chunks[last][v.used:], packed)
	v.n++
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

// packedBytes returns the bytes of all chunks, each but the last at its full length.
func (v *vectors) packedBytes() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i, chunk := range v.chunks {
			if i == len(v.chunks)-1 {
				yield(sealed.BytesOf(chunk[:v.used]))
			} else if !yield(sealed.BytesOf(chunk)) || !yield(make([]byte, 4*(vectorChunk-len(chunk)))) {
				return
			}
		}
	}
}

// setPacked reads the embedding region of a checkpoint in place; where is set already.
func (v *vectors) setPacked(b []byte) bool {
	words, ok := sealed.ViewOf[uint32](b)
	if !ok {
		return false
	}
	v.chunks = slices.Collect(slices.Chunk(words, vectorChunk))
	if v.n = len(v.where); len(v.chunks) > 0 {
		v.used = len(v.chunks[len(v.chunks)-1])
	}
	return true
}

// checkPacked checks that every packed embedding lies in one chunk.
func (v *vectors) checkPacked() error {
	for i, at := range v.where {
		chunk, start := int(at/vectorChunk), int(at%vectorChunk)
		if chunk >= len(v.chunks) || start+sealed.PackedMask > len(v.chunks[chunk]) || start+len(v.packed(i)) > len(v.chunks[chunk]) {
			return fmt.Errorf("vector %d: word %d is outside of its chunk", i, at)
		}
	}
	return nil
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
