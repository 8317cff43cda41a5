package prolly

import "github.com/zeebo/xxh3"

// Bounds of keys, values and chunks.
const (
	// MaxKey is the length of the longest key, in bytes.
	MaxKey = 4 << 10
	// MaxValue is the length of the longest value, in bytes.
	MaxValue = 32 << 10
	// MaxEntries is how many entries a chunk has at most.
	MaxEntries = 96
	// MinEntries is how many entries a chunk has at least, unless it is the last of
	// its level or has reached forceBytes.
	MinEntries = 4
	// MaxChunk is how long a chunk in its canonical form is at most, in bytes.
	MaxChunk = 64 << 10

	// forceBytes of keys and values end a chunk. It leaves room for one more entry
	// and for the lengths: what is cut was shorter before its last entry.
	forceBytes = 24 << 10
	// maxLevel bounds what a decoder believes: MinEntries to the power of 31 is more
	// entries than can be counted.
	maxLevel = 31
)

// meanEntries is how many entries a chunk has on average.
const meanEntries = 16

// slope makes the chance that a chunk ends behind its n-th entry n*slope/2^32. A chance
// that grows like this gives lengths of mean sqrt(pi/2 * 2^32/slope).
const slope = 1 << 32 * 157 / 100 / (meanEntries * meanEntries)

// cutBehind says whether a chunk ends behind its n-th entry, which has this key;
// size is that of the chunk's keys and values so far. It depends on nothing that
// comes after, and on values only where they are so long that size counts: so the
// chunks of a level are a function of its entries, and a changed value leaves
// boundaries where they are.
func cutBehind(level uint8, key []byte, n, size int) bool {
	if n >= MaxEntries || size >= forceBytes {
		return true
	}
	return n >= MinEntries && xxh3.HashSeed(key, uint64(level))>>32 < uint64(n)*slope
}
