package broker

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Consumer groups, the classic protocol.
//
// A group is a state machine:
//
//	Empty ──join──▶ PreparingRebalance ──all joined, or time is up──▶ CompletingRebalance
//	  ▲                     ▲                                               │ leader syncs
//	  │ last member gone    └──join, leave, a session ends── Stable ◀───────┘
//
// Membership lives in memory alone. After a restart every member is told
// UNKNOWN_MEMBER_ID and joins again, as after any move of a coordinator, so
// nothing of it needs to survive. Committed offsets do, and are in the store
// (group_offsets.go).
//
// One mutex guards all groups. Every critical section is a few map operations
// in memory, so that it is never worth more than one lock, and listing, evicting
// and counting need no second. The rules that keep it so:
//   - nothing blocks while it is held: no I/O, no channel that might not have room;
//   - a request that must wait leaves a channel of capacity one in its member and
//     waits for it outside. Whoever takes the channel out of the member is the only
//     one to send to it, so a send never blocks and a waiter always gets an answer;
//   - a timer's function finds out under the lock whether it is still wanted.
//
// Everything a client can make grow is bounded: groups, members and member ids
// handed out per group, protocols per member, and the bytes of metadata and
// assignments over all groups.

// groupState is where a group stands.
type groupState string

// The names are Kafka's: they are what DescribeGroups and ListGroups answer.
const (
	groupEmpty      groupState = "Empty"
	groupPreparing  groupState = "PreparingRebalance"
	groupCompleting groupState = "CompletingRebalance"
	groupStable     groupState = "Stable"
	groupDead       groupState = "Dead"
)

const (
	// maxProtocols is how many protocols a member may offer: choosing one costs
	// members × protocols. Clients offer one to three.
	maxProtocols = 16
	// minRebalance is the shortest rebalance timeout: a group whose members are
	// static and away looks for them once in that time.
	minRebalance = time.Second
	// maxPendingMember is how long a member id that was handed out is waited
	// for. A client comes back with it at once.
	maxPendingMember = 10 * time.Second
	// maxGroupID bounds a group's name, maxNameBytes every other name that is
	// kept; Kafka's clients stop at 249 on their own.
	maxGroupID   = 1024
	maxNameBytes = 256
	// emptyGroupLife is how long an empty group stays in memory; what it
	// committed stays in the store.
	emptyGroupLife = 10 * time.Minute
	// memberOverhead is what a member costs beside its metadata, roughly.
	memberOverhead = 512
)

// coordinator holds all groups.
type coordinator struct {
	limits  GroupOptions
	offsets offsetStore
	log     *slog.Logger

	mu     sync.Mutex
	groups map[string]*consumerGroup
	bytes  int64
	closed bool
}

// consumerGroup is one group; guarded by coordinator.mu.
type consumerGroup struct {
	id           string
	state        groupState
	protocolType string
	protocol     string // chosen for this generation
	generation   int32
	leader       string // member id; "" if it has to be chosen

	members map[string]*groupMember
	static  map[string]string      // group.instance.id to member id
	pending map[string]*time.Timer // ids handed out, not yet joined
	joined  uint64                 // counts members, for their order

	// timer is the one thing the group waits for: the end of a rebalance, the
	// members' syncs, or being forgotten. alarms tells a timer that was
	// replaced after it fired from the one that is meant.
	timer  *time.Timer
	alarms uint64

	// The first rebalance of an empty group: more may join until initialEnd.
	initial    bool
	initialEnd time.Time
	grown      bool // someone joined since the timer was set
}

// groupMember is one member; guarded by coordinator.mu.
type groupMember struct {
	id         string
	instance   *string
	clientID   string
	clientHost string
	order      uint64 // of joining: the oldest becomes leader
	session    time.Duration
	rebalance  time.Duration
	protocols  []groupProtocol
	assignment []byte

	deadline time.Time // the session's end
	timer    *time.Timer

	join chan joinReply // not nil while a JoinGroup waits
	sync chan syncReply // not nil while a SyncGroup waits
}

type groupProtocol struct {
	name     string
	metadata []byte
}

func newCoordinator(limits GroupOptions, offsets offsetStore, log *slog.Logger) *coordinator {
	return &coordinator{limits: limits, offsets: offsets, log: log, groups: make(map[string]*consumerGroup)}
}

// close answers everyone who waits and stops every timer. Later requests are
// told to find their coordinator elsewhere.
func (c *coordinator) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, g := range c.groups {
		for _, m := range g.members {
			m.answerJoin(joinReply{err: kerr.NotCoordinator})
			m.answerSync(syncReply{err: kerr.NotCoordinator})
			m.timer.Stop()
		}
		for _, t := range g.pending {
			t.Stop()
		}
		g.stopTimer()
	}
	clear(c.groups)
}

// group returns the group, made if need be and if there is room.
func (c *coordinator) group(id string) (*consumerGroup, *kerr.Error) {
	if g := c.groups[id]; g != nil {
		return g, nil
	}
	if len(c.groups) >= c.limits.MaxGroups && !c.evictEmpty() {
		return nil, kerr.CoordinatorNotAvailable
	}
	g := &consumerGroup{
		id:      id,
		state:   groupEmpty,
		members: make(map[string]*groupMember),
		static:  make(map[string]string),
		pending: make(map[string]*time.Timer),
	}
	c.groups[id] = g
	return g, nil
}

