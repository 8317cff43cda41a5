package groups

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
)

// Committed offsets.
//
// They are not held in memory: a commit goes into the store through the same commit path as record
// batches, and is answered when it is on disk; a fetch reads the store. So a restart has nothing to
// load, and a group uses memory only while it has members.
//
// Whether a commit comes from a member of the current generation is checked in the commit path,
// right before the write, where everything has one order: an accepted commit cannot be overtaken by
// one of the previous generation.

// OffsetStore stores committed offsets. Offsets of a deleted topic are gone, also if a topic of the
// same name is created again.
type OffsetStore interface {
	// Commit makes offsets durable if check, called right before the write, returns nil; else it
	// returns check's error. For each offset of a partition that does not exist it calls reject and
	// skips it.
	Commit(ctx context.Context, group string, offsets []storage.CommittedOffset, check func() error, reject func(i int)) error
	// Delete deletes the group's offsets of the given partitions, or all of them if only is nil,
	// under the same condition.
	Delete(ctx context.Context, group string, only []storage.TopicPartition, check func() error) error
	// Get returns one offset, or false.
	Get(group, topic string, partition int32) (storage.CommittedOffset, bool, error)
	// All returns the group's offsets in unspecified order.
	All(group string) ([]storage.CommittedOffset, error)
	// Groups returns the names of the groups that have offsets.
	Groups() ([]string, error)
	// Has reports whether the group has any offsets.
	Has(group string) (bool, error)
}

// maxOffsetMetadata is the maximum size of what a client may store with an offset, equal to Kafka's
// default.
const maxOffsetMetadata = 4096

// CommitOffsets answers an OffsetCommit.
func (c *Coordinator) CommitOffsets(ctx context.Context, req *kmsg.OffsetCommitRequest, now int64) *kmsg.OffsetCommitResponse {
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	var offsets []storage.CommittedOffset
	var places []*int16 // offsets[i]'s error code in the response
	for _, t := range req.Topics {
		kt := kmsg.NewOffsetCommitResponseTopic()
		kt.Topic = t.Topic
		kt.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(t.Partitions))
		for i, p := range t.Partitions {
			kp := &kt.Partitions[i]
			kp.Default()
			kp.Partition = p.Partition
			o := storage.CommittedOffset{Topic: t.Topic, Partition: p.Partition, Offset: p.Offset, Epoch: p.LeaderEpoch, Committed: now}
			if p.Metadata != nil {
				o.Metadata = *p.Metadata
			}
			switch {
			case len(o.Metadata) > maxOffsetMetadata:
				kp.ErrorCode = kerr.OffsetMetadataTooLarge.Code
			case o.Offset < 0:
				kp.ErrorCode = kerr.InvalidRequest.Code
			default:
				offsets, places = append(offsets, o), append(places, &kp.ErrorCode)
			}
		}
		resp.Topics = append(resp.Topics, kt)
	}

	err := c.offsets.Commit(ctx, req.Group, offsets,
		func() error { return c.mayCommit(req) },
		func(i int) { *places[i] = kerr.UnknownTopicOrPartition.Code })
	if err != nil {
		for _, p := range places {
			*p = coordinatorCode(err)
		}
	}
	return resp
}

// mayCommit checks that a commit comes from a member of the current generation, or, if the group
// has no members, from a client without membership (an operator's tool, a consumer that assigns its
// partitions itself).
func (c *Coordinator) mayCommit(req *kmsg.OffsetCommitRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return kerr.NotCoordinator
	case badGroupID(req.Group):
		return kerr.InvalidGroupID
	}
	g := c.groups[req.Group]
	if req.Generation < 0 && req.MemberID == "" && req.InstanceID == nil {
		if g == nil || g.state == groupEmpty {
			return nil
		}
		return kerr.UnknownMemberID
	}
	if g == nil {
		return kerr.IllegalGeneration
	}
	m, err := g.known(req.MemberID, req.InstanceID)
	if err != nil {
		return err
	}
	if req.Generation != g.generation {
		return kerr.IllegalGeneration
	}
	m.renew()
	if g.state == groupCompleting {
		// The member has joined the new generation and does not know its assignment yet.
		return kerr.RebalanceInProgress
	}
	return nil
}

// coordinatorCode returns the code for an error of a group request: Kafka's own, or, if the store
// failed to write or read, one that clients retry.
func coordinatorCode(err error) int16 {
	var ke *kerr.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ke):
		return ke.Code
	default:
		return kerr.CoordinatorNotAvailable.Code
	}
}

// FetchOffsets answers an OffsetFetch. There are no transactions, so every offset is stable.
func (c *Coordinator) FetchOffsets(req *kmsg.OffsetFetchRequest) *kmsg.OffsetFetchResponse {
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	if req.Version >= 8 {
		for _, g := range req.Groups {
			kg := kmsg.NewOffsetFetchResponseGroup()
			kg.Group = g.Group
			var err error
			kg.Topics, err = c.fetchGroup(g.Group, g.Topics)
			kg.ErrorCode = coordinatorCode(err)
			resp.Groups = append(resp.Groups, kg)
		}
		return resp
	}

	var topics []kmsg.OffsetFetchRequestGroupTopic
	if req.Topics != nil || req.Version < 2 {
		topics = []kmsg.OffsetFetchRequestGroupTopic{}
	}
	for _, t := range req.Topics {
		k := kmsg.NewOffsetFetchRequestGroupTopic()
		k.Topic, k.Partitions = t.Topic, t.Partitions
		topics = append(topics, k)
	}
	found, err := c.fetchGroup(req.Group, topics)
	resp.ErrorCode = coordinatorCode(err)
	for _, t := range found {
		kt := kmsg.NewOffsetFetchResponseTopic()
		kt.Topic = t.Topic
		for _, p := range t.Partitions {
			kp := kmsg.NewOffsetFetchResponseTopicPartition()
			kp.Partition, kp.Offset, kp.LeaderEpoch, kp.Metadata = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata
			kt.Partitions = append(kt.Partitions, kp)
		}
		resp.Topics = append(resp.Topics, kt)
	}
	if err != nil && req.Version < 2 {
		// Before version 2 an error can be reported only per partition.
		for _, t := range req.Topics {
			kt := kmsg.NewOffsetFetchResponseTopic()
			kt.Topic = t.Topic
			for _, p := range t.Partitions {
				kp := kmsg.NewOffsetFetchResponseTopicPartition()
				kp.Partition, kp.Offset, kp.ErrorCode = p, -1, coordinatorCode(err)
				kt.Partitions = append(kt.Partitions, kp)
			}
			resp.Topics = append(resp.Topics, kt)
		}
	}
	return resp
}

