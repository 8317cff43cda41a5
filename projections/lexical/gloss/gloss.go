// Package gloss says in plain words what commands do, so that a description finds a command with
// which it shares no word: what a program is for (programs.go), what a short flag stands for
// (flags.go), and which words mean the same (synonyms.go).
//
// All words are stems of Snowball's English stemmer, in lower case. The tables do not change within
// a version of the projection lexical, which stores what follows from them.
package gloss

import (
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// tables are the compiled tables.
type tables struct {
	programs map[string][]string            // the words of a program
	flags    map[string]map[string][]string // the words of a program's flags
	groups   map[string][]string            // the groups of a word
	known    map[string]bool                // the words of programs and flags
	stemmed  map[string]string              // the stems of words, while the tables are compiled
}

var compiled = sync.OnceValue(func() *tables {
	t := &tables{programs: map[string][]string{}, flags: map[string]map[string][]string{}, groups: map[string][]string{}, known: map[string]bool{}, stemmed: map[string]string{}}
	for names, text := range entries(programs) {
		for _, name := range names {
			t.programs[name] = append(t.programs[name], t.stems(strings.Fields(text))...)
		}
	}
	for names, text := range entries(flags) {
		for _, name := range names {
			if t.flags[name] == nil {
				t.flags[name] = map[string][]string{}
			}
			for _, f := range strings.Fields(text) {
				flag, words, _ := strings.Cut(f, "=")
				t.flags[name][flag] = t.stems(strings.Split(words, ","))
			}
		}
	}
	for line := range strings.Lines(strings.TrimSpace(synonyms)) {
		words := strings.Fields(line)
		group, seen := words[0], map[string]bool{}
		for _, w := range words {
			if w = english.Stem(w, true); !seen[w] {
				seen[w] = true
				t.groups[w] = append(t.groups[w], group)
			}
		}
	}
	t.stemmed = nil
	return t
})

// entries yields the names before the colon of each line, and the text after it.
func entries(table string) func(yield func([]string, string) bool) {
	return func(yield func([]string, string) bool) {
		for line := range strings.Lines(strings.TrimSpace(table)) {
			names, text, _ := strings.Cut(line, ":")
			if !yield(strings.Fields(names), text) {
				return
			}
		}
	}
}

func (t *tables) stems(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		stem, ok := t.stemmed[w]
		if !ok {
			stem = english.Stem(w, true)
			t.stemmed[w], t.known[stem] = stem, true
		}
		out[i] = stem
	}
	return out
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
	var flags map[string][]string // of the last program
	letters := func(s string) {
		for i := range len(s) {
			all(flags[s[i:i+1]])
		}
	}
	bare := false // the next word may be flags without a dash
	for _, token := range tokens {
		switch token.Kind {
		case recountv1.TokenKind_TOKEN_KIND_BINARY:
			name := strings.ToLower(token.Text[strings.LastIndexAny(token.Text, `/\`)+1:])
			all(t.programs[name])
			if flags = t.flags[name]; flags == nil {
				flags = t.flags["*"]
			}
			bare = name == "tar" || name == "ps"
		case recountv1.TokenKind_TOKEN_KIND_FLAG:
			bare = false
			name, _, _ := strings.Cut(strings.TrimPrefix(token.Text, "-"), "=")
			if words, ok := flags[name]; ok {
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
func Known(stem string) bool { return compiled().known[stem] }

// Groups returns the names of the groups of synonyms that a word is in.
func Groups(stem string) []string { return compiled().groups[stem] }
