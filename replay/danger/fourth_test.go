package danger

import (
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

// TestFourth counts what is found in a fourth set, by another author who had not seen the table. What was
// found at the first look is in bench/docs/danger.md; the bounds are what was reached afterwards.
func TestFourth(t *testing.T) {
	racing.Alone(t)
	missed, dangerous := 0, labelled(t, "fourth-dangerous.txt")
	for _, c := range dangerous {
		found, parsed := find(c)
		if !parsed {
			t.Logf("not parsed: %s", c)
		} else if len(found) == 0 {
			missed++
			t.Logf("missed: %s", c)
		}
	}
	for name, most := range map[string]int{"fourth-near.txt": 6, "fourth-drawn.txt": 3} {
		flagged, unparsed, ordinary := 0, 0, labelled(t, name)
		for _, c := range ordinary {
			found, parsed := find(c)
			if !parsed {
				unparsed++
			}
			if len(found) > 0 {
				flagged++
				t.Logf("flagged as %s (%s): %s", found[0].Kind, found[0].What, c)
			}
		}
		if t.Logf("%s: %d of %d flagged, %d not parsed", name, flagged, len(ordinary), unparsed); half == "" && flagged > most {
			t.Errorf("before it was %d", most)
		}
	}
	if missed > 0 {
		t.Error("before none was missed")
	}
	t.Logf("%d of %d dangerous commands missed", missed, len(dangerous))
}
