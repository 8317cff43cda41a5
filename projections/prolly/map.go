package prolly

import (
	"bytes"
	"iter"
)

// Map is a map opened for reading.
type Map struct {
	d    *DB
	hash Hash
	root *node // nil if the map is empty
}

// Map opens the map with a root.
func (d *DB) Map(root Hash) (*Map, error) {
	if root == Empty {
		return &Map{d: d, hash: root}, nil
	}
	n, err := d.load(nil, root)
	if err != nil {
		return nil, err
	}
	return &Map{d, root, n}, nil
}

// Root returns the map's root.
func (m *Map) Root() Hash { return m.hash }

// Len returns the number of entries.
func (m *Map) Len() uint64 {
	if m.root == nil {
		return 0
	}
	return m.root.count
}

// Get returns the value of a key, and whether there is one.
func (m *Map) Get(key []byte) (value []byte, ok bool, err error) {
	n := m.root
	if n == nil {
		return nil, false, nil
	}
	for n.level > 0 {
		if n, err = m.d.loadChild(n, n.child(key)); err != nil {
			return nil, false, err
		}
	}
	i := n.search(key)
	if i == n.len() || !bytes.Equal(n.key(i), key) {
		return nil, false, nil
	}
	return n.value(i), true, nil
}

// Has reports whether the map has a key.
func (m *Map) Has(key []byte) (bool, error) {
	_, ok, err := m.Get(key)
	return ok, err
}

// Rank returns the number of keys before key.
func (m *Map) Rank(key []byte) (rank uint64, err error) {
	n := m.root
	if n == nil {
		return 0, nil
	}
	for n.level > 0 {
		i := n.child(key)
		for j := range i {
			_, count := n.link(j)
			rank += count
		}
		if n, err = m.d.loadChild(n, i); err != nil {
			return 0, err
		}
	}
	return rank + uint64(n.search(key)), nil
}

// At returns the entry with a rank; ok is false if the map is shorter.
func (m *Map) At(rank uint64) (e Entry, ok bool, err error) {
	if rank >= m.Len() {
		return Entry{}, false, nil
	}
	n := m.root
	for n.level > 0 {
		i := 0
		for ; ; i++ {
			_, count := n.link(i)
			if rank < count {
				break
			}
			rank -= count
		}
		if n, err = m.d.loadChild(n, i); err != nil {
			return Entry{}, false, err
		}
	}
	return Entry{n.key(int(rank)), n.value(int(rank))}, true, nil
}

// All yields the entries in key order. It stops after an error.
func (m *Map) All() iter.Seq2[Entry, error] { return m.Range(nil, nil) }

// Prefix yields the entries whose keys start with a prefix.
func (m *Map) Prefix(prefix []byte) iter.Seq2[Entry, error] {
	return m.Range(prefix, prefixEnd(prefix))
}

// prefixEnd returns the first key after all keys that start with the prefix, or nil if there is
// none.
func prefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			end := bytes.Clone(prefix[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}

// Range yields the entries with keys from from (inclusive) to to (exclusive); a nil to is no limit.
func (m *Map) Range(from, to []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if m.root == nil {
			return
		}
		c := newCursor(m.d, m.root, 0)
		if err := c.seek(from); err != nil {
			yield(Entry{}, err)
			return
		}
		for {
			n, i := c.at()
			end := n.len()
			if to != nil {
				end = n.search(to)
			}
			for ; i < end; i++ {
				if !yield(Entry{n.key(i), n.value(i)}, nil) {
					return
				}
			}
			if end < n.len() {
				return
			}
			more, err := c.nextChunk()
			if err != nil {
				yield(Entry{}, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}
