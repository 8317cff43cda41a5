package narrative

import (
	"testing"

	"github.com/recountdb/recount/schemas"
)

// TestEdgeKinds checks that every kind has its name in the vocabulary.
func TestEdgeKinds(t *testing.T) {
	all := EdgeKinds()
	if len(all) != len(schemas.NarrativeEdges) {
		t.Fatalf("%d kinds, %d names", len(all), len(schemas.NarrativeEdges))
	}
	for i, k := range all {
		if got, ok := ParseEdgeKind(schemas.NarrativeEdges[i]); got != k || !ok || k.String() != schemas.NarrativeEdges[i] {
			t.Errorf("%s is parsed as %v, %v", k, got, ok)
		}
	}
	if Similar.String() != "similar" || EdgeKind(99).String() != "EdgeKind(99)" {
		t.Errorf("%s, %s", Similar, EdgeKind(99))
	}
}
