package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/groups"
	"github.com/recountdb/recount/pipeline/broker/sasl"
	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Session returns the current rights of a client that SASLOptions.Login admitted. It is called at
// each request, so that revoked rights end at once; an error ends the connection.
type Session = sasl.Session

// Rights are the operations that a client may use.
type Rights = sasl.Rights

// mayAppend reports whether a client with these rights may append to a topic; nil is every right.
func mayAppend(r *Rights, topic string) bool {
	return r == nil || r.Everything || r.Append != nil && r.Append(topic)
}

// limits returns the rights of the client of c if they are limited; nil is no limit.
func (c *conn) limits() (*Rights, error) {
	if c.session == nil {
		return nil, nil
	}
	r, err := c.session()
	if err != nil {
		return nil, fmt.Errorf("user %q: %w", c.principal, err)
	}
	if r.Everything {
		return nil, nil
	}
	return &r, nil
}

// denied returns the answer to a request that no limited client may make; ok is false for a request
// that such clients may make within their rights, which its handler checks by request.rights. All
// errors are ones that clients do not retry.
func denied(req kmsg.Request) (resp kmsg.Response, ok bool) {
	switch req := req.(type) {
	case *kmsg.ApiVersionsRequest, *kmsg.SASLHandshakeRequest, *kmsg.SASLAuthenticateRequest,
		*kmsg.MetadataRequest, *kmsg.DescribeClusterRequest, *kmsg.InitProducerIDRequest, *kmsg.ProduceRequest:
		return nil, false
	case *kmsg.FindCoordinatorRequest:
		return groups.RefuseCoordinator(req, kerr.GroupAuthorizationFailed, "this user may append, and not read"), true
	case *kmsg.FetchRequest:
		return deniedFetch(req), true
	case *kmsg.ListOffsetsRequest:
		return deniedOffsets(req), true
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest, *kmsg.HeartbeatRequest, *kmsg.LeaveGroupRequest:
		return wire.ErrorResponse(req, kerr.GroupAuthorizationFailed), true
	case *kmsg.OffsetFetchRequest: // the place of the error in its answer depends on the version
		return nil, true
	}
	if resp := deniedTopics(req); resp != nil {
		return resp, true
	}
	// If the answer has no place for an error, this is nil, which closes the connection.
	return wire.ErrorResponse(req, kerr.ClusterAuthorizationFailed), true
}

// emptyResponse returns an empty answer to req.
func emptyResponse[R kmsg.Response](req kmsg.Request) R {
	resp := req.ResponseKind().(R)
	resp.SetVersion(req.GetVersion())
	return resp
}

func deniedFetch(req *kmsg.FetchRequest) kmsg.Response {
	resp := emptyResponse[*kmsg.FetchResponse](req)
	for _, rt := range req.Topics {
		st := kmsg.NewFetchResponseTopic()
		st.Topic, st.TopicID = rt.Topic, rt.TopicID
		for _, rp := range rt.Partitions {
			sp := kmsg.NewFetchResponseTopicPartition()
			sp.Partition, sp.ErrorCode = rp.Partition, kerr.TopicAuthorizationFailed.Code
			sp.HighWatermark, sp.LastStableOffset, sp.LogStartOffset, sp.PreferredReadReplica = -1, -1, -1, -1
			sp.RecordBatches = []byte{}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp
}

func deniedOffsets(req *kmsg.ListOffsetsRequest) kmsg.Response {
	resp := emptyResponse[*kmsg.ListOffsetsResponse](req)
	for _, rt := range req.Topics {
		st := kmsg.NewListOffsetsResponseTopic()
		st.Topic = rt.Topic
		for _, rp := range rt.Partitions {
			sp := kmsg.NewListOffsetsResponseTopicPartition()
			sp.Partition, sp.ErrorCode = rp.Partition, kerr.TopicAuthorizationFailed.Code
			sp.Offset, sp.Timestamp, sp.LeaderEpoch = -1, -1, -1
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp
}

// deniedTopics returns the answer to a request that would change topics or show their settings; nil
// for other requests.
func deniedTopics(req kmsg.Request) kmsg.Response {
	code := kerr.TopicAuthorizationFailed.Code
	why := kmsg.StringPtr("this user may append, and change nothing else")
	switch req := req.(type) {
	case *kmsg.CreateTopicsRequest:
		resp := emptyResponse[*kmsg.CreateTopicsResponse](req)
		for _, rt := range req.Topics {
			st := kmsg.NewCreateTopicsResponseTopic()
			st.Topic, st.ErrorCode, st.ErrorMessage = rt.Topic, code, why
			st.NumPartitions, st.ReplicationFactor = -1, -1
			resp.Topics = append(resp.Topics, st)
		}
		return resp
	case *kmsg.DeleteTopicsRequest:
		resp := emptyResponse[*kmsg.DeleteTopicsResponse](req)
		for _, rt := range namedTopics(req) {
			st := kmsg.NewDeleteTopicsResponseTopic()
			st.Topic, st.TopicID, st.ErrorCode, st.ErrorMessage = rt.Topic, rt.TopicID, code, why
			resp.Topics = append(resp.Topics, st)
		}
		return resp
	case *kmsg.CreatePartitionsRequest:
		resp := emptyResponse[*kmsg.CreatePartitionsResponse](req)
		for _, rt := range req.Topics {
			st := kmsg.NewCreatePartitionsResponseTopic()
			st.Topic, st.ErrorCode, st.ErrorMessage = rt.Topic, code, why
			resp.Topics = append(resp.Topics, st)
		}
		return resp
	case *kmsg.DeleteRecordsRequest:
		resp := emptyResponse[*kmsg.DeleteRecordsResponse](req)
		for _, rt := range req.Topics {
			st := kmsg.NewDeleteRecordsResponseTopic()
			st.Topic = rt.Topic
			for _, rp := range rt.Partitions {
				sp := kmsg.NewDeleteRecordsResponseTopicPartition()
				sp.Partition, sp.LowWatermark, sp.ErrorCode = rp.Partition, -1, code
				st.Partitions = append(st.Partitions, sp)
			}
			resp.Topics = append(resp.Topics, st)
		}
		return resp
	case *kmsg.DescribeConfigsRequest:
		resp := emptyResponse[*kmsg.DescribeConfigsResponse](req)
		for _, rr := range req.Resources {
			sr := kmsg.NewDescribeConfigsResponseResource()
			sr.ResourceType, sr.ResourceName, sr.ErrorCode, sr.ErrorMessage = rr.ResourceType, rr.ResourceName, code, why
			resp.Resources = append(resp.Resources, sr)
		}
		return resp
	case *kmsg.AlterConfigsRequest:
		resp := emptyResponse[*kmsg.AlterConfigsResponse](req)
		for _, rr := range req.Resources {
			sr := kmsg.NewAlterConfigsResponseResource()
			sr.ResourceType, sr.ResourceName, sr.ErrorCode, sr.ErrorMessage = rr.ResourceType, rr.ResourceName, code, why
			resp.Resources = append(resp.Resources, sr)
		}
		return resp
	case *kmsg.IncrementalAlterConfigsRequest:
		resp := emptyResponse[*kmsg.IncrementalAlterConfigsResponse](req)
		for _, rr := range req.Resources {
			sr := kmsg.NewIncrementalAlterConfigsResponseResource()
			sr.ResourceType, sr.ResourceName, sr.ErrorCode, sr.ErrorMessage = rr.ResourceType, rr.ResourceName, code, why
			resp.Resources = append(resp.Resources, sr)
		}
		return resp
	}
	return nil
}
