package wire

import (
	"strconv"
	"strings"
	"unicode"
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
	for _, r := range s {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\u2028' || r == '\u2029') {
			return false
		}
	}
	return true
}

// words reads the words of a line.
type words struct {
	rest string
	// quoted tells whether the last word was quoted; after is what followed its closing quote.
	quoted bool
	after  string
	// usual tells that the last pair had "~" and not "=".
	usual bool
}

// mark reads a mark, if it is the next word.
func (w *words) mark(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(w.rest, " "), s)
	if !ok || rest != "" && rest[0] != ' ' {
		return false
	}
	w.rest = rest
	return true
}

// next returns the next word, unquoted, or false at the end of the line.
func (w *words) next() (string, bool, error) {
	w.rest = strings.TrimLeft(w.rest, " ")
	w.quoted, w.after = false, ""
	if w.rest == "" {
		return "", false, nil
	}
	if w.rest[0] != '"' {
		bare, rest, _ := strings.Cut(w.rest, " ")
		w.rest = rest
		// A key may be quoted only as a whole, so a quote inside a word follows "=".
		if at := strings.IndexByte(bare, '"'); at >= 0 {
			return "", false, errorf("text: a quote inside the word %q", bare)
		}
		return bare, true, nil
	}
	quoted, err := strconv.QuotedPrefix(w.rest)
	if err != nil {
		return "", false, errorf("text: a quoted word that does not end")
	}
	s, err := strconv.Unquote(quoted)
	if err != nil {
		return "", false, errorf("text: quoted word: %w", err)
	}
	w.rest = w.rest[len(quoted):]
	w.after, w.rest, _ = strings.Cut(w.rest, " ")
	w.quoted = true
	return s, true, nil
}

// value returns the next word as a value: "-" stands for "".
func (w *words) value() (string, bool, error) {
	s, ok, err := w.next()
	switch {
	case err != nil || !ok:
		return "", false, err
	case w.quoted && w.after != "":
		return "", false, errorf("text: %q after a quoted word", w.after)
	case !w.quoted && s == "-":
		return "", true, nil
	case !w.quoted && strings.ContainsRune(special, rune(s[0])):
		return "", false, errorf("text: %q where a value should be", s)
	}
	return s, true, nil
}

// pair returns the next word as KEY, KEY=VALUE or KEY~VALUE.
func (w *words) pair() (name, value string, set, ok bool, err error) {
	w.rest = strings.TrimLeft(w.rest, " ")
	if w.rest == "" {
		return "", "", false, false, nil
	}
	if w.rest[0] == '"' {
		quoted, err := strconv.QuotedPrefix(w.rest)
		if err != nil {
			return "", "", false, false, errorf("text: a quoted name that does not end")
		}
		if name, err = strconv.Unquote(quoted); err != nil {
			return "", "", false, false, errorf("text: quoted name: %w", err)
		}
		w.rest = w.rest[len(quoted):]
	} else {
		at := strings.IndexAny(w.rest, "=~ ")
		if at < 0 {
			at = len(w.rest)
		}
		name, w.rest = w.rest[:at], w.rest[at:]
		if name == "" || strings.ContainsRune(special, rune(name[0])) {
			return "", "", false, false, errorf("text: %q where a name should be", name)
		}
	}
	w.usual = strings.HasPrefix(w.rest, "~")
	if !w.usual && !strings.HasPrefix(w.rest, "=") {
		if w.rest != "" && w.rest[0] != ' ' {
			return "", "", false, false, errorf("text: %q after a name", w.rest)
		}
		return name, "", false, true, nil
	}
	w.rest = w.rest[1:]
	if w.rest == "" || w.rest[0] == ' ' {
		return "", "", false, false, errorf("text: nothing after %s=", name)
	}
	value, _, err = w.value()
	return name, value, true, err == nil, err
}
