// Package errorline finds the lines of an output that report an error, by the words in them.
package errorline

import "strings"

// maxWord is the number of bytes of a word that are kept: of a longer one its end.
const maxWord = 32

// Words are the words that mark a line as the report of an error, in lower case. Each question has
// its own, chosen on its own outputs.
type Words struct {
	whole  map[string]bool
	begins string
}

// Parse returns the words of a list that is separated by white space. A word that begins with begins
// marks a line too, unless begins is empty; one that ends with error or exception always does.
func Parse(list, begins string) Words {
	w := Words{map[string]bool{}, begins}
	for word := range strings.FieldsSeq(list) {
		w.whole[word] = true
	}
	return w
}

// In reports whether a line has such a word, in any case. It is called for each line of long outputs,
// so it allocates nothing.
func (w Words) In(line string) bool {
	var word [maxWord]byte
	n := 0
	for i := 0; i <= len(line); i++ {
		c := byte(' ')
		if i < len(line) {
			c = line[i]
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 'a' && c <= 'z' || c == '\'' {
			if n == len(word) { // only the end of so long a word matters
				n = copy(word[:], word[n/2:])
			}
			word[n] = c
			n++
			continue
		}
		if w.has(word[:n]) {
			return true
		}
		n = 0
	}
	return false
}

func (w Words) has(word []byte) bool {
	return w.whole[string(word)] || hasSuffix(word, "error") || hasSuffix(word, "exception") ||
		w.begins != "" && len(word) >= len(w.begins) && string(word[:len(w.begins)]) == w.begins
}

func hasSuffix(word []byte, end string) bool {
	return len(word) >= len(end) && string(word[len(word)-len(end):]) == end
}
