package node

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPaceOf(t *testing.T) {
	for live, want := range map[uint64]int{0: 6400, 1 << 20: 6400, 64 << 20: 100, 128 << 20: 50, 10 << 30: 50} {
		if got := paceOf(live); got != want {
			t.Errorf("%d bytes live: %d %%, want %d", live, got, want)
		}
	}
}

// TestPaceFollowsTheHeap: what is kept in memory is what the pace is of, after the next
// collections, and what was before holds again in the end.
func TestPaceFollowsTheHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	before := percent()
	restore := paceCollector()
	kept := make([]byte, 256<<20)
	deadline := time.Now().Add(2 * time.Minute)
	for percent() != gcPercent {
		if time.Now().After(deadline) {
			t.Fatalf("with 256 MiB in use the pace is %d %%, want %d", percent(), gcPercent)
		}
		runtime.GC()
	}
	runtime.KeepAlive(kept)
	restore()
	runtime.GC()
	if got := percent(); got != before {
		t.Errorf("afterwards %d %%, want %d", got, before)
	}
}
