package groups

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Client is the client of a group request, shown by DescribeGroups.
type Client struct{ ID, Host string }

// joinReply is the answer to a JoinGroup.
type joinReply struct {
	err        *kerr.Error
	memberID   string
	generation int32
	kind       string // protocol type
	protocol   string
	leader     string
	skip       bool // the leader need not assign: its last assignment is still valid
	members    []kmsg.JoinGroupResponseMember
}

// syncReply is the answer to a SyncGroup.
type syncReply struct {
	err        *kerr.Error
	kind       string
	protocol   string
	assignment []byte
}

// Join answers a JoinGroup once the group's members have joined.
func (c *Coordinator) Join(ctx context.Context, req *kmsg.JoinGroupRequest, client Client) *kmsg.JoinGroupResponse {
	c.mu.Lock()
	j := joining{c: c, req: req, client: client, wait: make(chan joinReply, 1)}
	reply, answered := j.decide()
	c.mu.Unlock()

	if !answered {
		select {
		case reply = <-j.wait:
		case <-ctx.Done():
			j.abandon()
			reply = joinReply{err: kerr.NotCoordinator, memberID: req.MemberID}
		}
	}

	resp := req.ResponseKind().(*kmsg.JoinGroupResponse)
	resp.ErrorCode = wire.ErrorCode(reply.err)
	resp.MemberID = reply.memberID
	resp.Generation = -1
	empty := ""
	resp.Protocol = &empty
	if reply.err == nil {
		resp.Generation = reply.generation
		resp.ProtocolType = &reply.kind
		resp.Protocol = &reply.protocol
		resp.LeaderID = reply.leader
		resp.SkipAssignment = reply.skip
		resp.Members = reply.members
	}
	return resp
}

// joining is one JoinGroup request while it is decided.
type joining struct {
	c      *Coordinator
	req    *kmsg.JoinGroupRequest
	client Client
	wait   chan joinReply

	// For abandon: the waiting member, and whether its client has never received its id, so that
	// nobody can come back for it.
	g         *consumerGroup
	m         *groupMember
	anonymous bool
}

func refuseJoin(memberID string, err *kerr.Error) (joinReply, bool) {
	return joinReply{err: err, memberID: memberID}, true
}

// decide returns the answer, or leaves j.wait in a member (answered is false).
func (j *joining) decide() (reply joinReply, answered bool) {
	c, req := j.c, j.req
	session := time.Duration(req.SessionTimeoutMillis) * time.Millisecond
	switch {
	case c.closed:
		return refuseJoin(req.MemberID, kerr.NotCoordinator)
	case badGroupID(req.Group):
		return refuseJoin(req.MemberID, kerr.InvalidGroupID)
	case req.InstanceID != nil && (*req.InstanceID == "" || len(*req.InstanceID) > maxNameBytes):
		return refuseJoin(req.MemberID, kerr.InvalidRequest)
	case session < minSessionTimeout || session > maxSessionTimeout:
		return refuseJoin(req.MemberID, kerr.InvalidSessionTimeout)
	case req.ProtocolType == "" || len(req.ProtocolType) > maxNameBytes || len(req.Protocols) == 0 || len(req.Protocols) > maxProtocols:
		return refuseJoin(req.MemberID, kerr.InconsistentGroupProtocol)
	}
	g := c.groups[req.Group]
	if g == nil {
		if req.MemberID != "" {
			return refuseJoin(req.MemberID, kerr.UnknownMemberID)
		}
		var err *kerr.Error
		if g, err = c.group(req.Group); err != nil {
			return refuseJoin(req.MemberID, err)
		}
		c.expireEmpty(g)
	}
	j.g = g
	if req.MemberID == "" {
		return j.first()
	}
	return j.again()
}

