package recording

import (
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

// maxInput bounds what is read of a text; an event holds less, by far.
const maxInput = 16 << 20

// Record is the program recount-record but for the process around it: it spools the
// command whose text in holds, with what args say of it.
func Record(args []string, in io.Reader, stderr io.Writer) error {
	now := time.Now()
	var c Command
	var exit, at, uptime string
	var duration time.Duration
	f := flag.NewFlagSet("recount-record", flag.ExitOnError)
	f.StringVar(&c.Shell, "shell", "", "the shell's `name` (default from $SHELL)")
	f.StringVar(&c.Session, "session", "", "the session's `name` (default $RECOUNT_SESSION)")
	f.StringVar(&c.Cwd, "cwd", "", "the `directory` it ran in (default the current one)")
	f.StringVar(&exit, "exit", "", "the exit `code` (absent: unknown)")
	f.StringVar(&at, "at", "", "when it started: an RFC 3339 `time` or seconds since 1970 (default now less --duration)")
	f.StringVar(&uptime, "uptime", "", "when it started, by the first number of /proc/uptime in `seconds`")
	f.DurationVar(&duration, "duration", 0, "how long it ran")
	f.Usage = func() {
		fmt.Fprintln(f.Output(), "recount-record records the command whose text is on the standard input. The hooks of shells call it (recount hook SHELL).")
		f.PrintDefaults()
	}
	_ = f.Parse(args) // it exits
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument: the command's text comes by the standard input")
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return fmt.Errorf("read the command: %w", err)
	}
	ok := false
	if c.Command, ok = Hooked(Clean(string(text)), os.Getenv("RECOUNT_IGNORE")); !ok {
		return nil
	}
	if exit != "" {
		n, err := strconv.ParseInt(exit, 10, 32)
		if err != nil {
			return fmt.Errorf("--exit %q: want a number", exit)
		}
		code := int32(n)
		c.ExitCode = &code
	}
	c.Duration = Duration(max(duration, 0))
	c.StartedAt = now.Add(-time.Duration(c.Duration)).UTC()
	if at != "" {
		if c.StartedAt, err = ParseTime(at); err != nil {
			return fmt.Errorf("--at %q: %w", at, err)
		}
	} else if since, ok := SinceUptime(uptime); ok {
		c.StartedAt = now.Add(-since).UTC()
	}
	c.Surroundings(os.Getenv)

	s, err := Load(os.Getenv)
	if err != nil {
		if s.DataDir == "" {
			return err
		}
		fmt.Fprintf(stderr, "recount-record: %s; recorded without it\n", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	c.Redact(s.Redact)
	e, err := c.Entry()
	if err != nil {
		return err
	}
	if s.Server == "" {
		return spool.Append(spool.Dir(s.DataDir), e)
	}
	if err := spool.AppendRemote(s.DataDir, s.Server, e); err != nil {
		return err
	}
	return send()
}

// SinceUptime is how long ago the machine had been up for so many seconds.
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

// send becomes the program recount, which sends what waits for the server. Without it the
// next verb that asks that server does.
func send() error {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	recount := filepath.Join(filepath.Dir(self), "recount")
	if _, err := os.Stat(recount); err != nil {
		return nil
	}
	return syscall.Exec(recount, []string{"recount", "spool", "send"}, os.Environ())
}
