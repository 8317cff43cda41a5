package scope

import (
	"strings"

	"github.com/recountdb/recount/schemas/wordset"
)

// WordSet returns the set of the words in a text.
func WordSet(words string) map[string]bool { return wordset.Of(words) }

// DirOf returns the directory of a path, "" at the top.
func DirOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}
