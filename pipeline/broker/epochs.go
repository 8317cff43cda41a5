package broker

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
)

// serveOffsetForLeaderEpoch returns the end of an epoch, by which a client finds out whether the
// log was truncated after what it has read. This broker never truncates.
func (b *Broker) serveOffsetForLeaderEpoch(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.OffsetForLeaderEpochRequest)
	resp := kmsg.NewPtrOffsetForLeaderEpochResponse()
	resp.SetVersion(req.Version)
	for _, rt := range req.Topics {
		st := kmsg.NewOffsetForLeaderEpochResponseTopic()
		st.Topic = rt.Topic
		t := b.data.Topic(rt.Topic)
		for _, rp := range rt.Partitions {
			sp := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			sp.Partition, sp.LeaderEpoch, sp.EndOffset = rp.Partition, -1, -1
			var p *storage.Partition
			if t != nil {
				p = t.Partition(rp.Partition)
			}
			if p == nil {
				sp.ErrorCode = kerr.UnknownTopicOrPartition.Code
			} else if err := storage.CheckEpoch(rp.CurrentLeaderEpoch); err != nil {
				sp.ErrorCode = err.Code
			} else if rp.LeaderEpoch == storage.LeaderEpoch {
				sp.LeaderEpoch, sp.EndOffset = storage.LeaderEpoch, p.View().End
			}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp, nil
}