// first handles a JoinGroup without a member id.
func (j *joining) first() (joinReply, bool) {
	c, g, req := j.c, j.g, j.req
	if req.InstanceID != nil {
		if old := g.members[g.static[*req.InstanceID]]; old != nil {
			return j.takeOver(old)
		}
	}
	if !g.accepts(nil, req.ProtocolType, j.protocols()) {
		return refuseJoin("", kerr.InconsistentGroupProtocol)
	}
	if len(g.members)+len(g.pending) >= c.limits.MaxMembers {
		return refuseJoin("", kerr.GroupMaxSizeReached)
	}
	id := newMemberID(j.client.ID, req.InstanceID)
	if req.Version >= 4 && req.InstanceID == nil {
		// KIP-394: the client sends the id it was given in a second request, so that a client that
		// disappears before it receives the id leaves no member behind.
		if err := c.expect(g, id, min(j.session(), maxPendingMember)); err != nil {
			return refuseJoin("", err)
		}
		return refuseJoin(id, kerr.MemberIDRequired)
	}
	j.anonymous = true
	return j.add(id)
}

// again handles a JoinGroup with a member id.
func (j *joining) again() (joinReply, bool) {
	c, g, req := j.c, j.g, j.req
	if g.pending[req.MemberID] != nil && req.InstanceID == nil {
		if !g.accepts(nil, req.ProtocolType, j.protocols()) {
			return refuseJoin(req.MemberID, kerr.InconsistentGroupProtocol)
		}
		c.unexpect(g, req.MemberID)
		return j.add(req.MemberID)
	}
	m, err := g.known(req.MemberID, req.InstanceID)
	if err != nil {
		return refuseJoin(req.MemberID, err)
	}
	if !g.accepts(m, req.ProtocolType, j.protocols()) {
		return refuseJoin(m.id, kerr.InconsistentGroupProtocol)
	}
	same := m.sameProtocols(j.protocols())
	if err := j.update(m); err != nil {
		return refuseJoin(m.id, err)
	}
	switch {
	case g.state == groupCompleting && same, g.state == groupStable && same && g.leader != m.id:
		// The previous answer was lost, or the member only wants to be sure.
		return g.joinReply(m), true
	default:
		// A leader that joins again asks for a rebalance: it saw the topics change.
		j.waitAs(m)
		c.rebalance(g)
		return joinReply{}, false
	}
}

// add adds a new member to the group, which waits for the rebalance it causes.
func (j *joining) add(id string) (joinReply, bool) {
	c, g := j.c, j.g
	m := &groupMember{id: id, order: g.joined, protocols: j.protocols()}
	if err := c.reserve(m.size()); err != nil {
		return refuseJoin(id, err)
	}
	m.cloneMetadata()
	j.describe(m)
	g.joined++
	g.grown = true
	if m.instance = j.req.InstanceID; m.instance != nil {
		g.static[*m.instance] = id
	}
	if len(g.members) == 0 {
		g.protocolType = j.req.ProtocolType
	}
	g.members[id] = m
	c.watch(g, m)
	j.waitAs(m)
	c.rebalance(g)
	return joinReply{}, false
}

// takeOver gives a static member's place to the process that now runs under its instance id. The
// old process, if it still runs, is fenced.
func (j *joining) takeOver(old *groupMember) (joinReply, bool) {
	c, g := j.c, j.g
	if !g.accepts(old, j.req.ProtocolType, j.protocols()) {
		return refuseJoin("", kerr.InconsistentGroupProtocol)
	}
	m := &groupMember{
		id:         newMemberID(j.client.ID, old.instance),
		instance:   old.instance,
		order:      old.order,
		protocols:  j.protocols(),
		assignment: old.assignment,
	}
	if err := c.reserve(m.size()); err != nil {
		return refuseJoin("", err)
	}
	m.cloneMetadata()
	j.describe(m)
	leader := g.leader
	c.remove(g, old, kerr.FencedInstanceID)
	g.members[m.id] = m
	g.static[*m.instance] = m.id
	wasLeader := leader == old.id
	if wasLeader {
		g.leader = m.id
	}
	c.watch(g, m)
	if g.state != groupStable || g.choose() != g.protocol {
		j.waitAs(m)
		c.rebalance(g)
		return joinReply{}, false
	}
	// A restart of a static member changes nothing: it gets its assignment back.
	r := g.joinReply(m)
	if wasLeader {
		if r.skip = j.req.Version >= 9; !r.skip {
			// An older client that learns that it is the leader would assign again, unnoticed by
			// the others, so tell it that it is not.
			r.leader, r.members = leader, nil
		}
	}
	return r, true
}

