package render

import (
	"testing"
	"time"
)

// TestBefore checks distances of all sizes.
func TestBefore(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0: "just before", 59 * time.Second: "59s before", 59 * time.Minute: "59m before", 47 * time.Hour: "47h before",
		2 * day: "2d before", 729 * day: "729d before", 730 * day: "2y before", 1109 * day: "3y before", -3 * day: "3d after",
	} {
		at := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
		if got := Before(at.Add(-d), at); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
