package code_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query/code"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestDerivedGraphs derives the graph of each commit of some histories from that of each other
// commit.
func TestDerivedGraphs(t *testing.T) {
	for seed := range uint64(6) {
		m := newMemory(t)
		r := rand.New(rand.NewPCG(seed, 1))
		for n := range 6 {
			m.commit(shop, "Ada", randomToys(r, n == 0))
		}
		derivedAllWays(t, m)
	}
	m := memoryOf(t, snapshots.Options{})
	both := ordersGo + clientsOfOrders[strings.Index(clientsOfOrders, "module example.org/clients\n")+len("module example.org/clients\n"):]
	m.commit(shop, "Ada", both+"-- page.js --\nexport function page() { return fetch(\"/orders/7\") }\n"+fmt.Sprintf(cartsProto, "a/carts.proto")+cartsGo[strings.Index(cartsGo, "-- pb/"):])
	m.commit(shop, "Ada", "a copy\n"+fmt.Sprintf(cartsProto, "b/carts.proto")+"-- page.js --\nexport function other() { return fetch(\"/orders/new\") }\n")
	m.commit(shop, "Ada", "without the first\n-- a/carts.proto --\n-- carts/carts.go --\n")
	derivedAllWays(t, m)
}

func derivedAllWays(t *testing.T, m *memory) {
	t.Helper()
	p, release, err := m.set.Acquire(snapshots.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	v, err := p.(*snapshots.Code).View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	repo, err := v.Repository("")
	if err != nil {
		t.Fatal(err)
	}
	var all []*snapshots.Snapshot
	err = v.Commits(repo, func(c *recountv1.CodeSnapshot) error {
		s, err := v.Open(c)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	derived := 0
	for _, base := range all {
		for _, s := range all {
			err := code.Derived(t.Context(), base, s)
			if err == nil {
				derived++
			} else if !errors.Is(err, code.ErrFar) {
				t.Fatalf("%.8s from %.8s: %v", s.Commit, base.Commit, err)
			}
		}
	}
	if derived <= len(all) {
		t.Errorf("of %d commits only %d graphs were derived", len(all), derived)
	}
}

// randomToys returns some files, or all, that declare a few names each and call some of all names.
func randomToys(r *rand.Rand, all bool) string {
	var b strings.Builder
	b.WriteString("commit\n")
	for f := range 8 {
		if r.IntN(7) > 0 && !all {
			continue // unchanged
		}
		fmt.Fprintf(&b, "-- %s.toy --\n", strings.Repeat("a", 1+f))
		if r.IntN(5) == 0 && !all {
			continue // deleted
		}
		fmt.Fprintf(&b, "package example.org/p%d\n%s", r.IntN(3), strings.Repeat("\n", r.IntN(3)))
		for n := range 12 {
			if r.IntN(4) == 0 {
				continue
			}
			fmt.Fprintf(&b, "function F%d%d ->", f, n)
			for range r.IntN(4) {
				switch r.IntN(4) {
				case 0:
					fmt.Fprintf(&b, " out%d#G%d", r.IntN(3), r.IntN(4))
				case 1:
					fmt.Fprintf(&b, " ?F%d%d", r.IntN(8), r.IntN(12))
				default:
					fmt.Fprintf(&b, " F%d%d", r.IntN(8), r.IntN(12))
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
