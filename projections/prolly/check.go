package prolly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// Checked counts what Check has read.
type Checked struct {
	Chunks  int
	Entries uint64 // entries of chunks that two maps share count once
	Bytes   int64  // of their keys and values
}

// maxFaults is the number of faults after which a Checker stops.
const maxFaults = 100

// Check reads every chunk of some maps from the store, each once, and checks everything that this
// package specifies: that a chunk has the hash it is stored under, its limits, the order of keys,
// the counts and keys of links, and that chunks end where their content requires. The error joins
// one error for each faulty chunk.
func (d *DB) Check(ctx context.Context, roots ...Hash) (Checked, error) {
	c := d.Checker()
	var faults []error
	for _, root := range roots {
		more, err := c.Check(ctx, root)
		if faults = append(faults, more...); err != nil {
			return c.checked, errors.Join(append(faults, err)...)
		}
	}
	return c.checked, errors.Join(faults...)
}

// Checker checks several maps one after the other. A chunk that several of them share is read, and
// its fault is reported, with the first.
type Checker struct {
	ctx     context.Context
	d       *DB
	seen    map[Hash]*subtree
	faults  []error
	told    int // number of reported faults
	checked Checked
}

// Checker returns a checker that has not read anything.
func (d *DB) Checker() *Checker { return &Checker{d: d, seen: map[Hash]*subtree{}} }

// Check checks one map and returns the faults that were not reported before. An error is that of
// ctx, or reports that there are too many faults; then the rest was not read.
func (c *Checker) Check(ctx context.Context, root Hash) (faults []error, err error) {
	c.ctx = ctx
	if root != Empty {
		s := c.visit(nil, root)
		if s.n > 0 && s.level > 0 && s.n == 1 {
			c.fault(root, errors.New("a root with one link, where the chunk below should be the root"))
		}
		if s.level > 0 && len(s.linkKey) > 0 {
			c.fault(root, fmt.Errorf("the first link of a root has the key %.80q, want an empty one", s.linkKey))
		}
	}
	faults, c.told = c.faults[c.told:], len(c.faults)
	return faults, c.stop()
}

// Checked returns the counts of what was read so far.
func (c *Checker) Checked() Checked { return c.checked }

// Has reports whether a chunk has been visited.
func (c *Checker) Has(h Hash) bool {
	_, ok := c.seen[h]
	return ok
}

// subtree summarises a chunk and everything below it.
type subtree struct {
	place       string // where it was read last
	n           int    // entries of the chunk; 0 if it could not be read
	level       uint8
	count       uint64
	linkKey     []byte // of its first entry
	first, last []byte // keys of the map; nil if the chunk with the key could not be read
	// whole reports that this chunk and the last ones below it end where their content requires,
	// which all chunks must do except the last of a level.
	whole bool
}

func (c *Checker) fault(h Hash, err error) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, damaged(h, err))
	}
}

func (c *Checker) stop() error {
	if len(c.faults) >= maxFaults {
		return errors.New("too many faults")
	}
	return c.ctx.Err()
}

func (c *Checker) visit(place []byte, h Hash) *subtree {
	if s := c.seen[h]; s != nil {
		if s.n > 0 && s.place != string(place) { // it must also be stored at this place
			if _, err := c.d.read(place, h); err != nil {
				c.faults = append(c.faults, err)
			}
			s.place = string(place)
		}
		return s
	}
	s := &subtree{place: string(place)}
	c.seen[h] = s
	n, err := c.d.read(place, h)
	if err != nil {
		c.faults = append(c.faults, err)
		return s
	}
	c.checked.Chunks++
	c.checked.Bytes += int64(len(n.data))
	if got := n.rehash(); got != h {
		c.fault(h, fmt.Errorf("its content has the hash %s", got))
		return s
	}
	c.d.cache.add(n) // the caller of a check usually reads the map next
	*s = subtree{place: s.place, n: n.len(), level: n.level, count: n.count, linkKey: bytes.Clone(n.key(0))}
	size := 0
	for i := range n.len() {
		size += len(n.key(i)) + len(n.value(i))
		s.whole = cutBehind(n.level, n.key(i), i+1, size)
		if s.whole && i+1 < n.len() {
			c.fault(h, fmt.Errorf("goes on behind entry %d, where content ends it", i))
		}
	}
	if n.level == 0 {
		c.checked.Entries += n.count
		s.first, s.last = s.linkKey, bytes.Clone(n.last())
		return s
	}
	c.visitBelow(s, n)
	return s
}

// visitBelow checks the links of a chunk against the chunks they lead to.
func (c *Checker) visitBelow(s *subtree, n *node) {
	var before *subtree
	for i := range n.len() {
		if c.stop() != nil {
			return
		}
		h, count := n.link(i)
		below := c.visit(n.key(i), h)
		known := before != nil && before.last != nil && below.first != nil
		switch {
		case below.n == 0:
			// The chunk could not be read, which is already reported.
			s.whole, s.last = true, nil
			before = nil
			continue
		case below.level != n.level-1:
			c.fault(n.hash, fmt.Errorf("link %d leads to chunk %s of level %d", i, h, below.level))
		case below.count != count:
			c.fault(n.hash, fmt.Errorf("link %d says %d entries, chunk %s has %d", i, count, h, below.count))
		case below.level > 0 && !bytes.Equal(below.linkKey, n.key(i)):
			c.fault(n.hash, fmt.Errorf("link %d has the key %.80q, chunk %s begins with %.80q", i, n.key(i), h, below.linkKey))
		case known && bytes.Compare(before.last, below.first) >= 0:
			c.fault(n.hash, fmt.Errorf("link %d leads to the key %.80q, which does not come after %.80q", i, below.first, before.last))
		case known && !bytes.Equal(n.key(i), separator(before.last, below.first)):
			c.fault(n.hash, fmt.Errorf("link %d has the key %.80q, want %.80q", i, n.key(i), separator(before.last, below.first)))
		case i+1 < n.len() && !below.whole:
			c.fault(h, errors.New("ends, or one below it, where content does not end it, and is not the last"))
		}
		if i == 0 {
			s.first = below.first
		}
		s.last = below.last
		s.whole = s.whole && (below.whole || i+1 < n.len())
		before = below
	}
}
