package context

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/zeebo/xxh3"
)

// term is the hash of a stem or of a whole identifier in lower case.
type term uint32

func termOf(word string) term { return term(xxh3.HashString(word)) }

// splitter splits texts into terms. It remembers the terms of words that it met and of their parts,
// since stemming is slow and words repeat. It is not safe for concurrent use.
type splitter struct {
	known map[string]wordTerms
	stems map[string]term
}

// wordTerms are the terms of a word as written: its parts and, if it has several, the whole.
type wordTerms struct {
	parts []term
	whole term
}

// maxKnownWords limits the memory of a splitter.
const maxKnownWords = 1 << 18

func newSplitter() *splitter {
	return &splitter{known: map[string]wordTerms{}, stems: map[string]term{}}
}

// each calls use with the terms of a text in its order.
func (s *splitter) each(text string, use func(w wordTerms)) {
	start := -1
	for i := 0; i < len(text); {
		c := text[i]
		n, in := 1, c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if c >= utf8.RuneSelf {
			var r rune
			r, n = utf8.DecodeRuneInString(text[i:])
			in = unicode.IsLetter(r) || unicode.IsDigit(r)
		}
		switch {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			s.word(text[start:i], use)
			start = -1
		}
		i += n
	}
	if start >= 0 {
		s.word(text[start:], use)
	}
}

// maxWord is the length in bytes beyond which a run of letters and digits is data, not a word.
const maxWord = 80

func (s *splitter) word(w string, use func(wordTerms)) {
	if len(w) < 2 || len(w) > maxWord {
		return
	}
	t, ok := s.known[w]
	if !ok {
		if len(s.known) >= maxKnownWords {
			clear(s.known)
			clear(s.stems)
		}
		t = termsBy(s.stem, w)
		s.known[strings.Clone(w)] = t
	}
	if len(t.parts) > 0 {
		use(t)
	}
}

// stem returns the term of a part of a word.
func (s *splitter) stem(part string) term {
	t, ok := s.stems[part]
	if !ok {
		t = stemTerm(part)
		s.stems[part] = t
	}
	return t
}

func stemTerm(part string) term { return termOf(english.Stem(part, false)) }

// termsOf returns the terms of a word as written: retryCount is retri, count and retrycount.
func termsOf(w string) wordTerms { return termsBy(stemTerm, w) }

// termsBy does that with the given way to stem.
func termsBy(stem func(part string) term, w string) (t wordTerms) {
	parts := partsOf(w)
	for _, p := range parts {
		if len(p) > 1 && !english.IsStopWord(p) && !digits(p) {
			t.parts = append(t.parts, stem(p))
		}
	}
	if len(parts) > 1 {
		t.whole = termOf("=" + strings.ToLower(strings.Trim(w, "_")))
	}
	return t
}

func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// partsOf splits a word at underscores, inner capitals and between letters and digits of more than
// one, in lower case: HTTPServer_v2 is http, server and v2.
func partsOf(w string) (parts []string) {
	runes := []rune(w)
	start := 0
	flush := func(end int) {
		if end > start {
			parts = append(parts, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush(i)
		}
	}
	flush(len(runes))
	return parts
}
