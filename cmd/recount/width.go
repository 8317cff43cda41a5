package main

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/recountdb/recount/schemas"
)

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

// columns returns how many columns of a terminal s takes; s has no escape sequences.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// cut shortens s to at most n columns; a shortened text ends in an ellipsis.
func cut(s string, n int) string {
	if columns(s) <= n {
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

// cutStart shortens s to at most n columns and keeps its end, which distinguishes paths.
func cutStart(s string, n int) string {
	if columns(s) <= n {
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

// cutApart shortens two texts to at most n columns each so that their difference is visible: it
// omits most of a long common beginning.
func cutApart(a, b string, n int) (string, string) {
	if columns(a) <= n && columns(b) <= n {
		return a, b
	}
	ra, rb := []rune(a), []rune(b)
	alike := 0
	for alike < len(ra) && alike < len(rb) && ra[alike] == rb[alike] {
		alike++
	}
	if columns(string(ra[:alike])) <= n/2 {
		return cut(a, n), cut(b, n)
	}
	// Keep a third of the columns for the common beginning, and do not separate a letter from its
	// combining marks.
	from, kept := alike, 0
	for from > 0 && (kept+columnsOf(ra[from-1]) <= n/3 || from < len(ra) && columnsOf(ra[from]) == 0) {
		from--
		kept += columnsOf(ra[from])
	}
	return cut("…"+string(ra[from:]), n), cut("…"+string(rb[from:]), n)
}

// oneLine makes text from other sources safe for one line of a terminal.
func oneLine(s string) string { return schemas.OneLine(s) }

// wrap breaks s between words into lines of at most n columns; it cuts longer words.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = cut(word, n)
		case columns(line)+1+columns(word) <= n:
			line += " " + word
		default:
			lines, line = append(lines, line), cut(word, n)
		}
	}
	return append(lines, line)
}

// pad fills s with blanks up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-columns(s), 0)) }

// The minimum digits of an abbreviated id: as many as git uses; for an id that begins with its time
// (UUIDv7), enough to include the whole millisecond.
const (
	minIDDigits     = 7
	minTimeIDDigits = 12
)

// abbreviate returns for each id the shortest prefix that no other id has.
func abbreviate(ids []schemas.EventID) map[schemas.EventID]string {
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, func(a, b schemas.EventID) int { return bytes.Compare(a[:], b[:]) })
	sorted = slices.Compact(sorted)
	short := make(map[schemas.EventID]string, len(sorted))
	for i, id := range sorted {
		n := minIDDigits
		if id[6]>>4 == 7 {
			n = minTimeIDDigits
		}
		for _, other := range []int{i - 1, i + 1} {
			if other >= 0 && other < len(sorted) {
				n = max(n, commonDigits(id, sorted[other])+1)
			}
		}
		short[id] = firstDigits(id, n)
	}
	return short
}

// commonDigits returns the number of leading digits that two ids share.
func commonDigits(a, b schemas.EventID) int {
	for i := range a {
		if x := a[i] ^ b[i]; x >= 0x10 {
			return 2 * i
		} else if x > 0 {
			return 2*i + 1
		}
	}
	return 2 * len(a)
}

// firstDigits returns the first n digits of an id's text, not counting hyphens.
func firstDigits(id schemas.EventID, n int) string {
	s := id.String()
	for i, r := range s {
		if r == '-' {
			continue
		}
		if n == 0 {
			return strings.TrimSuffix(s[:i], "-")
		}
		n--
	}
	return s
}
