package shellhook

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// told is one call of `recount record` by a hook.
type told struct {
	Command, Cwd, Exit string
	Session            string
	At, Duration       string
	Ignore             string
}

// patience limits how long a test waits. It ends a test that hangs and is no performance
// requirement: a machine may be very slow.
const patience = 2 * time.Minute

// session is an interactive shell with the hook loaded. Its `recount` writes its arguments into a
// pipe.
type session struct {
	t     testing.TB
	shell string
	dir   string
	calls *bufio.Reader
	pipe  *os.File
	// listens makes the hook try a listening recorder.
	listens bool
}

func newSession(t testing.TB, shell string) *session {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Skipf("%s is not installed", shell)
	}
	s := &session{t: t, shell: shell, dir: t.TempDir()}
	fifo := filepath.Join(s.dir, "calls")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// It is opened for reading and writing, so that it neither blocks nor ends between two writers.
	pipe, err := os.OpenFile(fifo, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	s.pipe, s.calls = pipe, bufio.NewReader(pipe)
	// One printf is one write, short enough not to be split.
	fake := "#!/bin/sh\n{ printf '%s\\036' \"$@\" \"$RECOUNT_IGNORE\"; cat; printf '\\036\\035'; } | dd bs=4096 iflag=fullblock 2>/dev/null >'" + fifo + "'\n"
	if err := os.WriteFile(s.bin(), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// bin returns a path with a quote and a space in its name, as a home directory may have.
func (s *session) bin() string { return filepath.Join(s.dir, "re'c ount") }

// recorder returns a Recorder with one process per command.
func (s *session) recorder() Recorder {
	return Recorder{Command: []string{s.bin(), "record", "--hook"}, Listens: s.listens}
}

// run passes lines to the shell and returns what it printed, and the first n calls of recount in
// the order of the commands.
func (s *session) run(before, lines string, n int) (string, []told) {
	s.t.Helper()
	script, err := Script(s.shell, s.recorder())
	if err != nil {
		s.t.Fatal(err)
	}
	hook := filepath.Join(s.dir, "hook")
	if err := os.WriteFile(hook, []byte(script), 0o600); err != nil {
		s.t.Fatal(err)
	}
	args := map[string][]string{
		"bash": {"--norc", "--noprofile", "-i"},
		"zsh":  {"-f", "-i"},
	}[s.shell]
	// The script is evaluated twice, as startup files may be read again.
	source := "eval \"$(cat '" + hook + "')\"; eval \"$(cat '" + hook + "')\"\n"
	cmd := exec.Command(s.shell, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TERM=dumb", "LC_ALL=C.UTF-8", "PS1=", "HISTFILE=" + filepath.Join(s.dir, "hist"), "ZDOTDIR=" + s.dir}
	cmd.Stdin = strings.NewReader(before + source + lines + "exit\n")
	// Read while the shell runs: a long text fills the pipe, and its writer has the shell's
	// terminal open.
	var all []told
	if err := s.pipe.SetReadDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		for len(all) < n {
			rec, err := s.calls.ReadString('\035')
			if err != nil {
				read <- err
				return
			}
			all = append(all, s.parse(strings.Split(strings.TrimSuffix(rec, "\036\035"), "\036")))
		}
		read <- nil
	}()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("%s: %v\n%s", s.shell, err, out)
	}
	if err := <-read; err != nil {
		s.t.Fatalf("%d calls, then %v; the shell printed:\n%s\nhook log: %s", len(all), err, out, s.log())
	}
	slices.SortStableFunc(all, func(a, b told) int { return strings.Compare(a.At, b.At) })
	return string(out), all
}

func (s *session) log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, ".local/state/recount-hook.log"))
	return string(b)
}

