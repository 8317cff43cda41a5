package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Isolation names how commands are kept from the machine.
type Isolation string

const (
	// IsolationSandbox is the default; see the package comment.
	IsolationSandbox Isolation = "sandbox"
	// docker and podman, with or without :IMAGE, run them in a container; see Isolation.Container.

	// IsolationNone runs commands as the caller's own, in the real directory.
	IsolationNone Isolation = "none"
)

// Isolations are the kinds there are, for people.
const Isolations = "sandbox, docker[:IMAGE], podman[:IMAGE] or none"

// Known reports whether it is one of them.
func (i Isolation) Known() bool {
	_, _, container := i.Container()
	return container || i == IsolationSandbox || i == IsolationNone
}

// Options say where commands run and how far they may go.
type Options struct {
	// Dir is the working directory that commands may change a view of. It must exist, and be
	// neither / nor the home directory nor above it.
	Dir string
	// State is a directory of the sandbox's own, outside Dir. It is made if it does not exist,
	// and holds what the commands wrote until Discard.
	State string
	// Home is the home directory that commands see; empty means none is visible.
	Home string
	// Isolation is IsolationSandbox if empty.
	Isolation Isolation
	// Network gives commands the host's network.
	Network bool
	// Hide are directories of the host that commands shall not see, beside the homes.
	Hide   []string
	Limits Limits
	// Helper is the program, with arguments, whose main calls Init; see FindHelper.
	Helper []string
	// Copy says why the commands shall see a copy of Dir, as where the kernel has no overlayfs for users,
	// if Dir is not above the limit for copies. Empty: no copy unless there has to be one.
	Copy string

	elsewhere []string // what is visible of other homes; nil means what PATH names of them
}

// Limits bound what commands use. Zero means the default.
type Limits struct {
	Processes int   // processes and threads at once; 1024
	OpenFiles int   // open files of a process; 4096
	FileSize  int64 // bytes of one file; 4 GiB
	Disk      int64 // bytes that commands may have written in all; 8 GiB
	Files     int   // files that commands may have made in all; 500,000
	Output    int   // bytes of a command's output that are kept; 1 MiB
	Copy      int64 // bytes that are copied if Dir has to be copied; 4 GiB
}

func (l Limits) orDefault() Limits {
	if l.Processes == 0 {
		l.Processes = 1024
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = 4096
	}
	if l.FileSize == 0 {
		l.FileSize = 4 << 30
	}
	if l.Disk == 0 {
		l.Disk = 8 << 30
	}
	if l.Files == 0 {
		l.Files = 500_000
	}
	if l.Output == 0 {
		l.Output = 1 << 20
	}
	if l.Copy == 0 {
		l.Copy = 4 << 30
	}
	return l
}

// validate cleans the paths and reports the field that can't be used.
func (o *Options) validate() error {
	for name, p := range map[string]*string{"Dir": &o.Dir, "State": &o.State} {
		if !filepath.IsAbs(*p) {
			return fmt.Errorf("sandbox: %s %q is not an absolute path", name, *p)
		}
		*p = filepath.Clean(*p)
	}
	real, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return &DirError{o.Dir, "it is not there: make it first (mkdir -p), or name the directory above it"}
	}
	o.Dir = real
	if o.Home != "" {
		if real, err := filepath.EvalSymlinks(o.Home); err == nil {
			o.Home = real
		} else {
			o.Home = ""
		}
	}
	if o.Isolation == "" {
		o.Isolation = IsolationSandbox
	}
	o.Limits = o.Limits.orDefault()
	switch o.Isolation {
	case IsolationNone:
		return nil
	case IsolationSandbox:
	default:
		if !o.Isolation.Known() {
			return fmt.Errorf("sandbox: no isolation %q: it is %s", o.Isolation, Isolations)
		}
	}
	if o.Dir == "/" || o.Home != "" && Within(o.Dir, o.Home) {
		return &DirError{o.Dir, "it contains the home directory, whose secrets commands must not see: choose a directory below it"}
	}
	for _, private := range []string{"/proc", "/sys", "/dev"} {
		if Within(private, o.Dir) {
			return &DirError{o.Dir, "it is part of the kernel's own file systems"}
		}
	}
	if Within(o.Dir, o.State) {
		return fmt.Errorf("sandbox: the state %s lies in the working directory %s: choose a directory outside it", o.State, o.Dir)
	}
	if o.Limits.Processes < 32 {
		return errors.New("sandbox: Limits.Processes is below 32, and the sandbox itself needs about 24")
	}
	return nil
}

// Within reports whether path is dir or below it.
func Within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// DirError says why a directory can't be the working directory of a sandbox.
type DirError struct{ Dir, Why string }

func (e *DirError) Error() string { return "sandbox: the working directory " + e.Dir + ": " + e.Why }

// Command is one command to run.
type Command struct {
	Args []string // the program and its arguments; the program is looked up in PATH of Env
	Dir  string   // an absolute path
	Env  []string // NAME=value
	// Timeout ends the command and all that it started; zero means none.
	Timeout time.Duration
	// Grace is how long they have between TERM and KILL; 5 s if zero.
	Grace time.Duration
	// Output is called with each piece of output as it comes, if not nil.
	Output func([]byte)
}

// Result is how a command ended.
type Result struct {
	Exit     int    // the exit code, or 128 and the signal's number
	Signal   string // the name of the signal that ended it
	Output   string // what it printed, both streams in order; the middle is left out if it is too long
	Dropped  int64  // bytes of output that are left out
	Took     time.Duration
	TimedOut bool
	Limit    string // the limit that ended it, as a sentence; empty if none did
}

// Errors that say why a command did not start; the text names the thing.
var (
	ErrNoProgram = errors.New("program not found")
	ErrNoDir     = errors.New("no such directory")
	// ErrClosed is returned if the sandbox ended before the command did.
	ErrClosed = errors.New("the sandbox has ended")
)
