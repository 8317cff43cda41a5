// Package cputime tells how much processor time this process has used. A limit of it, unlike one of the
// time that passes, means the same on a machine that is busy with other work, or that stops for seconds.
package cputime

import (
	"syscall"
	"time"
)

// Used returns the time of all threads, in programs and in the kernel.
func Used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
