package git

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// UTF8Path converts a path to text: bytes that are not UTF-8 become %XX. same means that there were
// none.
func UTF8Path(raw string) (path string, same bool) {
	if utf8.ValidString(raw) {
		return raw, true
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRuneInString(raw[i:])
		if r == utf8.RuneError && n <= 1 {
			fmt.Fprintf(&b, "%%%02X", raw[i])
			i++
			continue
		}
		b.WriteString(raw[i : i+n])
		i += n
	}
	return b.String(), false
}
