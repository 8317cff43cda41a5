package prolly

import "encoding/binary"

// chunker takes the entries of one level in order and makes chunks of them.
type chunker struct {
	level  uint8
	n      int
	count  uint64
	lens   []int // of the keys
	vlens  []int
	keys   []byte
	values []byte

	shared     []int  // scratch
	leaves     []Hash // scratch
	room, form []byte // scratch
}

// add takes an entry and says whether the chunk ends behind it.
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

// first and last are the first and last key that have been added.
func (c *chunker) first() []byte { return c.keys[:c.lens[0]] }
func (c *chunker) last() []byte  { return c.keys[len(c.keys)-c.lens[c.n-1]:] }

// linkKey is the key of the link to the chunk being made: at level 0 the shortest
// prefix of its first key that is above the key before it, or empty where the chunk is
// the first of the map; above that its first key, which is such a prefix already. A key
// before it may be empty itself.
func (c *chunker) linkKey(first bool, before []byte) []byte {
	switch {
	case c.level > 0:
		return c.first()
	case first:
		return nil
	}
	return separator(before, c.first())
}

// separator is the shortest prefix of key that is above before, which is below key.
func separator(before, key []byte) []byte {
	return key[:common(before, key)+1]
}

// common is how many bytes two keys begin with alike.
func common(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// chunk is what has been added, which is at least one entry. The canonical form is
// good until the next call.
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

// reset makes room for the next chunk.
func (c *chunker) reset() {
	c.n, c.count = 0, 0
	c.lens, c.vlens, c.keys, c.values = c.lens[:0], c.vlens[:0], c.keys[:0], c.values[:0]
}
