package danger

import (
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

// bounds are how many commands of half of a set may be missed, or flagged, at most: what was reached after
// mending with the set. What was found at the first look is in bench/docs/danger.md.
type bounds struct {
	half              string
	miss, near, drawn int
}

// TestFifth counts what is found in a fifth set, by another author who had not seen the table. Two of the
// three that are missed add an account, which another author calls ordinary.
func TestFifth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "fifth", bounds{"a", 2, 4, 1}, bounds{"b", 1, 3, 0})
}

// TestSixth counts what is found in a sixth set, by a third such author. What is missed
// labels in a cluster, which the author of the manuals' set calls ordinary.
func TestSixth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "sixth", bounds{"a", 0, 1, 0}, bounds{"b", 1, 1, 3})
}

// TestSeventh counts what is found in a seventh set, by a fourth such author. At the first look 18 of 343 were
// missed.
func TestSeventh(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "seventh", bounds{"a", 0, 1, 1}, bounds{"b", 0, 3, 2})
}

// TestEighth counts what is found in an eighth set, by a fifth such author. At the first look 15 of 300 were
// missed. Most of the ten that are missed still install software,
// which the authors of other sets call ordinary.
func TestEighth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "eighth", bounds{"a", 5, 1, 1}, bounds{"b", 5, 0, 0})
}

// testHalves counts what is found in the two halves of a set.
func testHalves(t *testing.T, set string, halves ...bounds) {
	for _, part := range halves {
		missed, dangerous := 0, labelled(t, set+"-"+part.half+"-dangerous.txt")
		for _, c := range dangerous {
			if found, parsed := find(c); parsed && len(found) == 0 {
				missed++
				t.Logf("missed: %s", c)
			}
		}
		if t.Logf("%s: %d of %d dangerous commands missed", part.half, missed, len(dangerous)); half == "" && missed > part.miss {
			t.Errorf("%s: before %d were missed", part.half, part.miss)
		}
		for name, most := range map[string]int{"near": part.near, "drawn": part.drawn} {
			flagged, ordinary := 0, labelled(t, set+"-"+part.half+"-"+name+".txt")
			for _, c := range ordinary {
				if found, _ := find(c); len(found) > 0 {
					flagged++
					t.Logf("flagged as %s (%s): %s", found[0].Kind, found[0].What, c)
				}
			}
			if t.Logf("%s, %s: %d of %d flagged", part.half, name, flagged, len(ordinary)); half == "" && flagged > most {
				t.Errorf("%s, %s: before it was %d", part.half, name, most)
			}
		}
	}
}

// TestNinth counts what is found in a ninth set, by a sixth such author, who was told which steps count as
// dangerous. At the first look 1 of 200 was missed, and 24 of 600 ordinary ones were flagged. Six of the seven
// that are flagged still are commands of git that throw work in the tree away, which are asked about.
func TestNinth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "ninth", bounds{"a", 0, 3, 0}, bounds{"b", 0, 3, 0})
}

// TestTenth counts what is found in a tenth set, by a seventh such author, who used the ninth set's definition. At the
// first look 4 of 200 were missed, and 36 of 750 ordinary ones were flagged, most of which install a program by hand
// (decision 145). Four of the nine drawn ones that are flagged still run an installer from the network.
func TestTenth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "tenth", bounds{"a", 0, 1, 4}, bounds{"b", 0, 4, 5})
}

// TestEleventh counts what is found in an eleventh set, by an eighth such author, who used the ninth set's definition.
// At the first look 4 of 200 were missed, and 18 of 750 ordinary ones were flagged, half of them drawn.
func TestEleventh(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "eleventh", bounds{"a", 0, 4, 2}, bounds{"b", 0, 3, 3})
}

// TestTwelfth counts what is found in a twelfth set, by a ninth such author, who used the ninth set's definition and
// retold the drawn ones. At the first look 6 of 200 were missed, half of them of Windows, and 16 of 750 ordinary ones
// were flagged, 11 of them drawn.
func TestTwelfth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "twelfth", bounds{"a", 0, 0, 0}, bounds{"b", 0, 1, 3})
}

// TestThirteenth counts what is found in a thirteenth set, by a tenth such author; 40 of its dangerous commands stand
// in earlier sets too. At the first look 1 of 200 was missed, and 9 of 750 ordinary ones were flagged, 2 of them drawn.
func TestThirteenth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "thirteenth", bounds{"a", 0, 0, 0}, bounds{"b", 0, 2, 0})
}

// TestFourteenth counts what is found in a fourteenth set, by an eleventh such author. At the first look 2 of 200 were missed, and 18 of 750
// ordinary ones were flagged, 1 of them drawn.
func TestFourteenth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "fourteenth", bounds{"a", 0, 0, 0}, bounds{"b", 0, 0, 0})
}

// TestFifteenth counts what is found in a fifteenth set, by a twelfth such author. At the first look 2 of 200 were missed, and 5 of 750
// ordinary ones were flagged, 2 of them drawn.
func TestFifteenth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "fifteenth", bounds{"a", 0, 0, 0}, bounds{"b", 0, 0, 0})
}

// TestSixteenth counts what is found in a sixteenth set, by a thirteenth such author. At the first look 1 of 200 was missed, and 5 of 750
// flagged. What is still flagged throws away changes to a file that git does not have.
func TestSixteenth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "sixteenth", bounds{"a", 0, 0, 1}, bounds{"b", 0, 0, 1})
}

// TestSeventeenth counts what is found in a seventeenth set, by a fourteenth such author. At the first look 2 of 200 were missed, and
// 1 of 750 flagged.
func TestSeventeenth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "seventeenth", bounds{"a", 0, 1, 0}, bounds{"b", 0, 0, 0})
}

// TestEighteenth counts what is found in an eighteenth set, by a fifteenth such author. At the first look 3 of 200 were missed, and
// 4 of 650 flagged.
func TestEighteenth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "eighteenth", bounds{"a", 0, 1, 0}, bounds{"b", 0, 2, 0})
}

// TestNineteenth counts what is found in a nineteenth set, by a sixteenth such author. At the first look 4 of 200 were missed, and
// 5 of 650 flagged. What is still missed opens a port by ufw, which the authors of the manuals' and the ninth set call ordinary; what is
// still flagged empties a database of this machine.
func TestNineteenth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "nineteenth", bounds{"a", 0, 2, 0}, bounds{"b", 1, 2, 0})
}

// TestTwentieth counts what is found in a twentieth set, by a seventeenth such author. At the first look 2 of 200 were missed, and
// 4 of 650 flagged: databases of this machine that are emptied or dropped.
func TestTwentieth(t *testing.T) {
	racing.Alone(t)
	testHalves(t, "twentieth", bounds{"a", 0, 3, 0}, bounds{"b", 0, 1, 0})
}
