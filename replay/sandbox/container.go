package sandbox

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// defaultImage is what a container is made of if none is named.
const defaultImage = "docker.io/library/debian:stable-slim"

// Container splits the isolation of a container, as podman or docker:golang:1.26, into the program and the
// image. ok is false for other kinds.
func (i Isolation) Container() (program, image string, ok bool) {
	program, image, named := strings.Cut(string(i), ":")
	if program != "docker" && program != "podman" || named && image == "" || strings.HasPrefix(image, "-") {
		return "", "", false
	}
	if !named {
		image = defaultImage
	}
	return program, image, true
}

// container runs commands in one container, which ends with this process: its first program reads a pipe
// that only this process holds.
type container struct {
	program string // the path of docker or podman
	name    string
	main    *exec.Cmd
	alive   io.Closer // the pipe
	ended   chan struct{}
	watch   *diskWatch
	next    atomic.Int64

	mu    sync.Mutex
	over  string // the limit that was reached, as a sentence
	steps map[int64]bool
}

// openContainer starts a container over a copy of the directory.
func (s *Sandbox) openContainer(ctx context.Context) error {
	program, image, _ := s.opt.Isolation.Container()
	path, err := exec.LookPath(program)
	if err != nil {
		return &RefusedError{[]string{"the program " + program}}
	}
	if out, err := exec.CommandContext(ctx, path, "image", "inspect", "--format", "{{.Id}}", image).CombinedOutput(); err != nil {
		said := strings.TrimSpace(string(out))
		if low := strings.ToLower(said); !strings.Contains(low, "no such image") && !strings.Contains(low, "image not known") {
			return &UnavailableError{fmt.Sprintf("%s does not work here: %s", program, cmp.Or(said, err.Error()))}
		}
		return &UnavailableError{fmt.Sprintf("%s has no image %s (nothing is fetched here: %s pull %s): %s", program, image, program, image, said)}
	}
	if err := s.load(); err != nil {
		return err
	}
	if s.state == nil {
		since, err := tick(s.opt.State)
		if err != nil {
			return err
		}
		s.state = &state{Dir: s.opt.Dir, Since: since, Copy: true}
		if err := s.copyDir(ctx, "containers have no other view of it"); err != nil {
			return err
		}
	}
	c, err := s.startContainer(ctx, path, image)
	if err != nil {
		return err
	}
	if err := s.state.save(s.opt.State); err != nil {
		_ = c.close() // the error at hand says more
		return err
	}
	s.engine = c
	s.notes = append(s.notes, fmt.Sprintf("runs in a container of %s: programs are those of the image %s", program, image))
	return nil
}

// startContainer starts the container and waits until it can run commands.
func (s *Sandbox) startContainer(ctx context.Context, path, image string) (*container, error) {
	o := s.opt
	c := &container{program: path, name: fmt.Sprintf("recount-%s-%d", filepath.Base(o.State), os.Getpid()), ended: make(chan struct{}), steps: map[int64]bool{}}
	args := []string{
		"run", "--interactive", "--rm", "--name", c.name, "--hostname", "replay", "--pull", "never",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--security-opt", "label=disable", "--read-only",
		"--pids-limit", strconv.Itoa(o.Limits.Processes),
		"--ulimit", fmt.Sprintf("nofile=%d:%d", o.Limits.OpenFiles, o.Limits.OpenFiles),
		"--ulimit", fmt.Sprintf("fsize=%d:%d", o.Limits.FileSize, o.Limits.FileSize),
		"--tmpfs", "/tmp:rw,exec,mode=1777", "--tmpfs", "/var/tmp:rw,exec,mode=1777",
		"--user", fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()),
		"--volume", s.layerPath() + ":" + o.Dir, "--workdir", o.Dir,
	}
	if !o.Network {
		args = append(args, "--network", "none")
	}
	if o.Home != "" && !Within(o.Home, o.Dir) || o.Home != "" && o.Home != o.Dir {
		args = append(args, "--tmpfs", o.Home+":rw,exec,mode=1777")
	}
	if filepath.Base(path) == "podman" {
		if os.Getuid() != 0 {
			args = append(args, "--userns", "keep-id") // the files of the copy stay the caller's
		} else {
			// By itself it asks for more than a root without CAP_SYS_RESOURCE may give, as in some virtual
			// machines, and then does not start. The kernel does not hold root to it; --pids-limit does.
			args = append(args, "--ulimit", "nproc=32768:32768")
		}
	}
	args = append(args, "--entrypoint", "sh", image, "-c", "command -v grep >/dev/null && echo ready && exec cat >/dev/null")
	c.main = client(path, args...)
	said := &tailBuffer{}
	c.main.Stderr = said
	in, err := c.main.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	out, err := c.main.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	if err := c.main.Start(); err != nil {
		return nil, fmt.Errorf("sandbox: start %s: %w", path, err)
	}
	c.alive = in
	stop := context.AfterFunc(ctx, func() { _ = c.main.Process.Kill() })
	defer stop()
	line, _ := bufio.NewReader(out).ReadString('\n')
	go func() {
		_ = c.main.Wait()
		close(c.ended)
	}()
	if line != "ready\n" {
		_ = in.Close()
		<-c.ended
		return nil, fmt.Errorf("sandbox: the container did not start (the image needs sh, cat and grep): %s", said)
	}
	c.watch = watchDisk(o.State, o.Limits, c.exceeded)
	return c, nil
}

