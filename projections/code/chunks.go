package code

import (
	"bytes"
	"errors"

	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/projections/store"
)

// noChunks is the store of the DB that owns the shared cache. It is never used: every read goes
// through prolly.DB.On with a transaction or a view.
type noChunks struct{}

var errNoStore = errors.New("no store")

func (noChunks) Get(prolly.Ref) ([]byte, error) { return nil, errNoStore }
func (noChunks) Put([]prolly.Chunk) error       { return errNoStore }

// stored returns the chunk store of a transaction: it reads the chunks of earlier batches and
// writes its own.
func stored(t *store.Txn) *prolly.Keyed {
	return &prolly.Keyed{Prefix: chunkPrefix(t.Shard()), Find: func(key []byte, use func([]byte) error) (bool, error) {
		value, ok, err := t.Get(key)
		if err == nil && ok {
			err = use(value)
		}
		return ok, err
	}, Set: t.Set}
}

// viewed returns the chunks of a view.
func viewed(v *store.View, shard []byte) *prolly.Keyed {
	return &prolly.Keyed{Prefix: chunkPrefix(shard), Find: v.Get}
}

// Maps returns the maps of one sort in a repository's partition.
func (v *View) Maps(r RepoID, w Which) *prolly.DB { return v.chunks(r).In(w.space()) }

func (v *View) chunks(r RepoID) *prolly.DB { return v.c.maps.On(viewed(v.View, r.shard())) }

// pass is like Maps, for one goroutine that reads a whole map: it finds the chunks with a single
// iterator, since they are adjacent in key order. For a few chunks it gains nothing. The caller
// must call close.
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
	return db, func() { _ = it.Close() }, nil // errors were returned by find
}

// ChunkBytes returns approximately how many bytes the chunks of all partitions take on disk. It
// flushes memory to disk first.
func (c *Code) ChunkBytes() (uint64, error) {
	return c.DiskUsage([]byte{kindChunk}, []byte{kindChunk + 1})
}

// Chunks calls yield with every chunk of a repository's partition: the map it belongs to, its hash,
// and its stored size in bytes before blocks of chunks are compressed.
func (v *View) Chunks(r RepoID, yield func(w Which, h prolly.Hash, stored int) error) error {
	chunks := viewed(v.View, r.shard())
	return v.each(chunks.Prefix, func(key, value []byte) error {
		if of, ok := chunks.Ref(key); ok && 1 <= of.Space && int(of.Space) <= len(allMaps) {
			return yield(allMaps[of.Space-1], of.Hash, len(value))
		}
		return nil
	})
}
