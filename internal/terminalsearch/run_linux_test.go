package terminalsearch

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// openTerminal returns both ends of a terminal of 80 by 24.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	raw, err := ours.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = raw.Control(func(fd uintptr) {
		_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		n, _ = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		theirs.Close()
		ours.Close()
	})
	return ours, theirs
}

// await reads what is drawn until a text is among it.
func await(t *testing.T, tty *os.File, drawn *strings.Builder, text string) {
	t.Helper()
	if err := tty.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	for from := drawn.Len(); !strings.Contains(drawn.String()[from:], text); {
		n, err := tty.Read(b)
		drawn.Write(b[:n])
		if err != nil {
			t.Fatalf("waiting for %q: %v; drawn: %q", text, err, drawn.String())
		}
	}
}

// TestRun uses the interface on a terminal.
func TestRun(t *testing.T) {
	for _, name := range []string{"TERM_PROGRAM", "SSH_TTY", "NO_COLOR"} {
		t.Setenv(name, "")
	}
	t.Setenv("TERM", "xterm-256color")
	ours, theirs := openTerminal(t)
	chosen := make(chan Choice, 1)
	failed := make(chan error, 1)
	go func() {
		c, err := Run(t.Context(), theirs, &fake{hits: history(append([]string{"echo \x1b[2J\x1b]0;title\a \u202e"}, usual...)...)}, Options{Now: func() time.Time { return now }, Colour: true}, true)
		chosen <- c
		failed <- err
	}()
	var drawn strings.Builder
	await(t, ours, &drawn, "alt-h keys")
	// As a paste it is one change, so that the match is drawn at once, in its colour.
	if _, err := ours.WriteString("\x1b[200~push\x1b[201~"); err != nil {
		t.Fatal(err)
	}
	await(t, ours, &drawn, "mpush")
	if _, err := ours.WriteString("\t"); err != nil {
		t.Fatal(err)
	}
	// It ends with clearing what is below, and on the line above.
	await(t, ours, &drawn, "\r\x1b[J\x1b[A")
	if c, err := <-chosen, <-failed; err != nil || c != (Choice{Command: "git push origin main"}) {
		t.Errorf("chose %+v, %v", c, err)
	}
	for what, sequence := range map[string]string{
		"the alternate screen": "\x1b[?1049h", "a question about keys": "\x1b[?u", "a question about drawing": "$p", "wiping the screen": "\x1b[2J",
		"a title": "\x1b]0;title", "a change of direction": "\u202e",
	} {
		if strings.Contains(drawn.String(), sequence) {
			t.Errorf("%s was sent: %q", what, drawn.String())
		}
	}
}

// TestRunWithoutItsTerminal closes the terminal's other end, as closing a window does.
func TestRunWithoutItsTerminal(t *testing.T) {
	ours, theirs := openTerminal(t)
	ended := make(chan Choice, 1)
	go func() {
		c, _ := Run(t.Context(), theirs, &fake{hits: history(usual...)}, Options{Now: func() time.Time { return now }}, false)
		ended <- c
	}()
	var drawn strings.Builder
	await(t, ours, &drawn, "alt-h keys")
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case c := <-ended:
		if c != (Choice{}) {
			t.Errorf("chose %+v", c)
		}
	case <-time.After(time.Minute):
		t.Error("the interface stays without its terminal")
	}
}

// TestLines uses the plain search on a terminal that a shell has left raw.
func TestLines(t *testing.T) {
	ours, theirs := openTerminal(t)
	if _, err := term.MakeRaw(int(theirs.Fd())); err != nil {
		t.Fatal(err)
	}
	chosen := make(chan Choice, 1)
	go func() {
		c, err := Lines(t.Context(), theirs, &fake{hits: history(usual...)}, Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Error(err)
		}
		chosen <- c
	}()
	var drawn strings.Builder
	await(t, ours, &drawn, "search: ")
	if _, err := ours.WriteString("push\r"); err != nil {
		t.Fatal(err)
	}
	await(t, ours, &drawn, "search: ")
	if _, err := ours.WriteString("1\r"); err != nil {
		t.Fatal(err)
	}
	if c := <-chosen; c.Command != "git push origin main" {
		t.Errorf("chose %+v", c)
	}
}