// client makes a command of docker or podman that ctrl-c on the terminal does not reach: what it ends is
// ended in order, by kill.
func client(path string, args ...string) *exec.Cmd {
	c := exec.Command(path, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// exceeded ends all steps because of a limit.
func (c *container) exceeded(why string) {
	c.mu.Lock()
	c.over = why
	steps := c.steps
	c.steps = map[int64]bool{}
	c.mu.Unlock()
	for n := range steps {
		c.kill(n, "KILL")
	}
}

// marks is the variable by which all processes of a step are known, also those that left its session.
const marks = "RECOUNT_STEP"

func (c *container) mark(n int64) string { return fmt.Sprintf("%s=%s-%d-", marks, c.name, n) }

// kill sends a signal to all processes of a step.
func (c *container) kill(n int64, signal string) {
	const script = `for p in /proc/[0-9]*; do grep -qs "$1" "$p/environ" && kill -"$2" "${p##*/}" 2>/dev/null; done; :`
	_ = client(c.program, "exec", c.name, "sh", "-c", script, "sh", c.mark(n), signal).Run() // the container has ended with them
}

// ofClient begins the names of variables that docker and podman read themselves.
var ofClient = []string{"PATH", "HOME", "XDG_", "DOCKER_", "CONTAINER", "TMPDIR", "USER", "SSH_"}

func (c *container) run(ctx context.Context, cmd Command, out *bounded) (Result, error) {
	n := c.next.Add(1)
	args := []string{"exec", "--workdir", cmd.Dir, "--env", c.mark(n)}
	env := os.Environ()
	for _, e := range cmd.Env {
		name, _, _ := strings.Cut(e, "=")
		switch {
		case e == "PATH="+os.Getenv("PATH"): // the programs are the image's
		case slices.ContainsFunc(ofClient, func(p string) bool { return strings.HasPrefix(name, p) }):
			args = append(args, "--env", e)
		default: // its value is in no list of processes
			args, env = append(args, "--env", name), append(env, e)
		}
	}
	args = append(append(args, c.name), cmd.Args...)
	read, write, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("run: %w", err)
	}
	step := client(c.program, args...)
	step.Env, step.Stdout, step.Stderr = env, write, write
	r := readAll(read, out)
	c.mu.Lock()
	over := c.over
	c.steps[n] = true
	c.mu.Unlock()
	if over != "" {
		_ = write.Close()
		r.stop()
		return Result{Exit: 137, Limit: over}, nil
	}
	err = step.Start()
	_ = write.Close()
	if err != nil {
		r.stop()
		return Result{}, fmt.Errorf("start %s: %w", c.program, err)
	}
	done := make(chan error, 1)
	go func() { done <- step.Wait() }()
	res, err := c.await(ctx, cmd, n, done)
	r.finish()
	c.mu.Lock()
	delete(c.steps, n)
	res.Limit = c.over
	c.mu.Unlock()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		err = nil
	case err != nil && ctx.Err() == nil:
		return res, fmt.Errorf("run: %w", err)
	}
	if state := step.ProcessState; state != nil {
		res.Exit = state.ExitCode()
	}
	select {
	case <-c.ended:
		return res, &startError{"the container has ended", ErrClosed}
	default:
	}
	if res.Exit == 126 || res.Exit == 127 {
		if text := out.text(); strings.Contains(text, "chdir") || strings.Contains(text, "cwd") {
			return res, &startError{fmt.Sprintf("%s: %s", ErrNoDir, cmd.Dir), ErrNoDir}
		}
	}
	if err == nil && ctx.Err() != nil && !res.TimedOut {
		err = context.Cause(ctx)
	}
	return res, err
}

// await waits for the end of a step, and ends it after its time or with the context: first by TERM, then
// by KILL.
func (c *container) await(ctx context.Context, cmd Command, n int64, done <-chan error) (res Result, err error) {
	var timeout <-chan time.Time
	if cmd.Timeout > 0 {
		t := time.NewTimer(cmd.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case err = <-done:
		return res, err
	case <-timeout:
		res.TimedOut = true
	case <-ctx.Done():
	}
	c.kill(n, "TERM")
	select {
	case err = <-done:
	case <-time.After(cmd.Grace):
	}
	c.kill(n, "KILL")
	if err == nil {
		select {
		case err = <-done:
		case <-time.After(cmd.Grace): // the client itself hangs
		}
	}
	return res, err
}

// close ends the container with all that runs in it.
func (c *container) close() error {
	c.watch.stop()
	_ = client(c.program, "kill", c.name).Run() // it may have ended by itself
	_ = c.alive.Close()
	select {
	case <-c.ended:
	case <-time.After(10 * time.Second):
		_ = c.main.Process.Kill()
		<-c.ended
	}
	return nil
}

// tailBuffer keeps the end of what a program says.
type tailBuffer struct {
	mu sync.Mutex
	b  []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-2048):]
	return len(p), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.b))
}
