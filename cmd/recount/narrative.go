package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// drawing writes answers about narratives for people.
type drawing struct {
	*terminal
	// width is the maximum number of columns of a line; 0 is no limit.
	width int
	now   time.Time
	// ids holds the abbreviated ids of the answer.
	ids map[schemas.EventID]string
}

// narrowest is the minimum width of a command, whatever else is on the line.
const narrowest = 24

// fit cuts text to the columns that are left besides those taken.
func (d *drawing) fit(s string, taken int) string {
	if d.width == 0 {
		return s
	}
	return cut(s, max(d.width-taken, narrowest))
}

// command returns a command in one line: lead, outcome, id, text and notes. If the line is too
// narrow, the text is cut first, then the last note, which holds the directory.
func (d *drawing) command(lead string, in commands.Intent, style string, notes ...string) string {
	notes = slices.DeleteFunc(notes, func(s string) bool { return s == "" })
	taken := columns(lead) + columns(plainMark(in.ExitCode)) + 1 + columns(d.ids[in.ID]) + 1
	told := func() int {
		if len(notes) == 0 {
			return 0
		}
		return 2 + columns(strings.Join(notes, " · "))
	}
	text := oneLine(in.Command)
	if d.width > 0 {
		room := min(columns(text), narrowest)
		if over := taken + room + told() - d.width; over > 0 && len(notes) > 0 {
			last := &notes[len(notes)-1]
			*last = cutStart(*last, max(columns(*last)-over, 8))
		}
		text = d.fit(text, taken+told())
	}
	line := d.paint(dim, lead) + d.exitMark(in.ExitCode) + " " + d.paint(yellow, d.ids[in.ID]) + " " + d.paint(style, text)
	if len(notes) > 0 {
		line += "  " + d.paint(dim, strings.Join(notes, " · "))
	}
	return line
}

// plainMark is exitMark without colour.
func plainMark(code *int32) string { return (&terminal{}).exitMark(code) }

// where returns the directory of a command if it differs from the one before, else "".
func (d *drawing) where(cwd, before string) string {
	if cwd == "" || cwd == before {
		return ""
	}
	return d.home(oneLine(cwd))
}

// before describes how long before, or after, another time t is.
func before(t, other time.Time) string {
	d, way := other.Sub(t), "before"
	if d < 0 {
		d, way = -d, "after"
	}
	switch {
	case d < time.Second:
		return "just " + way
	case d < time.Minute:
		return fmt.Sprintf("%ds %s", d/time.Second, way)
	case d < time.Hour:
		return fmt.Sprintf("%dm %s", d/time.Minute, way)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh %s", d/time.Hour, way)
	}
	return fmt.Sprintf("%dd %s", d/(24*time.Hour), way)
}

// pair is two commands, from and to, that edges connect.
type pair struct{ from, to schemas.EventID }

func byPair(edges []commands.Edge) map[pair][]commands.Edge {
	m := map[pair][]commands.Edge{}
	for _, e := range edges {
		m[pair{e.From, e.To}] = append(m[pair{e.From, e.To}], e)
	}
	for _, es := range m {
		slices.SortStableFunc(es, func(a, b commands.Edge) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Kind, b.Kind))
		})
	}
	return m
}

// maxEvidence is the maximum number of pieces of evidence shown for an edge; --json has all.
const maxEvidence = 3

// inWords describes the evidence of an edge.
func inWords(e commands.Edge) string {
	var parts []string
	for i, x := range e.Evidence {
		if i == maxEvidence {
			parts = append(parts, fmt.Sprintf("%d more", len(e.Evidence)-i))
			break
		}
		s := oneLine(x.Shows)
		if x.Resource != "" {
			s += " " + oneLine(resourceName(x.Resource))
		}
		if x.Score != 0 {
			s += fmt.Sprintf(" (%.2f)", x.Score)
		}
		if !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// resourceName omits the kind of a resource if the name makes it clear.
func resourceName(r string) string {
	if name, ok := strings.CutPrefix(r, "path:"); ok {
		return name
	}
	return r
}

// text draws words after lead, wrapped over as many lines as they need.
func (d *drawing) text(lead, colour, words string) {
	lines := []string{words}
	if d.width > 0 {
		lines = wrap(words, max(d.width-columns(lead), narrowest))
	}
	for _, l := range lines {
		d.print(d.paint(dim, lead) + d.paint(colour, l))
	}
}

// edgeText describes an edge.
func edgeText(e commands.Edge) string {
	s := fmt.Sprintf("%s %.2f", e.Kind, e.Weight)
	if words := inWords(e); words != "" {
		s += ": " + words
	}
	return s
}

// count returns a number with the noun in its singular or plural form.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// print writes lines, each with a line break.
func (d *drawing) print(lines ...string) {
	for _, l := range lines {
		d.printf("%s\n", strings.TrimRight(l, " "))
	}
}

// hint prints what was cut off, or why there is nothing.
func (d *drawing) hint(b query.Basis) {
	if b.Hint != "" {
		d.print("")
		d.text("", dim, oneLine(b.Hint))
	}
}

// unanswered returns the error of a verb about a command: an unknown reference is a negative
// answer, an ambiguous one is a mistake, reported with what to do.
func (a *app) unanswered(err error) error {
	var missing *query.NotFoundError
	var ambiguous *query.AmbiguousError
	var wrong *query.RequestError
	switch {
	case errors.As(err, &missing):
		fmt.Fprintf(a.err, "recount: %s\n", err)
		return exitError(exitNothing)
	case errors.As(err, &ambiguous):
		fmt.Fprintf(a.err, "recount: %q: ambiguous: give more of the id\n", ambiguous.Prefix)
		for _, m := range ambiguous.Matches {
			fmt.Fprintf(a.err, "  %s  %s  %s\n", m.ID, when(m.Time, time.DateTime), oneLine(m.Command))
		}
		return exitError(exitFailed)
	case errors.As(err, &wrong):
		return usageError{err}
	}
	return err
}
