package store

import (
	"testing"

	"github.com/recountdb/recount/schemas"
)

// TestKnownForgetsNothing checks that First is true for nearly every new id and never twice for the
// same id.
func TestKnownForgetsNothing(t *testing.T) {
	id := func(i int) schemas.EventID { return schemas.NewCanon("test").Int(int64(i)).ID() }
	k, first := &IDFilter{}, 0
	const n = 5 * firstKnown
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
	if (*IDFilter)(nil).First(id(0)) {
		t.Error("nothing is known, and yet something is first")
	}
}
