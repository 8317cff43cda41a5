package command

import "testing"

// TestTablesCompile checks that every line of every table is well-formed and that no program is
// listed twice. The tables are compiled on first use and would panic there.
func TestTablesCompile(t *testing.T) {
	if n := len(synopses()); n < 500 {
		t.Errorf("%d programs", n)
	}
}

func TestTurnsAreOfKnownPrograms(t *testing.T) {
	for name := range turns {
		if s := synopses()[name]; s == nil || s.first != name {
			t.Errorf("turns[%q]: not the first name of any line of the tables", name)
		}
	}
	for _, set := range []map[string]bool{textual, abroad} {
		for name := range set {
			if s := synopses()[name]; s == nil || s.first != name {
				t.Errorf("%q: not the first name of any line of the tables", name)
			}
		}
	}
}
