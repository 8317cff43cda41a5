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

// drawing is how answers about narratives are written for people.
type drawing struct {
	a *app
	// width is how many columns a line may take; 0 is no bound.
	width int
	now   time.Time
	// ids are the abbreviated ids of the answer.
	ids map[schemas.EventID]string
}

// narrowest is how much of a command is shown at least, whatever stands beside it.
const narrowest = 24

// fit cuts text to what is left beside taken columns.
func (d *drawing) fit(s string, taken int) string {
	if d.width == 0 {
		return s
	}
	return cut(s, max(d.width-taken, narrowest))
}

// command is a command in one line: lead, how it ended, its id, its text, and
// notes of what else there is to say. On a narrow line the text is cut, then the
// last note, which is where the directory stands.
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
	line := d.a.paint(dim, lead) + d.a.exitMark(in.ExitCode) + " " + d.a.paint(yellow, d.ids[in.ID]) + " " + d.a.paint(style, text)
	if len(notes) > 0 {
		line += "  " + d.a.paint(dim, strings.Join(notes, " · "))
	}
	return line
}

// plainMark is exitMark without colour.
func plainMark(code *int32) string { return (&app{}).exitMark(code) }

// where is the directory of a command, if it is another than the one before.
func (d *drawing) where(cwd, before string) string {
	if cwd == "" || cwd == before {
		return ""
	}
	return d.a.home(oneLine(cwd))
}

// before says how long before another moment one was.
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

// pairs of commands and the edges between them, the heaviest first.
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

// maxEvidence is how many pieces of evidence are told of one edge; --json has all.
const maxEvidence = 3

// inWords is what an edge rests on.
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

// resourceName leaves out the kind of a resource where its name shows it.
func resourceName(r string) string {
	if name, ok := strings.CutPrefix(r, "path:"); ok {
		return name
	}
	return r
}

// text draws words below one another after lead, as many lines as they take.
func (d *drawing) text(lead, colour, words string) {
	lines := []string{words}
	if d.width > 0 {
		lines = wrap(words, max(d.width-columns(lead), narrowest))
	}
	for _, l := range lines {
		d.print(d.a.paint(dim, lead) + d.a.paint(colour, l))
	}
}

// edgeText is what an edge says, in words.
func edgeText(e commands.Edge) string {
	s := fmt.Sprintf("%s %.2f", e.Kind, e.Weight)
	if words := inWords(e); words != "" {
		s += ": " + words
	}
	return s
}

// count writes a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// print writes lines, each with a line break.
func (d *drawing) print(lines ...string) {
	for _, l := range lines {
		d.a.printf("%s\n", strings.TrimRight(l, " "))
	}
}

// hint tells what was cut off, or why there is nothing.
func (d *drawing) hint(b query.Basis) {
	if b.Hint != "" {
		d.print("")
		d.text("", dim, oneLine(b.Hint))
	}
}

// unanswered ends a verb that asked about a command: a reference that means
// nothing is a negative answer, one that means several commands a mistake, with what to do about it.
func (a *app) unanswered(err error) error {
	var missing *query.NotFoundError
	var ambiguous *query.AmbiguousError
	var wrong *query.RequestError
	switch {
	case errors.As(err, &missing):
		fmt.Fprintf(a.stderr, "recount: %s\n", err)
		return exitError(exitNothing)
	case errors.As(err, &ambiguous):
		fmt.Fprintf(a.stderr, "recount: %q: ambiguous: give more of the id\n", ambiguous.Prefix)
		for _, m := range ambiguous.Matches {
			fmt.Fprintf(a.stderr, "  %s  %s  %s\n", m.ID, when(m.Time, time.DateTime), oneLine(m.Command))
		}
		return exitError(exitFailed)
	case errors.As(err, &wrong):
		return usageError{err}
	}
	return err
}
