// Package gloss says in plain words what commands do, so that a description finds a command with
// which it shares no word: what a program is for (programs.go), what a short flag stands for
// (flags.go), and which words mean the same (synonyms.go).
//
// All words are stems of Snowball's English stemmer, in lower case. The tables do not change within
// a version of the projection lexical, which stores what follows from them.
package gloss

import (
	"slices"
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// tables are the tables by name and by letter. Stemming takes longer than everything else here, and
// most processes need few words: what belongs to an entry, and to the words of a letter, is stemmed
// when it is first asked for.
type tables struct {
	programs map[string][]*entry
	flags    map[string][]*entry
	all      [2][]*entry // of programs, of flags
	letters  [1 << 8]letter
}

// entry is a line of a table, of one or more programs.
type entry struct {
	text string // what follows the colon
	once sync.Once
	// words are the stems of what a program is for, flags those of each of its flags.
	words []string
	flags map[string][]string
}

// letter has the stems that begin with a letter. A stem begins as its word does.
type letter struct {
	once   sync.Once
	known  map[string]bool     // those of programs and flags
	groups map[string][]string // the groups of those that have synonyms
}

var compiled = sync.OnceValue(func() *tables {
	t := &tables{}
	t.programs, t.all[0] = entries(programs)
	t.flags, t.all[1] = entries(flags)
	return t
})

// entries returns the entries of each name of a table, and all of them.
func entries(table string) (named map[string][]*entry, all []*entry) {
	named = map[string][]*entry{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		names, text, _ := strings.Cut(line, ":")
		e := &entry{text: text}
		all = append(all, e)
		for name := range strings.FieldsSeq(names) {
			named[name] = append(named[name], e)
		}
	}
	return named, all
}

// compileWords stems an entry of programs.
func (e *entry) compileWords() []string {
	e.once.Do(func() { e.words = stems(strings.Fields(e.text)) })
	return e.words
}

// compileFlags stems an entry of flags.
func (e *entry) compileFlags() map[string][]string {
	e.once.Do(func() {
		e.flags = map[string][]string{}
		for f := range strings.FieldsSeq(e.text) {
			flag, words, _ := strings.Cut(f, "=")
			e.flags[flag] = stems(strings.Split(words, ","))
		}
	})
	return e.flags
}

func stems(words []string) []string {
	for i, w := range words {
		words[i] = english.Stem(w, true)
	}
	return words
}

// letter returns the stems that begin as a stem does.
func (t *tables) letter(stem string) *letter {
	if stem == "" {
		return &letter{}
	}
	first := stem[0]
	l := &t.letters[first]
	l.once.Do(func() {
		l.known, l.groups = map[string]bool{}, map[string][]string{}
		seen := map[string]bool{}
		know := func(word string) {
			if word != "" && word[0] == first && !seen[word] {
				seen[word] = true
				l.known[english.Stem(word, true)] = true
			}
		}
		for _, e := range t.all[0] {
			for w := range strings.FieldsSeq(e.text) {
				know(w)
			}
		}
		for _, e := range t.all[1] {
			for f := range strings.FieldsSeq(e.text) {
				_, words, _ := strings.Cut(f, "=")
				for w := range strings.SplitSeq(words, ",") {
					know(w)
				}
			}
		}
		for line := range strings.Lines(strings.TrimSpace(synonyms)) {
			l.group(strings.Fields(line), first)
		}
	})
	return l
}

// group adds the stems of a group of synonyms, whose name is the first of them.
func (l *letter) group(words []string, first byte) {
	seen := map[string]bool{}
	for _, w := range words {
		if w[0] != first {
			continue
		}
		if stem := english.Stem(w, true); !seen[stem] {
			seen[stem] = true
			l.groups[stem] = append(l.groups[stem], words[0])
		}
	}
}

// maxShort is the maximum length of several short flags in one word.
const maxShort = 6

// Words calls yield with the words of a command's programs and short flags, in the order of the
// tokens. A word may come several times.
func Words(tokens []*recountv1.Token, yield func(word string)) {
	t := compiled()
	all := func(words []string) {
		for _, w := range words {
			yield(w)
		}
	}
	var flags []*entry // of the last program
	ofFlag := func(name string) ([]string, bool) {
		for _, e := range slices.Backward(flags) { // a later line replaces an earlier one
			if words, ok := e.compileFlags()[name]; ok {
				return words, true
			}
		}
		return nil, false
	}
	letters := func(s string) {
		for i := range len(s) {
			words, _ := ofFlag(s[i : i+1])
			all(words)
		}
	}
	bare := false // the next word may be flags without a dash
	for _, token := range tokens {
		switch token.Kind {
		case recountv1.TokenKind_TOKEN_KIND_BINARY:
			name := strings.ToLower(token.Text[strings.LastIndexAny(token.Text, `/\`)+1:])
			for _, e := range t.programs[name] {
				all(e.compileWords())
			}
			if flags = t.flags[name]; flags == nil {
				flags = t.flags["*"]
			}
			bare = name == "tar" || name == "ps"
		case recountv1.TokenKind_TOKEN_KIND_FLAG:
			bare = false
			name, _, _ := strings.Cut(strings.TrimPrefix(token.Text, "-"), "=")
			if words, ok := ofFlag(name); ok {
				all(words)
			} else if len(name) <= maxShort && !strings.HasPrefix(name, "-") {
				letters(name)
			}
		default:
			if bare && len(token.Text) <= maxShort && strings.Trim(token.Text, "abcdefghijklmnopqrstuvwxyzJ") == "" {
				letters(token.Text)
			}
			bare = false
		}
	}
}

// Known reports whether a word can be one of Words.
func Known(stem string) bool { return compiled().letter(stem).known[stem] }

// Groups returns the names of the groups of synonyms that a word is in.
func Groups(stem string) []string { return compiled().letter(stem).groups[stem] }
