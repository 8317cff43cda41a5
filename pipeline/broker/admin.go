package broker

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
)

func (b *Broker) serveCreateTopics(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.CreateTopicsRequest)
	resp := kmsg.NewPtrCreateTopicsResponse()
	resp.SetVersion(req.Version)
	asked := map[string]int{}
	for _, rt := range req.Topics {
		asked[rt.Topic]++
	}
	for i := range req.Topics {
		rt := &req.Topics[i]
		st := kmsg.NewCreateTopicsResponseTopic()
		st.Topic = rt.Topic
		var t *storage.Topic
		var refused *storage.Refusal
		if asked[rt.Topic] > 1 {
			refused = storage.Refuse(kerr.InvalidRequest, "topic %q is in the request %d times", rt.Topic, asked[rt.Topic])
		} else {
			t, refused = b.createAsked(ctx, rt, req.ValidateOnly)
		}
		if refused != nil {
			st.ErrorCode, st.ErrorMessage = refused.Code.Code, &refused.Text
			st.NumPartitions, st.ReplicationFactor = -1, -1
		} else {
			st.TopicID, st.NumPartitions, st.ReplicationFactor = t.ID, t.Count(), 1
			for _, c := range b.describeTopicConfigs(t) {
				sc := kmsg.NewCreateTopicsResponseTopicConfig()
				sc.Name, sc.Value, sc.Source = c.Name, c.Value, int8(c.Source)
				st.Configs = append(st.Configs, sc)
			}
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp, nil
}

func (b *Broker) createAsked(ctx context.Context, rt *kmsg.CreateTopicsRequestTopic, dry bool) (*storage.Topic, *storage.Refusal) {
	partitions := rt.NumPartitions
	if len(rt.ReplicaAssignment) > 0 {
		if partitions != -1 {
			return nil, storage.Refuse(kerr.InvalidRequest, "both a partition count and an assignment")
		}
		seen := map[int32]bool{}
		for _, a := range rt.ReplicaAssignment {
			if len(a.Replicas) != 1 || a.Replicas[0] != nodeID || a.Partition < 0 || int(a.Partition) >= len(rt.ReplicaAssignment) || seen[a.Partition] {
				return nil, storage.Refuse(kerr.InvalidReplicaAssignment, "every partition has one replica, on broker %d", nodeID)
			}
			seen[a.Partition] = true
		}
		partitions = int32(len(rt.ReplicaAssignment))
	} else if rt.ReplicationFactor != 1 && rt.ReplicationFactor != -1 {
		return nil, storage.Refuse(kerr.InvalidReplicationFactor, "replication factor %d, and there is one broker", rt.ReplicationFactor)
	}
	configs := map[string]string{}
	for _, c := range rt.Configs {
		if c.Value == nil {
			return nil, storage.Refuse(kerr.InvalidConfig, "topic config %q has no value", c.Name)
		}
		configs[c.Name] = *c.Value
	}
	return b.data.CreateTopic(ctx, rt.Topic, partitions, configs, dry)
}

func (b *Broker) serveDeleteTopics(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.DeleteTopicsRequest)
	resp := kmsg.NewPtrDeleteTopicsResponse()
	resp.SetVersion(req.Version)
	for _, rt := range namedTopics(req) {
		st := kmsg.NewDeleteTopicsResponseTopic()
		st.Topic, st.TopicID = rt.Topic, rt.TopicID
		var name string
		if rt.Topic != nil {
			name = *rt.Topic
		}
		if t, err := b.data.FindTopic(name, rt.TopicID); err != nil {
			st.ErrorCode = err.Code
		} else {
			st.Topic, st.TopicID = kmsg.StringPtr(t.Name), t.ID
			if refused := b.data.DeleteTopic(ctx, t); refused != nil {
				st.ErrorCode, st.ErrorMessage = refused.Code.Code, &refused.Text
			}
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp, nil
}

// namedTopics returns the topics that a request names, in the form of any version.
func namedTopics(req *kmsg.DeleteTopicsRequest) []kmsg.DeleteTopicsRequestTopic {
	asked := req.Topics
	for _, name := range req.TopicNames {
		asked = append(asked, kmsg.DeleteTopicsRequestTopic{Topic: kmsg.StringPtr(name)})
	}
	return asked
}

func (b *Broker) serveCreatePartitions(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.CreatePartitionsRequest)
	resp := kmsg.NewPtrCreatePartitionsResponse()
	resp.SetVersion(req.Version)
	for _, rt := range req.Topics {
		st := kmsg.NewCreatePartitionsResponseTopic()
		st.Topic = rt.Topic
		var refused *storage.Refusal
		if !r.conn.mem && slices.Contains(b.opts.FixedPartitions, rt.Topic) {
			refused = storage.Refuse(kerr.PolicyViolation, "topic %q is Recount's own: add partitions with `recount log partitions`, which records where its keys are", rt.Topic)
		} else {
			refused = b.data.GrowTopic(ctx, rt.Topic, rt.Count, len(rt.Assignment), req.ValidateOnly)
		}
		if refused != nil {
			st.ErrorCode, st.ErrorMessage = refused.Code.Code, &refused.Text
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp, nil
}

func (b *Broker) serveDeleteRecords(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.DeleteRecordsRequest)
	resp := kmsg.NewPtrDeleteRecordsResponse()
	resp.SetVersion(req.Version)
	for _, rt := range req.Topics {
		st := kmsg.NewDeleteRecordsResponseTopic()
		st.Topic = rt.Topic
		t := b.data.Topic(rt.Topic)
		for _, rp := range rt.Partitions {
			sp := kmsg.NewDeleteRecordsResponseTopicPartition()
			sp.Partition, sp.LowWatermark = rp.Partition, -1
			var p *storage.Partition
			if t != nil {
				p = t.Partition(rp.Partition)
			}
			if p == nil {
				sp.ErrorCode = kerr.UnknownTopicOrPartition.Code
			} else if start, err := b.data.DeleteRecords(ctx, p, rp.Offset); err != nil {
				sp.ErrorCode = err.Code.Code
			} else {
				sp.LowWatermark = start
			}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp, nil
}

// addLogAPIs registers the APIs of the log itself.
func (b *Broker) addLogAPIs(t map[int16]api) {
	for key, h := range map[kmsg.Key]api{
		kmsg.Produce:                 {min: 3, max: 13, begin: b.beginProduce, large: true},
		kmsg.Fetch:                   {min: 4, max: 17, serve: b.serveFetch},
		kmsg.ListOffsets:             {min: 1, max: 8, serve: b.serveListOffsets},
		kmsg.Metadata:                {min: 0, max: 13, serve: b.serveMetadata},
		kmsg.DescribeCluster:         {min: 0, max: 1, serve: b.serveDescribeCluster},
		kmsg.InitProducerID:          {min: 0, max: 4, serve: b.serveInitProducerID},
		kmsg.OffsetForLeaderEpoch:    {min: 0, max: 4, serve: b.serveOffsetForLeaderEpoch},
		kmsg.CreateTopics:            {min: 0, max: 7, serve: b.serveCreateTopics},
		kmsg.DeleteTopics:            {min: 0, max: 6, serve: b.serveDeleteTopics},
		kmsg.CreatePartitions:        {min: 0, max: 3, serve: b.serveCreatePartitions},
		kmsg.DeleteRecords:           {min: 0, max: 2, serve: b.serveDeleteRecords},
		kmsg.DescribeLogDirs:         {min: 0, max: 4, serve: b.serveDescribeLogDirs},
		kmsg.DescribeConfigs:         {min: 0, max: 4, serve: b.serveDescribeConfigs},
		kmsg.AlterConfigs:            {min: 0, max: 2, serve: b.serveAlterConfigs},
		kmsg.IncrementalAlterConfigs: {min: 0, max: 1, serve: b.serveIncrementalAlterConfigs},
	} {
		t[key.Int16()] = h
	}
}
