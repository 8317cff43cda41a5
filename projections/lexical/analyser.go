package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recountdb/recount/projections/lexical/bm25"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// This file defines how terms become documents. Any change of the rules requires a new Version.
//
// A part of an object is analysed like a command (terms.go), with five differences. The object's
// title is added to every part, at half weight, unless the passage begins with it. So is whose it is
// (see of), at full weight, and of its names the whole only. Stop words count only in a part that
// has nothing else. Runs of letters of scripts without spaces between words
// give their bigrams, a single such letter itself. Emoji are terms of their own.
const (
	titleShare = 2 // the title's weight is divided by it
	callShare  = 1 // likewise that of a result's call
)

// document is the analysis of a text: its distinct terms, and the sum of their weights.
type document struct {
	terms  []use
	length uint32
}

// analyser makes terms of texts. It caches the terms of tokens, which never affects the result.
type analyser struct {
	prose  bool // parts of objects rather than commands
	limit  int  // maximum of distinct terms of a document, if not 0
	tokens map[string][]use
	words  map[string]*word
	found  []*word // in the current document
	stops  []use   // in the current document
	named  int     // of found, terms that are not of the text
	out    document
}

// word is a term, with its weight in the current document.
type word struct {
	term   string
	weight uint32
}

// use is an occurrence of a term.
type use struct {
	*word
	weight uint32
	stop   bool
}

// maxTokens is how many tokens an analyser keeps before it drops them all, maxTokenBytes their
// maximum length.
const (
	maxTokens     = 1 << 13
	maxTokenBytes = 64
)

func newAnalyser(prose bool) *analyser {
	return &analyser{prose: prose, tokens: map[string][]use{}, words: map[string]*word{}}
}

// part returns the terms of a passage of an object, valid until the next call. Its length is in
// whole occurrences, at least 1.
func (a *analyser) part(of, title, call, passage string) document {
	a.begin()
	tokens(of, func(token string) bool {
		for _, u := range a.uses(token) {
			if u.weight == bm25.FullWeight {
				a.add(u)
			}
		}
		return true
	})
	a.text(call, callShare)
	a.named, a.stops = len(a.found), a.stops[:0]
	if title != "" && !strings.HasPrefix(passage, title) {
		a.text(title, titleShare)
	}
	a.text(passage, 1)
	d := a.end()
	d.length = max(1, (d.length+bm25.FullWeight/2)/bm25.FullWeight)
	return d
}

// speakerOf returns the terms of an object besides its text: the name of its agent, which is the
// speaker in a conversation; that a user said it; and that it is a failure.
func speakerOf(eventType string, o *recountv1.Object) string {
	who := o.Agent
	if eventType == schemas.TypeUserMessage {
		who += " user"
	}
	if t := o.Tool; t.GetFailed() || t.GetExitCode() != 0 {
		who += " failed error"
	}
	return who
}

// begin begins a document.
func (a *analyser) begin() {
	if len(a.tokens) > maxTokens || len(a.words) > 4*maxTokens {
		clear(a.tokens)
		clear(a.words)
	}
	a.found, a.stops, a.named = a.found[:0], a.stops[:0], 0
}

// end returns the document, valid until the next one begins.
func (a *analyser) end() document {
	if len(a.found) == a.named {
		for _, u := range a.stops {
			a.add(u)
		}
	}
	a.out = document{terms: a.out.terms[:0]}
	for _, w := range a.found {
		a.out.terms = append(a.out.terms, use{word: w, weight: w.weight})
		a.out.length += w.weight
		w.weight = 0
	}
	return a.out
}

// text adds the terms of a text, with their weight divided by share.
func (a *analyser) text(text string, share uint32) {
	count := 0
	tokens(text, func(token string) bool {
		for _, u := range a.uses(token) {
			u.weight = max(1, u.weight/share)
			if u.stop {
				a.stops = append(a.stops, u)
			} else {
				a.add(u)
			}
			count++
		}
		if a.limit > 0 {
			return len(a.found) < a.limit
		}
		return count < maxTerms
	})
}

func (a *analyser) add(u use) {
	if u.word.weight == 0 {
		if a.limit > 0 && len(a.found) == a.limit {
			return
		}
		a.found = append(a.found, u.word)
	}
	u.word.weight += u.weight
}

// uses returns the terms of a token.
func (a *analyser) uses(token string) []use {
	all, ok := a.tokens[token]
	if ok {
		return all
	}
	divide, weights := split, commandWeights
	if a.prose {
		divide, weights = segments, proseWeights
	}
	stop := a.prose && stopWords[strings.ToLower(strings.TrimRight(token, ".:!?"))]
	divide(token, func(term string, kind termKind) {
		weight := [...]uint32{weights.word, weights.whole, weights.part}[kind]
		all = append(all, use{a.word(term), weight, stop})
	})
	if len(token) <= maxTokenBytes {
		a.tokens[strings.Clone(token)] = all
	}
	return all
}

// word returns the word of a term.
func (a *analyser) word(term string) *word {
	w := a.words[term]
	if w == nil {
		w = &word{term: strings.Clone(term)}
		a.words[w.term] = w
	}
	return w
}

// segments calls yield with the terms of a token: those of split, of runs of unspaced letters, and
// emoji.
func segments(token string, yield func(term string, kind termKind)) {
	if isASCII(token) {
		split(token, yield)
		return
	}
	const (
		plain = iota
		unspaced
		emoji
		joiner // joins emoji and has no meaning by itself
	)
	class := func(r rune) int {
		switch {
		case r < 0x0e00:
			return plain
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar), r == 'ー', r == '々':
			return unspaced
		case r == 0x200d, unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Sk, r):
			return joiner
		case unicode.Is(unicode.So, r):
			return emoji
		}
		return plain
	}
	for len(token) > 0 {
		r, size := utf8.DecodeRuneInString(token)
		first, end := class(r), size
		for end < len(token) && first != emoji {
			r, n := utf8.DecodeRuneInString(token[end:])
			if class(r) != first {
				break
			}
			end += n
		}
		switch run := token[:end]; first {
		case plain:
			split(run, yield)
		case unspaced:
			bigrams(run, yield)
		case emoji:
			yield(run, aWord)
		}
		token = token[end:]
	}
}

// bigrams calls yield with every two adjacent runes.
func bigrams(run string, yield func(term string, kind termKind)) {
	run = strings.ToLower(run)
	_, at := utf8.DecodeRuneInString(run)
	if at == len(run) {
		yield(run, aWord)
		return
	}
	for start := 0; at < len(run); {
		_, next := utf8.DecodeRuneInString(run[at:])
		yield(run[start:at+next], aWord)
		start, at = at, at+next
	}
}
