package prolly

import "encoding/binary"

// chunker builds chunks from the entries of one level, in order.
type chunker struct {
	level  uint8
	n      int
	count  uint64
	lens   []int // lengths of the keys
	vlens  []int
	keys   []byte
	values []byte

	shared     []int  // scratch
	leaves     []Hash // scratch
	room, form []byte // scratch
}

// add adds an entry and reports whether the chunk ends after it.
func (c *chunker) add(key, value []byte) (full bool) {
	c.keys, c.values = append(c.keys, key...), append(c.values, value...)
	c.lens, c.vlens = append(c.lens, len(key)), append(c.vlens, len(value))
	if c.level == 0 {
		c.count++
	} else {
		below, _ := binary.Uvarint(value[len(Hash{}):])
		c.count += below
	}
	c.n++
	return cutBehind(c.level, key, c.n, len(c.keys)+len(c.values))
}

// first and last return the first and last added key.
func (c *chunker) first() []byte { return c.keys[:c.lens[0]] }
func (c *chunker) last() []byte  { return c.keys[len(c.keys)-c.lens[c.n-1]:] }

// linkKey returns the key of the link to the current chunk. At level 0 it is the shortest prefix of
// the chunk's first key that is above the previous key, or empty if the chunk is the first of the
// map. Above level 0 it is the chunk's first key, which already is such a prefix. The previous key
// may itself be empty, hence the argument first.
func (c *chunker) linkKey(first bool, before []byte) []byte {
	switch {
	case c.level > 0:
		return c.first()
	case first:
		return nil
	}
	return separator(before, c.first())
}

// separator returns the shortest prefix of key that is above before. before must be below key.
func separator(before, key []byte) []byte {
	return key[:common(before, key)+1]
}

// common returns the length of the common prefix of two keys.
func common(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// chunk returns the hash and canonical form of the added entries, at least one. data is valid until
// the next call.
func (c *chunker) chunk() (h Hash, data []byte) {
	data = append(c.form[:0], chunkVersion, c.level, byte(c.n))
	c.shared = c.shared[:0]
	var before []byte
	for at, i := 0, 0; i < c.n; i++ {
		key := c.keys[at : at+c.lens[i]]
		c.shared = append(c.shared, common(before, key))
		data = binary.AppendUvarint(data, uint64(c.shared[i]))
		before, at = key, at+c.lens[i]
	}
	for i, l := range c.lens {
		data = binary.AppendUvarint(data, uint64(l-c.shared[i]))
	}
	for _, l := range c.vlens {
		data = binary.AppendUvarint(data, uint64(l))
	}
	for at, i := 0, 0; i < c.n; i++ {
		data = append(data, c.keys[at+c.shared[i]:at+c.lens[i]]...)
		at += c.lens[i]
	}
	data = append(data, c.values...)
	c.form = data

	c.leaves = c.leaves[:0]
	keys, values := c.keys, c.values
	for i := range c.n {
		var leaf Hash
		leaf, c.room = entryHash(c.level, keys[:c.lens[i]], values[:c.vlens[i]], c.room)
		c.leaves = append(c.leaves, leaf)
		keys, values = keys[c.lens[i]:], values[c.vlens[i]:]
	}
	return chunkHash(c.level, c.n, c.count, merkleRoot(c.leaves)), data
}

// reset starts the next chunk.
func (c *chunker) reset() {
	c.n, c.count = 0, 0
	c.lens, c.vlens, c.keys, c.values = c.lens[:0], c.vlens[:0], c.keys[:0], c.values[:0]
}
