package node

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// gcPercent is how much a running node's heap may grow before it is collected, in
// percent of what is in use: half of Go's default. Much of what a node has lives as
// long as a segment, so that the default would keep nearly as much garbage
// (docs/decisions/0029-half-of-gos-garbage.md).
const gcPercent = 50

// gcRoom is how much it may grow where that is more, in bytes: a small heap is not
// collected every few dozen questions.
const gcRoom = 64 << 20

// paceCollector sets the pace of the garbage collector, which is the process's,
// unless whoever started it has; it returns what sets it back.
func paceCollector() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(paceOf(liveHeap()))
	// mu guards over: once it is set back, the pace stays so.
	var mu sync.Mutex
	over := false
	afterEachCollection(func() bool {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			debug.SetGCPercent(paceOf(liveHeap()))
		}
		return !over
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		debug.SetGCPercent(before)
	}
}

// paceOf is the percentage for a heap of which so many bytes are in use.
func paceOf(live uint64) int {
	return max(gcPercent, int(gcRoom*100/max(live, 1<<20)))
}

// liveHeap is how much the last collection left, in bytes.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// afterEachCollection calls do after each collection, until it is false.
func afterEachCollection(do func() bool) {
	// What nothing refers to is cleaned up by the next collection.
	runtime.AddCleanup(new([16]byte), func(do func() bool) {
		if do() {
			afterEachCollection(do)
		}
	}, do)
}
