package lexical

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
)

// TestSearchesWhileApplying checks that the runs in memory stay right while runs are added, for
// views of any age.
func TestSearchesWhileApplying(t *testing.T) {
	x := open(t)
	shards := projtest.Generate(11, 2, 1500)
	truth := map[schemas.Position]uint64{}
	for _, sh := range shards {
		for _, r := range sh.Records {
			if in := r.GetIntent(); in != nil {
				truth[schemas.Position{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Offset: r.Origin.Offset}] = in.ContentHash
			}
		}
	}
	q := Query{Text: "git docker go status", K: 200, Distinct: true}
	search := func() error {
		hits, _, err := x.Search(t.Context(), q)
		seen := map[uint64]bool{}
		for _, h := range hits {
			at := schemas.Position{Topic: h.TP.Topic, Partition: h.TP.Partition, Offset: h.Offset}
			if want, ok := truth[at]; !ok || h.ContentHash != want || seen[want] {
				return fmt.Errorf("hit at %v: hash %x, want %x, once", at, h.ContentHash, want)
			}
			seen[h.ContentHash] = true
		}
		return err
	}
	var searching errgroup.Group
	done := make(chan struct{})
	ended := sync.OnceValue(func() error {
		close(done)
		return searching.Wait()
	})
	t.Cleanup(func() { _ = ended() }) // before the index is closed, in case of a failure
	for range 2 {
		searching.Go(func() error {
			for {
				if err := search(); err != nil {
					return err
				}
				select {
				case <-done:
					return nil
				default:
				}
			}
		})
	}
	const batch = 50
	for at := int64(0); at < max(shards[0].Next, shards[1].Next); at += batch {
		for _, sh := range shards {
			if at < sh.Next {
				check(t, x.Apply(t.Context(), sh.Batch(at, min(at+batch, sh.Next))))
			}
		}
		check(t, search())
	}
	check(t, ended())
	got, _, err := x.Search(t.Context(), q)
	check(t, err)
	if d := cmp.Diff(got, naive{shards, documents(shards), q}.search()); d != "" {
		t.Errorf("got (-), want (+):\n%s", d)
	}
}
