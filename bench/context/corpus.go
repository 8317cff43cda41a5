package main

import (
	"bytes"
	"context"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"

	"github.com/recountdb/recount/languages"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Limits of a corpus, those of Agent Retrieval Bench: larger files are left out, and of a file the
// first shownText characters count as what an agent is shown.
const (
	maxFile   = 400_000
	shownText = 8_000
)

// text is the content of a file, as all systems see it.
type text struct {
	content, lower string
	terms          map[string]float64
	length         float64
	shown          int // tokens of its first shownText characters, counted as the benchmark's authors do
}

// file is a candidate: every regular file of a commit that is text.
type file struct {
	path string
	*text
}

// corpus has the contents of one repository, each read once.
type corpus struct {
	m     mirror
	texts map[string]*text    // by blob; nil where it is not text
	words map[string][]string // the terms of a word or identifier
}

// codeTokens counts the tokens of a text as Agent Retrieval Bench does: identifiers, numbers, and
// each other character that is not white space.
func codeTokens(s string) (n int) {
	before := ' '
	for _, r := range s {
		name, digit := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z', r >= '0' && r <= '9'
		switch {
		case name:
			if before != 'a' {
				n++
			}
			before = 'a'
		case digit:
			if before == ' ' {
				n++
				before = '0'
			}
		default:
			if before = ' '; !unicode.IsSpace(r) {
				n++
			}
		}
	}
	return n
}

func (c *corpus) at(ctx context.Context, commit string) (files []file, err error) {
	blobs, err := c.m.tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, b := range blobs {
		if _, have := c.texts[b.id]; !have {
			c.texts[b.id] = nil
			missing = append(missing, b.id)
		}
	}
	err = c.m.contents(ctx, missing, func(id string, content []byte) {
		if len(content) <= maxFile && bytes.IndexByte(content, 0) < 0 {
			c.texts[id] = c.textOf(content)
		}
	})
	for _, b := range blobs {
		if t := c.texts[b.id]; t != nil {
			files = append(files, file{b.path, t})
		}
	}
	return files, err
}

func (c *corpus) textOf(content []byte) *text {
	s := string(content)
	t := &text{content: s, lower: strings.ToLower(s), terms: map[string]float64{}}
	for _, w := range c.terms(s) {
		t.terms[w]++
		t.length++
	}
	t.shown = codeTokens(s[:min(len(s), shownText)])
	return t
}

// terms returns the stems of a text's words and parts of identifiers, and whole identifiers that
// have several parts, without stop words.
func (c *corpus) terms(text string) (all []string) {
	for _, whole := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		known, have := c.words[whole]
		if !have {
			parts := identifierParts(whole)
			for _, w := range parts {
				if len(w) > 1 && !english.IsStopWord(w) {
					known = append(known, english.Stem(w, false))
				}
			}
			if len(parts) > 1 {
				known = append(known, strings.ToLower(whole))
			}
			c.words[strings.Clone(whole)] = known
		}
		all = append(all, known...)
	}
	return all
}

// identifierParts splits an identifier at underscores and inner capitals, in lower case.
func identifierParts(name string) (parts []string) {
	r := []rune(name)
	begin := 0
	cut := func(end int) {
		if end > begin {
			parts = append(parts, strings.ToLower(string(r[begin:end])))
		}
		begin = end
	}
	for i := range r {
		switch {
		case r[i] == '_':
			cut(i)
			begin = i + 1
		case i > begin && unicode.IsUpper(r[i]) && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])):
			cut(i)
		}
	}
	cut(len(r))
	return parts
}

// names returns what a file declares, in its order.
func names(path, content string) (all []string) {
	if !isSource(path) {
		return nil
	}
	facts := &recountv1.FileFacts{Path: path}
	languages.Facts([]byte(content), facts)
	for _, d := range facts.Declarations {
		if d.Name != "" {
			all = append(all, d.Name)
		}
	}
	return all
}
