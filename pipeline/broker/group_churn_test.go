package broker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// checkInvariants checks what must hold between any two requests.
func checkInvariants(t *testing.T, c *coordinator) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var bytes int64
	for id, g := range c.groups {
		bytes += int64(len(g.pending)) * memberOverhead
		static := 0
		for mid, m := range g.members {
			bytes += m.size()
			if mid != m.id {
				t.Errorf("group %s: member %s is filed under %s", id, m.id, mid)
			}
			if m.instance != nil {
				static++
				if g.static[*m.instance] != m.id {
					t.Errorf("group %s: instance %s is not %s", id, *m.instance, m.id)
				}
			}
			if m.join != nil && g.state != groupPreparing {
				t.Errorf("group %s: %s waits to join while %s", id, m.id, g.state)
			}
			if m.sync != nil && g.state != groupCompleting {
				t.Errorf("group %s: %s waits to sync while %s", id, m.id, g.state)
			}
		}
		if static != len(g.static) {
			t.Errorf("group %s: %d static members, %d instance ids", id, static, len(g.static))
		}
		if g.state == groupEmpty != (len(g.members) == 0) {
			t.Errorf("group %s: %s with %d members", id, g.state, len(g.members))
		}
		if (g.state == groupStable || g.state == groupCompleting) && (g.members[g.leader] == nil || g.protocol == "") {
			t.Errorf("group %s: %s without a leader or a protocol", id, g.state)
		}
	}
	if bytes != c.bytes {
		t.Errorf("the budget says %d bytes are used, members have %d", c.bytes, bytes)
	}
}

// TestGroupChurn lets many clients behave at random, for hours of fake time: join, rejoin, vanish
// while waiting, sync with invalid data, leave. Nothing may be waiting at the end, and the
// invariants must hold throughout.
func TestGroupChurn(t *testing.T) {
	seeds := 20
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 0))
			c := testCoordinator(t, GroupOptions{MaxMembers: 8, MaxGroups: 3, MaxBytes: 20_000, InitialRebalanceDelay: time.Duration(rng.IntN(3)) * time.Second})
			ids := []string{"", "made-up"}
			generation := int32(1)
			var mu sync.Mutex
			var clients sync.WaitGroup
			for range 1500 {
				mu.Lock()
				id := ids[rng.IntN(len(ids))]
				gen := generation - int32(rng.IntN(3)/2)
				mu.Unlock()
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+rng.IntN(60))*time.Second)
				join := joinReq(int16(rng.IntN(10)), id, inGroup([]string{"g", "g", "g", "h", "i", "j"}[rng.IntN(6)]))
				join.Protocols[0].Metadata = make([]byte, rng.IntN(3000))
				if rng.IntN(4) == 0 {
					join.InstanceID = kmsg.StringPtr(fmt.Sprint("i", rng.IntN(3)))
				}
				sync := syncReq(&kmsg.JoinGroupResponse{MemberID: id, Generation: gen}, id, strings.Repeat("a", rng.IntN(2000)))
				action := rng.IntN(10)
				clients.Go(func() {
					defer cancel()
					switch action {
					case 0, 1, 2, 3:
						j := c.join(ctx, join, groupClient{"c", "h"})
						mu.Lock()
						defer mu.Unlock()
						if j.MemberID != "" && len(ids) < 60 {
							ids = append(ids, j.MemberID)
						}
						generation = max(generation, j.Generation)
					case 4, 5, 6:
						c.sync(ctx, sync)
					case 7:
						leave(c, id)
					case 8:
						beat(c, id, gen)
					case 9:
						commit(c, id, gen, 1)
					}
				})
				if rng.IntN(3) == 0 {
					time.Sleep(time.Duration(rng.IntN(8000)) * time.Millisecond)
				}
				synctest.Wait()
				checkInvariants(t, c)
			}
			clients.Wait() // an unanswered client would deadlock here
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			checkInvariants(t, c)
			if len(c.groups) != 0 || c.bytes != 0 {
				t.Errorf("seed %d: %d groups and %d bytes left when all are gone", seed, len(c.groups), c.bytes)
			}
		})
	}
}
