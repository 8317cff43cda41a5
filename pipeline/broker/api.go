package broker

import (
	"context"

	"github.com/recountdb/recount/pipeline/broker/storage"
	"github.com/recountdb/recount/pipeline/broker/wire"
)

// The log itself, without a connection or a client.

// Record is one record to append.
type Record = wire.Record

// Header is one header of a record.
type Header = wire.Header

var (
	// ErrLocked reports that another process, or another Broker of this one, has the directory
	// open. Stop it, or use another directory.
	ErrLocked = storage.ErrLocked

	// ErrNewerFormat reports that a newer version of the program wrote the directory. Use that
	// version.
	ErrNewerFormat = storage.ErrNewerFormat

	// ErrLoss reports that acknowledged records are missing, because a file was damaged, removed or
	// replaced. A *LossError in the chain names them. Restore the directory from a copy, or open it
	// with Options.AcceptLoss to continue without them.
	ErrLoss = storage.ErrLoss

	// ErrDamaged reports that the stored data is inconsistent. Restore it from a copy.
	ErrDamaged = storage.ErrDamaged
)

// LossError lists what was acknowledged and is missing now.
type LossError = storage.LossError

// LostRange is the records of a partition from offset From to before To.
type LostRange = storage.LostRange

// Damage is a place in the log that differs from what was written.
type Damage = storage.Damage

// Gap is a range of offsets, From to before To, whose records were lost and given up by AcceptLoss.
// Some Kafka clients do not report batches without records to their users, so a program that
// follows the log to its end needs gaps to move past them.
type Gap = storage.Gap

// Rewriting names the records of a partition to replace.
type Rewriting = storage.Rewriting

// Rewritten is the result of a rewrite.
type Rewritten = storage.Rewritten

// Append appends records to a partition, without a connection or a client, and returns the offset
// of the first when they are on disk. The others have the following offsets, and readers see all of
// them or none. The checks, limits, group commit and guarantees are those of a produce. Concurrent
// calls share fsyncs, and those for one partition share a record batch. Append is not idempotent:
// after an error the records may or may not be stored, and a caller that tries again must accept
// both.
//
// Its errors wrap Kafka's (kerr); kerr.IsRetriable reports whether trying again may help.
func (b *Broker) Append(ctx context.Context, topic string, partition int32, records ...Record) (int64, error) {
	return b.data.Append(ctx, topic, partition, records...)
}

// Rewrite replaces records, and returns once their old bytes are in no file of the directory any
// more. Reads and produces continue meanwhile; a fetch that began earlier may still return the old
// records. If the context or the process ends after records were replaced, the next opening or the
// next call does the rest.
func (b *Broker) Rewrite(ctx context.Context, all ...Rewriting) (done Rewritten, err error) {
	return b.data.Rewrite(ctx, all...)
}

// Check reads every batch of the log and reports damage: wrong checksums, holes between batches,
// ends that are not where they should be, files that cannot be read. It may run concurrently with
// everything else, at the speed of the disk. The error is about the check, not the log.
func (b *Broker) Check(ctx context.Context) ([]Damage, error) {
	return b.data.Check(ctx)
}

// Checkpoint puts a copy of the log at one moment into dir, which must not exist, and calls use,
// during which nothing in dir changes. The copy holds everything that was acknowledged before the
// call, and opens like the log itself. Tables, blob files and segment files are hard links if the
// file system supports them, so that the copy takes little time and space; use must not write to
// them, and dir should be removed when it returns. Appends continue meanwhile; Rewrite waits.
//
// The order of copying makes the copy consistent. The high-water file comes first: it may be behind
// the store but never ahead. The store is then Pebble's own checkpoint. Segment files are last:
// what the store refers to in them was synced before, and they only grow.
func (b *Broker) Checkpoint(ctx context.Context, dir string, use func() error) error {
	return b.data.Checkpoint(ctx, dir, use)
}

// Opening returns the id of this opening of the log, which applies to whatever is appended from now
// on.
func (b *Broker) Opening() string {
	return b.data.Opening()
}

// OpeningAt returns the id of the opening that appended the record at an offset, "" if that was
// before ids were introduced. ok is false if the log does not have the offset, or if its record was
// lost and given up by AcceptLoss.
func (b *Broker) OpeningAt(topic string, partition int32, offset int64) (id string, ok bool, err error) {
	return b.data.OpeningAt(topic, partition, offset)
}

// Gaps returns all gaps of the log. They never change while it is open.
func (b *Broker) Gaps() ([]Gap, error) {
	return b.data.Gaps()
}

// End returns the next offset of a partition; 0 if it does not exist.
func (b *Broker) End(topic string, partition int32) int64 {
	return b.data.End(topic, partition)
}

// TopicBytes estimates the size of a topic's readable batches from the average size of all batches
// it ever had; 0 if there is no such topic.
func (b *Broker) TopicBytes(name string) (total int64) {
	return b.data.TopicBytes(name)
}

// Full returns why produces are refused for lack of disk space, or nil. This may change before the
// next produce.
func (b *Broker) Full() error {
	return b.data.Full()
}
