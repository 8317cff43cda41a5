package storage

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// AppendOp appends the batches of one produce request, which become durable together or not at all.
type AppendOp struct {
	l     *Log
	Parts []Appended
	bytes int
	out   chan struct{} // closed when durable or refused
}

// Appended is the part of an AppendOp for one partition: its batch, and then where it was appended or
// why it was refused.
type Appended struct {
	Partition *Partition
	Batch     wire.Batch

	Err   *kerr.Error // nil if not refused
	Text  string      // explains Err to people, if that needs it
	Base  int64       // offset of the first record
	Start int64       // first offset of the log that can be read
}

// appendOverhead is roughly what a batch adds to the commit besides its own bytes: its key, its
// producer's window, the partition's state.
const appendOverhead = 300

// Refuse sets the error, and a text for people.
func (a *Appended) Refuse(e *kerr.Error, text string) { a.Err, a.Text = e, text }

func (o *AppendOp) size() int { return o.bytes }

func (o *AppendOp) build(w *pebble.Batch) error {
	now := time.Now()
	for i := range o.Parts {
		a := &o.Parts[i]
		if a.Err != nil {
			continue
		}
		if a.Partition.topic.deleted {
			a.Refuse(kerr.UnknownTopicOrPartition, "the topic has been deleted")
			continue
		}
		base, dup, e, err := a.Partition.append(o.l.store, w, a.Batch, now)
		switch {
		case err != nil:
			o.l.log.Error("append", "partition", a.Partition.String(), "err", err)
			a.Refuse(kerr.KafkaStorageError, err.Error())
		case e != nil:
			a.Refuse(e, "")
		default:
			a.Base, a.Start = base, a.Partition.tail.Start
			if !dup {
				o.l.store.commit.touch(a.Partition)
			}
		}
	}
	return nil
}

func (o *AppendOp) done(err error) {
	if err != nil {
		for i := range o.Parts {
			o.Parts[i].Refuse(kerr.KafkaStorageError, err.Error())
		}
	}
	close(o.out)
}

// NewAppendOp returns an op without batches.
func (l *Log) NewAppendOp() *AppendOp { return &AppendOp{l: l, out: make(chan struct{})} }

// Add adds a part, of a batch of some size.
func (o *AppendOp) Add(a Appended, size int) {
	o.bytes += size + appendOverhead
	o.Parts = append(o.Parts, a)
}

// Submit queues the op. It blocks while too much is queued.
func (o *AppendOp) Submit() {
	if err := o.l.store.commit.submit(o); err != nil {
		o.done(err)
	}
}

// Finished is closed when the batches are on disk or refused. It may stay open if the store fails.
func (o *AppendOp) Finished() <-chan struct{} { return o.out }

// NextProducerID returns a producer id that was never assigned before.
func (l *Log) NextProducerID(ctx context.Context) (int64, error) {
	id := make(chan int64, 1)
	err := l.store.update(ctx, func(w *pebble.Batch) error {
		l.store.lastProducer++
		id <- int64(l.store.lastProducer)
		return w.Set(metaNextProducer, encodeUint64(l.store.lastProducer), nil)
	}, nil)
	if err != nil {
		return -1, err
	}
	return <-id, nil
}
