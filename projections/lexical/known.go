package lexical

import (
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// known says of a document or a list that the store cannot have it, so that what is new is
// not looked for there: in a history one command in two brings a new document. Only a
// writer that began with its shard has one, and so a rebuild; nil knows nothing.
//
// It is a row of Bloom filters, each for twice as many ids as the one before.
type known struct {
	filters [][]byte
	room    int // of the last one, in ids
	size    int // likewise
}

// firstKnown is the room of the first filter.
const firstKnown = 1 << 12

// first reports that an id was certainly not asked for before.
func (k *known) first(id schemas.EventID) bool {
	if k == nil {
		return false
	}
	for _, f := range k.filters {
		if sealed.BloomHas(f, id) {
			return false
		}
	}
	if k.room == 0 {
		k.size = max(firstKnown, 2*k.size)
		k.room = k.size
		k.filters = append(k.filters, make([]byte, sealed.BloomBytes(k.size)))
	}
	sealed.BloomAdd(k.filters[len(k.filters)-1], id)
	k.room--
	return true
}
