package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// server is the second stage of an init: process 1 of the sandbox, with no rights but a command's.
type server struct {
	setup

	mu    sync.Mutex
	steps map[int]*step   // by process, those that run
	byID  map[int64]*step // all that were started, by id
}

// step is a command that runs.
type step struct {
	id    int64
	pid   int  // also its session and its process group
	ended bool // then the number may be another's by now
}

// stepMark is the variable that tells which command a process belongs to, however it was started.
const stepMark = "RECOUNT_SANDBOX_STEP"

// serve starts commands until the host closes the socket. When it returns the process ends, and
// the kernel kills everything in its namespace.
func serve(s setup) error {
	// Commands have the same user; this keeps them from this process's files and memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return control.send(reply{Err: "hide the init: " + err.Error()})
	}
	// A command may signal process 1. Signals that have a handler are taken and dropped; ignoring
	// them would be inherited by commands.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals)
	go func() {
		for range signals { //nolint:revive // they are taken so that they do nothing
		}
	}()
	v := &server{setup: s, steps: map[int]*step{}, byID: map[int64]*step{}}
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	go v.reap(children)
	makeThreads(16)
	if err := control.send(reply{Ready: true}); err != nil {
		return err
	}
	for {
		var o order
		files, err := control.receive(&o)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read an order: %w", err)
		}
		switch o.Op {
		case "run":
			v.start(o, files)
		case "term":
			v.end(o.ID, unix.SIGTERM)
		case "kill":
			go func() {
				v.end(o.ID, unix.SIGKILL)
				_ = control.send(reply{ID: -o.ID}) // if it fails the host is gone, and receive ends
			}()
		case "kill-all":
			_ = unix.Kill(-1, unix.SIGKILL) // all but process 1
		}
		for _, fd := range files {
			_ = unix.Close(fd)
		}
	}
}

// makeThreads has the runtime start threads while it can, and keep them: when commands have used up
// the processes, it could start none, and would give up.
func makeThreads(n int) {
	var running, ended sync.WaitGroup
	running.Add(n)
	for range n {
		ended.Go(func() {
			runtime.LockOSThread() // so that no two of them share one
			defer runtime.UnlockOSThread()
			running.Done()
			running.Wait()
		})
	}
	ended.Wait()
}

// start starts a command, or replies why it could not.
func (v *server) start(o order, files []int) {
	err := func() error {
		if len(files) != 2 {
			return fmt.Errorf("an order came with %d files: a bug", len(files))
		}
		b := make([]byte, o.Size)
		if n, err := unix.Pread(files[0], b, 0); err != nil || n != len(b) {
			return fmt.Errorf("read the command: %d of %d bytes: %w", n, len(b), err)
		}
		var j job
		if err := json.Unmarshal(b, &j); err != nil {
			return err
		}
		return v.fork(o.ID, j, files[1])
	}()
	if err == nil {
		return
	}
	r := reply{ID: o.ID, Err: err.Error()}
	switch {
	case errors.Is(err, ErrNoProgram):
		r.Reason = "program"
	case errors.Is(err, ErrNoDir):
		r.Reason = "dir"
	}
	_ = control.send(r) // if it fails the host is gone, and receive ends
}

func (v *server) fork(id int64, j job, out int) error {
	if info, err := os.Stat(j.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: %s", ErrNoDir, j.Dir)
	}
	program, err := lookPath(j.Args[0], j.Dir, j.Env)
	if err != nil {
		return err
	}
	null, err := os.Open("/dev/null")
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	// The reaper must not see the end of a process that is not noted yet.
	v.mu.Lock()
	defer v.mu.Unlock()
	pid, err := syscall.ForkExec(program, j.Args, &syscall.ProcAttr{
		Dir:   j.Dir,
		Env:   append(j.Env, fmt.Sprintf("%s=%d", stepMark, id)),
		Files: []uintptr{null.Fd(), uintptr(out), uintptr(out)},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOEXEC) {
		return fmt.Errorf("%w: %s can't be executed (its interpreter may be absent)", ErrNoProgram, program)
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	st := &step{id: id, pid: pid}
	v.steps[pid], v.byID[id] = st, st
	return nil
}

// reap waits for every process that ends, also those that lost their parents, and replies for
// commands.
func (v *server) reap(children <-chan os.Signal) {
	for range children {
		for {
			var status unix.WaitStatus
			pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
			if err == unix.EINTR {
				continue
			}
			if err != nil || pid == 0 {
				break
			}
			v.mu.Lock()
			st := v.steps[pid]
			if st != nil {
				delete(v.steps, pid)
				st.ended = true
			}
			v.mu.Unlock()
			if st != nil {
				_ = control.send(reply{ID: st.id, Status: int(status)})
			}
		}
	}
}

// end signals a command, unless it has ended, and all that it started.
func (v *server) end(id int64, sig unix.Signal) {
	v.mu.Lock()
	var st step
	if known := v.byID[id]; known != nil {
		st = *known
	}
	v.mu.Unlock()
	if st.id == 0 {
		return // it could not be started
	}
	if sig == unix.SIGKILL {
		killTree(st)
		return
	}
	for pid := range tree(st) {
		_ = unix.Kill(pid, sig)
		_ = unix.Kill(pid, unix.SIGCONT) // one that is stopped would not see it
	}
}
