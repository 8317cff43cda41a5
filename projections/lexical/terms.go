package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"

	"github.com/recountdb/recount/projections/lexical/bm25"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// This file defines how text becomes terms. Any change of the rules requires a new Version.
//
// Text is normalised to NFKC and divided at white space, quotes, brackets and the shell's operators
// into tokens. A token that is one word gives its stem. Any other (a path, a flag, an identifier, a
// URL) gives itself in lower case, whole, and its parts: divided where a letter or digit meets
// something else and inside camelCase, in lower case and stemmed, at half weight.
const (
	partWeight = bm25.FullWeight / 2
	dirParts   = 2
	dirShare   = 4 // the weight of terms of a directory is divided by it

	// maxTerm is the maximum length of a term in bytes; a longer one is cut.
	maxTerm = 64
	// maxTerms is the maximum number of terms of a text that count, including repeats.
	maxTerms = 10_000
)

// Field is one of the two fields of a command's document.
type Field uint8

// The fields.
const (
	Words    Field = 1
	Concepts Field = 2
)

// fields is the number of fields; index returns the index of one.
const fields = 2

func (f Field) index() int { return int(f) - 1 }

// identity returns a hash that is equal for commands with the same document of a field. It covers
// everything that command reads and, for Words, the content hash, so that a document has only one.
func identity(f Field, in *recountv1.Intent) schemas.EventID {
	if f == Concepts {
		c := schemas.NewCanon("lexical/concepts")
		for _, name := range in.Concepts {
			c.String(name)
		}
		return c.ID()
	}
	c := schemas.NewCanon("lexical/words").String(in.Command).String(in.StatedIntent).Int(int64(in.ContentHash))
	for _, dir := range lastDirs(in.Cwd) {
		c.String(dir)
	}
	return c.ID()
}

// command returns a command's document of a field, valid until the next call.
func (a *analyser) command(f Field, in *recountv1.Intent) document {
	a.begin()
	if f == Concepts {
		for i, c := range in.Concepts {
			if c = conceptTerm(c); c != "" && i < maxTerms {
				a.add(use{word: a.word(c), weight: bm25.FullWeight})
			}
		}
		return a.end()
	}
	a.text(in.Command, 1)
	a.text(in.StatedIntent, 1)
	for _, dir := range lastDirs(in.Cwd) {
		a.text(dir, dirShare)
	}
	return a.end()
}

// lastDirs returns the parts of a working directory that are indexed.
func lastDirs(cwd string) []string {
	dirs := strings.FieldsFunc(cwd, func(r rune) bool { return r == '/' || r == '\\' })
	return dirs[max(0, len(dirs)-dirParts):]
}

// conceptTerm returns the name of a concept as a term.
func conceptTerm(name string) string { return cut(strings.ReplaceAll(name, "\x00", "")) }

// tokens calls yield for each token until it returns false.
func tokens(text string, yield func(string) bool) {
	if !isASCII(text) {
		text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
	}
	start := -1
	for i, r := range text {
		if separates(r) {
			if start >= 0 && !yield(text[start:i]) {
				return
			}
			start = -1
		} else if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		yield(text[start:])
	}
}

func separates(r rune) bool {
	switch r {
	case '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', '|', '&', ';', ',', '=', utf8.RuneError:
		return true
	}
	return unicode.IsSpace(r) || unicode.IsControl(r)
}

// split calls yield with the terms of a token.
func split(token string, yield func(term string, isPart bool)) {
	token = strings.TrimRight(token, ".:!?")
	if token == "" {
		return
	}
	whole := cut(strings.ToLower(token))
	start, plain := -1, true
	var prev rune
	part := func(end int) {
		if start < 0 {
			return
		}
		if p := token[start:end]; start > 0 || end < len(token) {
			plain = false
			if utf8.RuneCountInString(p) > 1 {
				yield(stem(p), true)
			}
		}
		start = -1
	}
	for i, r := range token {
		word := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		switch {
		case !word:
			part(i)
			plain = false
		case start < 0:
			start = i
		case unicode.IsUpper(r) && unicode.IsLower(prev), startsWord(token, i, r, prev):
			part(i)
			start = i
		}
		prev = r
	}
	part(len(token))
	if plain {
		yield(stem(token), false)
		return
	}
	yield(whole, false)
}

// startsWord reports whether an upper-case letter begins a word because lower case follows, like
// the S in HTTPServer.
func startsWord(token string, i int, r, prev rune) bool {
	if !unicode.IsUpper(r) || !unicode.IsUpper(prev) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(token[i+utf8.RuneLen(r):])
	return unicode.IsLower(next)
}

func stem(word string) string {
	word = strings.ToLower(word)
	if len(word) > maxTerm || !isASCII(word) || strings.ContainsAny(word, "0123456789") {
		return cut(word)
	}
	return english.Stem(word, true)
}

// cut shortens a term to at most maxTerm bytes, between runes.
func cut(term string) string {
	if len(term) <= maxTerm {
		return term
	}
	end := maxTerm
	for !utf8.RuneStart(term[end]) {
		end--
	}
	return term[:end]
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
