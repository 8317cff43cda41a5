package groups

import (
	"errors"
	"fmt"
)

// CheckInvariants returns what does not hold and must hold between any two requests: a bug. It takes
// time in proportion to the members, and is for tests.
func (c *Coordinator) CheckInvariants() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	report := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	var bytes int64
	for id, g := range c.groups {
		bytes += int64(len(g.pending)) * memberOverhead
		static := 0
		for mid, m := range g.members {
			bytes += m.size()
			if mid != m.id {
				report("group %s: member %s is filed under %s", id, m.id, mid)
			}
			if m.instance != nil {
				static++
				if g.static[*m.instance] != m.id {
					report("group %s: instance %s is not %s", id, *m.instance, m.id)
				}
			}
			if m.join != nil && g.state != groupPreparing {
				report("group %s: %s waits to join while %s", id, m.id, g.state)
			}
			if m.sync != nil && g.state != groupCompleting {
				report("group %s: %s waits to sync while %s", id, m.id, g.state)
			}
		}
		if static != len(g.static) {
			report("group %s: %d static members, %d instance ids", id, static, len(g.static))
		}
		if g.state == groupEmpty != (len(g.members) == 0) {
			report("group %s: %s with %d members", id, g.state, len(g.members))
		}
		if (g.state == groupStable || g.state == groupCompleting) && (g.members[g.leader] == nil || g.protocol == "") {
			report("group %s: %s without a leader or a protocol", id, g.state)
		}
	}
	if bytes != c.bytes {
		report("the budget says %d bytes are used, members have %d", c.bytes, bytes)
	}
	return errors.Join(errs...)
}
