package code

import (
	"bytes"
	"errors"

	"github.com/recountdb/recount/projections/prolly"
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

// pass is Maps for one goroutine that reads all of a map: one iterator finds the
// chunks, which in the order of the keys lie side by side. For a few of them it gains
// nothing. The caller closes it.
func (v *View) pass(r RepoID, w Which) (db *prolly.DB, close func(), err error) {
	prefix := append(chunkPrefix(r.shard()), w.space())
	it, err := v.Iter(prefix, store.PrefixEnd(prefix))
	if err != nil {
		return nil, nil, err
	}
	find := func(key []byte, use func([]byte) error) (bool, error) {
		if !it.SeekGE(key) || !bytes.Equal(it.Key(), key) {
			return false, v.Explain(it.Error())
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return false, v.Explain(err)
		}
		return true, use(value)
	}
	db = v.c.maps.On(&prolly.Keyed{Prefix: chunkPrefix(r.shard()), Find: find}).In(w.space())
	return db, func() { _ = it.Close() }, nil // what failed, find said
}

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