// evictEmpty makes room. Whom it has handed an id will be told that it is
// unknown, and ask for another.
func (c *coordinator) evictEmpty() bool {
	for _, g := range c.groups {
		if g.state == groupEmpty {
			c.forget(g)
			return true
		}
	}
	return false
}

// forget drops a group that has no members.
func (c *coordinator) forget(g *consumerGroup) {
	g.stopTimer()
	for id := range g.pending {
		c.unexpect(g, id)
	}
	g.state = groupDead
	delete(c.groups, g.id)
}

func badGroupID(id string) bool { return id == "" || len(id) > maxGroupID }

// expect keeps a place for a member id that is handed out, for a time.
func (c *coordinator) expect(g *consumerGroup, id string, d time.Duration) *kerr.Error {
	if err := c.reserve(memberOverhead); err != nil {
		return err
	}
	g.pending[id] = time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if g.pending[id] == nil || c.closed {
			return
		}
		c.unexpect(g, id)
		if g.state == groupPreparing {
			c.completeIfJoined(g)
		}
	})
	return nil
}

func (c *coordinator) unexpect(g *consumerGroup, id string) {
	g.pending[id].Stop()
	delete(g.pending, id)
	_ = c.reserve(-memberOverhead) // giving back never fails
}

// reserve takes n bytes of the budget for metadata (n may be negative).
func (c *coordinator) reserve(n int64) *kerr.Error {
	if n > 0 && c.bytes+n > c.limits.MaxBytes {
		return kerr.GroupMaxSizeReached
	}
	c.bytes += n
	return nil
}

// after sets the group's timer, in place of the one it had.
func (c *coordinator) after(g *consumerGroup, d time.Duration, do func()) {
	g.stopTimer()
	alarm := g.alarms
	g.timer = time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if g.alarms == alarm && !c.closed {
			do()
		}
	})
}

func (g *consumerGroup) stopTimer() {
	g.alarms++
	if g.timer != nil {
		g.timer.Stop()
	}
}

// inOrder returns the members, the oldest first.
func (g *consumerGroup) inOrder() []*groupMember {
	return slices.SortedFunc(maps.Values(g.members), func(a, b *groupMember) int {
		return cmp.Compare(a.order, b.order)
	})
}

// known checks that a request comes from a member, and, of a static one, from
// the latest to hold its instance id.
func (g *consumerGroup) known(id string, instance *string) (*groupMember, *kerr.Error) {
	if instance != nil {
		holder, ok := g.static[*instance]
		if !ok {
			return nil, kerr.UnknownMemberID
		}
		if holder != id {
			return nil, kerr.FencedInstanceID
		}
	}
	m := g.members[id]
	if m == nil {
		return nil, kerr.UnknownMemberID
	}
	return m, nil
}

func (m *groupMember) size() int64 {
	n := memberOverhead + len(m.assignment)
	for _, p := range m.protocols {
		n += len(p.name) + len(p.metadata)
	}
	return int64(n)
}

func (m *groupMember) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.name == protocol {
			return p.metadata
		}
	}
	return nil
}

func (m *groupMember) answerJoin(r joinReply) {
	if m.join != nil {
		m.join <- r
		m.join = nil
		m.renew() // while it waited it could not send a heartbeat
	}
}

func (m *groupMember) answerSync(r syncReply) {
	if m.sync != nil {
		m.sync <- r
		m.sync = nil
		m.renew()
	}
}

// watch starts a member's session.
func (c *coordinator) watch(g *consumerGroup, m *groupMember) {
	m.deadline = time.Now().Add(m.session)
	m.timer = time.AfterFunc(m.session, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.closed || g.members[m.id] != m {
			return
		}
		// Renewing a session only moves the deadline; the timer catches up
		// here. Who waits for an answer of ours cannot send a heartbeat.
		if m.join != nil || m.sync != nil {
			m.deadline = time.Now().Add(m.session)
		}
		if left := time.Until(m.deadline); left > 0 {
			m.timer.Reset(left)
			return
		}
		c.log.Info("group member's session ended", "group", g.id, "member", m.id)
		c.remove(g, m, kerr.UnknownMemberID)
		c.shrunk(g)
	})
}

func (m *groupMember) renew() { m.deadline = time.Now().Add(m.session) }

// remove takes a member out and tells whoever waits in its name why. The caller
// goes on with shrunk.
func (c *coordinator) remove(g *consumerGroup, m *groupMember, why *kerr.Error) {
	m.answerJoin(joinReply{err: why, memberID: m.id})
	m.answerSync(syncReply{err: why})
	m.timer.Stop()
	delete(g.members, m.id)
	if m.instance != nil && g.static[*m.instance] == m.id {
		delete(g.static, *m.instance)
	}
	if g.leader == m.id {
		g.leader = ""
	}
	_ = c.reserve(-m.size()) // giving back never fails
}
