package groups

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

	"github.com/recountdb/recount/pipeline/broker/groups/grouptest"
)

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
			c := testCoordinator(t, Options{MaxMembers: 8, MaxGroups: 3, MaxBytes: 20_000, InitialRebalanceDelay: time.Duration(rng.IntN(3)) * time.Second})
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
				join := grouptest.Join(int16(rng.IntN(10)), id, grouptest.InGroup([]string{"g", "g", "g", "h", "i", "j"}[rng.IntN(6)]))
				join.Protocols[0].Metadata = make([]byte, rng.IntN(3000))
				if rng.IntN(4) == 0 {
					join.InstanceID = kmsg.StringPtr(fmt.Sprint("i", rng.IntN(3)))
				}
				sync := grouptest.Sync(&kmsg.JoinGroupResponse{MemberID: id, Generation: gen}, id, strings.Repeat("a", rng.IntN(2000)))
				action := rng.IntN(10)
				clients.Go(func() {
					defer cancel()
					switch action {
					case 0, 1, 2, 3:
						j := c.Join(ctx, join, Client{"c", "h"})
						mu.Lock()
						defer mu.Unlock()
						if j.MemberID != "" && len(ids) < 60 {
							ids = append(ids, j.MemberID)
						}
						generation = max(generation, j.Generation)
					case 4, 5, 6:
						c.Sync(ctx, sync)
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
				if err := c.CheckInvariants(); err != nil {
					t.Error(err)
				}
			}
			clients.Wait() // an unanswered client would deadlock here
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			if err := c.CheckInvariants(); err != nil {
				t.Error(err)
			}
			if len(c.groups) != 0 || c.bytes != 0 {
				t.Errorf("seed %d: %d groups and %d bytes left when all are gone", seed, len(c.groups), c.bytes)
			}
		})
	}
}
