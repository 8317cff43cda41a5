package prolly

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/cockroachdb/pebble/v2"
)

// Keyed is a Store in a key-value store that has other things in it too: a chunk is
// at the prefix followed by its hash.
type Keyed struct {
	Prefix []byte
	// Find calls use with the value of a key, which need not be good after the call,
	// and reports whether there is one.
	Find func(key []byte, use func(value []byte) error) (bool, error)
	// Set stores a value. Where it is nil, the store is only for reading.
	Set func(key, value []byte) error
}

// Get implements Store.
func (k *Keyed) Get(h Hash) (stored []byte, err error) {
	found, err := k.Find(k.key(h), func(value []byte) error {
		stored = bytes.Clone(value)
		return nil
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	return stored, err
}

// Put implements Store.
func (k *Keyed) Put(chunks []Chunk) error {
	if k.Set == nil {
		return errors.New("the store is open for reading only")
	}
	for _, c := range chunks {
		if err := k.Set(k.key(c.Hash), c.Stored); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keyed) key(h Hash) []byte {
	return append(append(make([]byte, 0, len(k.Prefix)+len(h)), k.Prefix...), h[:]...)
}

// Pebble is a Store in a Pebble database, below a prefix. Put writes without a sync:
// the caller syncs when the root that the chunks are for is to last.
type Pebble struct {
	Keyed
	db *pebble.DB
}

// NewPebble makes a store below a prefix of a database, which stays the caller's to
// close.
func NewPebble(db *pebble.DB, prefix []byte) *Pebble {
	p := &Pebble{Keyed{Prefix: bytes.Clone(prefix)}, db}
	p.Find = func(key []byte, use func([]byte) error) (bool, error) {
		value, closer, err := db.Get(key)
		if errors.Is(err, pebble.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, errors.Join(use(value), closer.Close())
	}
	return p
}

// Put implements Store: all chunks or none.
func (p *Pebble) Put(chunks []Chunk) error {
	b := p.db.NewBatch()
	defer b.Close()
	for _, c := range chunks {
		if err := b.Set(p.key(c.Hash), c.Stored, nil); err != nil {
			return err
		}
	}
	return b.Commit(pebble.NoSync)
}

// Hashes yields the hash of every chunk, ascending.
func (p *Pebble) Hashes() iter.Seq2[Hash, error] {
	return func(yield func(Hash, error) bool) {
		it, err := p.db.NewIter(&pebble.IterOptions{LowerBound: p.Prefix, UpperBound: prefixEnd(p.Prefix)})
		if err != nil {
			yield(Hash{}, err)
			return
		}
		defer it.Close()
		for ok := it.First(); ok; ok = it.Next() {
			name := it.Key()[len(p.Prefix):]
			if len(name) != len(Hash{}) {
				yield(Hash{}, fmt.Errorf("key % x is not that of a chunk", it.Key()))
				return
			}
			if !yield(Hash(name), nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(Hash{}, err)
		}
	}
}

// Delete forgets chunks.
func (p *Pebble) Delete(hashes []Hash) error {
	b := p.db.NewBatch()
	defer b.Close()
	for _, h := range hashes {
		if err := b.Delete(p.key(h), nil); err != nil {
			return err
		}
	}
	return b.Commit(pebble.NoSync)
}
