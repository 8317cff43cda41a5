package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// isolated runs commands through an init.
type isolated struct {
	*initProcess
	watch *diskWatch

	mu     sync.Mutex
	next   int64
	waits  map[int64]chan reply
	limits map[int64]string // why a command was ended, by id
	ended  bool
}

// openIsolated starts the init: over the directory itself or, where the kernel can't do that, over a copy.
func (s *Sandbox) openIsolated(ctx context.Context) error {
	report, err := Probe(ctx, s.opt.Helper)
	if err != nil {
		return err
	}
	s.report = report
	if missing := report.Missing(); len(missing) > 0 {
		return &RefusedError{missing}
	}
	if err := s.load(); err != nil {
		return err
	}
	for _, d := range []string{"empty", "upper", "work", "tmp", "vartmp", "home", "homes"} {
		if err := os.MkdirAll(filepath.Join(s.opt.State, d), 0o755); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
	}
	fresh := s.state == nil
	if fresh {
		since, err := tick(s.opt.State)
		if err != nil {
			return err
		}
		s.state = &state{Dir: s.opt.Dir, Since: since, Copy: !report.Overlay}
	}
	if fresh && (s.state.Copy || s.opt.Copy != "") {
		err := s.copyDir(ctx, cmp.Or(s.opt.Copy, "the kernel has no overlayfs for users"))
		if tooLarge := (*copyLimitError)(nil); errors.As(err, &tooLarge) && !s.state.Copy {
			s.notes = append(s.notes, fmt.Sprintf("no copy of %s is made, although %s: %v", s.opt.Dir, s.opt.Copy, tooLarge))
			err = removeAll(filepath.Join(s.opt.State, "copy"))
		}
		if err != nil {
			return err
		}
	}
	if fresh && s.opt.Home != "" {
		if err := writeGitConfig(ctx, s.opt.Home, filepath.Join(s.opt.State, "home")); err != nil {
			return err
		}
	}
	e, err := s.startEngine(ctx)
	if o := (*overlayError)(nil); errors.As(err, &o) && fresh {
		if err := s.copyDir(ctx, o.Error()); err != nil {
			return err
		}
		e, err = s.startEngine(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.state.save(s.opt.State); err != nil {
		_ = e.close() // the error at hand says more
		return err
	}
	s.engine = e
	return nil
}

func (s *Sandbox) startEngine(ctx context.Context) (*isolated, error) {
	o := s.opt
	su := setup{Dir: o.Dir, State: o.State, Home: o.Home, Copy: s.state.Copy, Network: o.Network, Hide: o.Hide, Limits: o.Limits, Sockets: boundSockets()}
	tools := toolPath(os.Getenv)
	if o.Home != "" {
		su.Visible = visibleIn(o.Home, tools, o.Dir)
	}
	if su.Tools = o.elsewhere; su.Tools == nil {
		su.Tools = toolsElsewhere(o.Home, tools, o.Dir)
	}
	if err := makeLayers(su); err != nil {
		return nil, err
	}
	p, err := startInit(ctx, o.Helper, su)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	if err := p.socket.send(su); err != nil { // for the second stage
		p.close()
		return nil, fmt.Errorf("sandbox: set up: %w", err)
	}
	var r reply
	if err := p.socket.receive(&r); err != nil {
		err = fmt.Errorf("sandbox: the init ended while it was set up: %w%s", err, p.complaint())
		p.close()
		return nil, err
	}
	if !r.Ready {
		p.close()
		if r.Reason == "overlay" {
			return nil, &overlayError{errors.New(r.Err)}
		}
		return nil, fmt.Errorf("sandbox: set up: %s", r.Err)
	}
	e := &isolated{initProcess: p, waits: map[int64]chan reply{}, limits: map[int64]string{}}
	go e.listen()
	e.watch = watchDisk(o.State, o.Limits, e.overLimit)
	return e, nil
}

// listen passes replies to those who wait for them.
func (e *isolated) listen() {
	for {
		var r reply
		err := e.socket.receive(&r)
		e.mu.Lock()
		if err != nil {
			e.ended = true
			for id, c := range e.waits {
				close(c)
				delete(e.waits, id)
			}
			e.mu.Unlock()
			return
		}
		if c := e.waits[r.ID]; c != nil {
			c <- r // has room for one, and there is one
			delete(e.waits, r.ID)
		}
		e.mu.Unlock()
	}
}

// overLimit ends everything that runs, as it has used up what all may use together.
func (e *isolated) overLimit(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.waits {
		e.limits[id] = why
	}
	_ = e.socket.send(order{Op: "kill-all"}) // if the init is gone, so are they
}

func (e *isolated) run(ctx context.Context, c Command, out *bounded) (Result, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	reader := readAll(read, out)
	id, wait, err := e.order(c, write)
	_ = write.Close()
	if err != nil {
		reader.stop()
		return Result{}, err
	}
	defer reader.finish()
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		t := time.NewTimer(c.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	timedOut := false
	select {
	case r, ok := <-wait:
		return e.result(id, r, ok, false)
	case <-timeout:
		timedOut = true
	case <-ctx.Done():
	}
	r, ok := e.stop(id, wait, c.Grace)
	res, err := e.result(id, r, ok, timedOut)
	if err == nil && !timedOut {
		err = context.Cause(ctx)
	}
	return res, err
}

// order sends a command to the init.
func (e *isolated) order(c Command, out *os.File) (int64, chan reply, error) {
	b, err := json.Marshal(job{c.Args, c.Dir, c.Env})
	if err != nil {
		return 0, nil, err
	}
	mem, err := unix.MemfdCreate("command", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, nil, fmt.Errorf("sandbox: %w", err)
	}
	defer func() { _ = unix.Close(mem) }()
	if n, err := unix.Pwrite(mem, b, 0); err != nil || n != len(b) {
		return 0, nil, fmt.Errorf("sandbox: pass the command: %d of %d bytes: %w", n, len(b), err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return 0, nil, ErrClosed
	}
	e.next++
	wait := make(chan reply, 1)
	e.waits[e.next] = wait
	if err := e.socket.send(order{ID: e.next, Op: "run", Size: int64(len(b))}, mem, int(out.Fd())); err != nil {
		delete(e.waits, e.next)
		return 0, nil, fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return e.next, wait, nil
}

// stop ends a command: TERM, and KILL after the grace time, to all that belongs to it.
func (e *isolated) stop(id int64, wait <-chan reply, grace time.Duration) (r reply, ok bool) {
	_ = e.socket.send(order{ID: id, Op: "term"}) // if the init is gone, wait is closed
	ended := false
	select {
	case r, ok = <-wait:
		ended = true // those that it started may go on
	case <-time.After(grace):
	}
	e.killAll(id)
	if ended {
		return r, ok
	}
	select {
	case r, ok = <-wait:
	case <-time.After(answerTime):
		e.kill() // which closes wait
		r, ok = <-wait
	}
	return r, ok
}

// answerTime is how long an init may take to kill a command, or to say that one has ended.
const answerTime = 20 * time.Second

// killAll kills what belongs to a command. An init that does not say in time that it has done so is
// killed itself, with the whole sandbox.
func (e *isolated) killAll(id int64) {
	killed := make(chan reply, 1)
	e.mu.Lock()
	if e.ended {
		e.mu.Unlock()
		return
	}
	e.waits[-id] = killed
	e.mu.Unlock()
	_ = e.socket.send(order{ID: id, Op: "kill"})
	select {
	case <-killed:
	case <-time.After(answerTime):
		e.kill()
	}
}

// result turns a reply into a Result.
func (e *isolated) result(id int64, r reply, ok, timedOut bool) (Result, error) {
	e.mu.Lock()
	limit := e.limits[id]
	delete(e.limits, id)
	e.mu.Unlock()
	if !ok {
		return Result{Limit: limit}, ErrClosed
	}
	switch r.Reason {
	case "program":
		return Result{}, &startError{r.Err, ErrNoProgram}
	case "dir":
		return Result{}, &startError{r.Err, ErrNoDir}
	}
	if r.Err != "" {
		return Result{}, fmt.Errorf("sandbox: %s", r.Err)
	}
	res := Result{TimedOut: timedOut, Limit: limit}
	res.status(syscall.WaitStatus(r.Status))
	return res, nil
}

func (e *isolated) close() error {
	e.watch.stop()
	e.initProcess.close()
	return nil
}

// boundSockets lists the paths of the host's sockets. The init can't: its /proc/net is that of its
// own network.
func boundSockets() []string {
	b, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	var out []string
	for _, line := range strings.Split(string(b), "\n") {
		if at := strings.Index(line, " /"); at >= 0 && len(out) < 4096 {
			out = append(out, line[at+1:])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
