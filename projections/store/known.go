package store

import (
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// Known says of what has an id of 16 bytes that the store cannot have it, so that what is
// new is not looked for there. It is for a projection to keep from when its store, or
// the part of it that is meant, is empty, as it is when a rebuild begins; nil knows
// nothing.
//
// It is a row of Bloom filters, each for twice as many ids as the one before.
type Known struct {
	filters [][]byte
	room    int // of the last one, in ids
	size    int // likewise
	full    bool
}

const (
	// firstKnown is the room of the first filter.
	firstKnown = 1 << 12
	// maxKnown is that of the last, 40 MiB.
	maxKnown = 1 << 25
)

// First reports that an id was certainly not asked for before. Beyond some 67 million it
// knows nothing any more.
func (k *Known) First(id schemas.EventID) bool {
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
