package lexical

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"

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
	partWeight = fullWeight / 2
	cwdWeight  = fullWeight / 4
	cwdParts   = 2

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

// weighted is a term and its weight in a document.
type weighted struct {
	term   string
	weight uint32
}

// fieldTerms is a field of a document: its distinct terms, ascending; and its length, the sum of
// their weights.
type fieldTerms struct {
	terms  []weighted
	length uint32
}

// identity returns a hash that is equal for commands with the same document of a field. It covers
// everything that analyse reads and, for Words, the content hash, so that a document has only one.
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

// analyse returns a command's document of a field. cache, which may be nil, caches the terms of
// texts; it never affects the result.
func analyse(f Field, in *recountv1.Intent, cache *termCache) fieldTerms {
	if f == Concepts {
		var concepts []weighted
		for _, c := range in.Concepts {
			if c = conceptTerm(c); c != "" && len(concepts) < maxTerms {
				concepts = append(concepts, weighted{c, fullWeight})
			}
		}
		return gather(concepts)
	}
	words := slices.Clone(textTerms(in.Command, cache))
	words = append(words, textTerms(in.StatedIntent, cache)...)
	for _, dir := range lastDirs(in.Cwd) {
		for _, w := range textTerms(dir, cache) {
			words = append(words, weighted{w.term, cwdWeight})
		}
	}
	return gather(words)
}

// lastDirs returns the parts of a working directory that are indexed.
func lastDirs(cwd string) []string {
	dirs := strings.FieldsFunc(cwd, func(r rune) bool { return r == '/' || r == '\\' })
	return dirs[max(0, len(dirs)-cwdParts):]
}

// termCache caches the terms of texts and of tokens: a new command consists largely of known
// tokens.
type termCache struct{ texts, tokens cachedTerms }

type cachedTerms map[string][]weighted

func newTermCache() *termCache { return &termCache{cachedTerms{}, cachedTerms{}} }

// Bounds of a cache: the number of its texts and tokens, and the bytes of each.
const (
	maxCachedTexts  = 1 << 12
	maxCachedTokens = 1 << 13
	maxCachedBytes  = 1 << 10
)

func (c cachedTerms) add(text string, words []weighted, most int) {
	if len(text) > maxCachedBytes {
		return
	}
	if len(c) >= most {
		clear(c)
	}
	c[text] = words
}

// textTerms returns the terms of a text in their order.
func textTerms(text string, cache *termCache) []weighted {
	if text == "" {
		return nil
	}
	if cache == nil {
		cache = &termCache{}
	}
	if words, ok := cache.texts[text]; ok {
		return words
	}
	var words []weighted
	tokens(text, func(token string) bool {
		words = append(words, cache.token(token)...)
		return len(words) < maxTerms
	})
	if cache.texts != nil {
		cache.texts.add(strings.Clone(text), words, maxCachedTexts)
	}
	return words
}

// token returns the terms of a token.
func (c *termCache) token(token string) []weighted {
	if words, ok := c.tokens[token]; ok {
		return words
	}
	token = strings.Clone(token) // so that its terms do not keep the whole text in memory
	var words []weighted
	split(token, func(term string, isPart bool) {
		weight := uint32(fullWeight)
		if isPart {
			weight = partWeight
		}
		words = append(words, weighted{term, weight})
	})
	if c.tokens != nil {
		c.tokens.add(token, words, maxCachedTokens)
	}
	return words
}

// conceptTerm returns the name of a concept as a term.
func conceptTerm(name string) string { return cut(strings.ReplaceAll(name, "\x00", "")) }

// gather adds up the weights of equal terms.
func gather(all []weighted) fieldTerms {
	slices.SortFunc(all, func(a, b weighted) int { return strings.Compare(a.term, b.term) })
	var f fieldTerms
	for _, w := range all {
		f.length += w.weight
		if n := len(f.terms); n > 0 && f.terms[n-1].term == w.term {
			f.terms[n-1].weight += w.weight
			continue
		}
		f.terms = append(f.terms, w)
	}
	f.terms = slices.Clip(f.terms)
	return f
}

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
