package render

import (
	"strings"

	"github.com/rivo/uniseg"
)

// CommandColumns is the maximum width of a command in a short list.
const CommandColumns = 60

// MaxWide is the maximum width of the elastic column if the line has no width limit.
const MaxWide = 60

// Columns returns how many columns of a terminal s takes, as a user sees its characters: an emoji
// joined from several, a flag or an East Asian character takes two, a letter with its accents one.
// s has no escape sequences.
func Columns(s string) int { return uniseg.StringWidth(s) }

// character is what a user sees as one character: a grapheme cluster.
type character struct {
	text  string
	width int // in columns
}

// characters splits s.
func characters(s string) []character {
	var all []character
	for state := -1; s != ""; {
		var c character
		c.text, s, c.width, state = uniseg.FirstGraphemeClusterInString(s, state)
		all = append(all, c)
	}
	return all
}

// join returns the text of characters.
func join(all []character) string {
	var b strings.Builder
	for _, c := range all {
		b.WriteString(c.text)
	}
	return b.String()
}

// Cut shortens s to at most n columns; a shortened text ends in an ellipsis.
func Cut(s string, n int) string {
	if Columns(s) <= n {
		return s
	}
	all, taken := characters(s), 0
	for i, c := range all {
		if taken += c.width; taken > n-1 {
			return strings.TrimRight(join(all[:i]), " ") + "…"
		}
	}
	return s
}

// CutStart shortens s to at most n columns and keeps its end, which distinguishes paths.
func CutStart(s string, n int) string {
	if Columns(s) <= n {
		return s
	}
	all, taken := characters(s), 0
	for i := len(all) - 1; i >= 0; i-- {
		if taken += all[i].width; taken > n-1 {
			return "…" + join(all[i+1:])
		}
	}
	return s
}

// CutApart shortens two texts to at most n columns each so that their difference is visible: it
// omits most of a long common beginning.
func CutApart(a, b string, n int) (string, string) {
	if Columns(a) <= n && Columns(b) <= n {
		return a, b
	}
	ca, cb := characters(a), characters(b)
	alike, width := 0, 0
	for alike < len(ca) && alike < len(cb) && ca[alike] == cb[alike] {
		width += ca[alike].width
		alike++
	}
	if width <= n/2 {
		return Cut(a, n), Cut(b, n)
	}
	// Keep a third of the columns for the common beginning.
	from := alike
	for kept := 0; from > 0 && kept+ca[from-1].width <= n/3; from-- {
		kept += ca[from-1].width
	}
	return Cut("…"+join(ca[from:]), n), Cut("…"+join(cb[from:]), n)
}

// Wrap breaks s between words into lines of at most n columns; it cuts longer words.
func Wrap(s string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = Cut(word, n)
		case Columns(line)+1+Columns(word) <= n:
			line += " " + word
		default:
			lines, line = append(lines, line), Cut(word, n)
		}
	}
	return append(lines, line)
}

// Pad fills s with blanks up to n columns.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(n-Columns(s), 0)) }
