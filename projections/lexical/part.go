package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file defines how a part of an object becomes terms. Any change of the rules requires a new
// Version.
//
// The passage is analysed like a command (terms.go), with four differences. The object's title is
// added to every part, at half weight, unless the passage begins with it. Stop words count only in
// a part that has nothing else. Runs of letters of scripts without spaces between words give their
// bigrams, a single such letter itself. Emoji are terms of their own.
const titleShare = 2 // the title's weight is divided by it

// partTerms is the analysis of a part: its distinct terms, and its length, the sum of their weights
// in whole occurrences.
type partTerms struct {
	terms  []use
	length uint32
}

// analyser makes terms of parts. It caches the terms of tokens, which never affects the result. The
// cache has two halves: one is filled while the other is only read and later dropped. Cached values
// are allocated in large pieces: tens of thousands of small objects would cost the garbage
// collector more than everything else that an event leaves in memory.
type analyser struct {
	young, old tokenUses
	words      map[string]*word // of both halves
	room       []word           // rest of a piece of memory for words
	terms      texts            // rest of a piece of memory for terms
	found      []*word          // in the current text
	stops      []use            // in the current text
	fresh      []use            // of the token read last
	count      int              // terms of the current text, including repeats
	limit      int              // maximum of distinct terms, if not 0
	keeps      int              // maximum of tokens of a half
	out        partTerms
}

// tokenUses caches the terms of tokens.
type tokenUses struct {
	uses map[string][]use
	text texts // memory of the keys
	room []use // rest of a piece of memory
}

// texts is memory for copies of texts, many in a piece.
type texts struct{ piece strings.Builder }

// textPiece is the size of a piece of texts in bytes, wordPiece that of a piece of words or uses in
// elements.
const (
	textPiece = 1 << 13
	wordPiece = 1 << 8
)

func (t *texts) copy(s string) string {
	if t.piece.Cap()-t.piece.Len() < len(s) {
		t.piece.Reset()
		t.piece.Grow(max(textPiece, len(s)))
	}
	t.piece.WriteString(s) // within the capacity, so it does not move
	all := t.piece.String()
	return all[len(all)-len(s):]
}

func (t *tokenUses) add(token string, all []use) {
	if cap(t.room)-len(t.room) < len(all) {
		t.room = make([]use, 0, max(wordPiece, len(all)))
	}
	start := len(t.room)
	t.room = append(t.room, all...)
	t.uses[t.text.copy(token)] = t.room[start:len(t.room):len(t.room)]
}

// word is a term, with its weight in the current part.
type word struct {
	term   string
	weight uint32
	// waiting and number are used by objectWriter: how many postings wait, and its number among the
	// terms that have any.
	waiting, number uint32
}

// use is an occurrence of a term.
type use struct {
	*word
	weight uint32
	stop   bool
}

// maxTokens is how many tokens a half keeps, maxTokenBytes their maximum length. The analysers of
// queries keep fewer, since there is one for each concurrent query.
const (
	maxTokens      = 1 << 14
	maxQueryTokens = 1 << 10
	maxTokenBytes  = 64
)

func newAnalyser() *analyser {
	return &analyser{young: tokenUses{uses: map[string][]use{}}, words: map[string]*word{}, keeps: maxTokens}
}

// newQueryAnalyser returns an analyser for queries.
func newQueryAnalyser() *analyser {
	a := newAnalyser()
	a.limit, a.keeps = maxQueryTerms, maxQueryTokens
	return a
}

// part returns the terms of a passage, valid until the next call.
func (a *analyser) part(title, passage string) partTerms {
	if len(a.young.uses) > a.keeps {
		a.old, a.young = a.young, tokenUses{uses: make(map[string][]use, a.keeps)}
	}
	if len(a.words) > 4*a.keeps {
		clear(a.words)
		a.old, a.young = tokenUses{}, tokenUses{uses: map[string][]use{}}
	}
	a.found, a.stops, a.count = a.found[:0], a.stops[:0], 0
	if title != "" && !strings.HasPrefix(passage, title) {
		a.text(title, titleShare)
	}
	a.text(passage, 1)
	if len(a.found) == 0 {
		for _, u := range a.stops {
			a.add(u)
		}
	}
	a.out.terms = a.out.terms[:0]
	sum := uint64(0)
	for _, w := range a.found {
		a.out.terms = append(a.out.terms, use{word: w, weight: w.weight})
		sum += uint64(w.weight)
		w.weight = 0
	}
	a.out.length = uint32(max(1, (sum+fullWeight/2)/fullWeight))
	return a.out
}

// text adds the terms of a text, with their weight divided by share.
func (a *analyser) text(text string, share uint32) {
	tokens(text, func(token string) bool {
		for _, u := range a.uses(token) {
			u.weight = max(1, u.weight/share)
			if u.stop {
				a.stops = append(a.stops, u)
			} else {
				a.add(u)
			}
			a.count++
		}
		if a.limit > 0 {
			return len(a.found) < a.limit
		}
		return a.count < maxTerms
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

// uses returns the terms of a token, valid until the next call.
func (a *analyser) uses(token string) []use {
	if all, ok := a.young.uses[token]; ok {
		return all
	}
	all, ok := a.old.uses[token]
	if !ok {
		all = a.read(token)
	}
	if len(token) <= maxTokenBytes {
		a.young.add(token, all)
	}
	return all
}

func (a *analyser) read(token string) []use {
	stop := stopWords[strings.ToLower(strings.TrimRight(token, ".:!?"))]
	a.fresh = a.fresh[:0]
	segments(token, func(term string, isPart bool) {
		weight := uint32(fullWeight)
		if isPart {
			weight = partWeight
		}
		a.fresh = append(a.fresh, use{a.word(term), weight, stop})
	})
	return a.fresh
}

// word returns the word of a term.
func (a *analyser) word(term string) *word {
	w := a.words[term]
	if w == nil {
		if len(a.room) == 0 {
			a.room = make([]word, wordPiece)
		}
		w, a.room = &a.room[0], a.room[1:]
		w.term = a.terms.copy(term)
		a.words[w.term] = w
	}
	return w
}

// segments calls yield with the terms of a token: those of split, of runs of unspaced letters, and
// emoji.
func segments(token string, yield func(term string, isPart bool)) {
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
			yield(run, false)
		}
		token = token[end:]
	}
}

// bigrams calls yield with every two adjacent runes.
func bigrams(run string, yield func(term string, isPart bool)) {
	run = strings.ToLower(run)
	_, at := utf8.DecodeRuneInString(run)
	if at == len(run) {
		yield(run, false)
		return
	}
	for start := 0; at < len(run); {
		_, next := utf8.DecodeRuneInString(run[at:])
		yield(run[start:at+next], false)
		start, at = at, at+next
	}
}
