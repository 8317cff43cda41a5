//go:build !unix

package git

import "os/exec"

// apart is for systems that have process groups.
func apart(*exec.Cmd) {}
