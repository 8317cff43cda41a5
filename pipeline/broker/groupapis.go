package broker

import (
	"context"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/groups"
)

// GroupOptions limit consumer groups. Membership is kept in memory and limited by them; committed
// offsets are stored, and not limited.
type GroupOptions = groups.Options

// openGroups creates the coordinator. There is nothing to load.
func (b *Broker) openGroups() {
	b.groups = groups.New(b.opts.Groups, b.data.Offsets(), b.log)
}

// addGroupAPIs adds the group APIs to the dispatch table. JoinGroup and SyncGroup block their
// connection until the group has joined, as in Apache Kafka: clients send heartbeats over another
// connection, or none meanwhile.
func (b *Broker) addGroupAPIs(t map[int16]api) {
	t[kmsg.FindCoordinator.Int16()] = api{min: 0, max: 4, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		host, port := b.advertised(r.conn)
		return groups.FindCoordinator(r.msg.(*kmsg.FindCoordinatorRequest), nodeID, host, port), nil
	}}
	t[kmsg.JoinGroup.Int16()] = api{min: 0, max: 9, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.Join(ctx, r.msg.(*kmsg.JoinGroupRequest), groups.Client{ID: r.clientID, Host: remoteHost(r.conn)}), nil
	}}
	t[kmsg.SyncGroup.Int16()] = api{min: 0, max: 5, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.Sync(ctx, r.msg.(*kmsg.SyncGroupRequest)), nil
	}}
	t[kmsg.Heartbeat.Int16()] = api{min: 0, max: 4, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.Heartbeat(r.msg.(*kmsg.HeartbeatRequest)), nil
	}}
	t[kmsg.LeaveGroup.Int16()] = api{min: 0, max: 5, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.Leave(r.msg.(*kmsg.LeaveGroupRequest)), nil
	}}
	t[kmsg.OffsetCommit.Int16()] = api{min: 0, max: 9, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.CommitOffsets(ctx, r.msg.(*kmsg.OffsetCommitRequest), time.Now().UnixMilli()), nil
	}}
	t[kmsg.OffsetFetch.Int16()] = api{min: 0, max: 9, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.FetchOffsets(r.msg.(*kmsg.OffsetFetchRequest)), nil
	}}
	t[kmsg.OffsetDelete.Int16()] = api{min: 0, max: 0, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.DeleteOffsets(ctx, r.msg.(*kmsg.OffsetDeleteRequest)), nil
	}}
	t[kmsg.DescribeGroups.Int16()] = api{min: 0, max: 6, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.Describe(r.msg.(*kmsg.DescribeGroupsRequest)), nil
	}}
	t[kmsg.ListGroups.Int16()] = api{min: 0, max: 5, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.List(r.msg.(*kmsg.ListGroupsRequest)), nil
	}}
	t[kmsg.DeleteGroups.Int16()] = api{min: 0, max: 2, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.DeleteGroups(ctx, r.msg.(*kmsg.DeleteGroupsRequest)), nil
	}}
}

// remoteHost returns a client's host in Kafka's notation.
func remoteHost(c *conn) string {
	if host, _, err := net.SplitHostPort(c.nc.RemoteAddr().String()); err == nil {
		return "/" + host
	}
	return "/in-memory"
}
