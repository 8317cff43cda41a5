package broker

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
)

// unknownOperations is Kafka's answer if a request did not ask what the client may do.
const unknownOperations = -1 << 31

func (b *Broker) serveMetadata(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.MetadataRequest)
	resp := kmsg.NewPtrMetadataResponse()
	resp.SetVersion(req.Version)
	host, port := b.advertised(r.conn)
	broker := kmsg.NewMetadataResponseBroker()
	broker.NodeID, broker.Host, broker.Port = nodeID, host, port
	resp.Brokers = append(resp.Brokers, broker)
	resp.ClusterID = kmsg.StringPtr(b.data.ClusterID())
	resp.ControllerID = nodeID

	// Null, or an empty list in version 0, means all topics.
	if req.Topics == nil || req.Version == 0 && len(req.Topics) == 0 {
		for _, t := range b.data.Topics() {
			if mayAppend(r.rights, t.Name) {
				resp.Topics = append(resp.Topics, describeTopic(t))
			}
		}
		return resp, nil
	}
	create := b.opts.AutoCreateTopics && (req.Version < 4 || req.AllowAutoTopicCreation)
	for _, rt := range req.Topics {
		resp.Topics = append(resp.Topics, b.topicMetadata(ctx, rt, create, r.rights))
	}
	return resp, nil
}

func (b *Broker) topicMetadata(ctx context.Context, rt kmsg.MetadataRequestTopic, create bool, rights *Rights) kmsg.MetadataResponseTopic {
	var name string
	if rt.Topic != nil {
		name = *rt.Topic
	}
	t, err := b.data.FindTopic(name, rt.TopicID)
	switch {
	case t != nil && !mayAppend(rights, t.Name), t == nil && rt.Topic != nil && !mayAppend(rights, name):
		t, err = nil, kerr.TopicAuthorizationFailed
	case t == nil && create && rt.Topic != nil:
		var refused *storage.Refusal
		t, refused = b.data.CreateTopic(ctx, name, -1, nil, false)
		if refused != nil {
			err = refused.Code
			if err == kerr.TopicAlreadyExists { // another client has just created it
				t = b.data.Topic(name)
				err = kerr.LeaderNotAvailable
			}
		}
	}
	if t != nil {
		return describeTopic(t)
	}
	if err != kerr.TopicAuthorizationFailed && rt.Topic != nil && !storage.ValidTopicName(name) {
		err = kerr.InvalidTopicException
	}
	st := kmsg.NewMetadataResponseTopic()
	st.Topic, st.TopicID, st.ErrorCode = rt.Topic, rt.TopicID, err.Code
	st.AuthorizedOperations = unknownOperations
	return st
}

func describeTopic(t *storage.Topic) kmsg.MetadataResponseTopic {
	st := kmsg.NewMetadataResponseTopic()
	st.Topic, st.TopicID = kmsg.StringPtr(t.Name), t.ID
	st.AuthorizedOperations = unknownOperations
	for _, p := range t.Partitions() {
		sp := kmsg.NewMetadataResponseTopicPartition()
		sp.Partition, sp.Leader, sp.LeaderEpoch = p.Num, nodeID, storage.LeaderEpoch
		sp.Replicas, sp.ISR = []int32{nodeID}, []int32{nodeID}
		st.Partitions = append(st.Partitions, sp)
	}
	return st
}

func (b *Broker) serveDescribeCluster(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.DescribeClusterRequest)
	resp := kmsg.NewPtrDescribeClusterResponse()
	resp.SetVersion(req.Version)
	if req.Version >= 1 && req.EndpointType != 1 {
		// There are no controllers apart from the broker.
		resp.ErrorCode = kerr.UnsupportedEndpointType.Code
		return resp, nil
	}
	host, port := b.advertised(r.conn)
	broker := kmsg.NewDescribeClusterResponseBroker()
	broker.NodeID, broker.Host, broker.Port = nodeID, host, port
	resp.Brokers = append(resp.Brokers, broker)
	resp.ClusterID, resp.ControllerID = b.data.ClusterID(), nodeID
	resp.EndpointType = 1
	resp.ClusterAuthorizedOperations = unknownOperations
	return resp, nil
}
