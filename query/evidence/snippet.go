package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// snippet is a passage of a part of a text, white space folded, of no more bytes than
// asked for: from the part's beginning, or from around the first of the words in it.
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
	if i := strings.IndexByte(part[from:at], ' '); i >= 0 { // begin with a word
		from += i + 1
	}
	for from < len(part) && !utf8.RuneStart(part[from]) {
		from++
	}
	return "…" + brief(part[from:], most-len("…"))
}

// fold makes one blank of each white space in a text, and none of what is at its ends.
func fold(text string) string {
	if folded(text) { // as most are that someone said
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

// folded says whether a text is plain, and such that fold leaves it as it is.
func folded(text string) bool {
	blank := true // a blank here would be one too many
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c >= utf8.RuneSelf || c == ' ' && blank {
			return false
		}
		blank = c == ' '
	}
	return !blank || text == ""
}

// firstOf is where the first of the words begins in a text, 0 where none is there. Words
// are in lower case.
func firstOf(text string, words []string) int {
	low := strings.ToLower(text)
	if len(low) != len(text) { // where folding moves what follows, the beginning is shown
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

// wordsOf are the words of a question that a passage is looked for by: in lower case,
// three letters or more.
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

// common are words that stand in every text.
var common = map[string]bool{
	"the": true, "and": true, "for": true, "was": true, "what": true, "why": true, "how": true, "did": true, "does": true, "that": true, "this": true,
	"with": true, "from": true, "which": true, "when": true, "where": true, "who": true, "has": true, "have": true, "had": true, "are": true, "not": true,
	"since": true, "its": true, "were": true, "into": true, "you": true, "our": true, "all": true, "any": true, "can": true, "but": true,
}
