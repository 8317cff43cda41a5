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

// Listen records what an interactive shell writes into the pipe that is this process's
// standard input, one frame a command, until the shell is gone and the pipe is empty.
//
// The shell has opened the pipe for reading and writing, so that it neither waits for this
// process nor is ended by a signal when there is none: what it writes stays in the pipe
// for the next one. Because this process shares the shell's open file, it can make the
// shell's writes fail instead of wait where the pipe is full. It then reads by an open file
// of its own, which ends when the shell, and the subshells that it forked, are gone.
//
// The standard output is closed when all of that is done: what the shell waits for at its
// start.
func Listen(shell, session string, stderr io.Writer) error {
	// There is one process for each open shell, so little memory and few threads count for
	// more than time.
	debug.SetGCPercent(25)
	runtime.GOMAXPROCS(1)
	in, err := ownEnd()
	if err != nil {
		return err
	}
	defer in.Close()
	leaveShell()
	yieldToShell()
	// The process that already listens to this pipe reads it to its end. Two would tear
	// each other's frames.
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
		_ = in.SetReadDeadline(time.Now()) // a pipe has deadlines
	}()

	var out outgoing
	defer out.close()
	r := newFrames(&lastWords{file: in})
	for {
		f, err := r.next()
		if err != nil {
			return notEnd(err)
		}
		f.shell, f.session = shell, session
		if err := out.listened(f, stderr); err != nil {
			fmt.Fprintf(stderr, "recount-record: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		if r.large() {
			debug.FreeOSMemory()
		}
	}
}

// ownEnd makes the shell's writes fail where they would wait, and replaces the standard
// input by an open file of its own at the reading end of the same pipe.
func ownEnd() (*os.File, error) {
	var st unix.Stat_t
	flags, err := unix.FcntlInt(0, unix.F_GETFL, 0)
	if err == nil {
		err = unix.Fstat(0, &st)
	}
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO || flags&unix.O_ACCMODE != unix.O_RDWR {
		return nil, errors.New("--listen: the standard input must be a pipe, open for reading and writing, as the hooks have it")
	}
	if _, err := unix.FcntlInt(0, unix.F_SETFL, flags|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("--listen: the pipe: %w", err)
	}
	own, err := unix.Open("/proc/self/fd/0", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("--listen: open the pipe again: %w", err)
	}
	// The runtime may have an eye on it already, and takes it off by this.
	if err := os.Stdin.Close(); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if err := errors.Join(unix.Dup3(own, 0, unix.O_CLOEXEC), unix.Close(own)); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return os.NewFile(0, "the shell's pipe"), nil
}

// leaveShell leaves the shell's session, directory and open files, so that no signal of
// its terminal, no umount and no reader that waits for an end of file ever meets this
// process. What fails of it does no harm to a command.
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
			// What this program opened itself closes on exec.
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

// yieldToShell makes each thread of this process a batch thread, and so those that they
// start: the shell, which wakes it up by each command, then goes on to its prompt first.
func yieldToShell() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // the shell may lose its turn, and no command is lost
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

// quiet is how long a process that was asked to end waits for more in the pipe.
const quiet = 50 * time.Millisecond

// lastWords reads on, after SIGTERM has set a deadline, as long as there is something.
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

// notEnd is an error that is not the usual end.
func notEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return fmt.Errorf("read from the shell: %w", err)
}

// listened records one frame. A panic is that frame's error: others wait behind it.
func (o *outgoing) listened(f frame, stderr io.Writer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a command was not recorded: panic: %v", p)
		}
	}()
	// A directory of the settings may be relative, to where the shell is.
	if os.Chdir(f.here) == nil {
		defer func() { _ = os.Chdir("/") }()
	}
	server, err := f.record(f.text, f.ignore, time.Now(), stderr)
	if err == nil && server != "" {
		o.send(f.here)
	}
	return err
}

// outgoing sends what waits for a server elsewhere, by one process at a time, and by one
// more where something came while it ran.
type outgoing struct {
	from chan string // the directories to send from
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

// run ends after close. What a process says of its failure is in the hook's log.
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

// close waits until all is sent, or was tried.
func (o *outgoing) close() {
	if o.from != nil {
		close(o.from)
		<-o.done
	}
}
