//go:build integration

package broker

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/internal/kafkatest"
	"github.com/recountdb/recount/pipeline/broker/groups/grouptest"
)

// TestGroupsLikeApacheKafka sends the same requests to this coordinator and to Apache Kafka's, and
// compares the answers.
func TestGroupsLikeApacheKafka(t *testing.T) {
	b := memBroker(t, Options{Listen: []string{"127.0.0.1:0"}, Groups: GroupOptions{InitialRebalanceDelay: -1}})
	theirs := converse(t, kafkatest.Start(t))
	ours := converse(t, b.Addr())
	if d := gocmp.Diff(theirs, ours); d != "" {
		t.Errorf("Apache Kafka (-) and we (+) answer differently:\n%s", d)
	}
	t.Logf("%d answers:\n%s", len(ours), strings.Join(ours, "\n"))
}

// conversation is a client's exchange with a coordinator, recorded without what may differ: ids and
// times.
type conversation struct {
	*rawClient
	lines []string
}

func (c *conversation) note(what string, code int16, more ...any) {
	name := "ok"
	if err := kerr.ErrorForCode(code); err != nil {
		name = err.(*kerr.Error).Message
	}
	c.lines = append(c.lines, strings.TrimSpace(fmt.Sprintf("%s: %s %s", what, name, strings.TrimSpace(fmt.Sprintln(more...)))))
}

func (c *conversation) join(what string, r *kmsg.JoinGroupRequest) *kmsg.JoinGroupResponse {
	a := c.ask(r).(*kmsg.JoinGroupResponse)
	protocol := ""
	if a.Protocol != nil {
		protocol = *a.Protocol
	}
	c.note(what, a.ErrorCode, "generation", a.Generation, "members", len(a.Members), "leads", a.LeaderID == a.MemberID, "skip", a.SkipAssignment, protocol)
	return a
}

func (c *conversation) sync(what string, r *kmsg.SyncGroupRequest) {
	a := c.ask(r).(*kmsg.SyncGroupResponse)
	c.note(what, a.ErrorCode, fmt.Sprintf("%q", a.MemberAssignment))
}

func (c *conversation) beat(what, member string, generation int32, instance *string) {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Version, r.Group, r.MemberID, r.Generation, r.InstanceID = 4, "g", member, generation, instance
	c.note(what, c.ask(r).(*kmsg.HeartbeatResponse).ErrorCode)
}

func (c *conversation) commit(what, member string, generation int32, ps ...kmsg.OffsetCommitRequestTopicPartition) {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version, r.Group, r.MemberID, r.Generation = 8, "g", member, generation
	r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: ps}}
	for _, kt := range c.ask(r).(*kmsg.OffsetCommitResponse).Topics {
		slices.SortFunc(kt.Partitions, func(a, b kmsg.OffsetCommitResponseTopicPartition) int {
			return cmp.Compare(a.Partition, b.Partition) // Kafka orders by error
		})
		for _, p := range kt.Partitions {
			c.note(what, p.ErrorCode, kt.Topic, p.Partition)
		}
	}
}

func (c *conversation) fetch(what, group string, topics []kmsg.OffsetFetchRequestGroupTopic) {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Version = 8
	r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, Topics: topics}}
	for _, g := range c.ask(r).(*kmsg.OffsetFetchResponse).Groups {
		c.note(what, g.ErrorCode, len(g.Topics), "topics")
		for _, kt := range g.Topics {
			for _, p := range kt.Partitions {
				c.note(what, p.ErrorCode, kt.Topic, p.Partition, "at", p.Offset, p.LeaderEpoch, *p.Metadata)
			}
		}
	}
}

func (c *conversation) leave(what string, ms ...kmsg.LeaveGroupRequestMember) {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Version, r.Group, r.Members = 5, "g", ms
	a := c.ask(r).(*kmsg.LeaveGroupResponse)
	c.note(what, a.ErrorCode)
	for _, m := range a.Members {
		c.note(what+", one", m.ErrorCode)
	}
}

