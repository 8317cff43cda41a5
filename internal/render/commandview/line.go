package commandview

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
)

// Line returns a command in one line: lead, outcome, id, text and notes. If the line is too
// narrow, the text is cut first, then the last note, which holds the directory.
func Line(d *render.Drawing, lead string, in ask.Intent, style string, notes ...string) string {
	notes = slices.DeleteFunc(notes, func(s string) bool { return s == "" })
	taken := render.Columns(lead) + render.Columns(render.PlainMark(in.ExitCode)) + 1 + render.Columns(d.IDs[in.ID]) + 1
	told := func() int {
		if len(notes) == 0 {
			return 0
		}
		return 2 + render.Columns(strings.Join(notes, " · "))
	}
	text := render.OneLine(in.Command)
	if d.Width > 0 {
		room := min(render.Columns(text), render.Narrowest)
		if over := taken + room + told() - d.Width; over > 0 && len(notes) > 0 {
			last := &notes[len(notes)-1]
			*last = render.CutStart(*last, max(render.Columns(*last)-over, 8))
		}
		text = d.Fit(text, taken+told())
	}
	line := d.Paint(render.Dim, lead) + d.ExitMark(in.ExitCode) + " " + d.Paint(render.Yellow, d.IDs[in.ID]) + " " + d.Paint(style, text)
	if len(notes) > 0 {
		line += "  " + d.Paint(render.Dim, strings.Join(notes, " · "))
	}
	return line
}

// where returns the directory of a command if it differs from the one before, else "".
func where(d *render.Drawing, cwd, before string) string {
	if cwd == "" || cwd == before {
		return ""
	}
	return d.Home(cwd)
}
