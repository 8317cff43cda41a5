package danger

import (
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

// TestManuals counts what is found in commands that another author labelled, who had not seen the table.
// What was found at the first look is in bench/docs/danger.md; the bounds are what was reached afterwards. Two of the ordinary
// ones that are flagged, a port opened to others and a node cordoned, are dangerous to the authors of the sixth and the eighteenth set.
func TestManuals(t *testing.T) {
	racing.Alone(t)
	missed, dangerous := 0, labelled(t, "manuals-dangerous.txt")
	for _, c := range dangerous {
		if found, parsed := find(c); parsed && len(found) == 0 {
			missed++
			t.Logf("missed: %s", c)
		}
	}
	for name, most := range map[string]int{"manuals-ordinary.txt": 6, "manuals-examples.txt": 2} {
		flagged, ordinary := 0, labelled(t, name)
		for _, c := range ordinary {
			if found, _ := find(c); len(found) > 0 {
				flagged++
				t.Logf("flagged as %s (%s): %s", found[0].Kind, found[0].What, c)
			}
		}
		if t.Logf("%s: %d of %d flagged", name, flagged, len(ordinary)); half == "" && flagged > most {
			t.Errorf("before it was %d", most)
		}
	}
	if missed > 0 {
		t.Error("before none was missed")
	}
	t.Logf("%d of %d dangerous commands missed", missed, len(dangerous))
}
