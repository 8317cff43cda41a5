package prolly

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// chunkVersion is the first byte of a chunk's canonical form.
const chunkVersion = 2

// node is a decoded chunk. It is immutable.
type node struct {
	hash  Hash
	level uint8
	count uint64 // entries of the map at or below this chunk
	// data has the keys, then the values. ends has the offset where they begin, then where each key
	// and each value ends.
	data []byte
	ends []uint32
}

func (n *node) len() int           { return len(n.ends) / 2 }
func (n *node) key(i int) []byte   { return n.part(i) }
func (n *node) value(i int) []byte { return n.part(n.len() + i) }

// part returns a slice without spare capacity, so that appending to it does not overwrite data.
func (n *node) part(i int) []byte { return n.data[n.ends[i]:n.ends[i+1]:n.ends[i+1]] }

func (n *node) last() []byte { return n.key(n.len() - 1) }

// link decodes the value of an entry above level 0: the hash of a chunk, and the number of entries
// of the map below it.
func (n *node) link(i int) (h Hash, count uint64) {
	v := n.value(i)
	count, _ = binary.Uvarint(v[len(h):])
	return Hash(v), count
}

func appendLink(b []byte, h Hash, count uint64) []byte {
	return binary.AppendUvarint(append(b, h[:]...), count)
}

// search returns the index of the first entry whose key is not below key, or len if there is none.
func (n *node) search(key []byte) int {
	return sort.Search(n.len(), func(i int) bool { return bytes.Compare(n.key(i), key) >= 0 })
}

// child returns the index of the link to the chunk where a key belongs: the last one whose key is
// not above it.
func (n *node) child(key []byte) int {
	return max(0, sort.Search(n.len(), func(i int) bool { return bytes.Compare(n.key(i), key) > 0 })-1)
}

// leaves returns the leaves of the chunk's Merkle tree.
func (n *node) leaves() []Hash {
	leaves := make([]Hash, n.len())
	var room []byte
	for i := range leaves {
		leaves[i], room = entryHash(n.level, n.key(i), n.value(i), room)
	}
	return leaves
}

// rehash computes the chunk's hash from its entries.
func (n *node) rehash() Hash {
	return chunkHash(n.level, n.len(), n.count, merkleRoot(n.leaves()))
}

// size returns the approximate memory use of the node in bytes.
func (n *node) size() int { return len(n.data) + 4*len(n.ends) + 160 }

var errShort = errors.New("ends too soon")

// decode decodes the canonical form of a chunk and rejects every other form. It does not keep form,
// and does not compute the hash.
func decode(h Hash, form []byte) (*node, error) {
	if len(form) > MaxChunk {
		return nil, fmt.Errorf("%d bytes, more than %d", len(form), MaxChunk)
	}
	if len(form) < 3 {
		return nil, errShort
	}
	if form[0] != chunkVersion {
		return nil, fmt.Errorf("version %d, want %d", form[0], chunkVersion)
	}
	n := &node{hash: h, level: form[1]}
	if n.level > maxLevel {
		return nil, fmt.Errorf("level %d, more than %d", n.level, maxLevel)
	}
	entries := int(form[2])
	if entries == 0 || entries > MaxEntries {
		return nil, fmt.Errorf("%d entries, want 1 to %d", entries, MaxEntries)
	}
	n.ends = make([]uint32, 2*entries+1)
	// The offset of each part is known once all lengths are read.
	var lengths [3 * MaxEntries]int
	at := 3
	for i := range 3 * entries {
		length, size := uvarint(form[at:])
		if size == 0 {
			return nil, fmt.Errorf("length %d is no shortest uvarint", i)
		}
		limit := MaxKey
		if i >= 2*entries {
			limit = MaxValue
		}
		if length > uint64(limit) {
			return nil, fmt.Errorf("length %d is %d, more than %d", i, length, limit)
		}
		lengths[i] = int(length)
		at += size
	}
	shared, own, values := lengths[:entries], lengths[entries:2*entries], lengths[2*entries:3*entries]
	for i := range entries {
		if length := shared[i] + own[i]; length > MaxKey {
			return nil, fmt.Errorf("key %d has %d bytes, more than %d", i, length, MaxKey)
		}
		n.ends[i+1] = n.ends[i] + uint32(shared[i]+own[i])
	}
	left := len(form) - at
	for i := range entries {
		left -= own[i] + values[i]
		n.ends[entries+i+1] = n.ends[entries+i] + uint32(values[i])
	}
	if left != 0 {
		return nil, fmt.Errorf("%d bytes of keys and values too many", left)
	}
	if n.ends[2*entries] > MaxChunk {
		return nil, fmt.Errorf("%d bytes of keys and values, more than %d", n.ends[2*entries], MaxChunk)
	}
	n.data = make([]byte, n.ends[2*entries])
	for i := range entries {
		key := n.data[n.ends[i]:n.ends[i+1]]
		if i > 0 || shared[0] > 0 {
			if err := n.share(i, shared[i], form[at:at+own[i]]); err != nil {
				return nil, err
			}
		}
		at += copy(key[shared[i]:], form[at:at+own[i]])
	}
	copy(n.data[n.ends[entries]:], form[at:])
	return n, n.validate()
}

// share copies the prefix that key i has in common with the previous key. The canonical form
// requires the longest common prefix, so the first byte of own decides that the key is the greater
// one.
func (n *node) share(i, shared int, own []byte) error {
	var before []byte
	if i > 0 {
		before = n.key(i - 1)
	}
	switch {
	case shared > len(before):
		return fmt.Errorf("key %d shares %d bytes with one of %d", i, shared, len(before))
	case len(own) == 0 || shared < len(before) && own[0] <= before[shared]:
		return fmt.Errorf("key %d does not come after the one before", i)
	}
	copy(n.key(i), before[:shared])
	return nil
}

// validate checks the form of links and sums their counts.
func (n *node) validate() error {
	if n.level == 0 {
		n.count = uint64(n.len())
		return nil
	}
	for i := range n.len() {
		count, err := decodeLink(n.value(i))
		if err != nil {
			return fmt.Errorf("link %d: %w", i, err)
		}
		if n.count+count < count {
			return fmt.Errorf("link %d: the counts overflow", i)
		}
		n.count += count
	}
	return nil
}

func decodeLink(v []byte) (count uint64, err error) {
	if len(v) < len(Hash{}) {
		return 0, errShort
	}
	count, size := uvarint(v[len(Hash{}):])
	if size == 0 || size != len(v)-len(Hash{}) || count == 0 {
		return 0, fmt.Errorf("count % x: want a shortest uvarint above 0", v[len(Hash{}):])
	}
	return count, nil
}

// uvarint decodes a uvarint in its shortest form; size is 0 if there is none.
func uvarint(b []byte) (v uint64, size int) {
	v, size = binary.Uvarint(b)
	if size <= 0 || size > 1 && b[size-1] == 0 {
		return 0, 0
	}
	return v, size
}
