package sealed

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// OrderIDs are the places of ids in ascending order of the ids.
func OrderIDs(ids []schemas.EventID) []uint32 {
	order := make([]uint32, len(ids))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(ids[a][:], ids[b][:]) })
	return order
}

// FindID is the place of an id, -1 if it is not there. order is that of OrderIDs.
func FindID(ids []schemas.EventID, order []uint32, id schemas.EventID) int {
	i, ok := slices.BinarySearchFunc(order, id, func(at uint32, id schemas.EventID) int {
		return bytes.Compare(ids[at][:], id[:])
	})
	if !ok {
		return -1
	}
	return int(order[i])
}

// The Bloom filter: 7 bits an id in 9.6 bits a row is 1 % false positives.
const (
	bloomHashes     = 7
	bloomTenthsABit = 96
)

// BloomBytes is the size of the filter for n ids: whole words of 8 bytes, at least one.
func BloomBytes(n int) int { return max(1, (n*bloomTenthsABit+639)/640) * 8 }

// bloomBits visits the bits of an id: h1 + i·h2 (mod 2^64), mapped to the
// filter's size by the high half of a product.
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

// BloomAdd puts an id into a filter.
func BloomAdd(b []byte, id schemas.EventID) {
	bloomBits(len(b), id, func(at int, bit byte) bool { b[at] |= bit; return true })
}

// BloomHas reports whether an id may be in a filter that is not empty; false is
// certain.
func BloomHas(b []byte, id schemas.EventID) bool {
	return bloomBits(len(b), id, func(at int, bit byte) bool { return b[at]&bit != 0 })
}
