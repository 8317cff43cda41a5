package recallhook

import (
	"testing"
	"time"
)

// TestAge reads the age of a process from what the kernel says of it.
func TestAge(t *testing.T) {
	const after = " S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 1 1"
	for stat, want := range map[string]time.Duration{
		"7 (recount-record)" + after: 30 * time.Millisecond,
		"7 (a) b (c)" + after:        30 * time.Millisecond,
		"7 (x) S 1":                  0,
		"":                           0,
		"7 (x) S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 99999 1": 0, // in the future
		"7 (x) S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 1 1":     0, // longer ago than any start takes
		"7 (x) S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 y 1":     0,
	} {
		if got := age([]byte(stat), 123480*time.Millisecond); got != want {
			t.Errorf("%q: %s, want %s", stat, got, want)
		}
	}
	if d := time.Since(Started()); d <= 0 || d > time.Minute {
		t.Errorf("this process is %s old", d)
	}
}
