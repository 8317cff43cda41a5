package prolly

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Hash is a SHA-256: the address of a chunk, or the root of a map.
type Hash [32]byte

// String returns the hash in lower-case hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns the hash in lower-case hex.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText decodes exactly the form that MarshalText returns.
func (h *Hash) UnmarshalText(b []byte) error {
	var read Hash
	if len(b) != 2*len(h) {
		return fmt.Errorf("hash %.80q: want %d hexadecimal digits", b, 2*len(h))
	}
	if _, err := hex.Decode(read[:], b); err != nil || read.String() != string(b) {
		return fmt.Errorf("hash %.80q: not lower-case hexadecimal", b)
	}
	*h = read
	return nil
}

// Empty is the root of the map without entries. No chunk is stored for it.
var Empty = chunkHash(0, 0, 0, sha256.Sum256(nil))

// These are the first bytes of all hashed data. They separate the domains, so that data of one kind
// cannot have the hash of another.
const (
	tagEntry = 0x00 // an entry of level 0
	tagNode  = 0x01 // two hashes of a Merkle tree
	tagChunk = 0x02 // a chunk
	tagLink  = 0x03 // an entry of a level above 0
	tagLong  = 0x04 // an entry of level 0, its value as a hash
)

// longValue is the length in bytes from which a value is replaced in its entry's hash by a hash of
// its own, so that a proof of absence need not show it.
const longValue = 129

// entryHash returns the Merkle leaf of an entry. room is a scratch buffer, returned for the next
// call.
func entryHash(level uint8, key, value, room []byte) (h Hash, scratch []byte) {
	switch {
	case level > 0:
		return leafHash(tagLink, key, value, room)
	case len(value) < longValue:
		return leafHash(tagEntry, key, value, room)
	}
	digest := sha256.Sum256(value)
	return leafHash(tagLong, key, digest[:], room)
}

func leafHash(tag byte, key, value, room []byte) (h Hash, scratch []byte) {
	room = binary.AppendUvarint(append(room[:0], tag), uint64(len(key)))
	room = append(append(room, key...), value...)
	return sha256.Sum256(room), room
}

func nodeHash(left, right *Hash) Hash {
	var b [1 + 2*len(left)]byte
	b[0] = tagNode
	copy(b[1:], left[:])
	copy(b[1+len(left):], right[:])
	return sha256.Sum256(b[:])
}

// merkleRoot returns the root of RFC 6962's tree over one or more leaves, which it overwrites.
// Pairing neighbours and moving an odd last one up gives the same tree as the RFC's split at the
// largest power of two.
func merkleRoot(leaves []Hash) Hash {
	for n := len(leaves); n > 1; n = (n + 1) / 2 {
		for i := 0; i+1 < n; i += 2 {
			leaves[i/2] = nodeHash(&leaves[i], &leaves[i+1])
		}
		if n%2 == 1 {
			leaves[n/2] = leaves[n-1]
		}
	}
	return leaves[0]
}

// chunkHash returns the hash of a chunk with n entries, and count entries of the map at or below
// it.
func chunkHash(level uint8, n int, count uint64, merkle Hash) Hash {
	var b [14 + len(merkle)]byte
	b[0], b[1] = tagChunk, level
	binary.BigEndian.PutUint32(b[2:], uint32(n))
	binary.BigEndian.PutUint64(b[6:], count)
	copy(b[14:], merkle[:])
	return sha256.Sum256(b[:])
}

// Compare orders hashes by their bytes.
func (h Hash) Compare(o Hash) int { return bytes.Compare(h[:], o[:]) }
