//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// direct runs commands as the caller's own, each in a session of its own.
type direct struct{}

func newDirect() engine { return direct{} }

func (direct) run(ctx context.Context, c Command, out *bounded) (Result, error) {
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return Result{}, &startError{fmt.Sprintf("%s: %s", ErrNoDir, c.Dir), ErrNoDir}
	}
	program, err := lookPath(c.Args[0], c.Dir, c.Env)
	if err != nil {
		return Result{}, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("run: %w", err)
	}
	cmd := &exec.Cmd{Path: program, Args: c.Args, Dir: c.Dir, Env: c.Env, Stdout: write, Stderr: write, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	r := readAll(read, out)
	err = cmd.Start()
	_ = write.Close()
	if err != nil {
		r.stop()
		return Result{}, fmt.Errorf("start %s: %w", program, err)
	}
	defer r.finish()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		t := time.NewTimer(c.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	var res Result
	select {
	case err = <-ended:
		err = fill(&res, cmd, err)
		return res, err
	case <-timeout:
		res.TimedOut = true
	case <-ctx.Done():
	}
	group := -cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // no such group means that it ended
	select {
	case err = <-ended:
		_ = syscall.Kill(group, syscall.SIGKILL) // what it started
	case <-time.After(c.Grace):
		_ = syscall.Kill(group, syscall.SIGKILL)
		err = <-ended
	}
	if err := fill(&res, cmd, err); err != nil || res.TimedOut {
		return res, err
	}
	return res, context.Cause(ctx)
}

// fill takes over how a command ended.
func fill(r *Result, cmd *exec.Cmd, err error) error {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("run: %w", err)
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		r.status(status)
	}
	return nil
}

// close leaves alone what commands left behind, as a shell would.
func (direct) close() error { return nil }
