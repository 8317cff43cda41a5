package broker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// memOffsets is an offsetStore in memory, in which topic "t" has ten partitions.
type memOffsets struct {
	mu sync.Mutex
	m  map[string]map[topicPartition]committedOffset
}

func (s *memOffsets) commit(_ context.Context, group string, offsets []committedOffset, check func() error, reject func(int)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := check(); err != nil {
		return err
	}
	for i, o := range offsets {
		if o.topic != "t" || o.partition < 0 || o.partition >= 10 {
			reject(i)
			continue
		}
		if s.m == nil {
			s.m = map[string]map[topicPartition]committedOffset{}
		}
		if s.m[group] == nil {
			s.m[group] = map[topicPartition]committedOffset{}
		}
		s.m[group][topicPartition{o.topic, o.partition}] = o
	}
	return nil
}

func (s *memOffsets) drop(_ context.Context, group string, only []topicPartition, check func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := check(); err != nil {
		return err
	}
	if only == nil {
		delete(s.m, group)
	}
	for _, tp := range only {
		delete(s.m[group], tp)
	}
	return nil
}

func (s *memOffsets) get(group, topic string, partition int32) (committedOffset, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.m[group][topicPartition{topic, partition}]
	return o, ok, nil
}

func (s *memOffsets) all(group string) (list []committedOffset, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.m[group] {
		list = append(list, o)
	}
	return list, nil
}

func (s *memOffsets) groups() (names []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.m {
		names = append(names, g)
	}
	return names, nil
}

func (s *memOffsets) has(group string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.m[group]) > 0, nil
}

func testCoordinator(t *testing.T, o GroupOptions) *coordinator {
	t.Helper()
	if o.InitialRebalanceDelay == 0 {
		o.InitialRebalanceDelay = -1
	}
	c := newCoordinator(o.withDefaults(), &memOffsets{}, slog.New(slog.DiscardHandler))
	t.Cleanup(c.close)
	return c
}

// joinReq returns a JoinGroup for group "g", with a session of 10 s and a rebalance timeout of 30
// s.
func joinReq(version int16, member string, opts ...func(*kmsg.JoinGroupRequest)) *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Version = version
	r.Group, r.MemberID = "g", member
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 10_000, 30_000
	r.ProtocolType = "consumer"
	r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("meta")}}
	for _, o := range opts {
		o(r)
	}
	return r
}

func inGroup(id string) func(*kmsg.JoinGroupRequest) {
	return func(r *kmsg.JoinGroupRequest) { r.Group = id }
}

func instance(id string) func(*kmsg.JoinGroupRequest) {
	return func(r *kmsg.JoinGroupRequest) { r.InstanceID = &id }
}

func session(d time.Duration) func(*kmsg.JoinGroupRequest) {
	return func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = int32(d.Milliseconds()) }
}

func protocols(names ...string) func(*kmsg.JoinGroupRequest) {
	return func(r *kmsg.JoinGroupRequest) {
		r.Protocols = nil
		for _, n := range names {
			r.Protocols = append(r.Protocols, kmsg.JoinGroupRequestProtocol{Name: n, Metadata: []byte("meta")})
		}
	}
}

// pendingJoin is a JoinGroup in progress.
type pendingJoin struct {
	c      *coordinator
	cancel context.CancelFunc
	resp   chan *kmsg.JoinGroupResponse
}

// start sends a JoinGroup, and returns when it waits or is answered.
func start(c *coordinator, r *kmsg.JoinGroupRequest) *pendingJoin {
	ctx, cancel := context.WithCancel(context.Background())
	p := &pendingJoin{c, cancel, make(chan *kmsg.JoinGroupResponse, 1)}
	go func() {
		defer cancel()
		p.resp <- c.join(ctx, r, groupClient{"client", "/127.0.0.1"})
	}()
	synctest.Wait()
	return p
}

func (p *pendingJoin) waits() bool { return len(p.resp) == 0 }

