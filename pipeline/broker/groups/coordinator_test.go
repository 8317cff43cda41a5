package groups

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/groups/grouptest"
)

func TestGroupOneGenerationAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})

		// The only member.
		j := joinNow(t, c, grouptest.Join(4, ""))
		grouptest.WantCode(t, "first join", j.ErrorCode, kerr.MemberIDRequired)
		a := j.MemberID
		j = joinNow(t, c, grouptest.Join(4, a))
		grouptest.WantCode(t, "join with the id", j.ErrorCode, nil)
		if j.Generation != 1 || j.LeaderID != a || len(j.Members) != 1 || *j.Protocol != "range" {
			t.Fatalf("generation %d, leader %q, %d members, protocol %q", j.Generation, j.LeaderID, len(j.Members), *j.Protocol)
		}
		s := syncNow(t, c, grouptest.Sync(j, a, "everything"))
		if string(s.MemberAssignment) != "everything" {
			t.Fatalf("assignment %q", s.MemberAssignment)
		}
		grouptest.WantCode(t, "heartbeat", beat(c, a, 1), nil)

		// A second member joins.
		b := joinNow(t, c, grouptest.Join(4, "")).MemberID
		grouptest.WantCode(t, "heartbeat while an id is only handed out", beat(c, a, 1), nil)
		jb := start(c, grouptest.Join(4, b))
		grouptest.WantCode(t, "heartbeat when another joins", beat(c, a, 1), kerr.RebalanceInProgress)
		if !jb.waits() {
			t.Fatal("the second member was let in before the first joined again")
		}
		j = joinNow(t, c, grouptest.Join(4, a))
		j2 := jb.done(t)
		if j.Generation != 2 || j2.Generation != 2 || j.LeaderID != a || j2.LeaderID != a {
			t.Fatalf("generations %d and %d, leaders %q and %q", j.Generation, j2.Generation, j.LeaderID, j2.LeaderID)
		}
		if len(j.Members) != 2 || len(j2.Members) != 0 {
			t.Fatalf("the leader sees %d members, the follower %d", len(j.Members), len(j2.Members))
		}

		// The follower waits for the leader's assignment.
		sb := startSync(c, grouptest.Sync(j2))
		if len(sb) != 0 {
			t.Fatal("the follower was answered before the leader had assigned")
		}
		grouptest.WantCode(t, "commit before the assignment is known", commit(c, a, 2, 5), kerr.RebalanceInProgress)
		syncNow(t, c, grouptest.Sync(j, a, "one half", b, "the other"))
		if r := <-sb; string(r.MemberAssignment) != "the other" || *r.Protocol != "range" {
			t.Fatalf("follower got %q", r.MemberAssignment)
		}
		grouptest.WantCode(t, "commit", commit(c, b, 2, 7), nil)
		grouptest.WantCode(t, "commit of the generation before", commit(c, b, 1, 6), kerr.IllegalGeneration)

		// The first member leaves.
		if got := leave(c, a); !slices.Equal(got, []int16{0}) {
			t.Fatalf("leave: %v", got)
		}
		grouptest.WantCode(t, "heartbeat when one has left", beat(c, b, 2), kerr.RebalanceInProgress)
		grouptest.WantCode(t, "commit while a rebalance begins", commit(c, b, 2, 8), nil)
		j = joinNow(t, c, grouptest.Join(4, b))
		if j.Generation != 3 || j.LeaderID != b || len(j.Members) != 1 {
			t.Fatalf("generation %d, leader %q", j.Generation, j.LeaderID)
		}
		leave(c, b)
		if got := stateOf(c, "g"); got != "Empty" {
			t.Fatalf("state %s", got)
		}
		grouptest.WantCode(t, "commit of a member that left", commit(c, b, 3, 9), kerr.UnknownMemberID)
		o, _, _ := c.offsets.Get("g", "t", 1)
		if o.Offset != 8 {
			t.Fatalf("committed %d, want 8", o.Offset)
		}
	})
}

func TestGroupInitialDelayGathersMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{InitialRebalanceDelay: 3 * time.Second})
		a := start(c, grouptest.Join(3, ""))
		time.Sleep(2 * time.Second)
		b := start(c, grouptest.Join(3, ""))
		time.Sleep(2 * time.Second) // the first delay is over, but b came during it
		if !a.waits() || !b.waits() {
			t.Fatal("answered too early")
		}
		d := start(c, grouptest.Join(3, ""))
		time.Sleep(5 * time.Second)
		var generations []int32
		for _, p := range []*pendingJoin{a, b, d} {
			generations = append(generations, p.done(t).Generation)
		}
		if !slices.Equal(generations, []int32{1, 1, 1}) {
			t.Errorf("generations %v, want all in the first", generations)
		}
	})
}

