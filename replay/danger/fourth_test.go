package danger

import "testing"

// TestFourth counts, in the fourth set, the dangerous commands that are missed and the ordinary ones that are flagged, and fails if
// the set is not whole. Its author had not seen the table (testdata/LICENSE-fourth).
func TestFourth(t *testing.T) {
	for _, file := range []struct {
		name      string
		dangerous bool
		least     int
	}{{"fourth-dangerous.txt", true, 150}, {"fourth-near.txt", false, 400}, {"fourth-drawn.txt", false, 300}} {
		commands, wrong := labelled(t, file.name), 0
		if half == "" && len(commands) < file.least {
			t.Errorf("%s has %d commands, want at least %d", file.name, len(commands), file.least)
		}
		for _, c := range commands {
			if found, parsed := find(c); (len(found) > 0 || !parsed) != file.dangerous {
				wrong++
				t.Logf("%s: %q: %v", file.name, c, found)
			}
		}
		t.Logf("%s: %d of %d are judged otherwise than their label", file.name, wrong, len(commands))
	}
}
