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
// (docs/decisions/0029-run-the-garbage-collector-at-gogc-50-in-the-server.md).
const gcPercent = 50

// gcRoom is how much it may grow where that is more, in bytes: a small heap is not
// collected every few dozen questions.
const gcRoom = 64 << 20

// paceCollector sets the pace of the garbage collector, and what memory it may keep for
// later, which are the process's, unless whoever started it has; it returns what sets
// them back.
func paceCollector() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	percent, limit := debug.SetGCPercent(gcPercent), debug.SetMemoryLimit(-1)
	pace := func() {
		live, besides := memoryInUse()
		debug.SetGCPercent(paceOf(live))
		debug.SetMemoryLimit(limitOf(live, besides))
	}
	pace()
	// mu guards over: once it is set back, the pace stays so.
	var mu sync.Mutex
	over := false
	afterEachCollection(func() bool {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			pace()
		}
		return !over
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// paceOf is the percentage for a heap of which so many bytes are in use.
func paceOf(live uint64) int {
	return max(gcPercent, int(gcRoom*100/max(live, 1<<20)))
}

// limitOf is the memory limit where so many bytes of the heap are in use, and so many
// besides it: what the heap grows to before it is collected, and a third more, for what
// lies between objects. The collector is not to run for it; but what a peak has left is
// given back to the system by the time that it is exceeded, not some minutes later.
func limitOf(live, besides uint64) int64 {
	grown := live + max(live*gcPercent/100, gcRoom)
	return int64(grown + grown/3 + besides)
}

// memoryInUse is how much of the heap the last collection left, and what Go has from the
// system for other things than the heap, in bytes.
func memoryInUse() (live, besides uint64) {
	s := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(s)
	besides = s[1].Value.Uint64()
	for _, heap := range s[2:] {
		besides -= heap.Value.Uint64()
	}
	return s[0].Value.Uint64(), besides
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
