package danger

import (
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

// TestTldr counts what the table says of commands that were labelled without it. Its bounds are what was
// reached, so that the table does not get worse; what is asked for is in bench/docs/danger.md.
func TestTldr(t *testing.T) {
	racing.Alone(t)
	missed, dangerous := 0, labelled(t, "tldr-dangerous.txt")
	for _, c := range dangerous {
		if found, parsed := find(c); parsed && len(found) == 0 {
			missed++
			t.Logf("missed: %s", c)
		}
	}
	flagged, ordinary := 0, labelled(t, "tldr-ordinary.txt")
	for _, c := range ordinary {
		if found, _ := find(c); len(found) > 0 {
			flagged++
			t.Logf("flagged as %s (%s): %s", found[0].Kind, found[0].What, c)
		}
	}
	if half == "" && (missed > 0 || flagged > 5) {
		t.Error("the table has become worse: before it missed none and flagged 5")
	}
	t.Logf("%d of %d dangerous commands missed, %d of %d ordinary ones flagged", missed, len(dangerous), flagged, len(ordinary))
}
