package wire

import (
	"cmp"
	"strconv"
	"strings"
)

// shorts has what an answer's text named before, by which it shortens what follows. The writer and
// the reader of a text have equal ones.
type shorts struct {
	// file is what ":LINE" is in: the file of the last node, and in a row's values that of the row's
	// first node.
	file string
	// path is the last path that was written, and seen the last one of each base name.
	path string
	seen map[string]string
	// name is the last name that was written.
	name string
	// date is that of the last time that was written, with the "T" after it.
	date string
}

// maxShared is the maximum number of dots that stand for the beginning of a name.
const maxShared = 9

// define notes the place of a node that is defined.
func (s *shorts) define(path string) {
	if path == "" {
		return
	}
	if s.seen == nil {
		s.seen = map[string]string{}
	}
	s.file, s.path = path, path
	if _, base := split(path); base != "" {
		s.seen[base] = path
	}
}

// refer notes the place of a node that is referred to.
func (s *shorts) refer(path string) {
	if path != "" {
		s.file = path
	}
}

// split cuts a path after its last slash.
func split(path string) (dir, base string) {
	at := strings.LastIndexByte(path, '/') + 1
	return path[:at], path[at:]
}

// shortPath returns a path as a word: its base name if that was the last path with it, else how it is
// reached from the directory of the last path, if that is shorter.
func (s *shorts) shortPath(path string) string {
	dir, base := split(path)
	if !plain(path) || strings.Contains(path, ":") || isRelative(path) {
		return strconv.Quote(path)
	}
	if dir == "" {
		if last, ok := s.seen[path]; ok && last != path {
			return strconv.Quote(path)
		}
		return path
	}
	if plain(base) && s.seen[base] == path {
		return base
	}
	if word, ok := relative(path, s.path); ok {
		return word
	}
	return path
}

// maxUp is how many directories a relative path goes up.
const maxUp = 3

// isRelative reports whether a word begins as those of relative do.
func isRelative(word string) bool {
	return strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
}

// relative returns how a path is reached from the directory of another, or false if that has no
// directory in place of which to say so: "./" stands for one at least, each "../" for one more.
func relative(path, from string) (string, bool) {
	dir, _ := split(from)
	for up := 0; up <= maxUp && strings.Count(dir, "/") > up; up++ {
		if rest, ok := strings.CutPrefix(path, dir); ok && rest != "" && !strings.HasPrefix(rest, "../") {
			return ups(up) + rest, true
		}
		dir, _ = split(strings.TrimSuffix(dir, "/"))
	}
	return "", false
}

func ups(n int) string {
	if n == 0 {
		return "./"
	}
	return strings.Repeat("../", n)
}

// separates reports whether a byte ends a part of a name.
func separates(c byte) bool { return c == '.' || c == ':' || c == '/' || c == '#' }

// startsNumber reports whether a word could be read as the number of a node.
func startsNumber(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// shortName returns a name as a word: a dot for each of the first parts that it shares with the name
// before.
func (s *shorts) shortName(name string) string {
	if name == "" {
		return "-"
	}
	last := s.name
	s.name = name
	if !plain(name) || name[0] == '.' || startsNumber(name) {
		return quoteShared(name, last)
	}
	rest, dots := shared(name, last)
	return strings.Repeat(".", dots) + rest
}

// quoteShared returns a quoted string, with dots before it for the first parts of a name that another
// begins with as well, as far as they have no slash and nothing to quote.
func quoteShared(s, last string) string {
	if at := strings.IndexAny(last, " /"); at >= 0 {
		last = last[:at]
	}
	rest, dots := shared(s, last)
	if dots == 0 || !simple(s[:len(s)-len(rest)]) || !isLetter(s[0]) {
		return strconv.Quote(s)
	}
	return strings.Repeat(".", dots) + strconv.Quote(rest)
}

// shared returns a name without the first parts that it shares with another, and how many these are.
// The rest is not empty and does not begin with a dot.
func shared(name, last string) (rest string, parts int) {
	rest = name
	for i, n := 0, 0; i < len(last) && i < len(name)-1 && last[i] == name[i] && n < maxShared; i++ {
		if separates(name[i]) {
			if n++; name[i+1] != '.' {
				rest, parts = name[i+1:], n
			}
		}
	}
	return rest, parts
}

// isLetter reports whether a part of a name begins so, and no number.
func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// shortValue returns a value as a word of a row: a place in file by its line alone, one near it as it
// is reached from there, 0.98 as .98, a
// time of the same day as the time before without its date, and a name (no path) with a dot for each of
// the first parts that it shares with the value above it.
func (s *shorts) shortValue(v, above string) string {
	if v == "" {
		return "-"
	}
	if !simple(v) || v == editedWord {
		return quoteShared(v, above)
	}
	if at, ok := strings.CutPrefix(v, s.file); ok && s.file != "" && (at == "" || at[0] == ':' && at != ":") {
		return cmp.Or(at, ":")
	}
	if isFraction(v) {
		return v[1:]
	}
	if path, at, ok := strings.Cut(v, ":"); ok {
		if dir, base := split(path); dir != "" && plainValue(base) && s.seen[base] == path && !isHour(base+":") {
			return base + ":" + at
		}
	}
	if word, ok := relative(v, s.file); ok && plainValue(v) {
		return word
	}
	if s.date != "" && strings.HasPrefix(v, s.date) && isHour(v[len(s.date)-1:]) {
		return v[len(s.date)-1:]
	}
	if _, short := s.fullPlace(v); short || !plainValue(v) || isHour(v) {
		return strconv.Quote(v)
	}
	s.note(v)
	if rest, dots := shared(v, above); dots > 0 && isLetter(rest[0]) && !strings.Contains(v, "/") {
		return strings.Repeat(".", dots) + rest
	}
	return v
}

// fullPlace returns the place that BASE:… stands for, and whether it stands for another.
func (s *shorts) fullPlace(v string) (string, bool) {
	base, at, ok := strings.Cut(v, ":")
	path, known := s.seen[base]
	if !ok || !known || path == base {
		return v, false
	}
	return path + ":" + at, true
}

// pass notes a value of a row of no node: a place is what ":LINE" is in from here on.
func (s *shorts) pass(v string) {
	at := strings.LastIndexByte(v, ':')
	if at <= 0 || at == len(v)-1 || strings.Trim(v[at+1:], "0123456789") != "" {
		return
	}
	path := v[:at]
	dot := strings.LastIndexByte(path, '.')
	if dot > 0 && dot < len(path)-1 && isLetter(path[dot+1]) && plain(path) && !strings.Contains(path, ":") {
		s.file = path
	}
}

// note keeps the date of a time.
func (s *shorts) note(v string) {
	if len(v) > 11 && isDate(v[:10]) && isHour(v[10:]) {
		s.date = v[:11]
	}
}

// plainValue reports whether a value stands for itself in a row.
func plainValue(v string) bool { return plain(v) && v[0] != '.' && v[0] != '^' }

// isFraction reports whether a value is a number such as 0.98.
func isFraction(v string) bool {
	return len(v) > 2 && v[:2] == "0." && strings.Trim(v[2:], "0123456789") == ""
}

// isDate reports whether a text has the form 2026-11-23.
func isDate(s string) bool {
	return len(s) == 10 && s[4] == '-' && s[7] == '-' && strings.Trim(s[:4]+s[5:7]+s[8:], "0123456789") == ""
}

// isHour reports whether a text begins as T18: does.
func isHour(s string) bool {
	return len(s) >= 4 && s[0] == 'T' && s[3] == ':' && strings.Trim(s[1:3], "0123456789") == ""
}
