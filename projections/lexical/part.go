package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How a part of an object becomes terms. Changing any of it takes a new Version.
//
// The passage is read as commands are (terms.go), but for four things. The object's
// title is read with every part, at half weight, unless the passage begins with it.
// Stop words count only in a part that has nothing else. Runs of letters of scripts
// that put no spaces between words give their bigrams, a letter that stands alone
// itself. Emoji are words of their own.
const titleShare = 2 // of the weight that a word of the passage has

// partTerms is what a part comes to: its terms, each once, and its length: the sum of
// their weights in whole words.
type partTerms struct {
	terms  []use
	length uint32
}

// analyser makes terms of parts. It keeps what tokens came to, which never shows in the
// result: of two halves one is filled while the other is read and then dropped. What it
// keeps lies in large pieces: as objects of their own, tens of thousands of words cost
// the garbage collector more than all else that an event leaves in memory.
type analyser struct {
	young, old tokenUses
	words      map[string]*word // of both
	room       []word           // of what words leads to: the rest of a piece
	terms      texts            // likewise
	found      []*word          // in the text at hand
	stops      []use            // likewise
	fresh      []use            // of the token that was read last
	count      int              // of terms of the text at hand, repeats included
	limit      int              // of distinct terms, if not 0
	keeps      int              // tokens, of a half
	out        partTerms
}

// tokenUses is what tokens came to.
type tokenUses struct {
	uses map[string][]use
	text texts // of the keys
	room []use // the rest of a piece
}

// texts are copies of texts, many in a piece.
type texts struct{ piece strings.Builder }

// textPiece is how many bytes a piece of texts has, wordPiece how many words, or uses, one
// of those.
const (
	textPiece = 1 << 13
	wordPiece = 1 << 8
)

func (t *texts) copy(s string) string {
	if t.piece.Cap()-t.piece.Len() < len(s) {
		t.piece.Reset()
		t.piece.Grow(max(textPiece, len(s)))
	}
	t.piece.WriteString(s) // which does not move it
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

// word is a term, with its weight in the part at hand.
type word struct {
	term   string
	weight uint32
	// objectWriter's: how many postings wait, and its number among the words that have any.
	waiting, number uint32
}

// use is a term where it stands.
type use struct {
	*word
	weight uint32
	stop   bool
}

// maxTokens is how many tokens a half keeps, maxTokenBytes how long they may be; of
// questions, of which there are as many analysers as are asked at once, it keeps fewer.
const (
	maxTokens      = 1 << 14
	maxQueryTokens = 1 << 10
	maxTokenBytes  = 64
)

func newAnalyser() *analyser {
	return &analyser{young: tokenUses{uses: map[string][]use{}}, words: map[string]*word{}, keeps: maxTokens}
}

// newQueryAnalyser makes the terms of questions.
func newQueryAnalyser() *analyser {
	a := newAnalyser()
	a.limit, a.keeps = maxQueryTerms, maxQueryTokens
	return a
}

// part is good until the next call.
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

// text adds the terms of a text, at a share of their weight.
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

// uses are the terms of a token, good until the next call.
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

// word is that of a term.
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

// segments calls yield with the terms of a token: those of split, of runs of unspaced
// letters, and emoji.
func segments(token string, yield func(term string, isPart bool)) {
	if isASCII(token) {
		split(token, yield)
		return
	}
	const (
		plain = iota
		unspaced
		emoji
		joiner // of emoji, which says nothing by itself
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

// bigrams calls yield with every two runes that stand side by side.
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
