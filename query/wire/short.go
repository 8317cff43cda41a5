package wire

import (
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
	// name is the last name that was written as a plain word.
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

// shortPath returns a path as a word: its base name if that was the last path with it, "./" and its
// base name in the directory of the last path.
func (s *shorts) shortPath(path string) string {
	dir, base := split(path)
	if !plain(path) || strings.Contains(path, ":") || strings.HasPrefix(path, "./") {
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
	if before, _ := split(s.path); before == dir && base != "" {
		return "./" + base
	}
	return path
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
	if !plain(name) || name[0] == '.' || startsNumber(name) {
		return strconv.Quote(name)
	}
	last := s.name
	s.name = name
	rest, dots := shared(name, last)
	return strings.Repeat(".", dots) + rest
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

// shortValue returns a value as a word of a row: a place in file by its line alone, 0.98 as .98, a
// time of the same day as the time before without its date, and a name (no path) with a dot for each of
// the first parts that it shares with the value above it.
func (s *shorts) shortValue(v, above string) string {
	if v == "" {
		return "-"
	}
	if !simple(v) || v == editedWord {
		return strconv.Quote(v)
	}
	if at, ok := strings.CutPrefix(v, s.file+":"); ok && s.file != "" {
		return ":" + at
	}
	if isFraction(v) {
		return v[1:]
	}
	if path, at, ok := strings.Cut(v, ":"); ok {
		if dir, base := split(path); dir != "" && plainValue(base) && s.seen[base] == path && !isHour(base+":") {
			return base + ":" + at
		}
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
