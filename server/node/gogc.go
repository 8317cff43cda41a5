package node

import (
	"os"
	"runtime/debug"
)

// gcPercent is the GOGC of a running node, half of Go's default: much of a node's memory lives as
// long as a segment, so the default would keep nearly as much garbage
// (docs/decisions/0029-run-the-garbage-collector-at-gogc-50-in-the-server.md).
const gcPercent = 50

// paceCollector sets the process's GC percentage to gcPercent unless GOGC is set. It returns a
// function that restores the old percentage.
func paceCollector() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	percent := debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(percent) }
}
