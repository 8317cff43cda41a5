package script

import "syscall"

// noTerminal makes a process start without a terminal to ask on.
func noTerminal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
