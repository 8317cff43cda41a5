package prolly

import (
	"bytes"
	"errors"
	"fmt"
)

// DB reads and makes maps whose chunks are in a Store. Everything may be called
// by many goroutines at once.
type DB struct {
	store Store
	cache *cache
	space byte
}

// Options of a DB. The zero value is good.
type Options struct {
	// CacheBytes bounds the memory for decoded chunks; 0 means 32 MiB, below 0 none.
	CacheBytes int64
}

// New makes a DB over a store.
func New(s Store, o Options) *DB {
	if o.CacheBytes == 0 {
		o.CacheBytes = 32 << 20
	}
	return &DB{store: s, cache: newCache(max(o.CacheBytes, 0))}
}

// On is a DB over another store, with the cache of this one: a view of the same store,
// or one staged in front of it. The cache may have chunks that a stage had and that were
// never written; that does no harm to roots that were, since what Apply makes it always
// puts.
func (d *DB) On(s Store) *DB { return &DB{store: s, cache: d.cache, space: d.space} }

// In is the DB of the maps of another space. Maps that are alike, or that are read
// together, belong in one; a map is only found in the space that it was made in. The
// first DB is in space 0.
func (d *DB) In(space byte) *DB { return &DB{store: d.store, cache: d.cache, space: space} }

// ChunkError is a chunk that cannot be read or is not what it should be.
type ChunkError struct {
	Hash Hash
	Err  error
}

func (e *ChunkError) Error() string { return fmt.Sprintf("chunk %s: %v", e.Hash, e.Err) }

func (e *ChunkError) Unwrap() error { return e.Err }

// ErrDamaged is in the chain of every error about a chunk that is there, but is
// not what its hash says.
var ErrDamaged = errors.New("damaged")

func damaged(h Hash, err error) error {
	return &ChunkError{h, fmt.Errorf("%w: %w", ErrDamaged, err)}
}

// load reads the chunk at a place, which is empty for a root. Its checksum holds; its
// hash is not computed.
func (d *DB) load(place []byte, h Hash) (*node, error) {
	if n := d.cache.get(h); n != nil {
		return n, nil
	}
	n, err := d.read(place, h)
	if err == nil {
		d.cache.add(n)
	}
	return n, err
}

// read is load past the cache.
func (d *DB) read(place []byte, h Hash) (*node, error) {
	stored, err := d.store.Get(Ref{d.space, string(place), h})
	if err != nil {
		return nil, &ChunkError{h, err}
	}
	n, err := unpack(h, stored)
	if err != nil {
		return nil, damaged(h, err)
	}
	return n, nil
}

// loadChild reads the chunk of a link and checks that it is what the link says.
func (d *DB) loadChild(n *node, i int) (*node, error) {
	h, count := n.link(i)
	child, err := d.load(n.key(i), h)
	if err != nil {
		return nil, err
	}
	return child, n.agrees(i, child, count)
}

// agrees checks a chunk against the link to it.
func (n *node) agrees(i int, child *node, count uint64) error {
	switch {
	case child.level != n.level-1:
		return damaged(child.hash, fmt.Errorf("level %d below level %d of chunk %s", child.level, n.level, n.hash))
	case child.count != count:
		return damaged(child.hash, fmt.Errorf("%d entries, %d in the link of chunk %s", child.count, count, n.hash))
	case child.level > 0 && !bytes.Equal(child.key(0), n.key(i)) || !bytes.HasPrefix(child.key(0), n.key(i)):
		return damaged(child.hash, fmt.Errorf("first key %.80q, %.80q in the link of chunk %s", child.key(0), n.key(i), n.hash))
	}
	return nil
}
