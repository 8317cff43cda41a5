package groups

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/groups/grouptest"
)

func TestCommitPerPartition(t *testing.T) {
	c := testCoordinator(t, Options{})
	long := strings.Repeat("m", maxOffsetMetadata+1)
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version, r.Group, r.Generation = 8, "g", -1
	r.Topics = []kmsg.OffsetCommitRequestTopic{
		{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{
			{Partition: 0, Offset: 10, LeaderEpoch: 3, Metadata: kmsg.StringPtr("note")},
			{Partition: 1, Offset: 11, Metadata: &long},
			{Partition: 99, Offset: 12},
			{Partition: 2, Offset: -5},
		}},
		{Topic: "none", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 0, Offset: 1}}},
	}
	var got []int16
	for _, kt := range c.CommitOffsets(context.Background(), r, 1).Topics {
		for _, p := range kt.Partitions {
			got = append(got, p.ErrorCode)
		}
	}
	want := []int16{0, kerr.OffsetMetadataTooLarge.Code, kerr.UnknownTopicOrPartition.Code, kerr.InvalidRequest.Code, kerr.UnknownTopicOrPartition.Code}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	f := kmsg.NewPtrOffsetFetchRequest()
	f.Version = 8
	f.Groups = []kmsg.OffsetFetchRequestGroup{
		{Group: "g", Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0, 1}}}},
		{Group: "g"},
		{Group: "unknown"},
		{Group: ""},
	}
	var lines []string
	for _, g := range c.FetchOffsets(f).Groups {
		line := fmt.Sprintf("%s %d:", g.Group, g.ErrorCode)
		for _, kt := range g.Topics {
			for _, p := range kt.Partitions {
				line += fmt.Sprintf(" %s/%d=%d@%d %q", kt.Topic, p.Partition, p.Offset, p.LeaderEpoch, *p.Metadata)
			}
		}
		lines = append(lines, line)
	}
	wantLines := []string{`g 0: t/0=10@3 "note" t/1=-1@-1 ""`, `g 0: t/0=10@3 "note"`, `unknown 0:`, ` 24:`}
	if d := cmp.Diff(wantLines, lines); d != "" {
		t.Error(d)
	}
}

func TestGroupAdmin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 2)
		grouptest.WantCode(t, "commit", commit(c, m[0].MemberID, 2, 1), nil)
		d := kmsg.NewPtrDescribeGroupsRequest()
		d.Version = 6
		d.Groups = []string{"g", "none"}
		d.IncludeAuthorizedOperations = true
		got := c.Describe(d).Groups
		if got[0].State != "Stable" || got[0].Protocol != "range" || got[0].ProtocolType != "consumer" || len(got[0].Members) != 2 ||
			got[0].Members[0].ClientID != "client" || string(got[0].Members[0].MemberAssignment) == "" || got[0].AuthorizedOperations != 328 {
			t.Errorf("describe: %+v", got[0])
		}
		if got[1].State != "Dead" || got[1].ErrorCode != kerr.GroupIDNotFound.Code {
			t.Errorf("describe of no group: %+v", got[1])
		}

		list := func(states ...string) (out []string) {
			l := kmsg.NewPtrListGroupsRequest()
			l.Version, l.StatesFilter = 5, states
			for _, g := range c.List(l).Groups {
				out = append(out, g.Group+" "+g.ProtocolType+" "+g.GroupState+" "+g.GroupType)
			}
			return out
		}
		if d := cmp.Diff([]string{"g consumer Stable classic"}, list()); d != "" {
			t.Error(d)
		}
		if got := list("empty"); len(got) != 0 {
			t.Errorf("list of the empty ones: %v", got)
		}

		del := func(id string) int16 {
			r := kmsg.NewPtrDeleteGroupsRequest()
			r.Version, r.Groups = 2, []string{id}
			return c.DeleteGroups(context.Background(), r).Groups[0].ErrorCode
		}
		grouptest.WantCode(t, "delete with members", del("g"), kerr.NonEmptyGroup)
		grouptest.WantCode(t, "delete none", del("none"), kerr.GroupIDNotFound)
		leave(c, m[0].MemberID, m[1].MemberID)
		if d := cmp.Diff([]string{"g consumer Empty classic"}, list("empty")); d != "" {
			t.Error(d)
		}
		grouptest.WantCode(t, "delete", del("g"), nil)
		grouptest.WantCode(t, "delete again", del("g"), kerr.GroupIDNotFound)
		if got := list(); len(got) != 0 {
			t.Errorf("groups left: %v", got)
		}
	})
}

func TestOffsetDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		meta := kmsg.NewConsumerMemberMetadata()
		meta.Topics = []string{"t"}
		j := joinNow(t, c, grouptest.Join(3, "", func(r *kmsg.JoinGroupRequest) { r.Protocols[0].Metadata = meta.AppendTo(nil) }))
		syncNow(t, c, grouptest.Sync(j, j.MemberID, "x"))
		commit(c, j.MemberID, 1, 5)
		del := func() *kmsg.OffsetDeleteResponse {
			r := kmsg.NewPtrOffsetDeleteRequest()
			r.Group = "g"
			r.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 1}}}}
			return c.DeleteOffsets(context.Background(), r)
		}
		grouptest.WantCode(t, "delete what is being read", del().Topics[0].Partitions[0].ErrorCode, kerr.GroupSubscribedToTopic)
		leave(c, j.MemberID)
		grouptest.WantCode(t, "delete", del().Topics[0].Partitions[0].ErrorCode, nil)
		if _, ok, _ := c.offsets.Get("g", "t", 1); ok {
			t.Error("the offset is still there")
		}
	})
}
