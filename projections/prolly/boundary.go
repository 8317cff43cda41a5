package prolly

import "github.com/zeebo/xxh3"

// These limit keys, values and chunks.
const (
	// MaxKey is the maximum length of a key in bytes.
	MaxKey = 4 << 10
	// MaxValue is the maximum length of a value in bytes.
	MaxValue = 32 << 10
	// MaxEntries is the maximum number of entries in a chunk.
	MaxEntries = 96
	// MinEntries is the minimum number of entries in a chunk, unless it is the last of its level or
	// has reached forceBytes.
	MinEntries = 4
	// MaxChunk is the maximum length of a chunk's canonical form in bytes.
	MaxChunk = 64 << 10

	// forceBytes is the size of keys and values at which a chunk ends. It leaves room for one more
	// entry and for the lengths, since a chunk is shorter than this before its last entry.
	forceBytes = 24 << 10
	// maxLevel is the maximum level that a decoder accepts: MinEntries to the power of 31 exceeds
	// any count.
	maxLevel = 31
)

// meanEntries is the mean number of entries in a chunk.
const meanEntries = 16

// slope makes the probability that a chunk ends after its n-th entry n*slope/2^32. A probability
// that grows like this gives lengths with the mean sqrt(pi/2 * 2^32/slope).
const slope = 1 << 32 * 157 / 100 / (meanEntries * meanEntries)

// cutBehind reports whether a chunk ends after its n-th entry, which has this key. size is that of
// the chunk's keys and values so far. The result does not depend on later entries, and on values
// only if they are so long that size counts. So the chunks of a level are a function of its
// entries, and a changed value does not move boundaries.
func cutBehind(level uint8, key []byte, n, size int) bool {
	if n >= MaxEntries || size >= forceBytes {
		return true
	}
	return n >= MinEntries && xxh3.HashSeed(key, uint64(level))>>32 < uint64(n)*slope
}
