//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// apart gives a process a group of its own: ctrl-c at a terminal reaches the
// caller alone, who ends git when its own work is at a good place.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