// waitAs makes the request the one that waits for the member. The client of an earlier waiting
// request has given it up; that request is answered with an error that makes clients retry.
func (j *joining) waitAs(m *groupMember) {
	m.answerJoin(joinReply{err: kerr.RebalanceInProgress, memberID: m.id})
	m.join = j.wait
	j.m = m
}

// abandon withdraws a request whose client is gone. A member whose id a client knows stays for its
// session; a member that nobody knows is removed.
func (j *joining) abandon() {
	c := j.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || j.m.join != j.wait {
		return
	}
	j.m.join = nil
	j.m.renew()
	if j.anonymous {
		c.remove(j.g, j.m, kerr.UnknownMemberID)
		c.shrunk(j.g)
	}
}

// update applies what a member that joins again says about itself.
func (j *joining) update(m *groupMember) *kerr.Error {
	protocols := j.protocols()
	before := m.size()
	after := (&groupMember{protocols: protocols, assignment: m.assignment}).size()
	if err := j.c.reserve(after - before); err != nil {
		return err
	}
	m.protocols = protocols
	m.cloneMetadata()
	j.describe(m)
	m.renew()
	return nil
}

func (j *joining) describe(m *groupMember) {
	m.clientID, m.clientHost = shorten(j.client.ID), j.client.Host
	m.session, m.rebalance = j.session(), j.session()
	if j.req.Version >= 1 {
		m.rebalance = max(minRebalance, time.Duration(j.req.RebalanceTimeoutMillis)*time.Millisecond)
	}
}

func (j *joining) session() time.Duration {
	return time.Duration(j.req.SessionTimeoutMillis) * time.Millisecond
}

// protocols returns the request's protocols; their metadata still points into the request's frame.
func (j *joining) protocols() []groupProtocol {
	ps := make([]groupProtocol, len(j.req.Protocols))
	for i, p := range j.req.Protocols {
		ps[i] = groupProtocol{p.Name, p.Metadata}
	}
	return ps
}

// cloneMetadata copies the metadata out of the request's frame, which would otherwise be kept in
// memory as a whole.
func (m *groupMember) cloneMetadata() {
	for i := range m.protocols {
		m.protocols[i].metadata = bytes.Clone(m.protocols[i].metadata)
	}
}

func (m *groupMember) sameProtocols(ps []groupProtocol) bool {
	return slices.EqualFunc(m.protocols, ps, func(a, b groupProtocol) bool {
		return a.name == b.name && bytes.Equal(a.metadata, b.metadata)
	})
}

// joinReply returns this generation as m may see it. Only the leader sees the other members.
func (g *consumerGroup) joinReply(m *groupMember) joinReply {
	r := joinReply{
		memberID:   m.id,
		generation: g.generation,
		kind:       g.protocolType,
		protocol:   g.protocol,
		leader:     g.leader,
	}
	if m.id != g.leader {
		return r
	}
	for _, o := range g.inOrder() {
		k := kmsg.NewJoinGroupResponseMember()
		k.MemberID, k.InstanceID, k.ProtocolMetadata = o.id, o.instance, o.metadata(g.protocol)
		r.members = append(r.members, k)
	}
	return r
}

// newMemberID returns the client's id, so that an operator recognises the member, followed by
// enough random bits that nobody can guess it.
func newMemberID(clientID string, instance *string) string {
	if instance != nil {
		clientID = *instance
	}
	return shorten(clientID) + "-" + rand.Text()
}

func shorten(s string) string {
	if len(s) > maxNameBytes {
		s = strings.ToValidUTF8(s[:maxNameBytes], "") // the cut may have split a character
	}
	return s
}
