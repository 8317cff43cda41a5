package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// snippet returns a passage of a part of a text, at most `most` bytes long, with white space
// folded: from the beginning, or around the first of the words in it.
func snippet(part string, words []string, most int) string {
	part = fold(part)
	if len(part) <= most {
		return part
	}
	at := firstOf(part, words)
	if at <= most/2 {
		return brief(part, most)
	}
	from := max(0, at-most/3)
	if i := strings.IndexByte(part[from:at], ' '); i >= 0 { // begin with a whole word
		from += i + 1
	}
	for from < len(part) && !utf8.RuneStart(part[from]) {
		from++
	}
	return "…" + brief(part[from:], most-len("…"))
}

// fold replaces each run of white space in a text by one blank, and trims the ends.
func fold(text string) string {
	if folded(text) { // the most common case
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for word := range strings.FieldsSeq(text) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// folded reports whether a text is ASCII and fold would not change it.
func folded(text string) bool {
	blank := true // a blank here would have to be removed
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c >= utf8.RuneSelf || c == ' ' && blank {
			return false
		}
		blank = c == ' '
	}
	return !blank || text == ""
}

// firstOf returns the offset of the first of the words in a text, or 0 if there is none. Words are
// in lower case.
func firstOf(text string, words []string) int {
	low := strings.ToLower(text)
	if len(low) != len(text) { // if folding changes the length, the offsets do not match
		return 0
	}
	first := len(text)
	for _, w := range words {
		if i := strings.Index(low, w); i >= 0 {
			first = min(first, i)
		}
	}
	if first == len(text) {
		return 0
	}
	return first
}

// wordsOf returns the words of a question that a passage is searched for: in lower case, of three
// letters or more.
func wordsOf(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' && r != '/'
	}) {
		if w = strings.Trim(w, "./"); utf8.RuneCountInString(w) >= 3 && !common[w] {
			out = append(out, w)
		}
	}
	return out
}

// common are words without meaning of their own.
var common = map[string]bool{
	"the": true, "and": true, "for": true, "was": true, "what": true, "why": true, "how": true, "did": true, "does": true, "that": true, "this": true,
	"with": true, "from": true, "which": true, "when": true, "where": true, "who": true, "has": true, "have": true, "had": true, "are": true, "not": true,
	"since": true, "its": true, "were": true, "into": true, "you": true, "our": true, "all": true, "any": true, "can": true, "but": true,
}