func (c *conversation) describe(what, group string) {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Version, r.Groups = 5, []string{group}
	g := c.ask(r).(*kmsg.DescribeGroupsResponse).Groups[0]
	c.note(what, g.ErrorCode, g.State, g.ProtocolType, g.Protocol, len(g.Members))
	for _, m := range g.Members {
		c.note(what+", one", 0, m.ClientID, m.ClientHost, string(m.ProtocolMetadata), string(m.MemberAssignment))
	}
}

func (c *conversation) list(what string, states ...string) {
	r := kmsg.NewPtrListGroupsRequest()
	r.Version, r.StatesFilter = 4, states
	a := c.ask(r).(*kmsg.ListGroupsResponse)
	c.note(what, a.ErrorCode)
	for _, g := range a.Groups {
		c.note(what+", one", 0, g.Group, g.ProtocolType, g.GroupState)
	}
}

func (c *conversation) remove(what, group string) {
	r := kmsg.NewPtrDeleteGroupsRequest()
	r.Version, r.Groups = 2, []string{group}
	c.note(what, c.ask(r).(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode)
}

func (c *conversation) removeOffset(what, group string) {
	r := kmsg.NewPtrOffsetDeleteRequest()
	r.Group = group
	r.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}}}
	a := c.ask(r).(*kmsg.OffsetDeleteResponse)
	c.note(what, a.ErrorCode)
	for _, kt := range a.Topics {
		for _, p := range kt.Partitions {
			c.note(what+", one", p.ErrorCode)
		}
	}
}

