package shellhook

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// terminal is a shell with the hook on a terminal of its own, as a person has it: the hook stands in
// the shell's startup file, and keys are pressed.
type terminal struct {
	*session
	tty    *os.File
	closed chan struct{} // when the shell's end of the terminal is

	mu     sync.Mutex
	more   *sync.Cond
	output string
	read   int // how much of it was waited for
}

// startup writes the files that the shell reads at its start, and returns its command line. The hook
// is evaluated between before and after.
func (s *session) startup(before, after string) []string {
	s.t.Helper()
	script, err := Script(s.shell, s.recorder())
	if err != nil {
		s.t.Fatal(err)
	}
	file, words := map[string]string{"bash": "bashrc", "zsh": ".zshrc", "fish": "fish/config.fish", "xonsh": "rc.xsh", "nu": "config.nu"}[s.shell], map[string][]string{
		"bash": {"bash", "--noprofile", "--rcfile", "bashrc", "-i"}, "zsh": {"zsh", "-d"}, "fish": {"fish"},
		"xonsh": {"xonsh", "--rc", "rc.xsh", "-i"}, "nu": {"nu", "--no-history", "--config", "config.nu"},
	}[s.shell]
	for _, dir := range []string{filepath.Dir(file), "fish/generated_completions"} { // fish makes completions where it has none
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o700); err != nil {
			s.t.Fatal(err)
		}
	}
	if s.shell == "zsh" {
		// The end of a job is told before the next prompt, as in bash. If it is told at once, while zsh
		// begins to read a line, the prompt is drawn again without what `ready` waits for.
		before = "unsetopt notify\n" + before
	}
	if err := os.WriteFile(filepath.Join(s.dir, file), []byte(before+"\n"+script+"\n"+after+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return words
}

// open starts the shell and waits for its first prompt.
func (s *session) open(before, after string) *terminal {
	s.t.Helper()
	words := s.startup(before, after)
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(s.dir, waits))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	master, slave := openTerminal(s.t)
	// A test that runs in the background ignores these, and so would the shell's programs. A signal
	// that is handled has its default in programs that are started.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP)
	s.t.Cleanup(func() { signal.Stop(handled) })
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = s.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TERM=xterm", "LC_ALL=C.UTF-8", "HISTFILE=" + filepath.Join(s.dir, "hist"), "ZDOTDIR=" + s.dir,
		"XDG_CONFIG_HOME=" + s.dir, "XDG_DATA_HOME=" + s.dir, "XDG_STATE_HOME=" + filepath.Join(s.dir, ".local/state"), "SHELL=/bin/sh",
		"GORACE=atexit_sleep_ms=10", // as in run
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	slave.Close()
	term := &terminal{session: s, tty: master, closed: make(chan struct{})}
	term.more = sync.NewCond(&term.mu)
	go term.listen()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		master.Close()
		<-term.closed
	})
	if err := s.pipe.SetReadDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	if err := master.SetReadDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	term.sees(ready)
	return term
}

// ready is what a shell prints when it begins to read a line: it wants pasted text in brackets.
const ready = "\x1b[?2004h"

// waits is a command that prints "begun" and then waits for a key.
const waits = "waits"

// listen keeps what the shell prints, and answers its question where the cursor is.
func (t *terminal) listen() {
	defer close(t.closed)
	b := make([]byte, 4096)
	for {
		n, err := t.tty.Read(b)
		t.mu.Lock()
		t.output += string(b[:n])
		if err != nil {
			t.output += "\n" + err.Error() + ended
		}
		t.mu.Unlock()
		t.more.Broadcast()
		if err != nil {
			return
		}
		if strings.Contains(string(b[:n]), "\x1b[6n") {
			_, _ = t.tty.WriteString("\x1b[1;1R")
		}
	}
}

// ended stands at the end of the output of a shell that has ended.
const ended = "\x00"

// sees waits until the shell has printed a text, after what was waited for before.
func (t *terminal) sees(text string) {
	t.t.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		rest := t.output[t.read:]
		if i := strings.Index(rest, text); i >= 0 {
			t.read += i + len(text)
			return
		}
		if strings.HasSuffix(rest, ended) {
			t.t.Fatalf("%q never came; after it was waited for last:\n%q", text, rest)
		}
		t.more.Wait()
	}
}

// types sends keys.
func (t *terminal) types(keys string) {
	t.t.Helper()
	if _, err := t.tty.WriteString(keys); err != nil {
		t.t.Fatal(err)
	}
}

// suspends presses ctrl-Z until the shell reads the next line, and empties that line. Once is not always enough: xonsh
// continues each program that it has started, also one that ctrl-Z has stopped by then.
func (t *terminal) suspends() {
	t.t.Helper()
	t.types("\x1a")
	again := time.NewTicker(5 * time.Second)
	defer again.Stop()
	seen := make(chan struct{})
	defer close(seen)
	go func() {
		for {
			select {
			case <-again.C:
				_, _ = t.tty.WriteString("\x1a")
			case <-seen:
				return
			}
		}
	}()
	t.sees(ready)
	t.types("\x15")
}

// told waits for the next recorded command.
func (t *terminal) told() told {
	t.t.Helper()
	rec, err := t.calls.ReadString('\035')
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = errors.New("nothing was recorded")
		}
		t.t.Fatalf("%v; the terminal: %q; hook log: %s", err, t.output, t.log())
	}
	return t.parse(strings.Split(strings.TrimSuffix(rec, "\036\035"), "\036"))
}

// enters types lines and waits until the shell reads the next one.
func (t *terminal) enters(lines ...string) {
	t.t.Helper()
	for _, l := range lines {
		t.types(l + "\r")
		t.sees(ready)
	}
}

// runs types a line and checks what is recorded of it: the line, and an exit code.
func (t *terminal) runs(line, exit string) {
	t.t.Helper()
	t.enters(line)
	if got := t.told(); got.Command != line || got.Exit != exit {
		t.t.Errorf("%q: recorded %q with exit code %s, want %s", line, got.Command, got.Exit, exit)
	}
}
