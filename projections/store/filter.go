package store

import (
	"slices"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// IDFilter is a Bloom filter over ids of 16 bytes that saves reading the store for an id that it
// does not have. It is used from the first id on: it must have all ids that the store, or the part
// that it covers, has. A nil IDFilter rules nothing out.
//
// It consists of Bloom filters in a row, each for twice as many ids as the one before.
type IDFilter struct {
	filters [][]byte
	room    int // ids that the last filter can still take
	size    int // capacity of the last filter in ids
	full    bool
}

const (
	// firstIDs is the capacity of the first filter, in ids.
	firstIDs = 1 << 12
	// maxIDs is the capacity of the last filter, in ids; it takes 20 MiB.
	maxIDs = 1 << 24
)

// Has reports whether an id may have been added; false is certain. After some 34 million ids it
// always returns true.
func (k *IDFilter) Has(id schemas.EventID) bool {
	return k == nil || k.full || slices.ContainsFunc(k.filters, func(f []byte) bool { return sealed.BloomHas(f, id) })
}

// Add adds an id.
func (k *IDFilter) Add(id schemas.EventID) {
	if k == nil || k.full {
		return
	}
	if k.room == 0 {
		if k.size == maxIDs {
			k.full, k.filters = true, nil
			return
		}
		k.size = max(firstIDs, 2*k.size)
		k.room = k.size
		k.filters = append(k.filters, make([]byte, sealed.BloomBytes(k.size)))
	}
	sealed.BloomAdd(k.filters[len(k.filters)-1], id)
	k.room--
}

// First reports that an id was certainly not added before, and adds it.
func (k *IDFilter) First(id schemas.EventID) bool {
	if k.Has(id) {
		return false
	}
	k.Add(id)
	return true
}
