package prolly

import (
	"bytes"
	"errors"
)

// Keyed is a Store in a part of a key-value store. The key of a chunk is the prefix followed by its
// space, its place, a zero byte and its hash. The store should compress blocks of adjacent values:
// the part that a chunk has in common with the previous one, often all but an entry, then takes
// almost no space.
type Keyed struct {
	Prefix []byte
	// Find calls use with the value of a key and reports whether there is one. The value is valid
	// only during the call.
	Find func(key []byte, use func(value []byte) error) (bool, error)
	// Set stores a value. If it is nil, the store is read-only.
	Set func(key, value []byte) error
}

// Get implements Store.
func (k *Keyed) Get(r Ref) (stored []byte, err error) {
	found, err := k.Find(k.Key(r), func(value []byte) error {
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
		if err := k.Set(k.Key(c.Ref), c.Stored); err != nil {
			return err
		}
	}
	return nil
}

// Key returns the key of a chunk.
func (k *Keyed) Key(r Ref) []byte {
	b := make([]byte, 0, len(k.Prefix)+1+len(r.Place)+1+len(r.Hash))
	b = append(append(append(append(b, k.Prefix...), r.Space), r.Place...), 0)
	return append(b, r.Hash[:]...)
}

// Ref returns the name of the chunk at a key; ok is false if it is not the key of a chunk.
func (k *Keyed) Ref(key []byte) (r Ref, ok bool) {
	name, ok := bytes.CutPrefix(key, k.Prefix)
	end := len(name) - len(r.Hash) - 1
	if !ok || end < 1 || name[end] != 0 {
		return Ref{}, false
	}
	return Ref{name[0], string(name[1:end]), Hash(name[end+1:])}, true
}
