package groups

import (
	"bytes"
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Sync answers a SyncGroup: the leader's brings the assignments of all members, the others wait for
// it.
func (c *Coordinator) Sync(ctx context.Context, req *kmsg.SyncGroupRequest) *kmsg.SyncGroupResponse {
	wait := make(chan syncReply, 1)
	c.mu.Lock()
	m, reply := c.decideSync(req, wait)
	c.mu.Unlock()

	if m != nil {
		select {
		case reply = <-wait:
		case <-ctx.Done():
			c.mu.Lock()
			if m.sync == wait {
				m.sync = nil
				m.renew()
			}
			c.mu.Unlock()
			reply.err = kerr.NotCoordinator
		}
	}

	resp := req.ResponseKind().(*kmsg.SyncGroupResponse)
	resp.ErrorCode = wire.ErrorCode(reply.err)
	resp.MemberAssignment = reply.assignment
	if reply.err == nil {
		resp.ProtocolType, resp.Protocol = &reply.kind, &reply.protocol
	}
	return resp
}

// decideSync returns the answer at once, or the member in which wait is now stored.
func (c *Coordinator) decideSync(req *kmsg.SyncGroupRequest, wait chan syncReply) (*groupMember, syncReply) {
	refuse := func(err *kerr.Error) (*groupMember, syncReply) { return nil, syncReply{err: err} }
	g, m, err := c.lookup(req.Group, req.MemberID, req.InstanceID)
	switch {
	case err != nil:
		return refuse(err)
	case req.Generation != g.generation:
		return refuse(kerr.IllegalGeneration)
	case req.Version >= 5 && (!same(req.ProtocolType, g.protocolType) || !same(req.Protocol, g.protocol)):
		return refuse(kerr.InconsistentGroupProtocol)
	}
	m.renew()
	switch g.state {
	case groupStable:
		return nil, g.syncReply(m)
	case groupCompleting:
	default:
		return refuse(kerr.RebalanceInProgress)
	}
	if m.id == g.leader {
		if err := c.assign(g, req.GroupAssignment); err != nil {
			return refuse(err)
		}
		return nil, g.syncReply(m)
	}
	m.answerSync(syncReply{err: kerr.RebalanceInProgress})
	m.sync = wait
	return m, syncReply{}
}

// assign stores the leader's assignments, which completes the generation.
func (c *Coordinator) assign(g *consumerGroup, as []kmsg.SyncGroupRequestGroupAssignment) *kerr.Error {
	byMember := make(map[string][]byte, len(as))
	for _, a := range as {
		byMember[a.MemberID] = a.MemberAssignment
	}
	var n int64
	for id, a := range byMember {
		if m := g.members[id]; m != nil {
			n += int64(len(a))
		}
	}
	if err := c.reserve(n); err != nil {
		return err
	}
	g.state = groupStable
	g.stopTimer()
	for _, m := range g.members {
		m.assignment = bytes.Clone(byMember[m.id])
		m.answerSync(g.syncReply(m))
	}
	c.log.Info("group stable", "group", g.id, "generation", g.generation, "members", len(g.members))
	return nil
}

func (g *consumerGroup) syncReply(m *groupMember) syncReply {
	return syncReply{kind: g.protocolType, protocol: g.protocol, assignment: m.assignment}
}

func same(said *string, is string) bool { return said != nil && *said == is }

// Heartbeat renews a member's session and answers whether it must join again.
func (c *Coordinator) Heartbeat(req *kmsg.HeartbeatRequest) *kmsg.HeartbeatResponse {
	resp := req.ResponseKind().(*kmsg.HeartbeatResponse)
	c.mu.Lock()
	defer c.mu.Unlock()
	g, m, err := c.lookup(req.Group, req.MemberID, req.InstanceID)
	if err == nil && req.Generation != g.generation {
		err = kerr.IllegalGeneration
	}
	if err == nil {
		m.renew()
		if g.state == groupPreparing {
			err = kerr.RebalanceInProgress
		}
	}
	resp.ErrorCode = wire.ErrorCode(err)
	return resp
}

// Leave removes members from their group at once, without waiting for their sessions to end.
func (c *Coordinator) Leave(req *kmsg.LeaveGroupRequest) *kmsg.LeaveGroupResponse {
	resp := req.ResponseKind().(*kmsg.LeaveGroupResponse)
	leaving := req.Members
	if req.Version < 3 {
		one := kmsg.NewLeaveGroupRequestMember()
		one.MemberID = req.MemberID
		leaving = []kmsg.LeaveGroupRequestMember{one}
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		resp.ErrorCode = kerr.NotCoordinator.Code
		return resp
	}
	if badGroupID(req.Group) {
		resp.ErrorCode = kerr.InvalidGroupID.Code
		return resp
	}
	g := c.groups[req.Group]
	for _, l := range leaving {
		k := kmsg.NewLeaveGroupResponseMember()
		k.MemberID, k.InstanceID = l.MemberID, l.InstanceID
		err := kerr.UnknownMemberID
		if g != nil {
			err = c.leaveOne(g, l.MemberID, l.InstanceID)
		}
		k.ErrorCode = wire.ErrorCode(err)
		resp.Members = append(resp.Members, k)
	}
	if g != nil {
		c.shrunk(g)
	}
	if req.Version < 3 {
		resp.ErrorCode, resp.Members = resp.Members[0].ErrorCode, nil
	}
	return resp
}

func (c *Coordinator) leaveOne(g *consumerGroup, id string, instance *string) *kerr.Error {
	if g.pending[id] != nil && instance == nil {
		c.unexpect(g, id)
		return nil
	}
	if instance != nil && id == "" {
		// An operator removes a static member by its instance id.
		id = g.static[*instance]
	}
	m, err := g.known(id, instance)
	if err != nil {
		return err
	}
	c.remove(g, m, kerr.UnknownMemberID)
	return nil
}

// lookup returns the group and the member of a request.
func (c *Coordinator) lookup(group, id string, instance *string) (*consumerGroup, *groupMember, *kerr.Error) {
	switch {
	case c.closed:
		return nil, nil, kerr.NotCoordinator
	case badGroupID(group):
		return nil, nil, kerr.InvalidGroupID
	}
	g := c.groups[group]
	if g == nil {
		return nil, nil, kerr.UnknownMemberID
	}
	m, err := g.known(id, instance)
	return g, m, err
}
