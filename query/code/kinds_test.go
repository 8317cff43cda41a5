package code

import (
	"slices"
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

// TestSharesOf checks that groups share the limit without losing any of it: 138 of 138 and 3 of 3 are
// shown if 141 may be.
func TestSharesOf(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		limit int
		want  []int
	}{
		{[]int{138, 3}, 141, []int{138, 3}},
		{[]int{138, 3}, 10000, []int{138, 3}},
		{[]int{138, 3}, 10, []int{7, 3}},
		{[]int{9, 9, 9}, 10, []int{4, 3, 3}},
		{[]int{5, 4, 3}, 2, []int{1, 1, 0}},
		{nil, 3, []int{}},
	} {
		if got := sharesOf(c.sizes, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%v of %v: %v, want %v", c.limit, c.sizes, got, c.want)
		}
	}
}
