package groups

import (
	"context"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// allowedOnGroup is what every client may do to a group, as bits of Kafka's ACL operations: read
// (3), delete (6), describe (8). There are no ACLs.
const allowedOnGroup = 1<<3 | 1<<6 | 1<<8

// Describe answers a DescribeGroups.
func (c *Coordinator) Describe(req *kmsg.DescribeGroupsRequest) *kmsg.DescribeGroupsResponse {
	resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	for _, id := range req.Groups {
		k := c.describeOne(id, req.Version)
		if req.IncludeAuthorizedOperations {
			k.AuthorizedOperations = allowedOnGroup
		}
		resp.Groups = append(resp.Groups, k)
	}
	return resp
}

func (c *Coordinator) describeOne(id string, version int16) kmsg.DescribeGroupsResponseGroup {
	k := kmsg.NewDescribeGroupsResponseGroup()
	k.Group = id
	if badGroupID(id) {
		k.ErrorCode = kerr.InvalidGroupID.Code
		return k
	}
	if c.describeLive(&k) {
		return k
	}
	stored, err := c.offsets.Has(id)
	switch {
	case err != nil:
		k.ErrorCode = coordinatorCode(err)
	case stored:
		k.State = string(groupEmpty)
	default:
		k.State = string(groupDead)
		if version >= 6 {
			k.ErrorCode = kerr.GroupIDNotFound.Code
			k.ErrorMessage = kmsg.StringPtr("group " + id + " not found")
		}
	}
	return k
}

// describeLive describes a group that is in memory.
func (c *Coordinator) describeLive(k *kmsg.DescribeGroupsResponseGroup) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.groups[k.Group]
	if g == nil {
		return false
	}
	k.State, k.ProtocolType = string(g.state), g.protocolType
	if g.state == groupStable {
		k.Protocol = g.protocol
	}
	for _, m := range g.inOrder() {
		km := kmsg.NewDescribeGroupsResponseGroupMember()
		km.MemberID, km.InstanceID, km.ClientID, km.ClientHost = m.id, m.instance, m.clientID, m.clientHost
		if g.state == groupStable {
			// During a rebalance these are partly of the old generation.
			km.ProtocolMetadata, km.MemberAssignment = m.metadata(g.protocol), m.assignment
		}
		k.Members = append(k.Members, km)
	}
	return true
}

// List answers a ListGroups: the groups in memory and those with stored offsets.
func (c *Coordinator) List(req *kmsg.ListGroupsRequest) *kmsg.ListGroupsResponse {
	resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
	stored, err := c.offsets.Groups()
	if err != nil {
		resp.ErrorCode = coordinatorCode(err)
		return resp
	}
	wanted := func(filter []string, v string) bool {
		return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool { return strings.EqualFold(f, v) })
	}
	add := func(id, kind string, state groupState) {
		if !wanted(req.StatesFilter, string(state)) || !wanted(req.TypesFilter, "classic") {
			return
		}
		k := kmsg.NewListGroupsResponseGroup()
		k.Group, k.ProtocolType, k.GroupState, k.GroupType = id, kind, string(state), "classic"
		resp.Groups = append(resp.Groups, k)
	}

	c.mu.Lock()
	live := make(map[string]bool, len(c.groups))
	for id, g := range c.groups {
		live[id] = true
		add(id, g.protocolType, g.state)
	}
	c.mu.Unlock()
	for _, id := range stored {
		if !live[id] {
			add(id, "", groupEmpty)
		}
	}
	slices.SortFunc(resp.Groups, func(a, b kmsg.ListGroupsResponseGroup) int {
		return strings.Compare(a.Group, b.Group)
	})
	return resp
}

// DeleteGroups answers a DeleteGroups: it deletes groups without members, with all their committed
// offsets.
func (c *Coordinator) DeleteGroups(ctx context.Context, req *kmsg.DeleteGroupsRequest) *kmsg.DeleteGroupsResponse {
	resp := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
	for _, id := range req.Groups {
		k := kmsg.NewDeleteGroupsResponseGroup()
		k.Group = id
		k.ErrorCode = coordinatorCode(c.deleteGroup(ctx, id))
		resp.Groups = append(resp.Groups, k)
	}
	return resp
}

func (c *Coordinator) deleteGroup(ctx context.Context, id string) error {
	if badGroupID(id) {
		return kerr.InvalidGroupID
	}
	stored, err := c.offsets.Has(id)
	if err != nil {
		return err
	}
	return c.offsets.Delete(ctx, id, nil, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		g := c.groups[id]
		switch {
		case g != nil && g.state != groupEmpty:
			return kerr.NonEmptyGroup
		case g != nil:
			c.forget(g)
		case !stored:
			return kerr.GroupIDNotFound
		}
		return nil
	})
}

// FindCoordinator answers a FindCoordinator; the coordinator is always this broker, the node with this
// id and address.
func FindCoordinator(req *kmsg.FindCoordinatorRequest, node int32, host string, port int32) *kmsg.FindCoordinatorResponse {
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	switch req.CoordinatorType {
	case coordinatorGroup:
	case coordinatorTransaction:
		// After most errors clients look for another coordinator until their own time-out; after
		// this one they stop at once.
		return RefuseCoordinator(req, kerr.TransactionalIDAuthorizationFailed, "transactions are not served")
	default:
		return RefuseCoordinator(req, kerr.InvalidRequest, "only consumer groups have a coordinator here: share groups are not served")
	}
	if req.Version >= 4 {
		for _, key := range req.CoordinatorKeys {
			k := kmsg.NewFindCoordinatorResponseCoordinator()
			k.Key, k.NodeID, k.Host, k.Port = key, node, host, port
			resp.Coordinators = append(resp.Coordinators, k)
		}
		return resp
	}
	resp.NodeID, resp.Host, resp.Port = node, host, port
	return resp
}

// The types of coordinators in FindCoordinator.
const (
	coordinatorGroup       = 0
	coordinatorTransaction = 1
)

// RefuseCoordinator answers that there is no coordinator for any of the keys.
func RefuseCoordinator(req *kmsg.FindCoordinatorRequest, e *kerr.Error, why string) *kmsg.FindCoordinatorResponse {
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	if req.Version < 4 {
		resp.ErrorCode, resp.ErrorMessage, resp.NodeID, resp.Host, resp.Port = e.Code, &why, -1, "", -1
		return resp
	}
	for _, key := range req.CoordinatorKeys {
		k := kmsg.NewFindCoordinatorResponseCoordinator()
		k.Key, k.ErrorCode, k.ErrorMessage, k.NodeID, k.Host, k.Port = key, e.Code, &why, -1, "", -1
		resp.Coordinators = append(resp.Coordinators, k)
	}
	return resp
}
