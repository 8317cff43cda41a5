// Package projections defines what all projections have in common: the contract (Projection), the
// set of projections that a node runs (Set) and their generations on disk. The projections
// themselves are in the folders below. Package store is shared by those that use Pebble; package
// projtest is the test suite that each of them passes.
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
// An implementation promises:
//
//   - Apply stores the effect of a batch and the next offset in one atomic step, so that a crash
//     leaves both or neither. A long batch may be stored in several such steps.
//   - A batch, or the part of one, that lies below Next changes nothing.
//   - The same event at a second offset of a partition changes nothing but Next.
//   - The state is a function of the records alone. It does not depend on how they are batched or
//     how the partitions interleave.
//
// State may be lost in a crash as long as Next is lost with it: the log still has the events.
//
// Apply is called by at most one goroutine per partition at a time. All other methods may be called
// at any time from any goroutine until Close.
type Projection interface {
	// Name returns the name of the kind, such as "segment".
	Name() string
	// Next returns the next offset to read of a partition, 0 if none was read.
	Next(tp schemas.TopicPartition) int64
	// Watermark returns Next for every partition seen.
	Watermark() schemas.Watermark
	// Apply applies a batch. An error of class ErrPoison names a record that can never be applied:
	// neither that record nor any after it was applied; records before it may have been, with Next
	// moved past them. ErrFatal means that the projection must be closed and opened again. Any
	// other error may be retried.
	Apply(ctx context.Context, b schemas.Batch) error
	// Dump yields the whole state as pairs of key and value, with unique keys in ascending order.
	// Equal states give equal pairs. The slices are valid only until yield returns. Dump sees one
	// state, even while batches are applied.
	Dump(ctx context.Context, yield func(key, value []byte) error) error
	// Flush makes durable what has been applied, so that the next Open need not read it again. It
	// never changes the state.
	Flush() error
	Close() error
}

// Checkpointer is a projection that saves its state from time to time on its own, so that after a
// crash the next Open reads less of the log again.
type Checkpointer interface {
	// Checkpoints turns these saves on or off. They are on at first. A rebuild turns them off,
	// because a crash discards its whole state anyway.
	Checkpoints(on bool)
}

// Definition describes a projection to a node. To add a projection, add its folder and one line to the
// node's list of kinds.
type Definition struct {
	// Name is the projection's name and its folder under the data directory.
	Name string
	// Version is the version of the stored format. State of another version is rebuilt.
	Version int
	// Params is one line with the settings that the state depends on, or "". State made with other
	// settings is rebuilt.
	Params string
	// Topics are the topics, without their prefix, whose events the projection reads; none means
	// all. The projection gets no batches of other topics and has no watermark for them.
	Topics []string
	// Open opens or creates the state in dir, which exists.
	Open func(dir string) (Projection, error)
}

// Subscribes reports whether the projection reads a topic, given with or without its prefix.
func (k Definition) Subscribes(topic string) bool {
	return len(k.Topics) == 0 || slices.Contains(k.Topics, topic[strings.LastIndexByte(topic, '.')+1:])
}

// Lowest returns, for each partition, the lowest watermark of the given projections, so everything
// below it has been applied by all of them. A projection counts only for the partitions that it
// reads or was seeded with.
func Lowest[P interface {
	Subscribes(topic string) bool
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
			if p.Subscribes(tp.Topic) || marks[i][tp] > 0 { // it reads the topic or was seeded with it
				lowest[tp] = min(lowest[tp], marks[i][tp])
			}
		}
		if lowest[tp] == 0 {
			delete(lowest, tp)
		}
	}
	return lowest
}

// NextOf returns the lowest next offset of a partition among the projections that read its topic,
// or math.MaxInt64 if none does.
func NextOf[P interface {
	Subscribes(topic string) bool
	Next(tp schemas.TopicPartition) int64
}](all []P, tp schemas.TopicPartition) int64 {
	next := int64(math.MaxInt64)
	for _, p := range all {
		if p.Subscribes(tp.Topic) {
			next = min(next, p.Next(tp))
		}
	}
	return next
}

// Root returns the hash that stands for a projection's whole state. It is computed over Dump, so
// two roots are equal if and only if the states are.
func Root(ctx context.Context, p Projection) (schemas.Hash, error) {
	c := schemas.NewCanon("recount/projection/1").String(p.Name())
	err := p.Dump(ctx, func(k, v []byte) error {
		c.Bytes(k).Bytes(v)
		return nil
	})
	return c.Sum(), err
}
