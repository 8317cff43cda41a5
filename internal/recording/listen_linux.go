package recording

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Listen records what an interactive shell writes into the pipe on this process's standard input,
// one frame per command, until the shell has ended and the pipe is empty.
//
// The shell has opened the pipe for reading and writing, so that it neither waits for this process
// nor receives a signal if there is none: what it writes stays in the pipe for the next process.
// Because this process shares the shell's open file, it can make the shell's writes fail instead of
// block when the pipe is full. It then reads through an open file of its own, which reaches its end
// when the shell and the subshells that it forked have ended.
//
// The standard output is closed when this setup is done; the shell waits for that at its start.
func Listen(shell, session string, stderr io.Writer) error {
	// There is one such process per open shell, so small memory use and few threads matter more
	// than speed.
	debug.SetGCPercent(25)
	runtime.GOMAXPROCS(1)
	in, err := ownEnd()
	if err != nil {
		return err
	}
	defer in.Close()
	leaveShell()
	yieldToShell()
	// A process that already listens to this pipe reads it to its end. Two readers would split each
	// other's frames.
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(0, syscall.LOCK_EX)
	}
	if err != nil {
		return fmt.Errorf("--listen: lock the pipe: %w", err)
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		_ = in.SetReadDeadline(time.Now()) // pipes support deadlines
	}()

	looker := Looker{Remember: true}
	var out outgoing
	defer out.close()
	r := newFrames(&lastWords{file: in})
	for {
		f, err := r.next()
		if err != nil {
			return notEnd(err)
		}
		f.shell, f.session, f.looker = shell, session, &looker
		if err := out.listened(f, stderr); err != nil {
			fmt.Fprintf(stderr, "recount-record: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		if r.large() {
			debug.FreeOSMemory()
		}
	}
}

// ownEnd makes the shell's writes fail when they would block, and replaces the standard input by a
// separate open file for the reading end of the same pipe.
func ownEnd() (*os.File, error) {
	var st unix.Stat_t
	flags, err := unix.FcntlInt(0, unix.F_GETFL, 0)
	if err == nil {
		err = unix.Fstat(0, &st)
	}
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO || flags&unix.O_ACCMODE != unix.O_RDWR {
		return nil, errors.New("--listen: the standard input must be a pipe, open for reading and writing, as the hooks set it up")
	}
	if _, err := unix.FcntlInt(0, unix.F_SETFL, flags|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("--listen: the pipe: %w", err)
	}
	own, err := unix.Open("/proc/self/fd/0", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("--listen: open the pipe again: %w", err)
	}
	// The runtime may poll this file already; closing it here stops that.
	if err := os.Stdin.Close(); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if err := errors.Join(unix.Dup3(own, 0, unix.O_CLOEXEC), unix.Close(own)); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return os.NewFile(0, "the shell's pipe"), nil
}

// leaveShell leaves the shell's session, directory and open files, so that signals of its terminal,
// umounts and readers that wait for an end of file are not affected by this process. Errors are
// ignored because they do not affect recording.
func leaveShell() {
	_, _ = unix.Setsid()
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
	_ = os.Chdir("/")
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		for _, e := range entries {
			fd, err := strconv.Atoi(e.Name())
			if err != nil || fd <= 2 {
				continue
			}
			// Files that this program opened itself close on exec.
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				_ = unix.Close(fd)
			}
		}
	}
	if null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		_ = unix.Dup3(null, 1, 0)
		_ = unix.Close(null)
	} else {
		_ = unix.Close(1)
	}
}

// yieldToShell makes each thread of this process, and so each thread that it starts, a batch
// thread: the shell, which wakes the process with each command, then continues to its prompt first.
func yieldToShell() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // the shell may be delayed, but no command is lost
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if now, err := unix.SchedGetAttr(tid, 0); err == nil {
			_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: now.Nice}, 0)
		}
	}
}

// quiet is how long a process that received SIGTERM waits for more data in the pipe.
const quiet = 50 * time.Millisecond

// lastWords continues to read while there is data, after SIGTERM has set a deadline.
type lastWords struct {
	file *os.File
	last bool
}

func (l *lastWords) Read(b []byte) (int, error) {
	for {
		n, err := l.file.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || l.last {
			return n, err
		}
		l.last = true
		if err := l.file.SetReadDeadline(time.Now().Add(quiet)); err != nil {
			return 0, err
		}
	}
}

// notEnd returns err, or nil if it is one of the normal ends.
func notEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return fmt.Errorf("read from the shell: %w", err)
}

// listened records one frame. A panic becomes an error of that frame, because other frames wait.
func (o *outgoing) listened(f frame, stderr io.Writer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a command was not recorded: panic: %v", p)
		}
	}()
	// A directory in the settings may be relative to the shell's directory.
	if os.Chdir(f.here) == nil {
		defer func() { _ = os.Chdir("/") }()
	}
	server, err := f.record(f.text, f.ignore, time.Now(), stderr)
	if err == nil && server != "" {
		o.send(f.here)
	}
	return err
}

// outgoing sends the entries that wait for a remote server. It runs one process at a time, and one
// more if entries arrived in the meantime.
type outgoing struct {
	from chan string // the data directories to send from
	done chan struct{}
}

func (o *outgoing) send(from string) {
	if o.from == nil {
		o.from, o.done = make(chan string, 1), make(chan struct{})
		go o.run()
	}
	select {
	case o.from <- from:
	default:
	}
}

// run ends after close. The errors of a process are in the hook's log.
func (o *outgoing) run() {
	defer close(o.done)
	command := sender()
	for dir := range o.from {
		if command == nil {
			continue
		}
		c := exec.Command(command[0], command[1:]...)
		c.Dir, c.Stderr = dir, os.Stderr
		_ = c.Run()
	}
}

// close waits until everything was sent or attempted.
func (o *outgoing) close() {
	if o.from != nil {
		close(o.from)
		<-o.done
	}
}
