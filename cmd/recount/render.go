package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// terminal is where answers are printed, and what it can show.
type terminal struct {
	out, err    io.Writer
	json        bool          // print answers as JSON
	colour      bool          // out shows colours
	interactive bool          // err is a terminal, so progress may be drawn
	silence     time.Duration // how long a verb may be silent
	homeDir     string        // the user's home directory, shown as ~
}

// printJSON prints a value for --json, indented.
func (t *terminal) printJSON(v any) error {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (t *terminal) printf(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

// The colours, named by their meaning.
const (
	dim    = "2"
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint colours s if the terminal shows colours.
func (t *terminal) paint(colour, s string) string {
	if !t.colour || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// plainText makes text of several lines safe for a terminal; use oneLine for names.
func plainText(s string) string { return schemas.PlainText(s) }

// indent puts prefix before each line of s but the first.
func indent(s, prefix string) string { return strings.ReplaceAll(s, "\n", "\n"+prefix) }

// timeUnknown is shown for entries of histories without times.
const timeUnknown = "time unknown"

// when formats a time in a layout.
func when(t time.Time, layout string) string {
	if schemas.TimeUnknown(t) {
		return timeUnknown
	}
	return t.Local().Format(layout)
}

// ago returns how long before now t was, in the largest unit that fits.
func ago(now, t time.Time) string {
	if schemas.TimeUnknown(t) {
		return timeUnknown
	}
	d := now.Sub(t)
	for _, u := range []struct {
		size time.Duration
		name string
	}{{365 * 24 * time.Hour, "y"}, {24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.size {
			return fmt.Sprintf("%d%s ago", d/u.size, u.name)
		}
	}
	if d < -time.Minute {
		return "in the future"
	}
	return "just now"
}

// took formats a duration with three digits at most.
func took(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return d.Round(time.Minute).String()
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// thousands formats a number with its digits in groups of three.
func thousands[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}

// exitMark returns a mark for the outcome of a command.
func (t *terminal) exitMark(code *int32) string {
	switch {
	case code == nil:
		return t.paint(dim, "?")
	case *code == 0:
		return t.paint(green, "✓")
	}
	return t.paint(red, fmt.Sprintf("✗%d", *code))
}

// printHits prints hits for people.
func (a *app) printHits(r commands.FindResponse, now time.Time) {
	for i, h := range r.Hits {
		if i > 0 {
			a.printf("\n")
		}
		a.printHit(h, now)
	}
	if r.Status == query.StatusEmpty {
		a.printf("nothing found\n")
	}
	if r.Hint != "" {
		a.printf("%s\n", a.paint(dim, r.Hint))
	}
}

func (a *app) printHit(h commands.Hit, now time.Time) {
	// The complete id finds the command again, and so does its beginning.
	a.printf("%s %s\n", a.exitMark(h.ExitCode), a.paint(bold, indent(plainText(short(h.Command)), "    ")))
	parts := []string{a.paint(yellow, h.ID.String()[:13]), ago(now, h.Time)}
	if h.Duration != nil {
		parts = append(parts, "took "+took(time.Duration(*h.Duration)))
	}
	if h.Cwd != "" {
		parts = append(parts, oneLine(h.Cwd))
	} else if h.Host != "" {
		parts = append(parts, oneLine(h.User+"@"+h.Host))
	}
	if h.Author != "" {
		parts = append(parts, "by "+oneLine(h.Author))
	}
	a.printf("  %s\n", strings.Join(parts, a.paint(dim, " · ")))
	if why := because(h.Scores); why != "" {
		a.printf("  %s\n", a.paint(dim, why))
	}
}

// short returns the beginning of a command for lists; show prints all of it.
func short(command string) string {
	const maxLines, maxRunes = 6, 400
	lines := strings.SplitN(command, "\n", maxLines+1)
	cut := len(lines) > maxLines
	s := strings.Join(lines[:min(len(lines), maxLines)], "\n")
	if r := []rune(s); len(r) > maxRunes {
		s, cut = string(r[:maxRunes]), true
	}
	if cut {
		s += " …"
	}
	return s
}

// because describes which paths found a hit.
func because(scores []query.PathScore) string {
	if len(scores) == 0 {
		return ""
	}
	var parts []string
	for _, s := range scores {
		part := fmt.Sprintf("%s #%d", s.Path, s.Rank)
		if s.Path != commands.PathTime { // its score is the time, which the hit shows anyway
			part += fmt.Sprintf(" (%.3g)", s.Score)
		}
		parts = append(parts, part)
	}
	return "found by " + strings.Join(parts, ", ")
}

// printProof prints the steps of a proof.
func (t *terminal) printProof(steps []query.Step, watermark string) {
	t.printf("\n%s\n", t.paint(bold, "Proof"))
	for i, s := range steps {
		t.printf("  %d. %s%s%s\n", i+1, t.paint(cyan, s.Operator), pairs(s.Inputs, func(k, v string) string { return k + "=" + oneLine(v) }),
			pairs(s.Counts, func(k string, v int64) string { return k + " " + thousands(v) }))
		for j, h := range s.Hits {
			if j == 5 {
				t.printf("       … %d more\n", len(s.Hits)-j)
				break
			}
			line := h.Position.String()
			if h.Rank > 0 {
				line = fmt.Sprintf("#%d %s", h.Rank, line)
			}
			switch {
			case s.Operator == commands.PathTime:
				line += "  " + time.Unix(int64(h.Score), 0).UTC().Format(time.RFC3339)
			case h.Score != 0:
				line += fmt.Sprintf("  %.4g", h.Score)
			}
			t.printf("       %s\n", t.paint(dim, line))
		}
	}
	t.printf("  %s %s\n", t.paint(dim, "rests on everything below"), t.paint(dim, watermark))
}

func pairs[V any](m map[string]V, show func(string, V) string) string {
	if len(m) == 0 {
		return ""
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var parts []string
	for _, k := range keys {
		parts = append(parts, show(k, m[k]))
	}
	return "  " + strings.Join(parts, ", ")
}

// progress returns a function that draws progress on standard error. Without a terminal it prints
// lines at long intervals instead.
func (t *terminal) progress() func(api.Progress) {
	if !t.interactive {
		return t.spoken()
	}
	return func(p api.Progress) {
		if p.Total > 0 && p.Done >= p.Total {
			fmt.Fprint(t.err, "\r\x1b[K")
			return
		}
		fmt.Fprintf(t.err, "\r\x1b[K%s %s of %s", p.Phase, thousands(p.Done), thousands(p.Total))
	}
}

// clearProgress removes the progress line.
func (t *terminal) clearProgress() {
	if t.interactive {
		fmt.Fprint(t.err, "\r\x1b[K")
	}
}

// table prints rows in aligned columns.
func table(w io.Writer, rows [][]string) {
	var width []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, c := range r {
			b.WriteString(c)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-len([]rune(c))+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// home replaces the user's home directory at the start of a path by ~.
func (t *terminal) home(path string) string {
	h := t.homeDir
	if rel, err := filepath.Rel(h, path); h != "" && err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.Join("~", rel)
	}
	return path
}
