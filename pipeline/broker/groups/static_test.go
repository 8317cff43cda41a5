package groups

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/groups/grouptest"
)

func TestStaticMemberRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		leader := joinNow(t, c, grouptest.Join(9, "", grouptest.Instance("i1")))
		grouptest.WantCode(t, "a static member needs no id beforehand", leader.ErrorCode, nil)
		follower := start(c, grouptest.Join(9, "", grouptest.Instance("i2")))
		leader = joinNow(t, c, grouptest.Join(9, leader.MemberID, grouptest.Instance("i1")))
		f := follower.done(t)
		syncNow(t, c, grouptest.Sync(leader, leader.MemberID, "one", f.MemberID, "two"))

		// The follower's process restarts: it gets the same place, and no other member notices.
		f2 := joinNow(t, c, grouptest.Join(9, "", grouptest.Instance("i2")))
		if f2.Generation != f.Generation || f2.MemberID == f.MemberID {
			t.Fatalf("generation %d, id %q; was %d, %q", f2.Generation, f2.MemberID, f.Generation, f.MemberID)
		}
		if s := syncNow(t, c, grouptest.Sync(f2)); string(s.MemberAssignment) != "two" {
			t.Errorf("assignment %q, want the one from before", s.MemberAssignment)
		}
		grouptest.WantCode(t, "leader's heartbeat", beat(c, leader.MemberID, leader.Generation), nil)
		fenced := kmsg.NewPtrHeartbeatRequest()
		fenced.Group, fenced.MemberID, fenced.Generation, fenced.InstanceID = "g", f.MemberID, f.Generation, kmsg.StringPtr("i2")
		grouptest.WantCode(t, "heartbeat of the process before", c.Heartbeat(fenced).ErrorCode, kerr.FencedInstanceID)

		// The leader's process restarts, too, with a new client and with an old one.
		l2 := joinNow(t, c, grouptest.Join(9, "", grouptest.Instance("i1")))
		if !l2.SkipAssignment || l2.LeaderID != l2.MemberID || len(l2.Members) != 2 {
			t.Errorf("version 9: skip %v, leader %q, %d members", l2.SkipAssignment, l2.LeaderID, len(l2.Members))
		}
		l3 := joinNow(t, c, grouptest.Join(8, "", grouptest.Instance("i1")))
		if l3.LeaderID == l3.MemberID || len(l3.Members) != 0 {
			t.Errorf("version 8: it believes that it leads, and would assign what nobody hears of")
		}
		if s := syncNow(t, c, grouptest.Sync(l3)); string(s.MemberAssignment) != "one" {
			t.Errorf("assignment %q", s.MemberAssignment)
		}

		// An operator removes a static member by its instance id.
		r := kmsg.NewPtrLeaveGroupRequest()
		r.Version, r.Group = 5, "g"
		r.Members = []kmsg.LeaveGroupRequestMember{{InstanceID: kmsg.StringPtr("i2")}, {InstanceID: kmsg.StringPtr("i9")}}
		got := c.Leave(r).Members
		grouptest.WantCode(t, "leave i2", got[0].ErrorCode, nil)
		grouptest.WantCode(t, "leave i9", got[1].ErrorCode, kerr.UnknownMemberID)
		grouptest.WantCode(t, "leader's heartbeat", beat(c, l3.MemberID, l3.Generation), kerr.RebalanceInProgress)
	})
}

func TestStaticMemberAwayKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		long := func(r *kmsg.JoinGroupRequest) {
			r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 60_000, 20_000
		}
		away := joinNow(t, c, grouptest.Join(9, "", grouptest.Instance("away"), long))
		syncNow(t, c, grouptest.Sync(away, away.MemberID, "x"))
		other := start(c, grouptest.Join(3, "", long))
		time.Sleep(21 * time.Second) // the rebalance times out, the session does not
		j := other.done(t)
		if j.LeaderID != j.MemberID || len(j.Members) != 2 {
			t.Fatalf("leader %q, %d members: want the present one to lead both", j.LeaderID, len(j.Members))
		}
		syncNow(t, c, grouptest.Sync(j, j.MemberID, "a", away.MemberID, "b"))
		back := joinNow(t, c, grouptest.Join(9, "", grouptest.Instance("away"), long))
		if s := syncNow(t, c, grouptest.Sync(back)); string(s.MemberAssignment) != "b" {
			t.Errorf("assignment %q, want b", s.MemberAssignment)
		}
	})
}

// TestStaticMembersAwayCostNothing checks that a group of absent static members with a short
// timeout does not keep the broker busy.
func TestStaticMembersAwayCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCoordinator(t, Options{})
		hasty := func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 600_000, 0 }
		j := joinNow(t, c, grouptest.Join(9, "", grouptest.Instance("away"), hasty))
		syncNow(t, c, grouptest.Sync(j, j.MemberID, "x"))
		other := start(c, grouptest.Join(3, "", hasty))
		other.cancel() // the rebalance that it began continues without any member
		other.done(t)
		time.Sleep(time.Minute)
		c.mu.Lock()
		alarms := c.groups["g"].alarms
		c.mu.Unlock()
		if alarms > 100 {
			t.Errorf("%d alarms in a minute", alarms)
		}
		time.Sleep(10 * time.Minute)
		if got := stateOf(c, "g"); got != "Empty" {
			t.Errorf("state %s after its session, want Empty", got)
		}
	})
}
