package code

import (
	"errors"

	"github.com/recountdb/recount/projections/graph/prolly"
	"github.com/recountdb/recount/projections/store"
)

// noChunks is the store of the shared cache's DB, which is never read: every use
// is On a transaction or a view.
type noChunks struct{}

var errNoStore = errors.New("no store")

func (noChunks) Get(prolly.Hash) ([]byte, error) { return nil, errNoStore }
func (noChunks) Put([]prolly.Chunk) error        { return errNoStore }

// stored are the chunks that earlier batches wrote, as a fold reads them.
func stored(t *store.Txn) *prolly.Keyed {
	return &prolly.Keyed{Prefix: chunkPrefix(t.Shard()), Find: func(key []byte, use func([]byte) error) (bool, error) {
		value, ok, err := t.Get(key)
		if err == nil && ok {
			err = use(value)
		}
		return ok, err
	}}
}

// viewed are the chunks of a view.
func viewed(v *store.View, shard []byte) *prolly.Keyed {
	return &prolly.Keyed{Prefix: chunkPrefix(shard), Find: v.Get}
}