func TestGroupInitialDelayEndsAtTheRebalanceTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{InitialRebalanceDelay: 3 * time.Second})
		begin := time.Now()
		first := start(c, grouptest.Join(3, ""))
		for first.waits() {
			time.Sleep(time.Second)
			start(c, grouptest.Join(3, "", grouptest.Session(30*time.Minute))) // one more each second, for ever
		}
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("the first member waited %s, want its rebalance timeout, 30s", took)
		}
	})
}

func TestGroupSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 2)
		live, dead := m[0].MemberID, m[1].MemberID
		for range 3 { // 9 s: within the other's session
			time.Sleep(3 * time.Second)
			grouptest.WantCode(t, "heartbeat", beat(c, live, 2), nil)
		}
		time.Sleep(2 * time.Second)
		grouptest.WantCode(t, "heartbeat after the other's session", beat(c, live, 2), kerr.RebalanceInProgress)
		grouptest.WantCode(t, "the dead one's heartbeat", beat(c, dead, 2), kerr.UnknownMemberID)
		if j := joinNow(t, c, grouptest.Join(3, live)); len(j.Members) != 1 {
			t.Errorf("%d members left, want 1", len(j.Members))
		}
	})
}

func TestGroupRejoinTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 2)
		third := start(c, grouptest.Join(3, ""))
		rejoined := start(c, grouptest.Join(3, m[0].MemberID))
		// The other member sends heartbeats, so its session lives, but it does not rejoin.
		for range 9 {
			grouptest.WantCode(t, "heartbeat", beat(c, m[1].MemberID, 2), kerr.RebalanceInProgress)
			time.Sleep(3 * time.Second)
		}
		if !third.waits() {
			t.Fatal("the rebalance ended before its timeout")
		}
		beat(c, m[1].MemberID, 2)
		time.Sleep(4 * time.Second)
		if j := rejoined.done(t); len(j.Members) != 2 {
			t.Errorf("%d members, want the one that rejoined and the new one", len(j.Members))
		}
		third.done(t)
		grouptest.WantCode(t, "the one left behind", beat(c, m[1].MemberID, 2), kerr.UnknownMemberID)
	})
}

func TestGroupLeaderNeverSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 2)
		b := start(c, grouptest.Join(3, m[1].MemberID, grouptest.Protocols("range", "new"))) // forces a rebalance
		a := joinNow(t, c, grouptest.Join(3, m[0].MemberID))
		jb := b.done(t)
		waiting := startSync(c, grouptest.Sync(jb))
		for range 10 { // the leader is alive all the while
			beat(c, a.MemberID, a.Generation)
			time.Sleep(3 * time.Second)
		}
		synctest.Wait()
		grouptest.WantCode(t, "follower's sync", (<-waiting).ErrorCode, kerr.RebalanceInProgress)
		grouptest.WantCode(t, "leader's heartbeat", beat(c, a.MemberID, a.Generation), kerr.UnknownMemberID)
		if j := joinNow(t, c, grouptest.Join(3, jb.MemberID)); j.LeaderID != jb.MemberID {
			t.Errorf("leader %q, want the follower", j.LeaderID)
		}
	})
}

func TestGroupRetriedJoinGetsTheSameGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 2)
		if j := joinNow(t, c, grouptest.Join(3, m[1].MemberID)); j.Generation != 2 || len(j.Members) != 0 {
			t.Errorf("an unchanged follower's join: generation %d", j.Generation)
		}
		// The same request twice: the first connection is given up.
		first := start(c, grouptest.Join(3, m[0].MemberID)) // the leader's join rebalances
		again := start(c, grouptest.Join(3, m[0].MemberID))
		grouptest.WantCode(t, "the join that was superseded", first.done(t).ErrorCode, kerr.RebalanceInProgress)
		joinNow(t, c, grouptest.Join(3, m[1].MemberID))
		if j := again.done(t); j.ErrorCode != 0 || j.Generation != 3 {
			t.Errorf("the second try: %v, generation %d", kerr.ErrorForCode(j.ErrorCode), j.Generation)
		}
	})
}

func TestGroupClientGoneWhileItJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 1)
		// Its client never received an id, so nobody will come back for it.
		stranger := start(c, grouptest.Join(3, ""))
		stranger.cancel()
		grouptest.WantCode(t, "the stranger's answer", stranger.done(t).ErrorCode, kerr.NotCoordinator)
		if j := joinNow(t, c, grouptest.Join(3, m[0].MemberID)); len(j.Members) != 1 {
			t.Errorf("%d members, want 1", len(j.Members))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 2)
		// Its client knows the id, so it may come back within its session.
		known := start(c, grouptest.Join(3, m[0].MemberID))
		known.cancel()
		known.done(t)
		other := start(c, grouptest.Join(3, m[1].MemberID))
		time.Sleep(5 * time.Second)
		if !other.waits() {
			t.Fatal("the group did not wait for the member whose connection broke")
		}
		if j := joinNow(t, c, grouptest.Join(3, m[0].MemberID)); len(j.Members) != 2 {
			t.Errorf("%d members, want 2", len(j.Members))
		}
		other.done(t)
	})
}

func TestGroupHandedOutIDIsWaitedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 1)
		joinNow(t, c, grouptest.Join(4, "")) // is never heard of again
		j := start(c, grouptest.Join(3, m[0].MemberID))
		if !j.waits() {
			t.Fatal("the rebalance did not wait for the id that was handed out")
		}
		time.Sleep(maxPendingMember + time.Second)
		if r := j.done(t); len(r.Members) != 1 {
			t.Errorf("%d members, want 1", len(r.Members))
		}
	})
}

func TestGroupProtocolChoice(t *testing.T) {
	for _, tt := range []struct {
		name    string
		members [][]string
		want    string
	}{
		{"the only common one", [][]string{{"sticky", "range"}, {"range"}}, "range"},
		{"what most prefer", [][]string{{"a", "b"}, {"b", "a"}, {"b", "a"}}, "b"},
		{"the leader decides a tie", [][]string{{"b", "a"}, {"a", "b"}}, "b"},
		{"a name said twice counts once", [][]string{{"x", "x", "a"}, {"a"}}, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := testCoordinator(t, Options{InitialRebalanceDelay: time.Second})
				var joins []*pendingJoin
				for _, m := range tt.members {
					joins = append(joins, start(c, grouptest.Join(3, "", grouptest.Protocols(m...))))
				}
				time.Sleep(10 * time.Second)
				for _, j := range joins {
					if got := *j.done(t).Protocol; got != tt.want {
						t.Errorf("protocol %q, want %q", got, tt.want)
					}
				}
			})
		})
	}
}

func TestGroupRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		req  *kmsg.JoinGroupRequest
		want *kerr.Error
	}{
		{"no group", grouptest.Join(4, "", grouptest.InGroup("")), kerr.InvalidGroupID},
		{"a group's name without end", grouptest.Join(4, "", grouptest.InGroup(strings.Repeat("x", 5000))), kerr.InvalidGroupID},
		{"a session too short", grouptest.Join(4, "", grouptest.Session(time.Millisecond)), kerr.InvalidSessionTimeout},
		{"a session of days", grouptest.Join(4, "", grouptest.Session(20*24*time.Hour)), kerr.InvalidSessionTimeout},
		{"a negative session", grouptest.Join(4, "", grouptest.Session(-time.Hour)), kerr.InvalidSessionTimeout},
		{"no protocols", grouptest.Join(4, "", grouptest.Protocols()), kerr.InconsistentGroupProtocol},
		{"too many protocols", grouptest.Join(4, "", grouptest.Protocols(strings.Fields(strings.Repeat("p ", 100))...)), kerr.InconsistentGroupProtocol},
		{"no protocol in common", grouptest.Join(4, "", grouptest.Protocols("other")), kerr.InconsistentGroupProtocol},
		{"another type of group", grouptest.Join(4, "", func(r *kmsg.JoinGroupRequest) { r.ProtocolType = "connect" }), kerr.InconsistentGroupProtocol},
		{"an id we did not give", grouptest.Join(4, "made-up"), kerr.UnknownMemberID},
		{"an id in a group that is not", grouptest.Join(4, "made-up", grouptest.InGroup("h")), kerr.UnknownMemberID},
		{"an empty instance id", grouptest.Join(5, "", grouptest.Instance("")), kerr.InvalidRequest},
		{"metadata beyond the budget", grouptest.Join(3, "", func(r *kmsg.JoinGroupRequest) { r.Protocols[0].Metadata = make([]byte, 1<<20) }), kerr.GroupMaxSizeReached},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := testCoordinator(t, Options{MaxBytes: 1 << 20})
				m := stable(t, c, 1)
				grouptest.WantCode(t, "join", joinNow(t, c, tt.req).ErrorCode, tt.want)
				grouptest.WantCode(t, "the member that was there", beat(c, m[0].MemberID, 1), nil)
				if err := c.CheckInvariants(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestGroupWrongRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 1)
		id := m[0].MemberID
		grouptest.WantCode(t, "heartbeat of another generation", beat(c, id, 9), kerr.IllegalGeneration)
		grouptest.WantCode(t, "heartbeat of nobody", beat(c, "x", 1), kerr.UnknownMemberID)
		wrong := grouptest.Sync(m[0])
		wrong.Protocol = kmsg.StringPtr("other")
		grouptest.WantCode(t, "sync with another protocol", syncNow(t, c, wrong).ErrorCode, kerr.InconsistentGroupProtocol)
		old := grouptest.Sync(m[0])
		old.Generation = 0
		grouptest.WantCode(t, "sync of another generation", syncNow(t, c, old).ErrorCode, kerr.IllegalGeneration)
		grouptest.WantCode(t, "commit as nobody into a group with members", commit(c, "", -1, 1), kerr.UnknownMemberID)
		leave(c, id)
		grouptest.WantCode(t, "commit as nobody into an empty group", commit(c, "", -1, 1), nil)
		grouptest.WantCode(t, "commit with a generation into no group", func() int16 {
			r := kmsg.NewPtrOffsetCommitRequest()
			r.Version, r.Group, r.MemberID, r.Generation = 8, "none", "x", 1
			r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 1}}}}
			return c.CommitOffsets(context.Background(), r, 1).Topics[0].Partitions[0].ErrorCode
		}(), kerr.IllegalGeneration)
		if got := leave(c, "x"); !slices.Equal(got, []int16{kerr.UnknownMemberID.Code}) {
			t.Errorf("leave of nobody: %v", got)
		}
	})
}

