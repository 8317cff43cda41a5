package terminalsearch

import (
	"strings"
	"unicode"

	"github.com/recountdb/recount/internal/render"
)

// line is a text that is edited, and the place of the cursor in it.
type line struct {
	runes []rune
	at    int
}

func newLine(s string) line {
	r := []rune(s)
	return line{runes: r, at: len(r)}
}

func (l *line) String() string { return string(l.runes) }

// insert puts text at the cursor, in one line and without control characters.
func (l *line) insert(s string) {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	added := []rune(s)
	rest := append(added, l.runes[l.at:]...)
	l.runes = append(l.runes[:l.at:l.at], rest...)
	l.at += len(added)
}

// edit does what a key of readline does, and reports whether it is one.
func (l *line) edit(key string) bool {
	switch key {
	case "left", "ctrl+b":
		l.at = max(l.at-1, 0)
	case "right", "ctrl+f":
		l.at = min(l.at+1, len(l.runes))
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.runes)
	case "alt+b", "alt+left", "ctrl+left":
		l.at = l.wordStart()
	case "alt+f", "alt+right", "ctrl+right":
		l.at = l.wordEnd()
	case "backspace", "ctrl+h":
		l.remove(max(l.at-1, 0), l.at)
	case "delete":
		l.remove(l.at, min(l.at+1, len(l.runes)))
	case "ctrl+w", "alt+backspace":
		l.remove(l.wordStart(), l.at)
	case "alt+d":
		l.remove(l.at, l.wordEnd())
	case "ctrl+u":
		l.remove(0, l.at)
	case "ctrl+k":
		l.remove(l.at, len(l.runes))
	default:
		return false
	}
	return true
}

func (l *line) remove(from, to int) {
	l.runes = append(l.runes[:from:from], l.runes[to:]...)
	l.at = from
}

func (l *line) wordStart() int {
	i := l.at
	for i > 0 && l.runes[i-1] == ' ' {
		i--
	}
	for i > 0 && l.runes[i-1] != ' ' {
		i--
	}
	return i
}

func (l *line) wordEnd() int {
	i := l.at
	for i < len(l.runes) && l.runes[i] == ' ' {
		i++
	}
	for i < len(l.runes) && l.runes[i] != ' ' {
		i++
	}
	return i
}

// window returns the part of the line around the cursor that fits in some columns, and the column of
// the cursor in it.
func (l *line) window(columns int) (text string, cursor int) {
	before, after := typing(string(l.runes[:l.at])), typing(string(l.runes[l.at:]))
	if columns < 1 {
		return "", 0
	}
	before = render.CutStart(before, columns-1)
	cursor = render.Columns(before)
	return before + render.Cut(after, columns-cursor), cursor
}

// typing is clean for text that is being typed, whose blanks at the ends count.
func typing(s string) string {
	inner := clean(s)
	if inner == "" {
		return strings.Repeat(" ", len(s))
	}
	from := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
	to := len(strings.TrimRightFunc(s, unicode.IsSpace))
	return strings.Repeat(" ", from) + inner + strings.Repeat(" ", len(s)-to)
}