// converse runs the conversation with the coordinator at addr.
func converse(t *testing.T, addr string) []string {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	c := &conversation{rawClient: &rawClient{t, nc}}
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version, create.TimeoutMillis = 7, 10_000
	create.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "t", NumPartitions: 3, ReplicationFactor: 1}}
	if a := c.ask(create).(*kmsg.CreateTopicsResponse); a.Topics[0].ErrorCode != 0 {
		t.Fatalf("create a topic: %v", kerr.ErrorForCode(a.Topics[0].ErrorCode))
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) { // Kafka first creates its topic of offsets
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorKeys = 4, []string{"g"}
		a := c.ask(find).(*kmsg.FindCoordinatorResponse)
		r := kmsg.NewPtrOffsetFetchRequest()
		r.Version, r.Groups = 8, []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
		if a.Coordinators[0].ErrorCode == 0 && c.ask(r).(*kmsg.OffsetFetchResponse).Groups[0].ErrorCode == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no coordinator")
		}
	}
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = []string{"t"}
	member := func(id string, opts ...func(*kmsg.JoinGroupRequest)) *kmsg.JoinGroupRequest {
		r := grouptest.Join(9, id, opts...)
		for i := range r.Protocols {
			r.Protocols[i].Metadata = meta.AppendTo(nil)
		}
		return r
	}

	c.describe("describe what is not", "g")
	c.fetch("fetch what is not", "g", nil)
	c.remove("delete what is not", "g")
	c.removeOffset("delete an offset of what is not", "g")
	c.beat("heartbeat of nobody", "made-up", 1, nil)
	c.join("no group", member("", grouptest.InGroup("")))
	c.join("a session too short", member("", grouptest.Session(time.Millisecond)))
	c.join("a session too long", member("", grouptest.Session(24*time.Hour)))
	c.join("no protocols", member("", grouptest.Protocols()))
	c.join("a made-up id", member("made-up"))
	first := c.join("without an id", member(""))
	j := c.join("with the id", member(first.MemberID))
	c.describe("describe before the sync", "g")
	c.commit("commit before the sync", j.MemberID, j.Generation, kmsg.OffsetCommitRequestTopicPartition{Partition: 0, Offset: 1})
	wrong := grouptest.Sync(j)
	wrong.Generation = 7
	c.sync("sync of another generation", wrong)
	wrong = grouptest.Sync(j)
	wrong.Protocol = kmsg.StringPtr("other")
	c.sync("sync with another protocol", wrong)
	c.sync("sync of nobody", grouptest.Sync(&kmsg.JoinGroupResponse{MemberID: "made-up", Generation: 1}))
	c.sync("sync", grouptest.Sync(j, j.MemberID, "all"))
	c.sync("sync again", grouptest.Sync(j))
	c.describe("describe", "g")
	c.list("list")
	c.list("list the empty ones", "Empty")
	c.beat("heartbeat", j.MemberID, j.Generation, nil)
	c.beat("heartbeat of another generation", j.MemberID, 9, nil)
	c.beat("heartbeat with an instance id that is not", j.MemberID, j.Generation, kmsg.StringPtr("i"))
	c.join("another protocol", member("", grouptest.Protocols("other")))
	c.join("another type", member("", func(r *kmsg.JoinGroupRequest) { r.ProtocolType = "connect" }))

	long := strings.Repeat("m", 4096+1)
	c.commit("commit", j.MemberID, j.Generation,
		kmsg.OffsetCommitRequestTopicPartition{Partition: 0, Offset: 10, LeaderEpoch: 0, Metadata: kmsg.StringPtr("note")},
		kmsg.OffsetCommitRequestTopicPartition{Partition: 1, Offset: 11, LeaderEpoch: -1},
		kmsg.OffsetCommitRequestTopicPartition{Partition: 2, Offset: 12, Metadata: &long},
		kmsg.OffsetCommitRequestTopicPartition{Partition: 9, Offset: 13})
	c.commit("commit of another generation", j.MemberID, 5, kmsg.OffsetCommitRequestTopicPartition{Offset: 1})
	c.commit("commit of a stranger", "made-up", j.Generation, kmsg.OffsetCommitRequestTopicPartition{Offset: 1})
	c.commit("commit of nobody", "", -1, kmsg.OffsetCommitRequestTopicPartition{Offset: 1})
	c.fetch("fetch some", "g", []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0, 1, 2, 9}}})
	c.fetch("fetch of another topic", "g", []kmsg.OffsetFetchRequestGroupTopic{{Topic: "none", Partitions: []int32{0}}})
	c.fetch("fetch all", "g", nil)
	c.removeOffset("delete an offset that is read", "g")
	c.remove("delete with members", "g")

	leader := c.join("the leader again", member(j.MemberID))
	c.sync("the leader's sync", grouptest.Sync(leader, leader.MemberID, "all of it"))
	c.leave("leave of nobody", kmsg.LeaveGroupRequestMember{MemberID: "made-up"})
	c.leave("leave", kmsg.LeaveGroupRequestMember{MemberID: j.MemberID})
	c.beat("heartbeat when it has left", j.MemberID, leader.Generation, nil)
	c.describe("describe the empty group", "g")
	c.list("list the empty ones", "empty")
	c.commit("commit of nobody", "", -1, kmsg.OffsetCommitRequestTopicPartition{Offset: 20})
	c.commit("commit of who has left", j.MemberID, leader.Generation, kmsg.OffsetCommitRequestTopicPartition{Offset: 1})
	c.removeOffset("delete an offset", "g")
	c.fetch("fetch what is left", "g", nil)

	s := c.join("static", member("", grouptest.Instance("i")))
	c.sync("static sync", grouptest.Sync(s, s.MemberID, "mine"))
	again := c.join("static again", member("", grouptest.Instance("i")))
	c.sync("static sync again", func() *kmsg.SyncGroupRequest {
		r := grouptest.Sync(again)
		r.InstanceID = kmsg.StringPtr("i")
		return r
	}())
	c.beat("heartbeat of the process before", s.MemberID, s.Generation, kmsg.StringPtr("i"))
	c.join("join of the process before", member(s.MemberID, grouptest.Instance("i")))
	c.beat("heartbeat of the process now", again.MemberID, again.Generation, kmsg.StringPtr("i"))
	c.leave("leave by name", kmsg.LeaveGroupRequestMember{InstanceID: kmsg.StringPtr("i")}, kmsg.LeaveGroupRequestMember{InstanceID: kmsg.StringPtr("k")})
	c.remove("delete", "g")
	c.remove("delete again", "g")
	c.describe("describe when it is gone", "g")
	c.fetch("fetch when it is gone", "g", nil)
	return c.lines
}
