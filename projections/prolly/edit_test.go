package prolly

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

// reachable returns the names of all chunks of a map.
func reachable(t testing.TB, d *DB, root Hash) []Ref {
	t.Helper()
	var all []Ref
	var visit func(place []byte, h Hash)
	visit = func(place []byte, h Hash) {
		n, err := d.read(place, h)
		check(t, err)
		all = append(all, Ref{0, string(place), h})
		for i := range n.len() {
			if n.level > 0 {
				below, _ := n.link(i)
				visit(n.key(i), below)
			}
		}
	}
	if root != Empty {
		visit(nil, root)
	}
	slices.SortFunc(all, Ref.Compare)
	return all
}

// sameAsBuilt fails unless the map with the root is what Build makes of want.
func sameAsBuilt(t testing.TB, d *DB, root Hash, want model) {
	t.Helper()
	_, err := d.Check(t.Context(), root)
	check(t, err)
	fresh, _ := newDB()
	if built := build(t, fresh, want); built != root {
		t.Fatalf("root of %d entries: got %s, built anew %s", len(want), root, built)
	}
	if got, want := reachable(t, d, root), reachable(t, fresh, root); !slices.Equal(got, want) {
		t.Fatalf("chunks: got %d, built anew %d, or other ones", len(got), len(want))
	}
}

func TestHistoryDoesNotShow(t *testing.T) {
	racing.Alone(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		d, _ := newDB()
		m := model{}
		root := Empty
		space := 1 + r.IntN(1<<r.IntN(15))
		for range 12 {
			edits := randomEdits(r, r.IntN(1<<r.IntN(11)), space)
			m.apply(edits)
			var err error
			root, _, err = d.Apply(root, edits)
			check(t, err)
			sameAsBuilt(t, d, root, m)
		}
		var all []Edit
		for k := range m {
			all = append(all, Edit{Key: []byte(k), Delete: true})
		}
		root, _, err := d.Apply(root, all)
		check(t, err)
		if root != Empty {
			t.Fatalf("after all was deleted: root %s, want that of the empty map %s", root, Empty)
		}
	}
}
