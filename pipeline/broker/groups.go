package broker

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// GroupOptions limit consumer groups. Membership is kept in memory and limited by them; committed
// offsets are stored, and not limited.
type GroupOptions struct {
	// InitialRebalanceDelay is how long the first rebalance of an empty group waits for more
	// members after each one that joins. A longer delay saves rebalances when many members start
	// together; a shorter one lets a single member start sooner. Default 50 ms; negative: none.
	InitialRebalanceDelay time.Duration

	// MinSessionTimeout and MaxSessionTimeout limit the session timeout of a member. Default 1
	// second and 30 minutes.
	MinSessionTimeout, MaxSessionTimeout time.Duration

	// MaxGroups is the maximum number of groups in memory, which are those that have members or had
	// some in the last ten minutes. Default 10,000.
	MaxGroups int

	// MaxMembers is the maximum number of members of one group. Default 1,000.
	MaxMembers int

	// MaxBytes is the maximum size of the metadata and assignments of all members of all groups
	// together. Default 64 MiB.
	MaxBytes int64
}

func (o GroupOptions) withDefaults() GroupOptions {
	duration := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	duration(&o.InitialRebalanceDelay, 50*time.Millisecond)
	o.InitialRebalanceDelay = max(0, o.InitialRebalanceDelay)
	duration(&o.MinSessionTimeout, time.Second)
	duration(&o.MaxSessionTimeout, 30*time.Minute)
	if o.MaxGroups == 0 {
		o.MaxGroups = 10_000
	}
	if o.MaxMembers == 0 {
		o.MaxMembers = 1000
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 64 << 20
	}
	return o
}

func (o GroupOptions) validate() error {
	o = o.withDefaults()
	switch {
	case o.MinSessionTimeout < 0 || o.MaxSessionTimeout < o.MinSessionTimeout:
		return fmt.Errorf("option Groups.MaxSessionTimeout is %s, want at least MinSessionTimeout (%s)", o.MaxSessionTimeout, o.MinSessionTimeout)
	case o.MaxGroups < 1:
		return fmt.Errorf("option Groups.MaxGroups is %d, want at least 1", o.MaxGroups)
	case o.MaxMembers < 1:
		return fmt.Errorf("option Groups.MaxMembers is %d, want at least 1", o.MaxMembers)
	case o.MaxBytes < 1:
		return fmt.Errorf("option Groups.MaxBytes is %d, want at least 1", o.MaxBytes)
	}
	return nil
}

// openGroups creates the coordinator. There is nothing to load.
func (b *Broker) openGroups() {
	b.groups = newCoordinator(b.opts.Groups.withDefaults(), b.storedOffsets(), b.log)
}

func (b *Broker) storedOffsets() *storedOffsets {
	return &storedOffsets{store: b.store, life: b.topicLife}
}

func (b *Broker) topicLife(name string) (topicNum, int32, bool) {
	t := b.topics.named(name)
	if t == nil {
		return 0, 0, false
	}
	return t.num, t.count(), true
}

// addGroupAPIs adds the group APIs to the dispatch table. JoinGroup and SyncGroup block their
// connection until the group has joined, as in Apache Kafka: clients send heartbeats over another
// connection, or none meanwhile.
func (b *Broker) addGroupAPIs(t map[int16]api) {
	t[kmsg.FindCoordinator.Int16()] = api{min: 0, max: 4, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		host, port := b.advertised(r.conn)
		return findCoordinator(r.msg.(*kmsg.FindCoordinatorRequest), host, port), nil
	}}
	t[kmsg.JoinGroup.Int16()] = api{min: 0, max: 9, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.join(ctx, r.msg.(*kmsg.JoinGroupRequest), groupClient{r.clientID, remoteHost(r.conn)}), nil
	}}
	t[kmsg.SyncGroup.Int16()] = api{min: 0, max: 5, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.sync(ctx, r.msg.(*kmsg.SyncGroupRequest)), nil
	}}
	t[kmsg.Heartbeat.Int16()] = api{min: 0, max: 4, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.heartbeat(r.msg.(*kmsg.HeartbeatRequest)), nil
	}}
	t[kmsg.LeaveGroup.Int16()] = api{min: 0, max: 5, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.leave(r.msg.(*kmsg.LeaveGroupRequest)), nil
	}}
	t[kmsg.OffsetCommit.Int16()] = api{min: 0, max: 9, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.commitOffsets(ctx, r.msg.(*kmsg.OffsetCommitRequest), time.Now().UnixMilli()), nil
	}}
	t[kmsg.OffsetFetch.Int16()] = api{min: 0, max: 9, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.fetchOffsets(r.msg.(*kmsg.OffsetFetchRequest)), nil
	}}
	t[kmsg.OffsetDelete.Int16()] = api{min: 0, max: 0, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.deleteOffsets(ctx, r.msg.(*kmsg.OffsetDeleteRequest)), nil
	}}
	t[kmsg.DescribeGroups.Int16()] = api{min: 0, max: 6, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.describe(r.msg.(*kmsg.DescribeGroupsRequest)), nil
	}}
	t[kmsg.ListGroups.Int16()] = api{min: 0, max: 5, serve: func(_ context.Context, r *request) (kmsg.Response, error) {
		return b.groups.list(r.msg.(*kmsg.ListGroupsRequest)), nil
	}}
	t[kmsg.DeleteGroups.Int16()] = api{min: 0, max: 2, serve: func(ctx context.Context, r *request) (kmsg.Response, error) {
		return b.groups.deleteGroups(ctx, r.msg.(*kmsg.DeleteGroupsRequest)), nil
	}}
}

// remoteHost returns a client's host in Kafka's notation.
func remoteHost(c *conn) string {
	if host, _, err := net.SplitHostPort(c.nc.RemoteAddr().String()); err == nil {
		return "/" + host
	}
	return "/in-memory"
}
