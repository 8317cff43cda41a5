package shellhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/spool"
)

// TestMain makes this program act as the recorder if a hook calls it, and as a command that runs until
// a key ends it.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == waits {
		awaitForeground()
		fmt.Println("begun")
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(3)
	}
	if os.Getenv("SHELLHOOK_RECORDER") == "" {
		os.Exit(m.Run())
	}
	if err := recording.Record(os.Args[1:], os.Stdin, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		os.Exit(1)
	}
}

// awaitForeground waits until the shell has given this process its terminal. Keys that send signals send
// them to others until then, and some shells do it after they have started a program.
func awaitForeground() {
	for {
		group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
		if err != nil || group == unix.Getpgrp() {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// listened is an interactive shell whose hook writes to a listening recorder.
type listened struct {
	t     *testing.T
	shell string
	dir   string
	log   *os.File // both ends of the pipe that serves as the hook's log
}

func newListened(t *testing.T, shell string) *listened {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("a recorder listens on Linux alone")
	}
	if _, err := exec.LookPath(shell); err != nil {
		t.Skipf("%s is not installed", shell)
	}
	l := &listened{t: t, shell: shell, dir: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script, err := Script(shell, Recorder{Command: []string{self}, Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.path("hook"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(l.path("log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l.log, err = os.OpenFile(l.path("log"), os.O_RDWR|unix.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.log.Close() })
	return l
}

func (l *listened) path(name string) string { return filepath.Join(l.dir, name) }

// words returns the command line that starts the shell again.
func (l *listened) words() string {
	return map[string]string{"bash": "bash --norc --noprofile -i", "zsh": "zsh -f -i"}[l.shell]
}

// load is the line that evaluates the hook.
const load = "eval \"$(cat \"$HOOK\")\"\n"

// run passes lines to a shell with the hook. When no recorder is left, it returns what the shell
// printed and what was recorded, in the order of the starts.
func (l *listened) run(lines string) (string, []recording.Command) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	words := strings.Fields(l.words())
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = l.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "TERM=dumb", "LC_ALL=C.UTF-8", "PS1=", "HISTFILE=", "ZDOTDIR=" + l.dir, "SHELLHOOK_RECORDER=1",
		"RECOUNT_DATA_DIR=" + l.path("data"), "RECOUNT_HOOK_LOG=" + l.path("log"), "HOOK=" + l.path("hook"), "SPOOL=" + l.path("data/spool/new"),
		"GORACE=atexit_sleep_ms=10", // a recorder with the race detector sleeps a second before it ends
	}
	// A stopped recorder must not outlive a failed test.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdin = strings.NewReader(load + lines + "exit 0\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", l.shell, err, out)
	}
	return string(out), l.recorded()
}

// recorded waits until no process has the hook's log open, and reads the spool.
func (l *listened) recorded() (all []recording.Command) {
	l.t.Helper()
	end, err := os.OpenFile(l.path("log"), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	defer end.Close()
	if err := l.log.Close(); err != nil {
		l.t.Fatal(err)
	}
	if err := end.SetReadDeadline(time.Now().Add(patience)); err != nil {
		l.t.Fatal(err)
	}
	if said, err := io.ReadAll(end); err != nil || len(said) > 0 {
		l.t.Errorf("hook log: %q, %v", said, err)
	}
	_, err = spool.NewDrainer(l.path("data/spool")).Drain(func(es []spool.Entry) error {
		for _, e := range es {
			// Durations are in protobuf's JSON form and are tested elsewhere.
			var c struct {
				recording.Command
				Duration string `json:"duration"`
			}
			if err := json.Unmarshal(e.Data, &c); err != nil {
				return err
			}
			all = append(all, c.Command)
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b recording.Command) int { return a.StartedAt.Compare(b.StartedAt) })
	return all
}

func (l *listened) want(got []recording.Command, want ...string) {
	l.t.Helper()
	texts := []string{}
	for _, c := range got {
		texts = append(texts, c.Command)
	}
	if d := cmp.Diff(texts, want); d != "" {
		l.t.Errorf("got - want +\n%s", d)
	}
}

func listening(t *testing.T, test func(t *testing.T, l *listened)) {
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) { test(t, newListened(t, shell)) })
	}
}

// TestListened checks how commands are recorded, including the last one of a shell, and that the
// recorder ends with its shell.
func TestListened(t *testing.T) {
	listening(t, func(t *testing.T, l *listened) {
		if l.shell == "bash" {
			lines := strings.Replace(lines, "true\n", "shopt -s cmdhist lithist\n", 1)
			_, got := l.run(lines + "echo kept for the end\n")
			got[0].Command = "true"
			l.check(got)
			return
		}
		_, got := l.run(lines + "echo kept for the end\n")
		l.check(got)
	})
}

func (l *listened) check(got []recording.Command) {
	l.t.Helper()
	want := wantLines(l.dir)
	want = append(want, told{Command: "echo kept for the end", Cwd: "/usr", Exit: "0"})
	var all []told
	for _, c := range got {
		all = append(all, told{Command: c.Command, Cwd: c.Cwd, Exit: fmt.Sprint(*c.ExitCode)})
		if c.Shell != l.shell || !strings.HasPrefix(c.Session, l.shell+"-") || time.Since(c.StartedAt) > patience {
			l.t.Errorf("%+v", c)
		}
	}
	for i := range want {
		want[i].Ignore = "" // its effect is tested below
	}
	if d := cmp.Diff(all, want); d != "" {
		l.t.Errorf("got - want +\n%s", d)
	}
}

// TestListenedHistoryTimes checks that the times in the user's history do not become part of a
// command.
func TestListenedHistoryTimes(t *testing.T) {
	l := newListened(t, "bash")
	_, got := l.run("HISTTIMEFORMAT='%F %T '\ntrue timed\n")
	l.want(got, "HISTTIMEFORMAT='%F %T '", "true timed")
}

// TestListenerSeesSettings checks that changed settings apply to a running shell.
func TestListenerSeesSettings(t *testing.T) {
	listening(t, func(t *testing.T, l *listened) {
		_, got := l.run("RECOUNT_IGNORE='true*'\ntrue a\nRECOUNT_IGNORE=\ntrue b\nexport RECOUNT_DATA_DIR=$PWD/other\ntrue c\nexport RECOUNT_DATA_DIR=$PWD/data\ntrue d\n")
		l.want(got, "RECOUNT_IGNORE='true*'", "RECOUNT_IGNORE=", "true b", "export RECOUNT_DATA_DIR=$PWD/data", "true d")
		b, err := os.ReadFile(l.path("other/spool/new"))
		if err != nil || strings.Count(string(b), "rs1 ") != 2 || !strings.Contains(string(b), "true c") {
			t.Errorf("%v\n%s", err, b)
		}
	})
}

// TestListenerKilled checks that another recorder replaces one that was killed, and reads what is
// left in the pipe. A kill may lose what the recorder has read and not spooled, so the test waits
// for that, or stops the recorder before.
func TestListenerKilled(t *testing.T) {
	listening(t, func(t *testing.T, l *listened) {
		spooled := func(text string) string {
			return `until grep -q "true ` + text[:1] + "[" + text[1:2] + "]" + text[2:] + `" "$SPOOL"; do :; done 2>/dev/null`
		}
		// A stop takes effect in each thread by itself.
		stop := "kill -STOP $__recount_pid; while grep -q ') [^T] ' /proc/$__recount_pid/task/*/stat; do :; done"
		kill := `p=$__recount_pid; kill -9 $p; while [ -e /proc/$p/fd/0 ]; do :; done`
		out, got := l.run(strings.Join([]string{
			"true one", spooled("one"), stop, "true two", kill, "true three", spooled("three"), "true " + kill, "true five", spooled("five"), "",
		}, "\n"))
		var texts []string
		for _, c := range got {
			texts = append(texts, c.Command)
		}
		for _, want := range []string{"true one", "true two", kill, "true three", "true " + kill, "true five"} {
			if n := count(texts, want); n != 1 {
				t.Errorf("%q recorded %d times, in %q; the shell:\n%s", want, n, texts, out)
			}
		}
	})
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// TestListenerStopped checks that the prompt does not wait for a recorder that is stopped and whose
// pipe is full, and that each command is recorded once.
func TestListenerStopped(t *testing.T) {
	listening(t, func(t *testing.T, l *listened) {
		lines, want := "kill -STOP $__recount_pid\n", []string{"kill -STOP $__recount_pid"}
		for i := range 60 {
			line := fmt.Sprintf(": %d %s", i, strings.Repeat("word ", 400)+"end")
			lines, want = lines+line+"\n", append(want, line)
		}
		_, got := l.run(lines + "kill -CONT $__recount_pid\ntrue last\n")
		l.want(got, append(want, "kill -CONT $__recount_pid", "true last")...)
	})
}

// TestListenedLong checks a text of several lines that is longer than a pipe's buffer, with
// multi-byte characters and invalid bytes.
func TestListenedLong(t *testing.T) {
	listening(t, func(t *testing.T, l *listened) {
		line := ": '" + strings.Repeat("größer – 大きい\nsecond line \xff\xfe ", 6<<10) + "'"
		_, got := l.run("true before\n" + line + "\n: 'é\xff\nü'\ntrue after\n")
		l.want(got, "true before", strings.ToValidUTF8(line, "\uFFFD"), ": 'é\uFFFD\nü'", "true after")
	})
}

// TestListenedShells checks that a nested shell, and one that replaces a shell, has its own
// recorder, and that no program inherits a shell's pipe.
func TestListenedShells(t *testing.T) {
	listening(t, func(t *testing.T, l *listened) {
		pipes := `sh -c '[ -e /dev/fd/'$__recount_pipe' ] && echo leaked || echo "it is closed"'`
		gone := `while [ -e /proc/$LISTENER/fd/0 ]; do :; done`
		out, got := l.run("true outer\n" + pipes + "\n" + l.words() + "\n" + load + "true inner\nexit 0\ntrue again\n" +
			"export LISTENER=$__recount_pid\nexec " + l.words() + "\n" + load + gone + "\ntrue instead\n")
		l.want(got, "true outer", pipes, l.words(), "true inner", "true again", "export LISTENER=$__recount_pid", gone, "true instead")
		if strings.Contains(out, "leaked\n") || !strings.Contains(out, "it is closed\n") {
			t.Errorf("in\n%s", out)
		}
		if len(got) == 8 && (got[0].Session == got[3].Session || got[0].Session != got[4].Session) {
			t.Errorf("sessions: %+v", got)
		}
	})
}

// TestListenedExported checks that a shell in a shell that exports all its variables is recorded.
func TestListenedExported(t *testing.T) {
	listening(t, func(t *testing.T, l *listened) {
		_, got := l.run(l.words() + "\nset -a\n" + load + "true one\n" + l.words() + "\n" + load + "true two\nexit 0\nexit 0\n")
		l.want(got, l.words(), "true one", l.words(), "true two")
	})
}

// TestListenedSpace checks that a command that starts with a space is not recorded, also if bash has
// it in its history.
func TestListenedSpace(t *testing.T) {
	listening(t, func(t *testing.T, l *listened) {
		_, got := l.run("true one\n true hidden\ntrue two\n")
		l.want(got, "true one", "true two")
	})
}

// TestListenerUnnoticed checks that jobs, $!, $? and traps are the same as without a recorder.
func TestListenerUnnoticed(t *testing.T) {
	listening(t, func(t *testing.T, l *listened) {
		out, _ := l.run("set -m\nsleep 0 &\nlast=$!\ntrue\nkill -9 $__recount_pid\ntrue\n[ $! = $last ] && echo \"same job\"\nwait\njobs; echo \"no jobs\"\n(exit 4)\necho \"status=$?\"\n" +
			"set -u\ntrue\nset +u\nset -o noclobber\ntrue\necho done=$(:)it\n")
		for _, want := range []string{"same job\n", "no jobs\n", "status=4\n", "done=it\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if strings.Contains(out, "recorder") || strings.Contains(out, "Killed") || strings.Contains(out, "unbound") {
			t.Errorf("in\n%s", out)
		}
	})
}

// TestNoListener checks that each command has its own recorder process if the recorder does not
// support --listen.
func TestNoListener(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			s := newSession(t, shell)
			fake, err := os.ReadFile(s.bin())
			if err != nil {
				t.Fatal(err)
			}
			refuse := "#!/bin/sh\ncase \" $* \" in *\" --listen \"*) echo unknown flag >&2; exit 2;; esac\n"
			if err := os.WriteFile(s.bin(), []byte(strings.Replace(string(fake), "#!/bin/sh\n", refuse, 1)), 0o755); err != nil {
				t.Fatal(err)
			}
			s.listens = true
			_, calls := s.run("", lines, 8)
			if len(calls) != 8 || calls[1].Command != "false" {
				t.Errorf("%+v", calls)
			}
		})
	}
}
