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

func TestLimitOf(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct{ live, besides, grown, want uint64 }{
		{0, 30 * mib, 64 * mib, 115 * mib},
		{64 * mib, 0, 128 * mib, 170 * mib},
		{240 * mib, 30 * mib, 360 * mib, 510 * mib},
	} {
		got := uint64(limitOf(tt.live, tt.besides))
		if got < tt.want || got > tt.want+mib || got < tt.grown+tt.besides {
			t.Errorf("%d MiB live, %d besides: %d MiB, want %d", tt.live/mib, tt.besides/mib, got/mib, tt.want/mib)
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
	before, limit := percent(), debug.SetMemoryLimit(-1)
	restore := paceCollector()
	kept := make([]byte, 256<<20)
	deadline := time.Now().Add(2 * time.Minute)
	for percent() != gcPercent {
		if time.Now().After(deadline) {
			t.Fatalf("with 256 MiB in use the pace is %d %%, want %d", percent(), gcPercent)
		}
		runtime.GC()
	}
	if got := debug.SetMemoryLimit(-1); got < 512<<20 || got > 4<<30 {
		t.Errorf("with 256 MiB in use the limit is %d MiB", got>>20)
	}
	runtime.KeepAlive(kept)
	restore()
	runtime.GC()
	if got := percent(); got != before {
		t.Errorf("afterwards %d %%, want %d", got, before)
	}
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("afterwards the limit is %d, want %d", got, limit)
	}
}
