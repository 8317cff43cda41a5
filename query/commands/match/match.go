// Package match judges how well the text of a command fits what somebody types to find it: words in
// any order, each of them a word of the command, the beginning of one, a part of one, or letters
// that occur in this order. It is pure and imports nothing of Recount's, so that the index of a
// server and a terminal that has lost its server rank alike.
package match

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a text that is searched.
type Text struct {
	// Raw is the text.
	Raw string
	// folded is Raw in lower case, the same string if it is.
	folded string
	// mask has a bit for each kind of character in folded: a text whose mask lacks one of a word's
	// cannot match it.
	mask uint64
}

// NewText prepares a text. Texts with characters that change their length in lower case are folded
// only in ASCII, so that spans in folded are spans in Raw.
func NewText(raw string) Text {
	folded := strings.ToLower(raw)
	if len(folded) != len(raw) {
		folded = lowerASCII(raw)
	}
	if folded == raw {
		folded = raw // one string in memory
	}
	return Text{Raw: raw, folded: folded, mask: maskOf(folded)}
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// maskOf returns the kinds of characters of a folded text: a bit for each letter and digit, and some
// that other bytes share.
func maskOf(s string) uint64 {
	var m uint64
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			m |= 1 << (c - 'a')
		case c >= '0' && c <= '9':
			m |= 1 << (26 + c - '0')
		case c < utf8.RuneSelf:
			m |= 1 << (36 + c%20)
		default:
			m |= 1 << (56 + c%8)
		}
	}
	return m
}

// Query is what was typed.
type Query struct {
	words []word
	exact bool
}

// word is one word of a query.
type word struct {
	text string
	mask uint64
	// sensitive means that the case counts, because the word has an upper-case letter.
	sensitive bool
	letters   int
}

// Words returns a query of words that a text must have in any order, with gaps between their letters
// if there is no better way.
func Words(typed string) Query {
	var q Query
	for w := range strings.FieldsSeq(typed) {
		q.words = append(q.words, newWord(w))
	}
	return q
}

// Exact returns a query of a whole text that must occur as it is.
func Exact(typed string) Query {
	q := Query{exact: true}
	if typed != "" {
		q.words = []word{newWord(typed)}
	}
	return q
}

func newWord(typed string) word {
	w := word{text: typed, sensitive: strings.ContainsFunc(typed, unicode.IsUpper), letters: utf8.RuneCountInString(typed)}
	w.mask = maskOf(strings.ToLower(typed))
	if !w.sensitive {
		w.text = strings.ToLower(typed)
	}
	return w
}

// Empty reports whether the query matches everything.
func (q *Query) Empty() bool { return len(q.words) == 0 }

// Score returns how well a text fits, from 0 to 1, and whether it fits at all: every word must.
func (q *Query) Score(t *Text) (score float64, ok bool) {
	if len(q.words) == 0 {
		return 0, true
	}
	for i := range q.words {
		if q.words[i].mask&^t.mask != 0 {
			return 0, false
		}
	}
	sum, weights, covered, ordered, last := 0.0, 0.0, 0, 0, -1
	for i := range q.words {
		w := &q.words[i]
		m := w.find(t, q.exact)
		if m.quality == 0 {
			return 0, false
		}
		weight := float64(w.letters)
		sum += weight * m.quality
		weights += weight
		covered += len(w.text)
		if m.at > last {
			ordered++
		}
		last = m.at
	}
	score = sum / weights * (1 - orderWeight - coverWeight)
	score += orderWeight * float64(ordered) / float64(len(q.words))
	// How much of the text was typed: among equals the shortest is meant most often.
	score += coverWeight * float64(min(covered, len(t.folded))) / float64(max(len(t.folded), 1))
	return score, true
}

// What the score is made of besides how well the words fit. These weights and those below were chosen
// on the half dev of bench/search.
const (
	orderWeight = 0.15
	coverWeight = 0.35
)

// How well a word fits, by how it occurs.
const (
	wholeWord = 1.0
	wordStart = 0.95
	inside    = 0.6
	scattered = 0.55 // at most, for letters that occur in order
)

// found is the best occurrence of a word.
type found struct {
	quality float64 // 0 if there is none
	at      int     // where it begins
}

// find returns the best occurrence of the word in a text.
func (w *word) find(t *Text, exact bool) found {
	in := t.folded
	if w.sensitive {
		in = t.Raw
	}
	best := found{}
	for from := 0; ; {
		i := strings.Index(in[from:], w.text)
		if i < 0 {
			break
		}
		i += from
		q := inside
		if startsWord(in, i) {
			if q = wordStart; endsWord(in, i+len(w.text)) {
				q = wholeWord
			}
		}
		if q > best.quality {
			best = found{q, i}
		}
		if q == wholeWord {
			break
		}
		from = i + 1
	}
	if best.quality > 0 || exact {
		return best
	}
	return w.scatteredIn(in)
}

