package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Session says what a client that SASLOptions.Login admitted may do. It is asked at
// each of its requests, so that rights end when what they rest on ends; an error ends
// the connection.
type Session func() (Rights, error)

// Rights are what a client may do.
type Rights struct {
	// Everything: all that the broker serves.
	Everything bool
	// Append says to which topics it may append, and whose partitions it may be told.
	// Nil: to none. Reading, groups and administration are never among it.
	Append func(topic string) bool
}

func (r *Rights) mayAppend(topic string) bool {
	return r == nil || r.Everything || r.Append != nil && r.Append(topic)
}

// limits are the rights of the client of c where they are not everything; nil is no
// limit.
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

// denied is the answer to a request that no limited client may make; ok is false for
// one that it may, as far as its rights go: their handlers look at request.rights.
// Every error is one that clients do not try again.
func denied(req kmsg.Request) (resp kmsg.Response, ok bool) {
	switch req := req.(type) {
	case *kmsg.ApiVersionsRequest, *kmsg.SASLHandshakeRequest, *kmsg.SASLAuthenticateRequest,
		*kmsg.MetadataRequest, *kmsg.DescribeClusterRequest, *kmsg.InitProducerIDRequest, *kmsg.ProduceRequest:
		return nil, false
	case *kmsg.FindCoordinatorRequest:
		return refuseCoordinator(req, kerr.GroupAuthorizationFailed, "this user may append, and not read"), true
	case *kmsg.FetchRequest:
		return deniedFetch(req), true
	case *kmsg.ListOffsetsRequest:
		return deniedOffsets(req), true
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest, *kmsg.HeartbeatRequest, *kmsg.LeaveGroupRequest:
		return refuse(req, kerr.GroupAuthorizationFailed), true
	case *kmsg.OffsetFetchRequest: // its answer has several places, by version
		return nil, true
	}
	if resp := deniedTopics(req); resp != nil {
		return resp, true
	}
	// Nil where the answer has no place for an error: the connection is then closed.
	return refuse(req, kerr.ClusterAuthorizationFailed), true
}

// emptyResponse is the answer to req with nothing in it.
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

// deniedTopics answers what would change topics, or tell how they are set; nil if req
// is none of these.
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
