package groups

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// The steps of a rebalance. All of them run with coordinator.mu held.

// rebalance begins a new generation: all members must join again.
func (c *Coordinator) rebalance(g *consumerGroup) {
	if g.state == groupPreparing {
		c.completeIfJoined(g)
		return
	}
	if g.state == groupCompleting {
		for _, m := range g.members {
			m.answerSync(syncReply{err: kerr.RebalanceInProgress})
		}
	}
	g.initial = g.state == groupEmpty && c.limits.InitialRebalanceDelay > 0
	g.state = groupPreparing
	if !g.initial {
		c.after(g, g.rebalanceTimeout(), func() { c.completeJoin(g) })
		c.completeIfJoined(g)
		return
	}
	g.initialEnd = time.Now().Add(g.rebalanceTimeout())
	c.waitForFirst(g)
}

// waitForFirst gives the first members of an empty group time to join together, so that a program
// that starts ten of them causes one rebalance and not ten.
func (c *Coordinator) waitForFirst(g *consumerGroup) {
	g.grown = false
	left := time.Until(g.initialEnd)
	c.after(g, min(c.limits.InitialRebalanceDelay, left), func() {
		if g.grown && time.Now().Before(g.initialEnd) {
			c.waitForFirst(g)
			return
		}
		g.initial = false
		c.completeJoin(g)
	})
}

// rebalanceTimeout returns the longest timeout that any member asked for.
func (g *consumerGroup) rebalanceTimeout() time.Duration {
	var d time.Duration
	for _, m := range g.members {
		d = max(d, m.rebalance)
	}
	return d
}

// shrunk continues the group's state machine after members were removed.
func (c *Coordinator) shrunk(g *consumerGroup) {
	switch g.state {
	case groupStable, groupCompleting:
		c.rebalance(g)
	case groupPreparing:
		c.completeIfJoined(g)
	}
}

// completeIfJoined ends the joining once nobody is missing: every member waits in a JoinGroup, and
// no assigned id is still unused.
func (c *Coordinator) completeIfJoined(g *consumerGroup) {
	if len(g.members) > 0 && (g.initial || len(g.pending) > 0) {
		return
	}
	for _, m := range g.members {
		if m.join == nil {
			return
		}
	}
	c.completeJoin(g)
}

// completeJoin ends the joining: members that have not joined are removed, except that a static
// member has its whole session to come back.
func (c *Coordinator) completeJoin(g *consumerGroup) {
	var waiting int
	for _, m := range g.members {
		switch {
		case m.join != nil:
			waiting++
		case m.instance == nil:
			c.log.Info("group member did not rejoin in time", "group", g.id, "member", m.id)
			c.remove(g, m, kerr.UnknownMemberID)
		}
	}
	g.initial = false
	if len(g.members) == 0 {
		c.emptied(g)
		return
	}
	if waiting == 0 {
		// All members are static and away, so none can be leader. This ends when their sessions end
		// or one of them comes back.
		c.after(g, g.rebalanceTimeout(), func() { c.completeJoin(g) })
		return
	}

	g.generation++
	members := g.inOrder()
	if l := g.members[g.leader]; l == nil || l.join == nil {
		for _, m := range members {
			if m.join != nil {
				g.leader = m.id
				break
			}
		}
	}
	g.protocol = g.choose()
	g.state = groupCompleting
	for _, m := range members {
		_ = c.reserve(-int64(len(m.assignment)))
		m.assignment = nil
		if m.join == nil {
			continue
		}
		m.answerJoin(g.joinReply(m))
	}
	c.log.Info("group joined", "group", g.id, "generation", g.generation, "members", len(members))
	c.after(g, g.rebalanceTimeout(), func() { c.syncTimedOut(g) })
}

// syncTimedOut ends the wait for assignments: members that have not even asked for one are removed.
// If the leader is among the others, it failed to deliver, and all of them join again.
func (c *Coordinator) syncTimedOut(g *consumerGroup) {
	for _, m := range g.members {
		if m.sync == nil {
			c.log.Info("group member did not sync in time", "group", g.id, "member", m.id)
			c.remove(g, m, kerr.UnknownMemberID)
		}
	}
	c.rebalance(g)
}

// emptied resets the group after its last member was removed.
func (c *Coordinator) emptied(g *consumerGroup) {
	g.state = groupEmpty
	g.generation++
	g.protocol, g.leader = "", ""
	c.expireEmpty(g)
}

func (c *Coordinator) expireEmpty(g *consumerGroup) {
	c.after(g, emptyGroupLife, func() {
		if g.state != groupEmpty {
			return
		}
		if len(g.pending) > 0 {
			c.expireEmpty(g)
			return
		}
		c.forget(g)
	})
}

// choose picks the protocol: of those that every member knows, the one that most prefer. The
// leader's preference decides a tie, so that the choice is not random.
func (g *consumerGroup) choose() string {
	common := g.commonProtocols(nil)
	votes := make(map[string]int, len(common))
	for _, m := range g.members {
		for _, p := range m.protocols {
			if common[p.name] {
				votes[p.name]++
				break
			}
		}
	}
	best := ""
	for _, p := range g.members[g.leader].protocols {
		if common[p.name] && (best == "" || votes[p.name] > votes[best]) {
			best = p.name
		}
	}
	return best
}

// commonProtocols returns the protocols that all members except but know.
func (g *consumerGroup) commonProtocols(but *groupMember) map[string]bool {
	count := make(map[string]int)
	n := 0
	for _, m := range g.members {
		if m == but {
			continue
		}
		n++
		seen := make(map[string]bool, len(m.protocols))
		for _, p := range m.protocols {
			if !seen[p.name] {
				seen[p.name] = true
				count[p.name]++
			}
		}
	}
	common := make(map[string]bool)
	for name, k := range count {
		if k == n {
			common[name] = true
		}
	}
	return common
}

// accepts reports whether a member with these protocols fits with the other members.
func (g *consumerGroup) accepts(self *groupMember, protocolType string, protocols []groupProtocol) bool {
	others := len(g.members)
	if self != nil {
		others--
	}
	if others == 0 {
		return true
	}
	if protocolType != g.protocolType {
		return false
	}
	common := g.commonProtocols(self)
	for _, p := range protocols {
		if common[p.name] {
			return true
		}
	}
	return false
}
