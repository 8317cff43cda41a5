package code

import (
	"bytes"
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
type stored struct {
	t     *store.Txn
	shard []byte
}

func (s stored) Get(h prolly.Hash) ([]byte, error) {
	value, ok, err := s.t.Get(chunkKey(s.shard, h))
	if err == nil && !ok {
		err = prolly.ErrNotFound
	}
	return value, err
}

func (s stored) Put([]prolly.Chunk) error { return errNoStore }

// viewed are the chunks of a view.
type viewed struct {
	v     *store.View
	shard []byte
}

func (s viewed) Get(h prolly.Hash) ([]byte, error) {
	var value []byte
	ok, err := s.v.Get(chunkKey(s.shard, h), func(b []byte) error {
		value = bytes.Clone(b)
		return nil
	})
	if err == nil && !ok {
		err = prolly.ErrNotFound
	}
	return value, err
}

func (s viewed) Put([]prolly.Chunk) error { return errNoStore }
