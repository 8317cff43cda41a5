package node

import (
	"runtime/debug"
	"testing"
)

func TestPaceCollector(t *testing.T) {
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	was := percent()
	t.Run("unless GOGC is set", func(t *testing.T) {
		t.Setenv("GOGC", "80")
		defer paceCollector()()
		if got := percent(); got != was {
			t.Errorf("the percentage is %d, want %d", got, was)
		}
	})
	t.Setenv("GOGC", "")
	restore := paceCollector()
	if got := percent(); got != gcPercent {
		t.Errorf("the percentage is %d, want %d", got, gcPercent)
	}
	restore()
	if got := percent(); got != was {
		t.Errorf("restored, the percentage is %d, want %d", got, was)
	}
}