func (s *session) parse(args []string) told {
	s.t.Helper()
	var c told
	if len(args) < 3 || args[0] != "record" || args[1] != "--hook" {
		s.t.Errorf("called with %q", args)
		return c
	}
	c.Ignore, c.Command = args[len(args)-2], args[len(args)-1]
	for i := 2; i < len(args)-2; i += 2 {
		v := args[i+1]
		switch args[i] {
		case "--uptime":
			c.At = v
		case "--shell":
			if v != s.shell {
				s.t.Errorf("--shell %s from %s", v, s.shell)
			}
		case "--session":
			c.Session = v
		case "--cwd":
			c.Cwd = v
		case "--exit":
			c.Exit = v
		case "--at":
			c.At = v
		case "--duration":
			c.Duration = v
		default:
			s.t.Errorf("called with %q", args)
		}
	}
	return c
}

// brief removes the values that differ from run to run.
func brief(cs []told) []told {
	out := slices.Clone(cs)
	for i := range out {
		out[i].Session, out[i].At, out[i].Duration = "", "", ""
	}
	return out
}

func check(t *testing.T, calls []told, want []told) {
	t.Helper()
	if d := cmp.Diff(brief(calls), want); d != "" {
		t.Errorf("got - want +\n%s", d)
	}
	for _, c := range calls {
		if c.Session == "" || c.Session != calls[0].Session {
			t.Errorf("session %q of %q", c.Session, c.Command)
		}
		d, err := time.ParseDuration(c.Duration)
		if err != nil || d < 0 {
			t.Errorf("duration %q of %q: %v", c.Duration, c.Command, err)
		}
	}
}

const lines = `true
false
cd /usr
echo "two
lines" >/dev/null
(exit 3)
sleep 0.05
RECOUNT_IGNORE='x*:y'
echo it\'s "a $HOME" | cat >/dev/null
`

func wantLines(dir string) []told {
	return []told{
		{Command: "true", Cwd: dir, Exit: "0"},
		{Command: "false", Cwd: dir, Exit: "1"},
		{Command: "cd /usr", Cwd: dir, Exit: "0"},
		{Command: "echo \"two\nlines\" >/dev/null", Cwd: "/usr", Exit: "0"},
		{Command: "(exit 3)", Cwd: "/usr", Exit: "3"},
		{Command: "sleep 0.05", Cwd: "/usr", Exit: "0"},
		{Command: "RECOUNT_IGNORE='x*:y'", Cwd: "/usr", Exit: "0", Ignore: "x*:y"},
		{Command: "echo it\\'s \"a $HOME\" | cat >/dev/null", Cwd: "/usr", Exit: "0", Ignore: "x*:y"},
	}
}

func TestCommandsAreTold(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			s := newSession(t, shell)
			before := "shopt -s cmdhist lithist\n"
			if shell == "zsh" {
				before = ""
			}
			_, calls := s.run(before, lines, 8)
			check(t, calls, wantLines(s.dir))
			if d, _ := time.ParseDuration(calls[5].Duration); d < 50*time.Millisecond {
				t.Errorf("sleep 0.05 took %v", d)
			}
		})
	}
}

