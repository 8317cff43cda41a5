package render

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// CommandColumns is the maximum width of a command in a short list.
const CommandColumns = 60

// MaxWide is the maximum width of the elastic column if the line has no width limit.
const MaxWide = 60

// columnsOf returns how many columns of a terminal a rune takes: 0 for combining and invisible
// runes, 2 for wide East Asian ones and most emoji.
func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Columns returns how many columns of a terminal s takes; s has no escape sequences.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// Cut shortens s to at most n columns; a shortened text ends in an ellipsis.
func Cut(s string, n int) string {
	if Columns(s) <= n {
		return s
	}
	taken := 0
	for i, r := range s {
		if taken+columnsOf(r) > n-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		taken += columnsOf(r)
	}
	return s
}

// CutStart shortens s to at most n columns and keeps its end, which distinguishes paths.
func CutStart(s string, n int) string {
	if Columns(s) <= n {
		return s
	}
	runes, taken := []rune(s), 0
	for i := len(runes) - 1; i >= 0; i-- {
		if taken += columnsOf(runes[i]); taken > n-1 {
			return "…" + string(runes[i+1:])
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
	ra, rb := []rune(a), []rune(b)
	alike := 0
	for alike < len(ra) && alike < len(rb) && ra[alike] == rb[alike] {
		alike++
	}
	if Columns(string(ra[:alike])) <= n/2 {
		return Cut(a, n), Cut(b, n)
	}
	// Keep a third of the columns for the common beginning, and do not separate a letter from its
	// combining marks.
	from, kept := alike, 0
	for from > 0 && (kept+columnsOf(ra[from-1]) <= n/3 || from < len(ra) && columnsOf(ra[from]) == 0) {
		from--
		kept += columnsOf(ra[from])
	}
	return Cut("…"+string(ra[from:]), n), Cut("…"+string(rb[from:]), n)
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
