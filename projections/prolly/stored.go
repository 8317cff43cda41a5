package prolly

import (
	"encoding/binary"
	"errors"

	"github.com/zeebo/xxh3"
)

// storedData is the offset of the canonical form in the stored form of a chunk, after the checksum.
const storedData = 8

// checksum covers the canonical form and, through its seed, the hash, so that it also detects a
// chunk stored in place of another.
func checksum(h Hash, data []byte) uint64 {
	return xxh3.HashSeed(data, binary.LittleEndian.Uint64(h[:]))
}

// pack returns the stored form of a canonical one.
func pack(h Hash, data []byte) []byte {
	b := make([]byte, storedData, storedData+len(data))
	binary.LittleEndian.PutUint64(b, checksum(h, data))
	return append(b, data...)
}

// unpack decodes the stored form.
func unpack(h Hash, stored []byte) (*node, error) {
	if len(stored) < storedData {
		return nil, errShort
	}
	data := stored[storedData:]
	if checksum(h, data) != binary.LittleEndian.Uint64(stored) {
		return nil, errors.New("the checksum is wrong")
	}
	return decode(h, data)
}
