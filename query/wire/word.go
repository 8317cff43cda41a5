package wire

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/recountdb/recount/schemas"
)

// special are the characters that begin something other than a plain word.
const special = `@*+=#>:&"`

// plain reports whether a string stands for itself in the text.
func plain(s string) bool {
	return s != "" && s != "-" && !strings.ContainsRune(special, rune(s[0])) && simple(s)
}

// simple reports whether a string has no character that would end a word or a line.
func simple(s string) bool {
	for _, r := range s {
		if r == '"' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// word returns a string as one word of the text.
func word(s string) string {
	switch {
	case s == "":
		return "-"
	case plain(s):
		return s
	}
	return strconv.Quote(s)
}

// key returns a name as a word that "=" or "~" may follow.
func key(s string) string {
	if plain(s) && !strings.ContainsAny(s, "=~") {
		return s
	}
	return strconv.Quote(s)
}

// verbatim reports whether a text can stand verbatim on lines of the text. Other texts are quoted.
func verbatim(s string) bool {
	return !strings.ContainsFunc(s, schemas.Controls)
}
