package broker

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
)

// The timestamps with a special meaning.
const (
	offsetLatest        = -1
	offsetEarliest      = -2
	offsetMaxTimestamp  = -3
	offsetEarliestLocal = -4
)

func (b *Broker) serveListOffsets(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.ListOffsetsRequest)
	resp := kmsg.NewPtrListOffsetsResponse()
	resp.SetVersion(req.Version)
	for _, rt := range req.Topics {
		st := kmsg.NewListOffsetsResponseTopic()
		st.Topic = rt.Topic
		t := b.data.Topic(rt.Topic)
		for _, rp := range rt.Partitions {
			sp := kmsg.NewListOffsetsResponseTopicPartition()
			sp.Partition, sp.Offset, sp.Timestamp, sp.LeaderEpoch = rp.Partition, -1, -1, -1
			var p *storage.Partition
			if t != nil {
				p = t.Partition(rp.Partition)
			}
			if p == nil {
				sp.ErrorCode = kerr.UnknownTopicOrPartition.Code
			} else {
				b.listOffset(&sp, p, rp)
			}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp, nil
}

func (b *Broker) listOffset(sp *kmsg.ListOffsetsResponseTopicPartition, p *storage.Partition, rp kmsg.ListOffsetsRequestTopicPartition) {
	view := p.View()
	if err := storage.CheckEpoch(rp.CurrentLeaderEpoch); err != nil {
		sp.ErrorCode = err.Code
		return
	}
	sp.LeaderEpoch = storage.LeaderEpoch
	var err error
	switch ts := rp.Timestamp; {
	case ts == offsetLatest:
		sp.Offset = view.End
	case ts == offsetEarliest, ts == offsetEarliestLocal:
		sp.Offset = view.Start
	case ts == offsetMaxTimestamp:
		if view.MaxTimeLast >= view.Start {
			sp.Offset, sp.Timestamp, err = b.data.FirstAt(p, view.MaxTimeLast, view, view.MaxTime)
		}
	case ts < 0:
		// These ask about tiered storage, which does not exist here.
		sp.ErrorCode = kerr.UnsupportedVersion.Code
	default:
		sp.Offset, sp.Timestamp, err = b.data.OffsetAt(p, ts, view)
	}
	if err != nil {
		b.log.Error("list offsets", "partition", p.String(), "err", err)
		sp.Offset, sp.Timestamp, sp.ErrorCode = -1, -1, kerr.KafkaStorageError.Code
	}
}