func TestGroupLimits(t *testing.T) {
	t.Run("members", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := testCoordinator(t, Options{MaxMembers: 3})
			for range 3 {
				grouptest.WantCode(t, "join", joinNow(t, c, grouptest.Join(4, "")).ErrorCode, kerr.MemberIDRequired)
			}
			grouptest.WantCode(t, "one more", joinNow(t, c, grouptest.Join(4, "")).ErrorCode, kerr.GroupMaxSizeReached)
			time.Sleep(maxPendingMember + time.Second)
			grouptest.WantCode(t, "after the ids have lapsed", joinNow(t, c, grouptest.Join(4, "")).ErrorCode, kerr.MemberIDRequired)
		})
	})
	t.Run("groups", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := testCoordinator(t, Options{MaxGroups: 2})
			joinNow(t, c, grouptest.Join(3, "", grouptest.InGroup("a")))
			b := joinNow(t, c, grouptest.Join(3, "", grouptest.InGroup("b")))
			grouptest.WantCode(t, "a third", joinNow(t, c, grouptest.Join(3, "", grouptest.InGroup("c"))).ErrorCode, kerr.CoordinatorNotAvailable)
			r := kmsg.NewPtrLeaveGroupRequest()
			r.Group, r.MemberID = "b", b.MemberID
			c.Leave(r)
			grouptest.WantCode(t, "a third in place of the empty one", joinNow(t, c, grouptest.Join(3, "", grouptest.InGroup("c"))).ErrorCode, nil)
			if err := c.CheckInvariants(); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("assignments", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := testCoordinator(t, Options{MaxBytes: 1 << 10})
			j := joinNow(t, c, grouptest.Join(3, ""))
			grouptest.WantCode(t, "sync", syncNow(t, c, grouptest.Sync(j, j.MemberID, strings.Repeat("x", 1<<10))).ErrorCode, kerr.GroupMaxSizeReached)
			grouptest.WantCode(t, "a smaller one", syncNow(t, c, grouptest.Sync(j, j.MemberID, "x")).ErrorCode, nil)
		})
	})
	t.Run("an empty group is forgotten", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := testCoordinator(t, Options{})
			m := stable(t, c, 1)
			leave(c, m[0].MemberID)
			time.Sleep(emptyGroupLife - time.Second)
			if got := stateOf(c, "g"); got != "Empty" {
				t.Errorf("state %s, want Empty", got)
			}
			time.Sleep(2 * time.Second)
			if got := stateOf(c, "g"); got != "Dead" {
				t.Errorf("state %s, want Dead", got)
			}
		})
	})
}

func TestGroupCloseAnswersAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		m := stable(t, c, 2)
		waiting := start(c, grouptest.Join(3, m[0].MemberID))
		c.Close()
		grouptest.WantCode(t, "the join that waited", waiting.done(t).ErrorCode, kerr.NotCoordinator)
		grouptest.WantCode(t, "a new join", joinNow(t, c, grouptest.Join(3, "")).ErrorCode, kerr.NotCoordinator)
		grouptest.WantCode(t, "heartbeat", beat(c, m[0].MemberID, 2), kerr.NotCoordinator)
	})
}
