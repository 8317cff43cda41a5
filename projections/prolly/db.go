package prolly

import (
	"bytes"
	"errors"
	"fmt"
)

// DB reads and builds maps whose chunks are in a Store. It is safe for concurrent use.
type DB struct {
	store Store
	cache *chunkCache
	space byte
}

// Options configure a DB. The zero value is usable.
type Options struct {
	// CacheBytes limits the memory for decoded chunks. 0 means 32 MiB; a negative value disables
	// the cache.
	CacheBytes int64
}

// New returns a DB on a store.
func New(s Store, o Options) *DB {
	if o.CacheBytes == 0 {
		o.CacheBytes = 32 << 20
	}
	return &DB{store: s, cache: newCache(max(o.CacheBytes, 0))}
}

// On returns a DB on another store that shares the cache of d: on a view of the same store, or a
// Staged store in front of it. The cache may contain staged chunks that were never written. That
// does no harm to maps that were written, since Apply always puts the chunks it builds.
func (d *DB) On(s Store) *DB { return &DB{store: s, cache: d.cache, space: d.space} }

// In returns the DB of the maps of another space. Maps that are similar, or are read together,
// belong in one space. A map is found only in the space it was built in. The DB from New is in
// space 0.
func (d *DB) In(space byte) *DB { return &DB{store: d.store, cache: d.cache, space: space} }

// ChunkError reports a chunk that cannot be read or is wrong.
type ChunkError struct {
	Hash Hash
	Err  error
}

func (e *ChunkError) Error() string { return fmt.Sprintf("chunk %s: %v", e.Hash, e.Err) }

func (e *ChunkError) Unwrap() error { return e.Err }

// ErrDamaged is in the chain of every error about a chunk that exists but does not match its hash.
var ErrDamaged = errors.New("damaged")

func damaged(h Hash, err error) error {
	return &ChunkError{h, fmt.Errorf("%w: %w", ErrDamaged, err)}
}

// load reads the chunk at a place, which is empty for a root. It verifies the checksum but does not
// compute the hash.
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

// read is like load without the cache.
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

// loadChild reads the chunk of a link and checks that it matches the link.
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
