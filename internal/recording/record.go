package recording

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/recountdb/recount/internal/spool"
)

// maxInput limits how many bytes of a text are read; an event holds far less.
const maxInput = 16 << 20

// Record is the main function of recount-record: it spools the command whose text is read from in,
// with the fields in args. With --listen it spools what a shell writes into a pipe (Listen).
func Record(args []string, in io.Reader, stderr io.Writer) error {
	now := time.Now()
	var r report
	listen := false
	f := flag.NewFlagSet("recount-record", flag.ExitOnError)
	f.BoolVar(&listen, "listen", false, "record what a shell's hook writes to the standard input, a pipe, until the shell ends")
	f.StringVar(&r.shell, "shell", "", "the shell's `name` (default from $SHELL)")
	f.StringVar(&r.session, "session", "", "the session's `name` (default $RECOUNT_SESSION)")
	f.StringVar(&r.cwd, "cwd", "", "the `directory` it ran in (default the current one)")
	f.StringVar(&r.exit, "exit", "", "the exit `code` (absent: unknown)")
	f.StringVar(&r.at, "at", "", "when it started: an RFC 3339 `time` or seconds since 1970 (default now less --duration)")
	f.StringVar(&r.uptime, "uptime", "", "when it started, by the first number of /proc/uptime in `seconds`")
	f.DurationVar(&r.duration, "duration", 0, "how long it ran")
	f.Usage = func() {
		fmt.Fprintln(f.Output(), "recount-record records the command whose text is on the standard input. Shell hooks call it (recount hook SHELL).")
		f.PrintDefaults()
	}
	_ = f.Parse(args) // exits on an error
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument: the command's text is read from the standard input")
	}
	if listen {
		return Listen(r.shell, r.session, stderr)
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return fmt.Errorf("read the command: %w", err)
	}
	server, err := r.record(string(text), os.Getenv("RECOUNT_IGNORE"), now, stderr)
	if err != nil || server == "" {
		return err
	}
	return become(sender())
}

// report is what a shell reports about a command that has ended, besides its text.
type report struct {
	shell, session, cwd string
	exit, at, uptime    string
	duration            time.Duration
	looker              *Looker // nil for a new one
}

// record spools a command. server is the remote server it must be sent to, "" if it goes to the log
// of the data directory or was omitted.
func (r report) record(text, ignore string, now time.Time, stderr io.Writer) (server string, err error) {
	c := Command{Shell: r.shell, Session: r.session, Cwd: r.cwd}
	ok := false
	if c.Command, ok = Typed(Clean(text), r.cwd, ignore, os.Getenv); !ok {
		return "", nil
	}
	if r.exit != "" {
		n, err := strconv.ParseInt(r.exit, 10, 32)
		if err != nil {
			return "", fmt.Errorf("--exit %q: want a number", r.exit)
		}
		code := int32(n)
		c.ExitCode = &code
	}
	c.Duration = Duration(max(r.duration, 0))
	c.StartedAt = now.Add(-time.Duration(c.Duration)).UTC()
	if r.at != "" {
		if c.StartedAt, err = ParseTime(r.at); err != nil {
			return "", fmt.Errorf("--at %q: %w", r.at, err)
		}
	} else if since, ok := SinceUptime(r.uptime); ok {
		c.StartedAt = now.Add(-since).UTC()
	}
	c.Surroundings(os.Getenv)
	c.NoteEditor()

	s, err := Load(os.Getenv)
	if err != nil {
		if s.DataDir == "" {
			return "", err
		}
		fmt.Fprintf(stderr, "recount-record: %s; recorded without it\n", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if s.Changes && (r.at != "" || r.uptime != "" || r.duration > 0) {
		data, _ := filepath.Abs(s.DataDir)
		since := c.StartedAt
		if r.uptime != "" {
			since = since.Add(-tick) // which is in hundredths of a second, now as then
		}
		c.Changes = cmp.Or(r.looker, &Looker{}).Between(since, c.ended(), c.Cwd, os.Getenv("HOME"), data)
	}
	c.Redact(s.Redact)
	e, err := c.Entry()
	if err != nil {
		return "", err
	}
	if s.Server == "" {
		return "", spool.Append(spool.Dir(s.DataDir), e)
	}
	return s.Server, spool.AppendRemote(s.DataDir, s.Server, e)
}

// ended returns when a command had ended. Some shells tell its time only in milliseconds, and its start only as the
// machine's uptime in hundredths of a second.
func (c *Command) ended() time.Time {
	ended := c.StartedAt.Add(time.Duration(c.Duration))
	if c.Duration%Duration(time.Millisecond) == 0 {
		ended = ended.Add(2 * tick)
	}
	return ended
}

// SinceUptime returns how long ago the machine's uptime was then, in seconds as in /proc/uptime.
func SinceUptime(then string) (time.Duration, bool) {
	if then == "" {
		return 0, false
	}
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, false
	}
	up, _, _ := strings.Cut(string(b), " ")
	now, err1 := strconv.ParseFloat(up, 64)
	was, err2 := strconv.ParseFloat(then, 64)
	if err1 != nil || err2 != nil || was > now {
		return 0, false
	}
	return time.Duration((now - was) * float64(time.Second)), true
}

// sender returns the command that sends the entries for the remote server, nil if there is no
// program recount beside this one. In that case the next verb that contacts the server sends them.
func sender() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	recount := filepath.Join(filepath.Dir(self), "recount")
	if _, err := os.Stat(recount); err != nil {
		return nil
	}
	return []string{recount, "spool", "send"}
}

// become replaces this process by another program.
func become(command []string) error {
	if command == nil {
		return nil
	}
	return syscall.Exec(command[0], command, os.Environ())
}
