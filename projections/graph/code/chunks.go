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

func (noChunks) Get(prolly.Ref) ([]byte, error) { return nil, errNoStore }
func (noChunks) Put([]prolly.Chunk) error       { return errNoStore }

// stored are the chunks as a fold reads those that earlier batches wrote, and sets its own.
func stored(t *store.Txn) *prolly.Keyed {
	return &prolly.Keyed{Prefix: chunkPrefix(t.Shard()), Find: func(key []byte, use func([]byte) error) (bool, error) {
		value, ok, err := t.Get(key)
		if err == nil && ok {
			err = use(value)
		}
		return ok, err
	}, Set: t.Set}
}

// viewed are the chunks of a view.
func viewed(v *store.View, shard []byte) *prolly.Keyed {
	return &prolly.Keyed{Prefix: chunkPrefix(shard), Find: v.Get}
}

// Maps are the maps of one sort of a repository's partition.
func (v *View) Maps(r RepoID, w Which) *prolly.DB { return v.chunks(r).In(w.space()) }

func (v *View) chunks(r RepoID) *prolly.DB { return v.c.maps.On(viewed(v.View, r.shard())) }

// ChunkBytes is about how many bytes the chunks of all partitions take on disk. What is
// in memory is written there first.
func (c *Code) ChunkBytes() (uint64, error) {
	return c.DiskUsage([]byte{kindChunk}, []byte{kindChunk + 1})
}

// Chunks calls yield with every chunk of a repository's partition, of which maps it is,
// and how many bytes are stored of it, before blocks of them are compressed.
func (v *View) Chunks(r RepoID, yield func(w Which, h prolly.Hash, stored int) error) error {
	chunks := viewed(v.View, r.shard())
	return v.each(chunks.Prefix, func(key, value []byte) error {
		if of, ok := chunks.Ref(key); ok && 1 <= of.Space && int(of.Space) <= len(allMaps) {
			return yield(allMaps[of.Space-1], of.Hash, len(value))
		}
		return nil
	})
}