func TestWhatWasThereStays(t *testing.T) {
	t.Run("bash", func(t *testing.T) {
		s := newSession(t, "bash")
		out, calls := s.run(`trap 'traps=$((traps+1))' DEBUG
PS0='<ps0>'
PROMPT_COMMAND='saw=$saw,$?'
`, `false
echo "saw=$saw"
sleep 0 & wait $!
echo "bg=$? traps=$((traps > 5))"
jobs
`, 5)
		for _, want := range []string{",1", "bg=0", "traps=1", "<ps0>"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if len(calls) != 5 || calls[0].Command != "false" || calls[0].Exit != "1" {
			t.Errorf("%+v", calls)
		}
	})
	t.Run("bash, the last argument", func(t *testing.T) {
		s := newSession(t, "bash")
		if out, _ := s.run("", "true a b c\necho \"under=$_\"\n", 2); !strings.Contains(out, "under=c") {
			t.Errorf("in\n%s", out)
		}
	})
	t.Run("bash, PROMPT_COMMAND an array", func(t *testing.T) {
		s := newSession(t, "bash")
		out, _ := s.run("PROMPT_COMMAND=('saw=$saw,$?' 'more=$more+')\n", "false\necho \"$saw $more\"\n", 2)
		if !strings.Contains(out, ",1") || !strings.Contains(out, "++") {
			t.Errorf("in\n%s", out)
		}
	})
	t.Run("zsh", func(t *testing.T) {
		s := newSession(t, "zsh")
		out, calls := s.run("mine() { saw=$saw,$? }; precmd_functions=(mine); theirs() { ran=$ran+ }; preexec_functions=(theirs)\n",
			"false\necho \"saw=$saw ran=$ran\"\n", 2)
		if !strings.Contains(out, ",1") || !strings.Contains(out, "ran=++") {
			t.Errorf("in\n%s", out)
		}
		if calls[0].Exit != "1" {
			t.Errorf("%+v", calls)
		}
	})
}

// TestBashHistoryControl checks the settings that keep commands out of the history, through which
// bash passes commands to the hook.
func TestBashHistoryControl(t *testing.T) {
	for _, c := range []struct {
		control string
		want    []string
	}{
		{"", []string{"true", "true", " echo kept", "ll -a", "ll -a", "end"}},
		{"ignorespace", []string{"true", "true", "ll -a", "ll -a", "end"}},
		{"ignoredups", []string{"true", "true", " echo kept", "ll -a", "ll -a", "end"}},
		{"ignoreboth", []string{"true", "true", "ll -a", "ll -a", "end"}},
		{"ignoreboth:erasedups", []string{"true", "true", "ll -a", "ll -a", "end"}},
	} {
		t.Run(c.control, func(t *testing.T) {
			s := newSession(t, "bash")
			_, calls := s.run("HISTCONTROL="+c.control+"\nalias ll='ls -l'\nend() { :; }\n", "true\ntrue\n echo kept\n\nll -a\nll -a\nend\n", len(c.want))
			var got []string
			for _, call := range calls {
				got = append(got, call.Command)
			}
			if d := cmp.Diff(got, c.want); d != "" {
				t.Errorf("got - want +\n%s", d)
			}
		})
	}
}

func TestZshLeadingSpace(t *testing.T) {
	s := newSession(t, "zsh")
	_, calls := s.run("", " echo kept\n\necho a\n", 1)
	check(t, calls, []told{{Command: "echo a", Cwd: s.dir, Exit: "0"}})
}

func TestScript(t *testing.T) {
	if _, err := Script("tcsh", Recorder{}); err == nil || !strings.Contains(err.Error(), "bash, fish, nu, pwsh, xonsh, zsh") {
		t.Errorf("got %v", err)
	}
	for _, shell := range Shells() {
		s, err := Script(shell, Recorder{Command: []string{"/opt/it's/recount"}})
		if err != nil || strings.Contains(s, "@RECORD") || strings.Contains(s, "@LISTEN") {
			t.Errorf("%s: %v", shell, err)
		}
	}
}

// TestFish evaluates the script in fish and emits the events that fish emits around a command,
// because fish reads commands only from a terminal.
func TestFish(t *testing.T) {
	s := newSession(t, "fish")
	script, err := Script("fish", s.recorder())
	if err != nil {
		t.Fatal(err)
	}
	script = strings.Replace(script, "if status is-interactive; and not", "if not", 1)
	run := fmt.Sprintf("%s\nset CMD_DURATION 7\nemit fish_preexec 'x'\ncd /usr\nfalse\nemit fish_postexec 'cd /usr; it\\'s'\nemit fish_postexec ' kept'\n", script)
	cmd := exec.Command("fish", "-c", run) // --no-config would enable private mode
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "XDG_DATA_HOME="+s.dir)
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(err.Error(), "exit status 1") {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := s.pipe.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	rec, err := s.calls.ReadString('\035')
	if err != nil {
		t.Fatalf("%v; hook log: %s", err, s.log())
	}
	got := s.parse(strings.Split(strings.TrimSuffix(rec, "\036\035"), "\036"))
	if got.Command != "cd /usr; it's" || got.Cwd != s.dir || got.Duration != "7ms" || got.Exit != "1" {
		t.Errorf("got %+v", got)
	}
}
