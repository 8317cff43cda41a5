package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// pending returns how many bytes are in a pipe.
func pending(pipe *os.File) int {
	n := 0
	c, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = c.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) // 0 if it is closed
	return n
}
