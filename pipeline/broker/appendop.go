package broker

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// appendOp is the op of one produce request: its batches become durable together.
type appendOp struct {
	l     *Log
	parts []appended
	bytes int
	out   chan struct{} // closed when durable or refused
}

// appended is one partition's part of a produce.
type appended struct {
	p     *partition
	batch wire.Batch

	err   *kerr.Error // set if refused
	text  string
	base  int64
	start int64
}

// appendOverhead is roughly what a batch adds to the commit besides its own bytes: its key, its
// producer's window, the partition's state.
const appendOverhead = 300

func (a *appended) refuse(e *kerr.Error, text string) { a.err, a.text = e, text }

func (o *appendOp) size() int { return o.bytes }

func (o *appendOp) build(w *pebble.Batch) error {
	now := time.Now()
	for i := range o.parts {
		a := &o.parts[i]
		if a.err != nil {
			continue
		}
		if a.p.topic.deleted {
			a.refuse(kerr.UnknownTopicOrPartition, "the topic has been deleted")
			continue
		}
		base, dup, e, err := a.p.append(o.l.store, w, a.batch, now)
		switch {
		case err != nil:
			o.l.log.Error("append", "partition", a.p.String(), "err", err)
			a.refuse(kerr.KafkaStorageError, err.Error())
		case e != nil:
			a.refuse(e, "")
		default:
			a.base, a.start = base, a.p.tail.start
			if !dup {
				o.l.store.commit.touch(a.p)
			}
		}
	}
	return nil
}

func (o *appendOp) done(err error) {
	if err != nil {
		for i := range o.parts {
			o.parts[i].refuse(kerr.KafkaStorageError, err.Error())
		}
	}
	close(o.out)
}

// newAppendOp returns an op without batches.
func (l *Log) newAppendOp() *appendOp { return &appendOp{l: l, out: make(chan struct{})} }

// add adds a part, of a batch of some size.
func (o *appendOp) add(a appended, size int) {
	o.bytes += size + appendOverhead
	o.parts = append(o.parts, a)
}

// submit queues the op. It blocks while too much is queued.
func (o *appendOp) submit() {
	if err := o.l.store.commit.submit(o); err != nil {
		o.done(err)
	}
}

// finished is closed when the batches are on disk or refused. It may stay open if the store fails.
func (o *appendOp) finished() <-chan struct{} { return o.out }

// nextProducerID returns a producer id that was never assigned before.
func (l *Log) nextProducerID(ctx context.Context) (int64, error) {
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
