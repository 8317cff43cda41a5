// Package wordset makes sets of words, in which tables of programs, flags and names are written down.
package wordset

import "strings"

// Of returns the set of the words in a text.
func Of(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}
