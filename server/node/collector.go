package node

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much a running node's heap may grow before it is collected, in
// percent of what is in use: half of Go's default. Much of what a node has lives as
// long as a segment, so that the default would keep nearly as much garbage
// (docs/decisions/0029-half-of-gos-garbage.md).
const gcPercent = 50

// paceCollector sets the pace of the garbage collector, which is the process's,
// unless whoever started it has; it returns what sets it back.
func paceCollector() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(before) }
}
