package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// engine is what runs commands: an init in namespaces, or nothing but the caller.
type engine interface {
	run(ctx context.Context, c Command, out *bounded) (Result, error)
	close() error
}

// Sandbox runs commands. Its methods may be called at the same time, but for Apply, Discard and
// Close.
type Sandbox struct {
	opt    Options
	report Report
	notes  []string
	state  *state // nil with IsolationNone
	engine engine
	lock   *os.File
	// takenBack is the step that was under way, see TakenBack.
	takenBack string

	mu     sync.Mutex
	hashes map[string]hashed
	seen   map[string]sight // by path
	closed bool
}

// RefusedError says what a sandbox needs and the kernel does not give.
type RefusedError struct{ Missing []string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("no sandbox on this machine: missing %s: nothing was run; to run without any isolation ask for it by name (--isolation none)", strings.Join(e.Missing, ", "))
}

// UnavailableError says why there are no containers as asked for.
type UnavailableError struct{ Why string }

func (e *UnavailableError) Error() string { return "sandbox: " + e.Why }

// Open makes a sandbox for the directory, or goes on with what an earlier one left in State. If the
// kernel does not give what it needs, the error is a *RefusedError.
func Open(ctx context.Context, o Options) (*Sandbox, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.State, 0o700); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	// Links in the way to the state would let a path appear to lie where it does not.
	real, err := filepath.EvalSymlinks(o.State)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	o.State = real
	lock, err := lockDir(o)
	if err != nil {
		return nil, err
	}
	s := &Sandbox{opt: o, lock: lock, hashes: map[string]hashed{}}
	if o.Isolation == IsolationNone {
		s.engine = newDirect()
		return s, nil
	}
	open := s.openIsolated
	if _, _, ok := o.Isolation.Container(); ok {
		open = s.openContainer
	}
	if err := open(ctx); err != nil {
		_ = lock.Close() // the error at hand says more
		return nil, err
	}
	return s, nil
}

// Report says what the kernel gives; it is empty for containers and with IsolationNone.
func (s *Sandbox) Report() Report { return s.report }

// Notes are sentences about what this sandbox does otherwise than it would elsewhere, for the user
// before the first command.
func (s *Sandbox) Notes() []string {
	if s.opt.Isolation != IsolationSandbox {
		return s.notes
	}
	return append(s.report.Weaker(), s.notes...)
}

// Isolation returns how commands are kept from the machine.
func (s *Sandbox) Isolation() Isolation { return s.opt.Isolation }

// Dir returns the working directory without links.
func (s *Sandbox) Dir() string { return s.opt.Dir }

// Run runs a command to its end. The error says why it could not start (ErrNoProgram, ErrNoDir),
// that the sandbox ended (ErrClosed), or is that of ctx, whose end ends the command like a timeout.
func (s *Sandbox) Run(ctx context.Context, c Command) (Result, error) {
	if len(c.Args) == 0 || !filepath.IsAbs(c.Dir) {
		return Result{}, fmt.Errorf("sandbox: a command needs a program and an absolute directory, and has %q in %q", c.Args, c.Dir)
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	out := &bounded{max: s.opt.Limits.Output, observe: c.Output}
	start := time.Now()
	r, err := s.engine.run(ctx, c, out)
	r.Took = time.Since(start)
	r.Output, r.Dropped = out.close()
	return r, err
}

// Close ends all processes of the sandbox. What commands wrote stays in State.
// Closing again does nothing.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	err := s.engine.close()
	if closed := s.lock.Close(); err == nil {
		err = closed
	}
	return err
}

// Discard closes the sandbox and forgets what commands wrote.
func (s *Sandbox) Discard() error {
	if err := s.Close(); err != nil {
		return err
	}
	if err := removeAll(s.opt.State); err != nil {
		return fmt.Errorf("sandbox: discard: %w", err)
	}
	return nil
}

// Remove removes what a sandbox that is not open keeps in a state directory, without asking what ran in it. It waits for
// nobody: the error is a *BusyError while a sandbox is open for the working directory.
func Remove(stateDir string) error {
	if real, err := filepath.EvalSymlinks(stateDir); err == nil { // as Open names it
		stateDir = real
	}
	b, err := os.ReadFile(filepath.Join(stateDir, stateFile))
	var st state
	if err == nil && json.Unmarshal(b, &st) == nil {
		lock, err := lockDir(Options{Dir: st.Dir, State: stateDir})
		switch {
		case err == nil:
			defer func() { _ = lock.Close() }()
			s := Sandbox{opt: Options{Dir: st.Dir, State: stateDir}, hashes: map[string]hashed{}}
			_ = s.load() // only for what it removes
		case !errors.Is(err, fs.ErrNotExist): // without the directory nobody works in it
			return err
		}
	}
	if err := removeAll(stateDir); err != nil {
		return fmt.Errorf("sandbox: remove: %w", err)
	}
	return nil
}

// removeAll removes a directory also where a command took away the rights to do so.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// FindHelper returns the command of the helper program: recount-record beside this program, or
// else in PATH.
func FindHelper() ([]string, error) {
	const name = "recount-record"
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode()&0o111 != 0 {
			return []string{beside}, nil
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %s is neither beside this program nor in PATH: install it there (make build)", name)
	}
	return slices.Clip([]string{found}), nil
}
