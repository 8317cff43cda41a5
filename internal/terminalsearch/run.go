package terminalsearch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// fps is the number of times a second that changes are drawn: a keystroke waits for half of it.
const fps = 120

// OpenTerminal opens the terminal of the process, whose standard output may be the shell's.
func OpenTerminal() (*os.File, error) {
	t, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("a search by keys needs a terminal; --list prints the answer: %w", err)
	}
	return t, nil
}

// Run shows the interface on a terminal until somebody has chosen. below has it begin on the next
// line, for a shell whose prompt is to stay, and puts the cursor back.
func Run(ctx context.Context, t *os.File, by Asker, o Options, below bool) (Choice, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := New(ctx, by, o)
	if w, h, err := term.GetSize(int(t.Fd())); err == nil {
		m.Resize(w, h)
	}
	if below {
		fmt.Fprint(t, "\r\n")
	}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(keyboard{t, cancel}), tea.WithOutput(quiet{t}), tea.WithFPS(fps), tea.WithEnvironment(environment()))
	_, err := p.Run()
	fmt.Fprint(t, "\r\x1b[J")
	if below {
		fmt.Fprint(t, "\x1b[A")
	}
	return m.Choice(), err
}

// keyboard is a terminal that is read from. When it is gone (its window was closed), gone is called: not every
// shell ends the programs that it waits for, and without keys the interface would stay for ever.
type keyboard struct {
	*os.File
	gone func()
}

func (k keyboard) Read(b []byte) (int, error) {
	n, err := k.File.Read(b)
	if err != nil {
		k.gone()
	}
	return n, err
}

// Lines is Plain on a terminal, which a shell may have in the state in which it edits its line.
func Lines(ctx context.Context, t *os.File, by Asker, o Options) (Choice, error) {
	before, err := term.GetState(int(t.Fd()))
	if err != nil {
		return Choice{}, err
	}
	defer func() { _ = term.Restore(int(t.Fd()), before) }() // it was a terminal a moment ago
	stty := exec.Command("stty", "sane")
	stty.Stdin = t
	if err := stty.Run(); err != nil {
		return Choice{}, fmt.Errorf("stty sane, to read lines: %w", err)
	}
	fmt.Fprintln(t)
	return Plain(ctx, t, t, by, o)
}

// environment is the process's, with a name at which bubbletea does not ask the terminal what it can:
// the answer would arrive at the shell if somebody chooses quickly.
func environment() []string { return append(os.Environ(), "SSH_TTY="+os.Getenv("SSH_TTY")) }

// quiet is a terminal that is not asked anything.
type quiet struct{ *os.File }

// questions are the requests that bubbletea always makes, for kinds of keys that are not used here.
var questions = [][]byte{[]byte("\x1b[?u"), []byte("\x1b[?2026$p"), []byte("\x1b[?2027$p")}

func (q quiet) Write(b []byte) (int, error) {
	kept := b
	for _, s := range questions {
		kept = bytes.ReplaceAll(kept, s, nil)
	}
	if n, err := q.File.Write(kept); err != nil {
		return min(n, len(b)), err
	}
	return len(b), nil
}
