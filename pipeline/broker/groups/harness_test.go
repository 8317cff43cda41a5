package groups

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/groups/grouptest"
	"github.com/recountdb/recount/pipeline/broker/storage"
)

// memOffsets is an OffsetStore in memory, in which topic "t" has ten partitions.
type memOffsets struct {
	mu sync.Mutex
	m  map[string]map[storage.TopicPartition]storage.CommittedOffset
}

func (s *memOffsets) Commit(_ context.Context, group string, offsets []storage.CommittedOffset, check func() error, reject func(int)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := check(); err != nil {
		return err
	}
	for i, o := range offsets {
		if o.Topic != "t" || o.Partition < 0 || o.Partition >= 10 {
			reject(i)
			continue
		}
		if s.m == nil {
			s.m = map[string]map[storage.TopicPartition]storage.CommittedOffset{}
		}
		if s.m[group] == nil {
			s.m[group] = map[storage.TopicPartition]storage.CommittedOffset{}
		}
		s.m[group][storage.TopicPartition{Topic: o.Topic, Partition: o.Partition}] = o
	}
	return nil
}

func (s *memOffsets) Delete(_ context.Context, group string, only []storage.TopicPartition, check func() error) error {
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

func (s *memOffsets) Get(group, topic string, partition int32) (storage.CommittedOffset, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.m[group][storage.TopicPartition{Topic: topic, Partition: partition}]
	return o, ok, nil
}

func (s *memOffsets) All(group string) (list []storage.CommittedOffset, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.m[group] {
		list = append(list, o)
	}
	return list, nil
}

func (s *memOffsets) Groups() (names []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.m {
		names = append(names, g)
	}
	return names, nil
}

func (s *memOffsets) Has(group string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.m[group]) > 0, nil
}

func testCoordinator(t *testing.T, o Options) *Coordinator {
	t.Helper()
	if o.InitialRebalanceDelay == 0 {
		o.InitialRebalanceDelay = -1
	}
	c := New(o, &memOffsets{}, slog.New(slog.DiscardHandler))
	t.Cleanup(c.Close)
	return c
}

// pendingJoin is a JoinGroup in progress.
type pendingJoin struct {
	c      *Coordinator
	cancel context.CancelFunc
	resp   chan *kmsg.JoinGroupResponse
}

// start sends a JoinGroup, and returns when it waits or is answered.
func start(c *Coordinator, r *kmsg.JoinGroupRequest) *pendingJoin {
	ctx, cancel := context.WithCancel(context.Background())
	p := &pendingJoin{c, cancel, make(chan *kmsg.JoinGroupResponse, 1)}
	go func() {
		defer cancel()
		p.resp <- c.Join(ctx, r, Client{"client", "/127.0.0.1"})
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
func joinNow(t *testing.T, c *Coordinator, r *kmsg.JoinGroupRequest) *kmsg.JoinGroupResponse {
	t.Helper()
	return start(c, r).done(t)
}

func startSync(c *Coordinator, r *kmsg.SyncGroupRequest) chan *kmsg.SyncGroupResponse {
	out := make(chan *kmsg.SyncGroupResponse, 1)
	go func() { out <- c.Sync(context.Background(), r) }()
	synctest.Wait()
	return out
}

func syncNow(t *testing.T, c *Coordinator, r *kmsg.SyncGroupRequest) *kmsg.SyncGroupResponse {
	t.Helper()
	select {
	case r := <-startSync(c, r):
		return r
	default:
		t.Fatal("the SyncGroup still waits")
		return nil
	}
}

func beat(c *Coordinator, member string, generation int32) int16 {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Version = 4
	r.Group, r.MemberID, r.Generation = "g", member, generation
	return c.Heartbeat(r).ErrorCode
}

func leave(c *Coordinator, members ...string) []int16 {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Version = 5
	r.Group = "g"
	for _, m := range members {
		k := kmsg.NewLeaveGroupRequestMember()
		k.MemberID = m
		r.Members = append(r.Members, k)
	}
	var codes []int16
	for _, m := range c.Leave(r).Members {
		codes = append(codes, m.ErrorCode)
	}
	return codes
}

func commit(c *Coordinator, member string, generation int32, offset int64) int16 {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version = 8
	r.Group, r.MemberID, r.Generation = "g", member, generation
	r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 1, Offset: offset}}}}
	return c.CommitOffsets(context.Background(), r, 1).Topics[0].Partitions[0].ErrorCode
}

func stateOf(c *Coordinator, group string) string {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Version = 5
	r.Groups = []string{group}
	return c.Describe(r).Groups[0].State
}

// stable creates a group of n members (with version 3, which needs no id beforehand), and returns
// their joins, the leader's first.
func stable(t *testing.T, c *Coordinator, n int) []*kmsg.JoinGroupResponse {
	t.Helper()
	var joins []*pendingJoin
	for i := range n {
		joins = append(joins, start(c, grouptest.Join(3, "")))
		if i == 0 && !joins[0].waits() { // no initial delay: alone in generation 1
			first := joins[0].done(t)
			if n == 1 {
				syncNow(t, c, grouptest.Sync(first, first.MemberID, "all"))
				return []*kmsg.JoinGroupResponse{first}
			}
			joins[0] = nil
			for range n - 1 {
				joins = append(joins, start(c, grouptest.Join(3, "")))
			}
			joins[0] = start(c, grouptest.Join(3, first.MemberID))
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
	syncNow(t, c, grouptest.Sync(out[0], assign...))
	return out
}