// way is how the letters of a word so far can be taken, the last of them at a place in a text.
type way struct {
	at, from int16 // from is the place of the first letter
	sum      float32
}

// scatteredIn finds the best way to take the word's letters in their order: at the starts of words,
// next to each other, and with short gaps.
func (w *word) scatteredIn(in string) found {
	if len(in) > maxScattered {
		in = in[:maxScattered]
	}
	if !hasLetters(in, w.text) {
		return found{}
	}
	if len(in) <= maxScattered/4 { // as most are: less memory to clear
		var room [2][maxScattered / 4]way
		return w.best(in, room[0][:0], room[1][:0])
	}
	var room [2][maxScattered]way
	return w.best(in, room[0][:0], room[1][:0])
}

// best visits, for each letter of the word, the places of the letter in the text, and for each the
// best way that ends at an earlier one. Of the ways with a gap before a place the best stays the best
// for later places, as each byte of a gap costs the same. The slices have room for a way to each byte.
func (w *word) best(in string, ways, next []way) found {
	for k := range len(w.text) {
		next = next[:0]
		before := 0                  // the ways that end at least two bytes before the place
		best := way{sum: impossible} // of these; its sum is what it would be at byte 0
		for i := 0; i < len(in); i++ {
			step := strings.IndexByte(in[i:], w.text[k])
			if step < 0 {
				break
			}
			i += step
			bonus := float32(anywhere)
			if startsWord(in, i) {
				bonus = atStart
			}
			if k == 0 {
				next = append(next, way{int16(i), int16(i), bonus})
				continue
			}
			for ; before < len(ways) && int(ways[before].at) < i-1; before++ {
				if sum := ways[before].sum + gap*float32(ways[before].at); sum >= best.sum {
					best = way{from: ways[before].from, sum: sum}
				}
			}
			apart := best.sum + bonus - gap*float32(i-1)
			if before < len(ways) && int(ways[before].at) == i-1 && ways[before].sum+adjacent >= apart {
				next = append(next, way{int16(i), ways[before].from, ways[before].sum + adjacent})
			} else if best.sum > impossible {
				next = append(next, way{int16(i), best.from, apart})
			}
		}
		if len(next) == 0 {
			return found{}
		}
		ways, next = next, ways
	}
	last := slices.MaxFunc(ways, func(a, b way) int { return cmp.Compare(a.sum, b.sum) })
	quality := scattered * float64(last.sum) / float64(len(w.text))
	if quality < least {
		return found{}
	}
	return found{quality, int(last.from)}
}

// hasLetters reports whether a text has the letters of a word in their order.
func hasLetters(in, word string) bool {
	k := 0
	for i := 0; i < len(in) && k < len(word); i++ {
		if in[i] == word[k] {
			k++
		}
	}
	return k == len(word)
}

const (
	// maxScattered is the number of bytes of a text in which letters apart are looked for.
	maxScattered = 256
	// impossible is less than every sum.
	impossible = -1e6
	// What a letter counts, by where it is, and what each byte between two letters costs.
	atStart, adjacent, anywhere = 1.0, 0.9, 0.2
	gap                         = 0.03
	// least is the quality below which letters in order are taken for an accident.
	least = 0.3
)

// startsWord reports whether a word begins at a byte: after anything but a letter or a digit, where a
// digit follows a letter, or an upper-case letter a lower-case one.
func startsWord(s string, i int) bool {
	if i == 0 {
		return true
	}
	before, c := s[i-1], s[i]
	return !wordByte(before) || c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z' || !wordByte(c)
}

func endsWord(s string, i int) bool { return i >= len(s) || !wordByte(s[i]) || !wordByte(s[i-1]) }

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// Spans returns the parts of a text that a query matches, as pairs of byte offsets in order, for
// showing them. Parts that overlap are joined.
func (q *Query) Spans(t *Text) [][2]int {
	var spans [][2]int
	marked := make([]bool, len(t.Raw)+1)
	for i := range q.words {
		w := &q.words[i]
		in := t.folded
		if w.sensitive {
			in = t.Raw
		}
		m := w.find(t, q.exact)
		if m.quality == 0 {
			continue
		}
		for at, k := m.at, 0; at < len(in) && at < len(t.Raw) && k < len(w.text); at++ {
			if in[at] == w.text[k] {
				marked[at] = true
				k++
			}
		}
	}
	for i := 0; i < len(t.Raw); i++ {
		if !marked[i] {
			continue
		}
		from := i
		for marked[i] {
			i++
		}
		spans = append(spans, [2]int{from, i})
	}
	return spans
}
