package broker

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
	"github.com/recountdb/recount/pipeline/broker/wire"
)

// beginProduce checks a produce request and queues its batches; the returned function waits until
// they are on disk and returns the response.
func (b *Broker) beginProduce(_ context.Context, r *request) (func() (kmsg.Response, error), error) {
	req := r.msg.(*kmsg.ProduceRequest)
	o := b.data.NewAppendOp()
	var all *kerr.Error
	switch {
	case req.Acks != 0 && req.Acks != 1 && req.Acks != -1:
		all = kerr.InvalidRequiredAcks
	case req.TransactionID != nil:
		all = kerr.TransactionalIDAuthorizationFailed
	}
	for i := range req.Topics {
		rt := &req.Topics[i]
		t, terr := b.data.FindTopic(rt.Topic, rt.TopicID)
		for j := range rt.Partitions {
			rp := &rt.Partitions[j]
			a := storage.Appended{}
			switch {
			case all != nil:
				a.Refuse(all, "")
			case t != nil && !mayAppend(r.rights, t.Name), t == nil && rt.Topic != "" && !mayAppend(r.rights, rt.Topic):
				a.Refuse(kerr.TopicAuthorizationFailed, "")
			case terr != nil:
				a.Refuse(terr, "")
			default:
				b.checkAppend(&a, t, rp.Partition, rp.Records, b.senderOf(r.conn))
			}
			o.Add(a, len(rp.Records))
		}
	}
	o.Submit()
	return func() (kmsg.Response, error) {
		select {
		case <-o.Finished():
		case <-b.data.Failed():
			// The outcome is unknown: the client retries, and after a restart the sequence number
			// identifies a batch that was stored nevertheless.
			return b.produceFailed(req)
		}
		return b.produceResponse(req, o)
	}, nil
}

// checkAppend checks one batch before it is queued.
func (b *Broker) checkAppend(a *storage.Appended, t *storage.Topic, num int32, records []byte, from wire.Sender) {
	if a.Partition = t.Partition(num); a.Partition == nil {
		a.Refuse(kerr.UnknownTopicOrPartition, "")
		return
	}
	if err := b.data.Full(); err != nil {
		a.Refuse(kerr.KafkaStorageError, err.Error())
		return
	}
	var e *kerr.Error
	var text string
	if a.Batch, e, text = wire.CheckBatch(from, records, b.data.MaxBatchBytes(t)); e != nil {
		a.Refuse(e, text)
	}
}

// senderOf returns the sender of what the client of c produces.
func (b *Broker) senderOf(c *conn) wire.Sender {
	if c.mem {
		return wire.Sender{}
	}
	return b.unpacking.Sender(c.host)
}

var errUnacknowledged = errors.New("a produce request without acknowledgement was refused")

func (b *Broker) produceResponse(req *kmsg.ProduceRequest, o *storage.AppendOp) (kmsg.Response, error) {
	resp := kmsg.NewPtrProduceResponse()
	resp.SetVersion(req.Version)
	resp.Topics = make([]kmsg.ProduceResponseTopic, 0, len(req.Topics))
	parts := o.Parts
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
			if a.Err != nil {
				sp.ErrorCode, sp.BaseOffset, sp.LogStartOffset = a.Err.Code, -1, -1
				if a.Text != "" {
					sp.ErrorMessage = &a.Text
				}
				if req.Acks == 0 {
					// Closing the connection is the only way to inform this client, as in Apache
					// Kafka.
					return nil, errUnacknowledged
				}
			} else {
				sp.BaseOffset, sp.LogStartOffset = a.Base, a.Start
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
	o := &storage.AppendOp{}
	for i := range req.Topics {
		for range req.Topics[i].Partitions {
			o.Parts = append(o.Parts, storage.Appended{Err: kerr.KafkaStorageError, Text: storage.ErrFailed.Error()})
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
	id, err := b.data.NextProducerID(ctx)
	if err != nil {
		resp.ErrorCode = kerr.CoordinatorNotAvailable.Code // clients retry this
		return resp, nil
	}
	resp.ProducerID, resp.ProducerEpoch = id, 0
	return resp, nil
}
