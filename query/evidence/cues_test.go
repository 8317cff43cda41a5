package evidence

import (
	"slices"
	"testing"
)

// TestCuesAreFoundByTheirWords checks that the test for literals does not lose a match of a
// pattern.
func TestCuesAreFoundByTheirWords(t *testing.T) {
	all := []questionPattern{agoCue, dayCue, newestCue, whyCue, remedyCue, failCue}
	var found [6]bool
	for _, text := range []string{
		"the last hour", "in the past 3 days", "within the last 10 weeks", "2 minutes ago", "a month or 1 month ago",
		"today", "since yesterday", "from this week", "after last week",
		"the latest", "newest plan", "most recent", "recently", "just now",
		"why", "what caused it", "what causes it", "what broke it", "what breaks it", "what made it", "the root cause", "a reason",
		"fix", "fixed by", "fixes it", "put right", "mend", "mended", "remedy", "solved", "the solution", "resolve", "patched", "repaired",
		"work around", "worked around", "workaround", "came of it", "did it help", "did that help", "what was in it changed", "what have they change",
		"fails", "failure", "errors", "broken", "break", "breaks", "crashed", "down", "slowly", "timed out", "time out", "timeouts", "panics", "exceptions", "500", "503",
		"", "nothing of these", "fixture", "pastry", "agony", "weekly", "unreasonable", "55",
	} {
		for i, c := range all {
			want := c.FindStringSubmatch(text)
			found[i] = found[i] || want != nil
			if got := c.matches(text); !slices.Equal(got, want) {
				t.Errorf("cue %d in %q: %q, want %q", i, text, got, want)
			}
		}
	}
	if slices.Contains(found[:], false) {
		t.Errorf("a cue is in none of the texts: %v", found)
	}
}

// TestRemedyIsAskedFor tells what asks for a remedy from what only says when something was.
func TestRemedyIsAskedFor(t *testing.T) {
	for text, want := range map[string]bool{
		"how did we fix the timeout":                              true,
		"what did make test print after the fix":                  false,
		"which test still failed once the css class was repaired": false,
		"what did it print before the change":                     false,
		"after the crash, how was it solved":                      true,
		"how was the lint warning fixed before the release":       true,
	} {
		if got := readCues(text, 0).remedy != ""; got != want {
			t.Errorf("%q asks for a remedy: %v, want %v", text, got, want)
		}
	}
}
