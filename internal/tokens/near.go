package tokens

import "sync"

// near has the counts of pieces that Near met, so that the vocabulary is asked once for each.
var near = struct {
	sync.RWMutex
	counts map[string]int
}{counts: map[string]int{}}

// maxNear limits the memory of near.
const maxNear = 1 << 16

// Near returns about the number of tokens of a text, many times faster than Count: it splits where
// the vocabulary's expression splits ASCII, and adds up the counts of the pieces. It is for choosing
// what to count; what must not exceed a budget is counted by Count.
func Near(text string) (n int) {
	for len(text) > 0 {
		end := pieceEnd(text)
		n += countPiece(text[:end])
		text = text[end:]
	}
	return n
}

func countPiece(piece string) int {
	near.RLock()
	n, ok := near.counts[piece]
	near.RUnlock()
	if ok {
		return n
	}
	n = Count(piece)
	if len(piece) <= 64 {
		near.Lock()
		if len(near.counts) >= maxNear {
			clear(near.counts)
		}
		near.counts[string(append([]byte(nil), piece...))] = n
		near.Unlock()
	}
	return n
}

const maxPiece = 1 << 10

func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' || c >= 0x80 }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isEnd(c byte) bool    { return c == '\n' || c == '\r' }
func isSpace(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' }

// pieceEnd returns where the first piece of a text ends.
func pieceEnd(s string) int {
	i := 0
	if !isLetter(s[0]) && !isDigit(s[0]) && !isEnd(s[0]) && len(s) > 1 && isLetter(s[1]) {
		i = 1
	}
	if isLetter(s[i]) {
		for i < len(s) && i < maxPiece && isUpper(s[i]) {
			i++
		}
		for i < len(s) && i < maxPiece && isLower(s[i]) {
			i++
		}
		return i
	}
	if isDigit(s[0]) {
		for i < len(s) && i < 3 && isDigit(s[i]) {
			i++
		}
		return i
	}
	if j := i; s[j] == ' ' && j+1 < len(s) && !isSpace(s[j+1]) || !isSpace(s[j]) {
		j++
		for j < len(s) && j < maxPiece && !isSpace(s[j]) && !isLetter(s[j]) && !isDigit(s[j]) {
			j++
		}
		for j < len(s) && j < maxPiece && (isEnd(s[j]) || s[j] == '/') {
			j++
		}
		return j
	}
	last := 0 // behind the last end of a line
	for i < len(s) && i < maxPiece && isSpace(s[i]) {
		if i++; isEnd(s[i-1]) {
			last = i
		}
	}
	switch {
	case last > 0:
		return last
	case i > 1 && i < len(s): // the last blank belongs to what follows
		return i - 1
	}
	return i
}
