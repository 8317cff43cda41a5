package broker

import (
	"context"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// appendOp is the op of one produce request: its batches become durable together.
type appendOp struct {
	b     *Broker
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
		base, dup, e, err := a.p.append(o.b.store, w, a.batch, now)
		switch {
		case err != nil:
			o.b.log.Error("append", "partition", a.p.String(), "err", err)
			a.refuse(kerr.KafkaStorageError, err.Error())
		case e != nil:
			a.refuse(e, "")
		default:
			a.base, a.start = base, a.p.tail.start
			if !dup {
				o.b.store.commit.touch(a.p)
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

// beginProduce checks a produce request and queues its batches; the returned function waits until
// they are on disk and returns the response.
func (b *Broker) beginProduce(_ context.Context, r *request) (func() (kmsg.Response, error), error) {
	req := r.msg.(*kmsg.ProduceRequest)
	o := &appendOp{b: b, out: make(chan struct{})}
	var all *kerr.Error
	switch {
	case req.Acks != 0 && req.Acks != 1 && req.Acks != -1:
		all = kerr.InvalidRequiredAcks
	case req.TransactionID != nil:
		all = kerr.TransactionalIDAuthorizationFailed
	}
	for i := range req.Topics {
		rt := &req.Topics[i]
		t, terr := b.topics.find(rt.Topic, rt.TopicID)
		for j := range rt.Partitions {
			rp := &rt.Partitions[j]
			a := appended{}
			switch {
			case all != nil:
				a.refuse(all, "")
			case t != nil && !mayAppend(r.rights, t.name), t == nil && rt.Topic != "" && !mayAppend(r.rights, rt.Topic):
				a.refuse(kerr.TopicAuthorizationFailed, "")
			case terr != nil:
				a.refuse(terr, "")
			default:
				b.checkAppend(&a, t, rp.Partition, rp.Records, b.senderOf(r.conn))
			}
			o.bytes += len(rp.Records) + appendOverhead
			o.parts = append(o.parts, a)
		}
	}
	if err := b.store.commit.submit(o); err != nil {
		o.done(err)
	}
	return func() (kmsg.Response, error) {
		select {
		case <-o.out:
		case <-b.store.failed:
			// The outcome is unknown: the client retries, and after a restart the sequence number
			// identifies a batch that was stored nevertheless.
			return b.produceFailed(req)
		}
		return b.produceResponse(req, o)
	}, nil
}

// checkAppend checks one batch before it is queued.
func (b *Broker) checkAppend(a *appended, t *topic, num int32, records []byte, from wire.Sender) {
	if a.p = t.partition(num); a.p == nil {
		a.refuse(kerr.UnknownTopicOrPartition, "")
		return
	}
	if err := b.space.full(); err != nil {
		a.refuse(kerr.KafkaStorageError, err.Error())
		return
	}
	var e *kerr.Error
	var text string
	if a.batch, e, text = wire.CheckBatch(from, records, b.maxBatch(t)); e != nil {
		a.refuse(e, text)
	}
}

// senderOf returns the sender of what the client of c produces.
func (b *Broker) senderOf(c *conn) wire.Sender {
	if c.mem {
		return wire.Sender{}
	}
	return b.unpacking.Sender(c.host)
}

var errUnacknowledged = errors.New("a produce that wants no answer was refused")

func (b *Broker) produceResponse(req *kmsg.ProduceRequest, o *appendOp) (kmsg.Response, error) {
	resp := kmsg.NewPtrProduceResponse()
	resp.SetVersion(req.Version)
	resp.Topics = make([]kmsg.ProduceResponseTopic, 0, len(req.Topics))
	parts := o.parts
	for i := range req.Topics {
		rt := &req.Topics[i]
		st := kmsg.NewProduceResponseTopic()
		st.Topic, st.TopicID = rt.Topic, rt.TopicID
		st.Partitions = make([]kmsg.ProduceResponseTopicPartition, 0, len(rt.Partitions))
		for j := range rt.Partitions {
			a := &parts[0]
			parts = parts[1:]
			sp := kmsg.NewProduceResponseTopicPartition()
			sp.Partition = rt.Partitions[j].Partition
			sp.LogAppendTime = -1
			if a.err != nil {
				sp.ErrorCode, sp.BaseOffset, sp.LogStartOffset = a.err.Code, -1, -1
				if a.text != "" {
					sp.ErrorMessage = &a.text
				}
				if req.Acks == 0 {
					// Closing the connection is the only way to inform this client, as in Apache
					// Kafka.
					return nil, errUnacknowledged
				}
			} else {
				sp.BaseOffset, sp.LogStartOffset = a.base, a.start
			}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
	}
	if req.Acks == 0 {
		return nil, nil
	}
	return resp, nil
}

func (b *Broker) produceFailed(req *kmsg.ProduceRequest) (kmsg.Response, error) {
	o := &appendOp{}
	for i := range req.Topics {
		for range req.Topics[i].Partitions {
			o.parts = append(o.parts, appended{err: kerr.KafkaStorageError, text: errStoreFailed.Error()})
		}
	}
	return b.produceResponse(req, o)
}

// serveInitProducerID assigns a producer an id for idempotence. It refuses transactions with an
// error that no client retries.
func (b *Broker) serveInitProducerID(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.InitProducerIDRequest)
	resp := kmsg.NewPtrInitProducerIDResponse()
	resp.SetVersion(req.Version)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	if req.TransactionalID != nil {
		resp.ErrorCode = kerr.TransactionalIDAuthorizationFailed.Code
		return resp, nil
	}
	id, err := b.nextProducerID(ctx)
	if err != nil {
		resp.ErrorCode = kerr.CoordinatorNotAvailable.Code // clients retry this
		return resp, nil
	}
	resp.ProducerID, resp.ProducerEpoch = id, 0
	return resp, nil
}

// nextProducerID returns a producer id that was never assigned before.
func (b *Broker) nextProducerID(ctx context.Context) (int64, error) {
	id := make(chan int64, 1)
	err := b.store.update(ctx, func(w *pebble.Batch) error {
		b.store.lastProducer++
		id <- int64(b.store.lastProducer)
		return w.Set(metaNextProducer, encodeUint64(b.store.lastProducer), nil)
	}, nil)
	if err != nil {
		return -1, err
	}
	return <-id, nil
}
