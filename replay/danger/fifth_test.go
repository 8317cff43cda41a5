package danger

import "testing"

// TestFifth counts what is found in a fifth set, by another author who had not seen the table. What was
// found at the first look is in bench/README.md; the bounds are what was reached afterwards. Three of
// those that are missed add an account, which another author calls ordinary.
func TestFifth(t *testing.T) {
	for _, part := range []struct {
		name              string
		miss, near, drawn int
	}{{"a", 2, 10, 2}, {"b", 10, 19, 5}} {
		missed, dangerous := 0, labelled(t, "fifth-"+part.name+"-dangerous.txt")
		for _, c := range dangerous {
			if found, parsed := find(c); parsed && len(found) == 0 {
				missed++
				t.Logf("missed: %s", c)
			}
		}
		if t.Logf("%s: %d of %d dangerous commands missed", part.name, missed, len(dangerous)); half == "" && missed > part.miss {
			t.Errorf("%s: before %d were missed", part.name, part.miss)
		}
		for name, most := range map[string]int{"near": part.near, "drawn": part.drawn} {
			flagged, ordinary := 0, labelled(t, "fifth-"+part.name+"-"+name+".txt")
			for _, c := range ordinary {
				if found, _ := find(c); len(found) > 0 {
					flagged++
					t.Logf("flagged as %s (%s): %s", found[0].Kind, found[0].What, c)
				}
			}
			if t.Logf("%s, %s: %d of %d flagged", part.name, name, flagged, len(ordinary)); half == "" && flagged > most {
				t.Errorf("%s, %s: before it was %d", part.name, name, most)
			}
		}
	}
}
