package store

import (
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// IDFilter is a Bloom filter over ids of 16 bytes: if First returns true, the store does not have the
// id and is not read. The projection starts it while its store, or the part that it covers, is
// empty, as at the beginning of a rebuild. A nil IDFilter makes no statement.
//
// It consists of Bloom filters in a row, each for twice as many ids as the one before.
type IDFilter struct {
	filters [][]byte
	room    int // ids that the last filter can still take
	size    int // capacity of the last filter in ids
	full    bool
}

const (
	// firstKnown is the capacity of the first filter, in ids.
	firstKnown = 1 << 12
	// maxKnown is the capacity of the last filter, in ids; it takes 40 MiB.
	maxKnown = 1 << 25
)

// First reports that an id was certainly not passed to it before, and adds the id. After some 67
// million ids it always returns false.
func (k *IDFilter) First(id schemas.EventID) bool {
	if k == nil || k.full {
		return false
	}
	for _, f := range k.filters {
		if sealed.BloomHas(f, id) {
			return false
		}
	}
	if k.room == 0 {
		if k.size == maxKnown {
			k.full, k.filters = true, nil
			return false
		}
		k.size = max(firstKnown, 2*k.size)
		k.room = k.size
		k.filters = append(k.filters, make([]byte, sealed.BloomBytes(k.size)))
	}
	sealed.BloomAdd(k.filters[len(k.filters)-1], id)
	k.room--
	return true
}
