package embed

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// class is one concept: something that people do with a shell, described by commands and by English
// words. The terms began with general knowledge of the programs (their manual pages) and were then
// developed on one half of NL2Bash's pairs: words that its descriptions use were added, even the
// typo "cope" for copy, and terms that misled more often than they helped were removed. bench/pairs
// defines which pairs are held out. Terms do not change within a version of the embedder, because
// stored embeddings depend on them.
type class struct {
	name string
	// weight is how specific the class is: 0.3 if half of all commands have it, 2 if few do.
	// Weights are fixed by hand and part of the version, because a weight computed from a corpus
	// would change a replay.
	weight float32
	// shell holds terms separated by ";": a program ("grep"), a program with a flag ("tar -x", also
	// inside -xzf) or with a flag and its value ("find -type f"), an operator ("|", "2>&1"), or any
	// word of a command ("=txt").
	shell string
	// english holds terms separated by ";": adjacent words in any form ("delete" also matches
	// deleted and deleting), without function words; or words joined by "+", which may be anywhere
	// in the text.
	english string
}

// tables returns the parts of the concept table.
func tables() [][]class {
	return [][]class{fileClasses, findClasses, textClasses, systemClasses, networkClasses, developmentClasses}
}

// dictionary is the concept table, compiled for lookup by term.
type dictionary struct {
	classes []class
	shell   *termClasses
	english *termClasses
	apart   map[string][]apart // terms with "+", by their first word
	longest map[string]int     // the length in words of the longest english term, by its first word
}

// apart is a term whose words may be anywhere in the text.
type apart struct {
	rest  []string
	class uint16
}

// termClasses has the classes of each term. Most have one, so lists of them would take most of the
// time in which the dictionary is compiled.
type termClasses struct {
	newest map[string]uint16 // the number of a term's newest link, from 1 on
	links  []classLink
}

// classLink is a class of a term, and the number of an earlier link of the same term, or 0.
type classLink struct{ class, earlier uint16 }

// newTermClasses returns an empty one with room for as many terms as the table has of each kind.
func newTermClasses() *termClasses {
	const terms = 2500
	return &termClasses{make(map[string]uint16, terms), make([]classLink, 0, terms)}
}

func (t *termClasses) add(term string, class uint16) {
	t.links = append(t.links, classLink{class, t.newest[term]})
	t.newest[term] = uint16(len(t.links))
}

// appendTo appends the classes of a term to ids.
func (t *termClasses) appendTo(ids []uint16, term []byte) []uint16 {
	for i := t.newest[string(term)]; i > 0; i = t.links[i-1].earlier {
		ids = append(ids, t.links[i-1].class)
	}
	return ids
}

var compiled = sync.OnceValue(func() *dictionary {
	d := &dictionary{shell: newTermClasses(), english: newTermClasses(), apart: map[string][]apart{}, longest: map[string]int{}}
	var room []string
	names := map[string]bool{}
	for _, part := range tables() {
		for _, c := range part {
			if names[c.name] || c.weight <= 0 {
				panic(fmt.Sprintf("embed: class %q stands twice or has no weight", c.name))
			}
			names[c.name] = true
			id := uint16(len(d.classes))
			d.classes = append(d.classes, c)
			for t := range splitTerms(c.shell) {
				d.shell.add(strings.ReplaceAll(t, " ", "\x1f"), id)
			}
			for t := range splitTerms(c.english) {
				room = d.addEnglish(t, id, room)
			}
		}
	}
	return d
})

// addEnglish adds a term of a class. It uses room for its words and returns it.
func (d *dictionary) addEnglish(term string, id uint16, room []string) []string {
	if first, rest, ok := strings.Cut(term, "+"); ok {
		a := apart{class: id}
		for w := range strings.SplitSeq(rest, "+") {
			a.rest = append(a.rest, stem(w))
		}
		d.apart[stem(first)] = append(d.apart[stem(first)], a)
		return room
	}
	room = appendWords(room[:0], term)
	words := slices.DeleteFunc(room, func(w string) bool { return little[w] })
	if len(words) == 0 {
		panic("embed: nothing is left of the term " + term)
	}
	d.longest[words[0]] = max(d.longest[words[0]], len(words))
	d.english.add(strings.Join(words, " "), id)
	return room
}

func splitTerms(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for t := range strings.SplitSeq(s, ";") {
			if t = strings.TrimSpace(t); t != "" && !yield(t) {
				return
			}
		}
	}
}

// Concepts returns the names of the concept classes that the text matches, sorted; nil if there are
// none. The text is a command or English.
func Concepts(text string) []string { return concepts(text, looksLikeShell(text)) }

// CommandConcepts is like Concepts for a text that is known to be a command.
func CommandConcepts(command string) []string { return concepts(command, true) }

func concepts(text string, shell bool) []string {
	d := compiled()
	r := readings.Get().(*reading)
	defer readings.Put(r)
	r.reset()
	d.read(text, shell, r)
	ids := r.classes()
	if len(ids) == 0 {
		return nil
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = d.classes[id].name
	}
	slices.Sort(names)
	return names
}

// reading holds the features of a text.
type reading struct {
	words   []string // every word, stemmed
	ids     []uint16 // classes
	weights []float32
}

// readings keeps readings for reuse of their memory. A reading is used by one goroutine at a time.
var readings = sync.Pool{New: func() any { return new(reading) }}

func (r *reading) reset() { r.words, r.ids = r.words[:0], r.ids[:0] }

// classes returns the ids, sorted and without duplicates.
func (r *reading) classes() []uint16 {
	slices.Sort(r.ids)
	r.ids = slices.Compact(r.ids)
	return r.ids
}

// read adds the words and the classes of a text to r.
func (d *dictionary) read(text string, shell bool, r *reading) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	before := len(r.words)
	r.words = appendWords(r.words, text)
	if shell {
		d.shellTerms(text, r)
	} else {
		d.englishTerms(r.words[before:], r)
	}
}

// maxText limits how many bytes of a text are read: the start shows what a command is about.
const maxText = 4 << 10

// englishTerms looks up every run of words, with function words removed.
func (d *dictionary) englishTerms(all []string, r *reading) {
	var room [64]string
	words := room[:0]
	for _, w := range all {
		if !little[w] {
			words = append(words, w)
		}
	}
	var key []byte
	for i := range words {
		key = key[:0]
		for j := i; j < min(i+d.longest[words[i]], len(words)); j++ {
			if j > i {
				key = append(key, ' ')
			}
			key = append(key, words[j]...)
			r.ids = d.english.appendTo(r.ids, key)
		}
		for _, a := range d.apart[words[i]] {
			if containsAll(words, a.rest) {
				r.ids = append(r.ids, a.class)
			}
		}
		// A program's name counts in a sentence, too, unless it is an English word.
		if !alsoEnglish[words[i]] {
			r.ids = d.shell.appendTo(r.ids, []byte(words[i]))
		}
	}
}

func containsAll(words, all []string) bool {
	for _, w := range all {
		if !slices.Contains(words, w) {
			return false
		}
	}
	return true
}
