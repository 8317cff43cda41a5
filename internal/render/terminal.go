package render

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/progress"
)

// Terminal is where answers are printed, and what it can show.
type Terminal struct {
	In          io.Reader
	Out, Err    io.Writer
	JSON        bool          // answers are wanted as JSON
	Colour      bool          // Out shows colours
	Interactive bool          // Err is a terminal, so progress may be drawn
	Silence     time.Duration // how long the program may be silent before it says what it waits for
	HomeDir     string        // the user's home directory, shown as ~
	// Observe, if not nil, gets all progress, and none is drawn.
	Observe func(progress.Progress)
}

// PrintJSON prints a value for --json, indented.
func (t *Terminal) PrintJSON(v any) error {
	enc := JSON(t.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Printf prints a part of the answer.
func (t *Terminal) Printf(format string, args ...any) { fmt.Fprintf(t.Out, format, args...) }

// The colours, named by their meaning.
const (
	Dim    = "2"
	Bold   = "1"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

// Paint colours s if the terminal shows colours.
func (t *Terminal) Paint(colour, s string) string {
	if !t.Colour || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// ExitMark returns a mark for the outcome of a command.
func (t *Terminal) ExitMark(code *int32) string {
	switch {
	case code == nil:
		return t.Paint(Dim, "?")
	case *code == 0:
		return t.Paint(Green, "✓")
	}
	return t.Paint(Red, fmt.Sprintf("✗%d", *code))
}

// Home returns a path for people: as OneLine, with ~ for the user's home directory at its start.
func (t *Terminal) Home(path string) string {
	h := t.HomeDir
	if rel, err := filepath.Rel(h, path); h != "" && err == nil && !strings.HasPrefix(rel, "..") {
		path = filepath.Join("~", rel)
	}
	return OneLine(path)
}

// Note prints a note on standard error, such as which command was chosen if no id was given. It
// prints nothing with --json.
func (t *Terminal) Note(format string, args ...any) {
	if !t.JSON {
		t.Tell(fmt.Sprintf(format, args...))
	}
}

// Truncated prints how much was left out and how to get it.
func (t *Terminal) Truncated(n int, mend string) {
	if n > 0 {
		t.Printf("%s\n", t.Paint(Dim, fmt.Sprintf("… %s more; %s", Thousands(n), mend)))
	}
}

// PlainMark returns ExitMark without colour.
func PlainMark(code *int32) string { return (&Terminal{}).ExitMark(code) }
