// Package grouptest builds requests of members of consumer groups, for the tests of the coordinator
// and of the broker that serves it.
package grouptest

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// Join returns a JoinGroup for group "g", with a Session of 10 s and a rebalance timeout of 30
// s.
func Join(version int16, member string, opts ...func(*kmsg.JoinGroupRequest)) *kmsg.JoinGroupRequest {
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

// InGroup makes it a join of another group.
func InGroup(id string) func(*kmsg.JoinGroupRequest) {
	return func(r *kmsg.JoinGroupRequest) { r.Group = id }
}

// Instance makes it a join of a static member.
func Instance(id string) func(*kmsg.JoinGroupRequest) {
	return func(r *kmsg.JoinGroupRequest) { r.InstanceID = &id }
}

// Session sets the session timeout.
func Session(d time.Duration) func(*kmsg.JoinGroupRequest) {
	return func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = int32(d.Milliseconds()) }
}

// Protocols sets the protocols that the member offers.
func Protocols(names ...string) func(*kmsg.JoinGroupRequest) {
	return func(r *kmsg.JoinGroupRequest) {
		r.Protocols = nil
		for _, n := range names {
			r.Protocols = append(r.Protocols, kmsg.JoinGroupRequestProtocol{Name: n, Metadata: []byte("meta")})
		}
	}
}

// WantCode checks the error of an answer; nil is none.
func WantCode(t testing.TB, what string, got int16, want *kerr.Error) {
	t.Helper()
	if got != wire.ErrorCode(want) {
		t.Errorf("%s: got %v, want %v", what, kerr.ErrorForCode(got), kerr.ErrorForCode(wire.ErrorCode(want)))
	}
}

// Sync returns the SyncGroup that follows a join, with pairs of member and assignment if the member
// leads.
func Sync(j *kmsg.JoinGroupResponse, assign ...string) *kmsg.SyncGroupRequest {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Version = 5
	r.Group, r.Generation, r.MemberID = "g", j.Generation, j.MemberID
	r.ProtocolType, r.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for i := 0; i < len(assign); i += 2 {
		r.GroupAssignment = append(r.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: assign[i], MemberAssignment: []byte(assign[i+1])})
	}
	return r
}
