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

// Maps are the maps of a repository's partition.
func (v *View) Maps(r RepoID) *prolly.DB { return v.c.maps.On(viewed(v.View, r.shard())) }

// Chunks calls yield with every chunk of a repository's partition, and how many bytes
// are stored of it.
func (v *View) Chunks(r RepoID, yield func(h prolly.Hash, stored int) error) error {
	prefix := chunkPrefix(r.shard())
	return v.each(prefix, func(key, value []byte) error {
		h := key[len(prefix):]
		if len(h) != len(prolly.Hash{}) {
			return nil // of a partition whose number begins with this one's
		}
		return yield(prolly.Hash(h), len(value))
	})
}
