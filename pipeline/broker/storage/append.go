package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Append appends records to a partition, without a connection or a client, and returns the offset
// of the first when they are on disk. The others have the following offsets, and readers see all of
// them or none. The checks, limits, group commit and guarantees are those of a produce. Concurrent
// calls share fsyncs, and those for one partition share a record batch. Append is not idempotent:
// after an error the records may or may not be stored, and a caller that tries again must accept
// both.
//
// Its errors wrap Kafka's (kerr); kerr.IsRetriable reports whether trying again may help.
func (l *Log) Append(ctx context.Context, topic string, partition int32, records ...wire.Record) (int64, error) {
	base, err := l.append(ctx, topic, partition, records)
	if err != nil {
		return 0, fmt.Errorf("append to %s/%d: %w", topic, partition, err)
	}
	return base, nil
}

func (l *Log) append(ctx context.Context, topic string, partition int32, records []wire.Record) (int64, error) {
	o, err := l.beginAppend(topic, partition, records)
	if err != nil {
		return 0, err
	}
	select {
	case <-o.out:
	case <-l.store.failed:
		return 0, ErrFailed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	base, err := o.base, o.err
	// If the store has failed, the committer may still be reading the op.
	if l.store.failure() == nil {
		o.release()
	}
	return base, err
}

// beginAppend checks records and queues them; o.out signals when they are on disk.
func (l *Log) beginAppend(topic string, partition int32, records []wire.Record) (*ownAppend, error) {
	if len(records) == 0 {
		return nil, errors.New("no records")
	}
	t, e := l.topics.find(topic, [16]byte{})
	if e != nil {
		return nil, e
	}
	p := t.Partition(partition)
	if p == nil {
		return nil, kerr.UnknownTopicOrPartition
	}
	if err := l.space.full(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, kerr.KafkaStorageError)
	}
	o := l.store.commit.own.take(p, l.MaxBatchBytes(t))
	o.batch = wire.EncodeUnsealed(o.batch, records)
	if len(o.batch) > o.most {
		o.release()
		return nil, fmt.Errorf("the batch is larger than max.message.bytes: %w", kerr.MessageTooLarge)
	}
	if o.sealed = len(o.batch) > mergedBytes/2; o.sealed {
		o.batch.Seal()
	}
	if err := l.store.commit.submit(o); err != nil {
		return nil, err
	}
	return o, nil
}
