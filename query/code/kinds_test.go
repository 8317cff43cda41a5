package code

import (
	"testing"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestASetHoldsEveryKindOfEdge checks that every kind fits in a set, since walks would ignore
// others.
func TestASetHoldsEveryKindOfEdge(t *testing.T) {
	for value, name := range recountv1.EdgeKind_name {
		if value >= maxKinds {
			t.Errorf("%s = %d: a set of kinds holds those below %d", name, value, maxKinds)
			continue
		}
		if k := recountv1.EdgeKind(value); !kindsOf(k).has(uint8(k)) || (^kindsOf(k)).has(uint8(k)) {
			t.Errorf("%s: not in the set that was made of it", name)
		}
	}
	if high := recountv1.EdgeKind(maxKinds - 1); !kindsOf(high).has(uint8(high)) || kindsOf(high).has(uint8(high-32)) {
		t.Error("the highest kind that fits is lost, or is another's")
	}
}