// fetchGroup returns the group's offsets of the topics, or all if topics is nil.
func (c *Coordinator) fetchGroup(group string, topics []kmsg.OffsetFetchRequestGroupTopic) ([]kmsg.OffsetFetchResponseGroupTopic, error) {
	if badGroupID(group) {
		return nil, kerr.InvalidGroupID
	}
	var found []kmsg.OffsetFetchResponseGroupTopic
	if topics == nil {
		all, err := c.offsets.All(group)
		if err != nil {
			return nil, err
		}
		at := make(map[string]int)
		for _, o := range all {
			i, ok := at[o.Topic]
			if !ok {
				i = len(found)
				at[o.Topic] = i
				kt := kmsg.NewOffsetFetchResponseGroupTopic()
				kt.Topic = o.Topic
				found = append(found, kt)
			}
			found[i].Partitions = append(found[i].Partitions, fetchedOffset(o))
		}
		return found, nil
	}
	for _, t := range topics {
		kt := kmsg.NewOffsetFetchResponseGroupTopic()
		kt.Topic = t.Topic
		for _, p := range t.Partitions {
			o, ok, err := c.offsets.Get(group, t.Topic, p)
			if err != nil {
				return nil, err
			}
			if !ok {
				o = storage.CommittedOffset{Partition: p, Offset: -1, Epoch: -1}
			}
			kt.Partitions = append(kt.Partitions, fetchedOffset(o))
		}
		found = append(found, kt)
	}
	return found, nil
}

func fetchedOffset(o storage.CommittedOffset) kmsg.OffsetFetchResponseGroupTopicPartition {
	kp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	kp.Partition, kp.Offset, kp.LeaderEpoch, kp.Metadata = o.Partition, o.Offset, o.Epoch, &o.Metadata
	return kp
}

// DeleteOffsets answers an OffsetDelete.
func (c *Coordinator) DeleteOffsets(ctx context.Context, req *kmsg.OffsetDeleteRequest) *kmsg.OffsetDeleteResponse {
	resp := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	var only []storage.TopicPartition
	for _, t := range req.Topics {
		kt := kmsg.NewOffsetDeleteResponseTopic()
		kt.Topic = t.Topic
		for _, p := range t.Partitions {
			kp := kmsg.NewOffsetDeleteResponseTopicPartition()
			kp.Partition = p.Partition
			kt.Partitions = append(kt.Partitions, kp)
		}
		resp.Topics = append(resp.Topics, kt)
	}
	stored, err := c.offsets.Has(req.Group)
	var subscribed map[string]bool
	if err == nil {
		subscribed, err = c.subscriptions(req.Group, stored)
	}
	if err != nil {
		resp.ErrorCode, resp.Topics = coordinatorCode(err), nil
		return resp
	}
	for _, kt := range resp.Topics {
		for i := range kt.Partitions {
			if subscribed[kt.Topic] {
				kt.Partitions[i].ErrorCode = kerr.GroupSubscribedToTopic.Code
				continue
			}
			only = append(only, storage.TopicPartition{Topic: kt.Topic, Partition: kt.Partitions[i].Partition})
		}
	}
	if len(only) == 0 {
		return resp
	}
	err = c.offsets.Delete(ctx, req.Group, only, func() error {
		// Members may have joined or changed their subscriptions since.
		now, err := c.subscriptions(req.Group, stored)
		if err != nil {
			return err
		}
		for _, tp := range only {
			if now[tp.Topic] {
				return kerr.GroupSubscribedToTopic
			}
		}
		return nil
	})
	if err != nil {
		resp.ErrorCode, resp.Topics = coordinatorCode(err), nil
	}
	return resp
}

// subscriptions returns the topics that the members of a group of consumers read. A group without
// members reads none. A group that exists neither here nor in the store (stored) is an error.
func (c *Coordinator) subscriptions(group string, stored bool) (map[string]bool, error) {
	if badGroupID(group) {
		return nil, kerr.InvalidGroupID
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.groups[group]
	switch {
	case g == nil && !stored:
		return nil, kerr.GroupIDNotFound
	case g == nil || len(g.members) == 0:
		return nil, nil
	}
	if g.protocolType != "consumer" {
		return nil, kerr.NonEmptyGroup
	}
	topics := make(map[string]bool)
	for _, m := range g.members {
		for _, p := range m.protocols {
			var meta kmsg.ConsumerMemberMetadata
			if err := meta.ReadFrom(p.metadata); err != nil {
				return nil, kerr.NonEmptyGroup // its subscriptions cannot be determined
			}
			for _, t := range meta.Topics {
				topics[t] = true
			}
		}
	}
	return topics, nil
}
