package shellhook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBindings presses the keys in each shell, on a terminal. The program they call is a script that
// answers what the test wants and notes what it was given.
func TestBindings(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s is not installed", shell)
			}
			s := newKeyed(t, shell, true)
			// Edit: what is chosen is on the line, and is run by the enter that follows.
			s.answer("edit:echo \"got 'it'\" 4''1")
			s.press("typed text\x12")
			s.await("told <--binding", "typed text>")
			s.press("\r")
			s.await("got 'it' 41", "prompt> ")
			// Run: at once. An empty line is one text, too.
			s.answer("run:echo ran 4''2")
			s.press("\x12")
			s.await("texts 1 ", "ran 42", "prompt> ")
			// Nothing chosen: the line stays.
			s.answer("")
			s.press("echo kept 4''3\x12")
			s.await("told <--binding", "echo kept")
			s.press("\r")
			s.await("kept 43", "prompt> ")
			// Arrow-up.
			s.answer("run:echo up 4''4")
			s.press("\x1b[A")
			s.await("up 44", "prompt> ")
			// Several lines, and what looks like an option.
			s.answer("edit:echo one 4''5\necho two 4''6")
			s.press("-n\x12")
			s.await("-n>")
			s.press("\r")
			s.await("one 45", "two 46", "prompt> ")
			s.press("exit\r")
		})
	}
}

// TestNoBindUp checks that arrow-up stays the shell's unless it is asked for.
func TestNoBindUp(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if with, without := Bindings(shell, "recount", true), Bindings(shell, "recount", false); with == without || !strings.Contains(with, "[A") || strings.Contains(without, "[A") {
			t.Errorf("%s: the keys are\n%s", shell, without)
		}
	}
	if got := Bindings("nu", "recount", true); got != "" {
		t.Errorf("a shell without bindings has %q", got)
	}
}

// keyed is a shell on a terminal.
type keyed struct {
	t    *testing.T
	dir  string
	tty  *os.File
	seen strings.Builder
}

func newKeyed(t *testing.T, shell string, up bool) *keyed {
	t.Helper()
	s := &keyed{t: t, dir: t.TempDir()}
	program := filepath.Join(s.dir, "re'c ount")
	count := "n=0 at=0\nfor a; do n=$((n+1)); if [ \"$a\" = -- ]; then at=$n; fi; done\nprintf 'texts %d ' $((n-at)) >/dev/tty\n"
	script := "#!/bin/sh\nshift\n" + count + "printf 'told <' >/dev/tty\nprintf '%s ' \"$@\" >/dev/tty\nprintf '%s' \"$*\" | sed 's/.*-- //; s/$/>/' >/dev/tty\ncat '" + filepath.Join(s.dir, "answer") + "'\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	prompt := ""
	if shell == "fish" {
		prompt = "\nfunction fish_prompt; echo 'prompt> '; end\n"
	}
	rc := filepath.Join(s.dir, "rc")
	if err := os.WriteFile(rc, []byte(Bindings(shell, program, up)+prompt), 0o600); err != nil {
		t.Fatal(err)
	}
	args := map[string][]string{"bash": {"--noprofile", "--norc", "-i"}, "zsh": {"-f", "-i"}, "fish": {"--no-config", "-i"}}[shell]
	cmd := exec.Command(shell, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TERM=xterm", "LC_ALL=C.UTF-8", "PS1=prompt> ", "HISTFILE=", "XDG_CONFIG_HOME=" + s.dir, "XDG_DATA_HOME=" + s.dir}
	var other *os.File
	s.tty, other = openTerminal(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = other, other, other
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	other.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has usually ended
		_ = cmd.Wait()
		s.tty.Close()
	})
	s.press(". '" + rc + "'; echo read''y\r")
	s.await("ready", "prompt> ")
	return s
}

// answer has the program answer a text.
func (s *keyed) answer(text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "answer"), []byte(text+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *keyed) press(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// await waits until the shell has printed all of these, after what was awaited before.
func (s *keyed) await(all ...string) {
	s.t.Helper()
	if err := s.tty.SetReadDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	b := make([]byte, 4096)
	for {
		text, missing := s.seen.String(), false
		for _, want := range all {
			_, rest, found := strings.Cut(text, want)
			missing = missing || !found
			if found {
				text = rest
			}
		}
		if !missing {
			s.seen.Reset()
			s.seen.WriteString(text)
			return
		}
		n, err := s.tty.Read(b)
		s.seen.Write(b[:n])
		if err != nil {
			s.t.Fatalf("waiting for %q: %v; printed:\n%q", all, err, s.seen.String())
		}
	}
}