// done returns the answer, which must be there.
func (p *pendingJoin) done(t *testing.T) *kmsg.JoinGroupResponse {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-p.resp:
		return r
	default:
		t.Fatal("the JoinGroup still waits")
		return nil
	}
}

// joinNow joins and expects an answer at once.
func joinNow(t *testing.T, c *coordinator, r *kmsg.JoinGroupRequest) *kmsg.JoinGroupResponse {
	t.Helper()
	return start(c, r).done(t)
}

func wantCode(t *testing.T, what string, got int16, want *kerr.Error) {
	t.Helper()
	if got != wire.ErrorCode(want) {
		t.Errorf("%s: got %v, want %v", what, kerr.ErrorForCode(got), kerr.ErrorForCode(wire.ErrorCode(want)))
	}
}

func syncReq(j *kmsg.JoinGroupResponse, assign ...string) *kmsg.SyncGroupRequest {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Version = 5
	r.Group, r.Generation, r.MemberID = "g", j.Generation, j.MemberID
	r.ProtocolType, r.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for i := 0; i < len(assign); i += 2 {
		r.GroupAssignment = append(r.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: assign[i], MemberAssignment: []byte(assign[i+1])})
	}
	return r
}

func startSync(c *coordinator, r *kmsg.SyncGroupRequest) chan *kmsg.SyncGroupResponse {
	out := make(chan *kmsg.SyncGroupResponse, 1)
	go func() { out <- c.sync(context.Background(), r) }()
	synctest.Wait()
	return out
}

func syncNow(t *testing.T, c *coordinator, r *kmsg.SyncGroupRequest) *kmsg.SyncGroupResponse {
	t.Helper()
	select {
	case r := <-startSync(c, r):
		return r
	default:
		t.Fatal("the SyncGroup still waits")
		return nil
	}
}

func beat(c *coordinator, member string, generation int32) int16 {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Version = 4
	r.Group, r.MemberID, r.Generation = "g", member, generation
	return c.heartbeat(r).ErrorCode
}

func leave(c *coordinator, members ...string) []int16 {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Version = 5
	r.Group = "g"
	for _, m := range members {
		k := kmsg.NewLeaveGroupRequestMember()
		k.MemberID = m
		r.Members = append(r.Members, k)
	}
	var codes []int16
	for _, m := range c.leave(r).Members {
		codes = append(codes, m.ErrorCode)
	}
	return codes
}

func commit(c *coordinator, member string, generation int32, offset int64) int16 {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version = 8
	r.Group, r.MemberID, r.Generation = "g", member, generation
	r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 1, Offset: offset}}}}
	return c.commitOffsets(context.Background(), r, 1).Topics[0].Partitions[0].ErrorCode
}

func stateOf(c *coordinator, group string) string {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Version = 5
	r.Groups = []string{group}
	return c.describe(r).Groups[0].State
}

// stable creates a group of n members (with version 3, which needs no id beforehand), and returns
// their joins, the leader's first.
func stable(t *testing.T, c *coordinator, n int) []*kmsg.JoinGroupResponse {
	t.Helper()
	var joins []*pendingJoin
	for i := range n {
		joins = append(joins, start(c, joinReq(3, "")))
		if i == 0 && !joins[0].waits() { // no initial delay: alone in generation 1
			first := joins[0].done(t)
			if n == 1 {
				syncNow(t, c, syncReq(first, first.MemberID, "all"))
				return []*kmsg.JoinGroupResponse{first}
			}
			joins[0] = nil
			for range n - 1 {
				joins = append(joins, start(c, joinReq(3, "")))
			}
			joins[0] = start(c, joinReq(3, first.MemberID))
			break
		}
	}
	var out []*kmsg.JoinGroupResponse
	for _, j := range joins {
		out = append(out, j.done(t))
	}
	slices.SortStableFunc(out, func(a, b *kmsg.JoinGroupResponse) int { return len(b.Members) - len(a.Members) })
	var assign []string
	for i, j := range out {
		assign = append(assign, j.MemberID, fmt.Sprintf("part %d", i))
	}
	syncNow(t, c, syncReq(out[0], assign...))
	return out
}
