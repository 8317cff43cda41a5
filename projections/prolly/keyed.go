package prolly

import (
	"bytes"
	"errors"
)

// Keyed is a Store in a key-value store that has other things in it too: a chunk is
// at the prefix followed by its space, its place, a zero byte and its hash. The store is one that
// compresses blocks of neighbours: what a chunk has in common with the one before it,
// often all but an entry, then takes next to nothing.
type Keyed struct {
	Prefix []byte
	// Find calls use with the value of a key, which need not be good after the call,
	// and reports whether there is one.
	Find func(key []byte, use func(value []byte) error) (bool, error)
	// Set stores a value. Where it is nil, the store is only for reading.
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

// Key is where a chunk is.
func (k *Keyed) Key(r Ref) []byte {
	b := make([]byte, 0, len(k.Prefix)+1+len(r.Place)+1+len(r.Hash))
	b = append(append(append(append(b, k.Prefix...), r.Space), r.Place...), 0)
	return append(b, r.Hash[:]...)
}

// Ref is the name of the chunk at a key, if it is that of one.
func (k *Keyed) Ref(key []byte) (r Ref, ok bool) {
	name, ok := bytes.CutPrefix(key, k.Prefix)
	end := len(name) - len(r.Hash) - 1
	if !ok || end < 1 || name[end] != 0 {
		return Ref{}, false
	}
	return Ref{name[0], string(name[1:end]), Hash(name[end+1:])}, true
}
