package schemas

import (
	"strconv"
	"strings"
	"unicode"
)

// OneLine makes a value that others wrote, as a name, fit for one line of text for people
// and models: line breaks become ⏎, tabs blanks, and what a terminal would obey is shown as
// an escape and not sent. So no name makes a line that looks like one of ours.
func OneLine(s string) string {
	s = PlainText(strings.TrimSpace(s))
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.NewReplacer("\n", "⏎", "\t", " ").Replace(s)
}

// PlainText makes text of several lines that others wrote fit for a terminal: control
// characters, which could move the cursor or worse, are shown and not sent. Who prints it
// puts something before each line that no line of ours begins with.
func PlainText(s string) string {
	if !strings.ContainsFunc(s, controls) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if controls(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// controls says whether a terminal would obey a rune, break the line at it, or turn the
// direction of what stands beside it (UAX #9, 2.1 to 2.4), rather than show it.
func controls(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Quoted puts prefix before each line of a text, whatever ends its lines: what is quoted
// so has no line that begins otherwise.
func Quoted(s, prefix string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	return prefix + strings.ReplaceAll(s, "\n", "\n"+prefix)
}
