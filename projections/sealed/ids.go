package sealed

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// OrderIDs returns the indexes of ids in ascending order of the ids.
func OrderIDs(ids []schemas.EventID) []uint32 {
	order := make([]uint32, len(ids))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(ids[a][:], ids[b][:]) })
	return order
}

// FindID returns the index of an id, -1 if it is not in ids. order is the result of OrderIDs.
func FindID(ids []schemas.EventID, order []uint32, id schemas.EventID) int {
	i, ok := slices.BinarySearchFunc(order, id, func(at uint32, id schemas.EventID) int {
		return bytes.Compare(ids[at][:], id[:])
	})
	if !ok {
		return -1
	}
	return int(order[i])
}

// The Bloom filter sets 7 bits an id, in 9.6 bits of filter per id. This gives 1 % false positives.
const (
	bloomHashes     = 7
	bloomTenthsABit = 96
)

// BloomBytes returns the size of the filter for n ids in bytes: a multiple of 8, at least 8.
func BloomBytes(n int) int { return max(1, (n*bloomTenthsABit+639)/640) * 8 }

// bloomBits visits the bits of an id until visit returns false: h1 + i·h2 (mod 2^64), scaled to the
// size of the filter by the high half of a product.
func bloomBits(size int, id schemas.EventID, visit func(byteAt int, bit byte) bool) bool {
	h := xxh3.Hash128(id[:])
	for i := range uint64(bloomHashes) {
		at, _ := bits.Mul64(h.Lo+i*(h.Hi|1), uint64(size)*8)
		if !visit(int(at>>3), 1<<(at&7)) {
			return false
		}
	}
	return true
}

// BloomAdd adds an id to a filter.
func BloomAdd(b []byte, id schemas.EventID) {
	bloomBits(len(b), id, func(at int, bit byte) bool { b[at] |= bit; return true })
}

// BloomHas reports whether an id may be in a filter, which must not be empty; false is certain.
func BloomHas(b []byte, id schemas.EventID) bool {
	return bloomBits(len(b), id, func(at int, bit byte) bool { return b[at]&bit != 0 })
}
