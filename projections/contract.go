// Package projections holds what every projection has in common: the contract,
// the set of projections that a node keeps and their generations on disk. The
// projections themselves are in the folders below; those in Pebble share package
// store; the suite that each of them passes is projtest.
package projections

import (
	"context"

	"github.com/recountdb/recount/schemas"
)

// Projection is state folded from the log.
//
// What an implementation promises: Apply stores the effect of a batch and the
// next offset in one atomic step, so that a crash leaves either both or neither;
// a batch, or a part of one, that lies below Next changes nothing; the same
// event at a second offset of a partition changes nothing but Next; the state is
// a function of the records alone, however they are batched and however the
// partitions interleave. State may be lost in a crash as long as Next is lost
// with it: the log still has the events.
//
// Apply is called from one goroutine per partition at most; everything else may
// be called at any time from any goroutine until Close.
type Projection interface {
	// Name is the kind's name: "segment".
	Name() string
	// Next is the next offset to read of a partition, 0 if it never was read.
	Next(tp schemas.TopicPartition) int64
	// Watermark is Next for every partition seen.
	Watermark() schemas.Watermark
	// Apply folds a batch in. An error of class ErrPoison names a record that can
	// never be applied (nothing of the batch was applied); ErrFatal means that
	// the projection must be opened anew; any other error may be retried.
	Apply(ctx context.Context, b schemas.Batch) error
	// Dump yields the whole state as pairs of key and value, keys in ascending
	// order and unique, equal for equal states. The slices are only good until
	// yield returns. It sees one state, also while batches are applied.
	Dump(ctx context.Context, yield func(key, value []byte) error) error
	// Flush makes what has been applied durable, so that the next Open need not
	// read it again. It never changes the state.
	Flush() error
	Close() error
}

// Kind is how a node knows a projection: adding one is one folder and one line
// where the node lists its kinds.
type Kind struct {
	// Name is the projection's name and its folder under the data directory.
	Name string
	// Version of what it stores. State of another version is rebuilt.
	Version int
	// Params are the settings that the state depends on, in one line, or empty. State
	// made with others is rebuilt.
	Params string
	// Open opens or creates the state in dir, which exists.
	Open func(dir string) (Projection, error)
}

// Root is the hash that stands for a projection's whole state: over Dump, and so
// equal if and only if the state is.
func Root(ctx context.Context, p Projection) (schemas.Hash, error) {
	c := schemas.NewCanon("recount/projection/1").String(p.Name())
	err := p.Dump(ctx, func(k, v []byte) error {
		c.Bytes(k).Bytes(v)
		return nil
	})
	return c.Sum(), err
}
