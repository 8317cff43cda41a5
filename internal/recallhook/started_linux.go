package recallhook

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Started returns when the process was started: the agent waits since then, and on a busy machine
// some time passes until a program's first line runs. Where the system does not tell it, it is now.
func Started() time.Time {
	now := time.Now()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return now
	}
	var boot unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return now
	}
	return now.Add(-age(stat, time.Duration(boot.Nano())))
}

// tick is the unit of /proc/PID/stat.
const tick = 10 * time.Millisecond

// age returns how old a process is whose /proc/PID/stat is given, where up is the time since the
// machine's start; 0 if that is not known, or so much that it cannot be the time that a start takes.
func age(stat []byte, up time.Duration) time.Duration {
	// The second field is the program's name in parentheses, which may have any characters.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0
	}
	n, err := strconv.ParseInt(string(fields[19]), 10, 64)
	if err != nil {
		return 0
	}
	if d := up - time.Duration(n)*tick; d > 0 && d < time.Minute {
		return d
	}
	return 0
}
