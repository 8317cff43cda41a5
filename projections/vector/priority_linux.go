package vector

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// lowerPriority has the goroutine run on a thread of its own, which the others of
// this process go before. The thread ends with the goroutine.
func lowerPriority() {
	runtime.LockOSThread()
	const nice = 10
	// Of the calling thread alone. If it fails, linking takes its share of the time.
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice)
}
