package sealed

import (
	"math"
	"math/bits"

	"github.com/recountdb/recount/schemas"
)

// Most elements of an embedding by the default embedder are zero: 314 of 384 for the commands of
// NL2Bash. A packed embedding is a mask with a bit for each element, set unless all bits of the
// element are zero, followed by those elements. Unpacking restores it bit for bit.

// PackedMask is the length of the mask, in words of 32 bits.
const PackedMask = schemas.EmbeddingDim / 32

// Pack appends an embedding's packed form.
func Pack(to []uint32, e []float32) []uint32 {
	var mask [PackedMask]uint32
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

// PackedLen returns the length of the packed embedding with which words begin, of which there are
// PackedMask or more.
func PackedLen(words []uint32) int {
	n := PackedMask
	for _, set := range words[:PackedMask] {
		n += bits.OnesCount32(set)
	}
	return n
}

// Unpack stores a packed embedding in room, whose elements are zero.
func Unpack(room []float32, packed []uint32) {
	mask, rest := packed[:PackedMask], packed[PackedMask:]
	for w, set := range mask {
		for ; set != 0; set &= set - 1 {
			room[w*32+bits.TrailingZeros32(set)] = math.Float32frombits(rest[0])
			rest = rest[1:]
		}
	}
}
