package schemas

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recountdb/recount/schemas/clip"
)

// Clip cuts s to at most n bytes, at the start of a character.
func Clip(s string, n int) string { return clip.Head(s, n) }

// OneLine makes foreign text, such as a name, safe for one line of output to people and models:
// line breaks become ⏎, tabs become spaces, and control characters are shown as escapes. No name
// can therefore imitate a line of our own output.
func OneLine(s string) string {
	s = PlainText(strings.TrimSpace(s))
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.NewReplacer("\n", "⏎", "\t", " ").Replace(s)
}

// PlainText makes foreign text of several lines safe for a terminal: control characters, which
// could move the cursor or worse, are shown as escapes, and bytes that are not UTF-8, which some
// terminals read as such, as U+FFFD. The caller prefixes each line so that it differs from our own
// lines (Quoted).
func PlainText(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, Controls) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Controls(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Controls reports whether a rune controls a terminal, breaks the line other than \n and \t do,
// changes the text direction (UAX #9, 2.1 to 2.4), or shows nothing, so that a model reads with tags and spaces without
// width what a person does not see. Joiners, which emoji and some scripts need, are none.
func Controls(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r == 0x200b || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f
}

// Quoted puts prefix before each line of a text, for every kind of line break, so that no quoted
// line begins differently.
func Quoted(s, prefix string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	return prefix + strings.ReplaceAll(s, "\n", "\n"+prefix)
}
