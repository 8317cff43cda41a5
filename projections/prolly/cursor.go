package prolly

import (
	"bytes"
	"slices"
)

// cursor is a position in one level of a map.
type cursor struct {
	d     *DB
	level uint8       // level of the chunks that it stops at
	path  []nodeEntry // from the root down to level
	reads int         // number of chunks read
}

// nodeEntry is entry i of a node.
type nodeEntry struct {
	n *node
	i int
}

// newCursor returns a cursor at the first entry of a level, which must not be above the root's.
func newCursor(d *DB, root *node, level uint8) *cursor {
	return &cursor{d: d, level: level, path: []nodeEntry{{n: root}}}
}

// descend goes down to the level, at each chunk to the entry that pick returns.
func (c *cursor) descend(pick func(*node) int) error {
	for {
		at := &c.path[len(c.path)-1]
		at.i = pick(at.n)
		if at.n.level == c.level {
			return nil
		}
		child, err := c.d.loadChild(at.n, at.i)
		if err != nil {
			return err
		}
		c.reads++
		c.path = append(c.path, nodeEntry{n: child})
	}
}

func first(*node) int  { return 0 }
func last(n *node) int { return n.len() - 1 }

// seek goes to the chunk where a key belongs, to its first entry whose key is not below it, or past
// the last entry. It is cheap if that is near.
func (c *cursor) seek(key []byte) error {
	for len(c.path) > 1 && !c.holds(key) {
		c.path = c.path[:len(c.path)-1]
	}
	return c.descend(func(n *node) int {
		if n.level > c.level {
			return n.child(key)
		}
		return n.search(key)
	})
}

// holds reports whether a key belongs in the lowest chunk of the path.
func (c *cursor) holds(key []byte) bool {
	upper := c.upper()
	return bytes.Compare(c.lower(), key) <= 0 && (upper == nil || bytes.Compare(key, upper) < 0)
}

// lower returns the key of the link to the lowest chunk of the path; it is empty at the beginning
// of the map.
func (c *cursor) lower() []byte {
	if len(c.path) == 1 {
		return nil
	}
	p := c.path[len(c.path)-2]
	return p.n.key(p.i)
}

// upper returns the key of the link to the chunk after the lowest one of the path, or nil if there
// is none.
func (c *cursor) upper() []byte {
	for up := len(c.path) - 2; up >= 0; up-- {
		if p := c.path[up]; p.i+1 < p.n.len() {
			return p.n.key(p.i + 1)
		}
	}
	return nil
}

// at returns the chunk of the level that the cursor is in, and the index of the entry.
func (c *cursor) at() (*node, int) {
	p := c.path[len(c.path)-1]
	return p.n, p.i
}

// nextChunk goes to the first entry of the next chunk of the level, if there is one.
func (c *cursor) nextChunk() (bool, error) {
	up := len(c.path) - 2
	for up >= 0 && c.path[up].i == c.path[up].n.len()-1 {
		up--
	}
	if up < 0 {
		return false, nil
	}
	c.path = c.path[:up+1]
	c.path[up].i++
	child, err := c.d.loadChild(c.path[up].n, c.path[up].i)
	if err != nil {
		return false, err
	}
	c.reads++
	c.path = append(c.path, nodeEntry{n: child})
	return true, c.descend(first)
}

// prevChunk goes to the last entry of the previous chunk of the level, if there is one.
func (c *cursor) prevChunk() (bool, error) {
	up := len(c.path) - 2
	for up >= 0 && c.path[up].i == 0 {
		up--
	}
	if up < 0 {
		return false, nil
	}
	c.path = c.path[:up+1]
	c.path[up].i--
	child, err := c.d.loadChild(c.path[up].n, c.path[up].i)
	if err != nil {
		return false, err
	}
	c.reads++
	c.path = append(c.path, nodeEntry{n: child})
	return true, c.descend(last)
}

// clone returns a cursor at the same position.
func (c *cursor) clone() *cursor {
	return &cursor{d: c.d, level: c.level, path: slices.Clone(c.path)}
}
