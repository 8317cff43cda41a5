package store

import (
	"testing"

	"github.com/recountdb/recount/schemas"
)

// TestIDFilterForgetsNothing checks that First is true for nearly every new id and never twice for the
// same id.
func TestIDFilterForgetsNothing(t *testing.T) {
	id := func(i int) schemas.EventID { return schemas.NewCanon("test").Int(int64(i)).ID() }
	k, first := &IDFilter{}, 0
	const n = 5 * firstIDs
	for i := range n {
		if k.First(id(i)) {
			first++
		}
	}
	if first < n*97/100 {
		t.Errorf("%d of %d were first, want nearly all", first, n)
	}
	for i := range n {
		if k.First(id(i)) {
			t.Fatalf("%d of %d is first twice", i, n)
		}
	}
	full := &IDFilter{size: maxIDs}
	if full.Add(id(0)); full.First(id(1)) || (*IDFilter)(nil).First(id(0)) {
		t.Error("a filter that is full, or none, rules an id out")
	}
}
