package prolly

import (
	"bytes"
	"iter"
)

// Change is a key that has different values in two maps, or is in only one of them.
type Change struct {
	Kind     Kind
	Key      []byte
	Old, New []byte // nil if the map does not have the key
}

// Kind is the kind of a change.
type Kind uint8

// These are the kinds of changes.
const (
	Added Kind = iota + 1
	Deleted
	Changed
)

func (k Kind) String() string {
	switch k {
	case Added:
		return "added"
	case Deleted:
		return "deleted"
	case Changed:
		return "changed"
	}
	return "unknown"
}

// Diff yields the changes that turn the map old into the map new, in key order. Parts that both
// share are recognised by their hash and not read: it reads O(changes · log n) chunks. It stops
// after an error.
func (d *DB) Diff(old, new Hash) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if err := d.diff(old, new, func(c Change) bool { return yield(c, nil) }); err != nil {
			yield(Change{}, err)
		}
	}
}

func (d *DB) diff(old, new Hash, yield func(Change) bool) error {
	if old == new {
		return nil
	}
	a, err := newWalk(d, old)
	if err != nil {
		return err
	}
	b, err := newWalk(d, new)
	if err != nil {
		return err
	}
	for {
		an, ai := a.at()
		bn, bi := b.at()
		switch {
		case an == nil && bn == nil:
			return nil
		case an != nil && an.level > 0 && (bn == nil || an.level > bn.level):
			err = a.down()
		case bn != nil && bn.level > 0 && (an == nil || bn.level > an.level):
			err = b.down()
		case an != nil && an.level > 0:
			if ah, _ := an.link(ai); bytes.HasPrefix(bn.value(bi), ah[:]) {
				a.next()
				b.next()
				continue
			}
			if err = a.down(); err == nil {
				err = b.down()
			}
		default:
			if !leaves(a, b, yield) {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// leaves compares the current entries of two walks, both of which are at level 0 or at the end.
func leaves(a, b *walk, yield func(Change) bool) bool {
	an, ai := a.at()
	bn, bi := b.at()
	order := 0
	switch {
	case an == nil:
		order = 1
	case bn == nil:
		order = -1
	default:
		order = bytes.Compare(an.key(ai), bn.key(bi))
	}
	if order <= 0 {
		a.next()
	}
	if order >= 0 {
		b.next()
	}
	switch {
	case order < 0:
		return yield(Change{Kind: Deleted, Key: an.key(ai), Old: an.value(ai)})
	case order > 0:
		return yield(Change{Kind: Added, Key: bn.key(bi), New: bn.value(bi)})
	case !bytes.Equal(an.value(ai), bn.value(bi)):
		return yield(Change{Changed, bn.key(bi), an.value(ai), bn.value(bi)})
	}
	return true
}

// walk traverses a map in order, at any level: at each link it may skip the chunk below or descend
// into it.
type walk struct {
	d    *DB
	path []nodeEntry
}

func newWalk(d *DB, root Hash) (*walk, error) {
	w := &walk{d: d}
	if root == Empty {
		return w, nil
	}
	n, err := d.load(nil, root)
	w.path = append(w.path, nodeEntry{n: n})
	return w, err
}

// at returns the current entry; a nil node is the end.
func (w *walk) at() (*node, int) {
	if len(w.path) == 0 {
		return nil, 0
	}
	p := w.path[len(w.path)-1]
	return p.n, p.i
}

// next skips the entry, and goes up at the end of its chunk.
func (w *walk) next() {
	for len(w.path) > 0 {
		p := &w.path[len(w.path)-1]
		if p.i++; p.i < p.n.len() {
			return
		}
		w.path = w.path[:len(w.path)-1]
	}
}

// down goes to the first entry of the chunk that a link leads to.
func (w *walk) down() error {
	p := w.path[len(w.path)-1]
	child, err := w.d.loadChild(p.n, p.i)
	if err != nil {
		return err
	}
	w.path = append(w.path, nodeEntry{n: child})
	return nil
}
