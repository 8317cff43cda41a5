// Package projections holds what every projection has in common: the contract,
// the set of projections that a node keeps and their generations on disk. The
// projections themselves are in the folders below; those in Pebble share package
// store; the suite that each of them passes is projtest.
package projections

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// Projection is state folded from the log.
//
// What an implementation promises: Apply stores the effect of a batch and the
// next offset in one atomic step, so that a crash leaves either both or neither
// (a long batch may be stored in several such steps);
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
	// never be applied (nothing from it onwards was applied; of what comes before it in
	// the batch some may have been, with Next moved over it); ErrFatal means that
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

// Checkpointer is a projection that saves its state now and then without being asked,
// so that a crash makes the next Open read less of the log again.
type Checkpointer interface {
	// Checkpoints turns that off, where a crash throws all of the state away, and on
	// again. It is on at first.
	Checkpoints(on bool)
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
	// Topics are those whose events concern it, without their prefix; none means all.
	// It is not given batches of others, and has no watermark for them.
	Topics []string
	// Open opens or creates the state in dir, which exists.
	Open func(dir string) (Projection, error)
}

// Takes reports whether a topic, with or without its prefix, concerns the
// projection.
func (k Kind) Takes(topic string) bool {
	return len(k.Topics) == 0 || slices.Contains(k.Topics, topic[strings.LastIndexByte(topic, '.')+1:])
}

// Lowest is what all of several projections have applied, each of what concerns
// it or what it was seeded with.
func Lowest[P interface {
	Takes(topic string) bool
	Watermark() schemas.Watermark
}](all []P) schemas.Watermark {
	lowest := schemas.Watermark{}
	marks := make([]schemas.Watermark, len(all))
	for i, p := range all {
		marks[i] = p.Watermark()
		for tp := range marks[i] {
			lowest[tp] = math.MaxInt64
		}
	}
	for tp := range lowest {
		for i, p := range all {
			if p.Takes(tp.Topic) || marks[i][tp] > 0 { // it was seeded with it
				lowest[tp] = min(lowest[tp], marks[i][tp])
			}
		}
		if lowest[tp] == 0 {
			delete(lowest, tp)
		}
	}
	return lowest
}

// NextOf is the lowest next offset of those that a partition concerns, and the
// end of time where it concerns none.
func NextOf[P interface {
	Takes(topic string) bool
	Next(tp schemas.TopicPartition) int64
}](all []P, tp schemas.TopicPartition) int64 {
	next := int64(math.MaxInt64)
	for _, p := range all {
		if p.Takes(tp.Topic) {
			next = min(next, p.Next(tp))
		}
	}
	return next
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
