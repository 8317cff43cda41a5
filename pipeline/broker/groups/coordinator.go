package groups

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// groupState is the state of a group.
type groupState string

// The names are Kafka's, which DescribeGroups and ListGroups return.
const (
	groupEmpty      groupState = "Empty"
	groupPreparing  groupState = "PreparingRebalance"
	groupCompleting groupState = "CompletingRebalance"
	groupStable     groupState = "Stable"
	groupDead       groupState = "Dead"
)

const (
	// maxProtocols is the maximum number of protocols of a member: choosing one costs members ×
	// protocols. Clients offer one to three.
	maxProtocols = 16
	// These limit the session timeout of a member.
	minSessionTimeout, maxSessionTimeout = time.Second, 30 * time.Minute
	// minRebalance is the minimum rebalance timeout: a group whose static members are all away
	// checks for them at this interval.
	minRebalance = time.Second
	// maxPendingMember is how long to wait for the client of an assigned member id. A client comes
	// back with it at once.
	maxPendingMember = 10 * time.Second
	// maxGroupID is the maximum length of a group's name, maxNameBytes that of every other name
	// that is kept; Kafka's clients themselves stop at 249.
	maxGroupID   = 1024
	maxNameBytes = 256
	// emptyGroupLife is how long an empty group stays in memory; its committed offsets stay in the
	// store.
	emptyGroupLife = 10 * time.Minute
	// memberOverhead is the approximate memory of a member besides its metadata.
	memberOverhead = 512
)

// Coordinator holds all groups.
type Coordinator struct {
	limits  Options
	offsets OffsetStore
	log     *slog.Logger

	mu     sync.Mutex
	groups map[string]*consumerGroup
	bytes  int64
	closed bool
}

// consumerGroup is one group, guarded by coordinator.mu.
type consumerGroup struct {
	id           string
	state        groupState
	protocolType string
	protocol     string // chosen for this generation
	generation   int32
	leader       string // member id; "" until it is chosen

	members map[string]*groupMember
	static  map[string]string      // group.instance.id to member id
	pending map[string]*time.Timer // assigned ids that have not joined yet
	joined  uint64                 // counts members, for their order

	// timer is the one event that the group waits for: the end of a rebalance, the members' syncs,
	// or the expiry of an empty group. alarms identifies the current timer, to ignore one that was
	// replaced after it fired.
	timer  *time.Timer
	alarms uint64

	// During the first rebalance of an empty group, more members may join until initialEnd.
	initial    bool
	initialEnd time.Time
	grown      bool // a member joined since the timer was set
}

// groupMember is one member, guarded by coordinator.mu.
type groupMember struct {
	id         string
	instance   *string
	clientID   string
	clientHost string
	order      uint64 // order of joining: the oldest member becomes leader
	session    time.Duration
	rebalance  time.Duration
	protocols  []groupProtocol
	assignment []byte

	deadline time.Time // end of the session
	timer    *time.Timer

	join chan joinReply // not nil while a JoinGroup waits
	sync chan syncReply // not nil while a SyncGroup waits
}

type groupProtocol struct {
	name     string
	metadata []byte
}

// New returns a coordinator without groups, which keeps committed offsets in a store.
func New(o Options, offsets OffsetStore, log *slog.Logger) *Coordinator {
	return &Coordinator{limits: o.withDefaults(), offsets: offsets, log: log, groups: make(map[string]*consumerGroup)}
}

// Close answers all waiting requests and stops all timers. Later requests are answered that the
// coordinator is elsewhere.
func (c *Coordinator) Close() {
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

// group returns the group and creates it if necessary and if the limit allows.
func (c *Coordinator) group(id string) (*consumerGroup, *kerr.Error) {
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

// evictEmpty removes an empty group to free its place. A client that was assigned an id in it will
// get UNKNOWN_MEMBER_ID and ask for another.
func (c *Coordinator) evictEmpty() bool {
	for _, g := range c.groups {
		if g.state == groupEmpty {
			c.forget(g)
			return true
		}
	}
	return false
}

// forget removes a group that has no members.
func (c *Coordinator) forget(g *consumerGroup) {
	g.stopTimer()
	for id := range g.pending {
		c.unexpect(g, id)
	}
	g.state = groupDead
	delete(c.groups, g.id)
}

// badGroupID reports whether a group cannot have this name.
func badGroupID(id string) bool { return id == "" || len(id) > maxGroupID }

// expect reserves a place for an assigned member id for some time.
func (c *Coordinator) expect(g *consumerGroup, id string, d time.Duration) *kerr.Error {
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

func (c *Coordinator) unexpect(g *consumerGroup, id string) {
	g.pending[id].Stop()
	delete(g.pending, id)
	_ = c.reserve(-memberOverhead) // releasing never fails
}

// reserve takes n bytes from the budget for metadata; a negative n releases them.
func (c *Coordinator) reserve(n int64) *kerr.Error {
	if n > 0 && c.bytes+n > c.limits.MaxBytes {
		return kerr.GroupMaxSizeReached
	}
	c.bytes += n
	return nil
}

// after sets the group's timer, replacing the previous one.
func (c *Coordinator) after(g *consumerGroup, d time.Duration, do func()) {
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

// known checks that a request comes from a member, and for a static member from the latest holder
// of its instance id.
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
func (c *Coordinator) watch(g *consumerGroup, m *groupMember) {
	m.deadline = time.Now().Add(m.session)
	m.timer = time.AfterFunc(m.session, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.closed || g.members[m.id] != m {
			return
		}
		// Renewing a session only moves the deadline; the timer adjusts here. A member that waits
		// for one of our answers cannot send a heartbeat.
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

// remove removes a member and answers its waiting requests with why. The caller then calls shrunk.
func (c *Coordinator) remove(g *consumerGroup, m *groupMember, why *kerr.Error) {
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
	_ = c.reserve(-m.size()) // releasing never fails
}
