package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// namespaceError says that the kernel refused the namespaces.
type namespaceError struct{ err error }

func (e *namespaceError) Error() string {
	hint := ""
	switch {
	case errors.Is(e.err, unix.EPERM), errors.Is(e.err, unix.EACCES):
		hint = "; an administrator can allow them: sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0, and in a container its seccomp profile has to"
	case errors.Is(e.err, unix.ENOSPC):
		hint = "; sysctl user.max_user_namespaces is used up or 0"
	}
	return "the kernel refuses them: " + e.err.Error() + hint
}

// initProcess is a running init, seen from the host.
type initProcess struct {
	socket *hostSocket
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{} // closed when the process has ended
}

// startInit starts the helper in new namespaces and tells it what to set up.
func startInit(ctx context.Context, helper []string, s setup) (*initProcess, error) {
	if len(helper) == 0 {
		return nil, errors.New("sandbox: no helper program is given")
	}
	host, inside, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer func() { _ = inside.Close() }()
	p := &initProcess{socket: host, ended: make(chan struct{})}
	program, err := exec.LookPath(helper[0])
	if err == nil {
		program, err = filepath.Abs(program) // it is started from another directory
	}
	if err != nil {
		host.close()
		return nil, fmt.Errorf("sandbox: the program %s is not there: install it beside recount (make build)", helper[0])
	}
	p.cmd = exec.Command(program, append(helper[1:len(helper):len(helper)], InitVerb)...)
	p.cmd.ExtraFiles = []*os.File{inside}
	p.cmd.Env = []string{}
	p.cmd.Dir = "/"
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = namespaces(s.Network)
	if err := p.cmd.Start(); err != nil {
		host.close()
		return nil, &namespaceError{err}
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its last message, or in stderr
		close(p.ended)
	}()
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	if err := host.send(s); err != nil {
		p.close()
		return nil, fmt.Errorf("sandbox: set up: %w%s", err, p.complaint())
	}
	return p, nil
}

// namespaces says what is new for the init. The user keeps its number inside, and is the only one
// there is.
func namespaces(network bool) *syscall.SysProcAttr {
	uid, gid := os.Getuid(), os.Getgid()
	attr := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | unix.CLONE_NEWCGROUP,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: capabilities,
		Setsid:      true,
	}
	if !network {
		attr.Cloneflags |= syscall.CLONE_NEWNET
	}
	return attr
}

// kill ends the init, and with it every process of the sandbox.
func (p *initProcess) kill() { _ = p.cmd.Process.Kill() }

// close ends the sandbox and waits until no process of it is left.
func (p *initProcess) close() {
	p.kill()
	<-p.ended
	p.socket.close()
}

// complaint says how an init ended whose end of the socket is closed, and what it printed, for an
// error's end.
func (p *initProcess) complaint() string {
	select {
	case <-p.ended:
	case <-time.After(answerTime): // it closed the socket and lives
		p.kill()
		<-p.ended
	}
	how := " (" + p.cmd.ProcessState.String() + ")"
	if text := strings.TrimSpace(p.stderr.String()); text != "" {
		return how + ": " + text
	}
	return how
}
