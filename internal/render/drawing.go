package render

import (
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// defaultWidth is the width used if the output is not a terminal or the terminal does not report
// one.
const defaultWidth = 80

// NewDrawing returns a drawing for the standard output.
func (t *Terminal) NewDrawing(wide bool, now time.Time) *Drawing {
	d := &Drawing{Terminal: t, Now: now, Width: defaultWidth}
	if f, ok := t.Stdout().(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			d.Width = max(w, Narrowest)
		}
	}
	if wide {
		d.Width = 0
	}
	return d
}

// Drawing writes answers about narratives for people.
type Drawing struct {
	*Terminal
	// Width is the maximum number of columns of a line; 0 is no limit.
	Width int
	Now   time.Time
	// IDs holds the abbreviated ids of the answer.
	IDs map[schemas.EventID]string
}

// Narrowest is the minimum width of a command, whatever else is on the line.
const Narrowest = 24

// Fit cuts text to the columns that are left besides those taken.
func (d *Drawing) Fit(s string, taken int) string {
	if d.Width == 0 {
		return s
	}
	return Cut(s, max(d.Width-taken, Narrowest))
}

// Text draws words after lead, wrapped over as many lines as they need.
func (d *Drawing) Text(lead, colour, words string) {
	lines := []string{words}
	if d.Width > 0 {
		lines = Wrap(words, max(d.Width-Columns(lead), Narrowest))
	}
	for _, l := range lines {
		d.Print(d.Paint(Dim, lead) + d.Paint(colour, l))
	}
}

// Print writes lines, each with a line break.
func (d *Drawing) Print(lines ...string) {
	for _, l := range lines {
		d.Printf("%s\n", strings.TrimRight(l, " "))
	}
}

// Hint prints what was cut off, or why there is nothing.
func (d *Drawing) Hint(b query.Basis) {
	if b.Hint != "" {
		d.Print("")
		d.Text("", Dim, OneLine(b.Hint))
	}
}
