package gloss

import (
	"slices"
	"strings"
	"testing"

	"github.com/kljensen/snowball/english"
)

// TestLetters checks that every stem of the tables is found under its letter, and what follows from
// the tables if they are stemmed as a whole.
func TestLetters(t *testing.T) {
	known, groups := map[string]bool{}, map[string][]string{}
	know := func(word string) {
		if word == "" { // "E=ex regexp" has a flag without words
			return
		}
		stem := english.Stem(word, true)
		if stem == "" || stem[0] != word[0] {
			t.Errorf("%q begins otherwise than its stem %q", word, stem)
		}
		known[stem] = true
	}
	for line := range strings.Lines(strings.TrimSpace(programs)) {
		_, text, _ := strings.Cut(line, ":")
		for w := range strings.FieldsSeq(text) {
			know(w)
		}
	}
	for line := range strings.Lines(strings.TrimSpace(flags)) {
		_, text, _ := strings.Cut(line, ":")
		for f := range strings.FieldsSeq(text) {
			_, words, _ := strings.Cut(f, "=")
			for w := range strings.SplitSeq(words, ",") {
				know(w)
			}
		}
	}
	for line := range strings.Lines(strings.TrimSpace(synonyms)) {
		words := strings.Fields(line)
		for _, w := range words {
			stem := english.Stem(w, true)
			if stem[0] != w[0] {
				t.Errorf("%q begins otherwise than its stem %q", w, stem)
			}
			if !slices.Contains(groups[stem], words[0]) {
				groups[stem] = append(groups[stem], words[0])
			}
		}
	}
	for stem := range known {
		if !Known(stem) {
			t.Errorf("%q is not known", stem)
		}
	}
	for stem, want := range groups {
		if got := Groups(stem); !slices.Equal(got, want) {
			t.Errorf("%q is in %v, want %v", stem, got, want)
		}
	}
	all := compiled()
	n, m := 0, 0
	for c := range all.letters {
		l := all.letter(string([]byte{byte(c)}))
		n, m = n+len(l.known), m+len(l.groups)
	}
	if n != len(known) || m != len(groups) || n < 500 || m < 200 {
		t.Errorf("%d known, want %d; %d in groups, want %d", n, len(known), m, len(groups))
	}
	if Known("") || Groups("") != nil {
		t.Error("nothing is known")
	}
}
