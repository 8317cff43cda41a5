package node

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much a running node's heap may grow before it is collected, in
// percent of what is in use: half of Go's default. Much of what a node has lives as
// long as a segment, so that the default would keep nearly as much garbage
// (docs/decisions/0029-run-the-garbage-collector-at-gogc-50-in-the-server.md).
const gcPercent = 50

// paceCollector sets the process's GC percentage to gcPercent unless GOGC is set. It
// returns a function that restores the percentage.
func paceCollector() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	percent := debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(percent) }
}
