package sql

import (
	"bytes"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
)

// sqlToken is a word, a quoted name, a punctuation mark or a literal.
type sqlToken struct {
	kind       byte // w: word, q: quoted name, s: literal, or the mark itself
	text       string
	upper      string // of a word
	start, end uint32
}

// scan splits a file into tokens.
func (s *sqlFile) scan(src []byte) {
	add := func(kind byte, text string, from, to int) {
		t := sqlToken{kind: kind, text: text, start: uint32(from), end: uint32(to)}
		if kind == 'w' {
			t.upper = strings.ToUpper(text)
		}
		s.tokens = append(s.tokens, t)
	}
	comment, commentEnd := -1, -1
	bodyEnd, tag, lost := -1, 0, 0 // of the enclosing routine in dollar quotes; lost counts unclosed tags
	delimiter := ""                // of MySQL's client, if it is not ;
	for at := 0; at < len(src); {
		c := src[at]
		if delimiter != "" && bytes.HasPrefix(src[at:], []byte(delimiter)) {
			add(';', "", at, at+len(delimiter))
			at += len(delimiter)
			continue
		}
		if bodyEnd >= 0 && at >= bodyEnd {
			add('$', "", bodyEnd, bodyEnd+tag)
			at, bodyEnd = max(at, bodyEnd+tag), -1
			continue
		}
		if c <= ' ' {
			at++
			continue
		}
		from := at
		switch {
		case c == '-' && at+1 < len(src) && src[at+1] == '-', c == '#':
			if comment < 0 || strings.Count(string(src[commentEnd:at]), "\n") > 1 {
				comment = at
			}
			at = extract.LineEndAt(src, at)
			commentEnd = at
			continue
		case c == '/' && at+1 < len(src) && src[at+1] == '*':
			if at+2 < len(src) && src[at+2] == '!' { // MySQL executes its content
				at += 3
				for at < len(src) && src[at] >= '0' && src[at] <= '9' {
					at++
				}
				continue
			}
			comment = at
			if end := bytes.Index(src[at+2:], []byte("*/")); end < 0 {
				at = len(src)
			} else {
				at += end + 4
			}
			commentEnd = at
			continue
		case c == '*' && at+1 < len(src) && src[at+1] == '/':
			at += 2
			continue
		case c == '\'':
			at = quotedEnd(src, at, '\'')
			add('s', "", from, at)
		case c == '"' || c == '`':
			at = quotedEnd(src, at, c)
			add('q', strings.ReplaceAll(strings.Trim(string(src[from:at]), string(c)), string([]byte{c, c}), string(c)), from, at)
		case c == '[' && at+1 < len(src) && extract.IsWordByte(src[at+1]) && (src[at+1] < '0' || src[at+1] > '9'):
			for at < len(src) && src[at] != ']' && src[at] != '\n' {
				at++
			}
			at = min(at+1, len(src))
			add('q', strings.Trim(string(src[from:at]), "[]\n"), from, at)
		case c == '$' && at+1 < len(src) && (src[at+1] == '$' || extract.IsWordByte(src[at+1]) && (src[at+1] < '0' || src[at+1] > '9')):
			open, end := dollarQuoted(src, at)
			switch body := s.before("AS", "IS", "DO"); {
			case open == 0:
				at++
			case end < 0:
				at += open
				lost++
			case body && bodyEnd < 0:
				add('$', "", at, at+open)
				at, bodyEnd, tag = at+open, end, open
			default:
				at = end + open
				add('s', "", from, at)
			}
			if lost > 64 {
				extract.Partial(s.Facts, s.Place(uint32(from)), "dollar quotes that nothing closes")
				return
			}
		case extract.IsWordByte(c) || c >= 0x80:
			for at < len(src) && (extract.IsWordByte(src[at]) || src[at] >= 0x80 || src[at] == '$') {
				at++
			}
			if text := string(src[from:at]); c >= '0' && c <= '9' {
				add('s', "", from, at)
			} else if strings.EqualFold(text, "DELIMITER") && (len(s.tokens) == 0 || s.tokens[len(s.tokens)-1].kind == ';') {
				end := extract.LineEndAt(src, at)
				delimiter = strings.TrimSpace(string(src[at:end]))
				if len(delimiter) > 8 || delimiter == ";" {
					delimiter = ""
				}
				at = end
			} else {
				add('w', string(src[from:at]), from, at)
			}
		default:
			at++
			add(c, "", from, at)
		}
		if comment >= 0 {
			gap := src[min(commentEnd, from):from]
			if strings.Count(string(gap), "\n") <= 1 {
				s.comments[uint32(from)] = extract.CleanDoc(string(src[comment:commentEnd]))
			}
			comment, commentEnd = -1, -1
		}
	}
}

// quotedEnd returns the offset after the closing quote. Two quotes are one in the text, and in
// strings a backslash escapes a quote.
func quotedEnd(src []byte, at int, quote byte) int {
	for at++; at < len(src); at++ {
		switch {
		case src[at] == '\\' && quote == '\'' && at+1 < len(src) && src[at+1] == '\'' && at+2 < len(src) && src[at+2] != '\n' && src[at+2] != ';':
			at++
		case src[at] == quote && at+1 < len(src) && src[at+1] == quote:
			at++
		case src[at] == quote:
			return at + 1
		}
	}
	return len(src)
}

// dollarQuoted returns the length of the $tag$ at an offset, 0 if there is none, and the offset of
// the tag that closes it, -1 if there is none.
func dollarQuoted(src []byte, at int) (open, end int) {
	i := at + 1
	for i < len(src) && extract.IsWordByte(src[i]) {
		i++
	}
	if i >= len(src) || src[i] != '$' {
		return 0, -1
	}
	tag := src[at : i+1]
	if end = bytes.Index(src[i+1:], tag); end >= 0 {
		end += i + 1
	}
	return len(tag), end
}

// before reports whether the last token is one of some words.
func (s *sqlFile) before(words ...string) bool {
	return len(s.tokens) > 0 && slices.Contains(words, s.tokens[len(s.tokens)-1].upper)
}

// peek returns the i-th token from here, or one of kind 0 beyond the end.
func (s *sqlFile) peek(i int) sqlToken {
	if s.at+i < len(s.tokens) && s.at+i >= 0 {
		return s.tokens[s.at+i]
	}
	return sqlToken{}
}

// word reports whether the next tokens are these words, and if so skips them.
func (s *sqlFile) word(words ...string) bool {
	for i, w := range words {
		if t := s.peek(i); t.kind != 'w' || t.upper != w {
			return false
		}
	}
	s.at += len(words)
	return true
}

// name reads a name, with its schema if it has one. at is its first token.
func (s *sqlFile) name() (schema, name string, at sqlToken, ok bool) {
	at = s.peek(0)
	for {
		t := s.peek(0)
		if t.kind != 'w' && t.kind != 'q' || t.text == "" {
			return schema, name, at, ok
		}
		schema, name, ok = name, t.text, true
		s.at++
		if s.peek(0).kind != '.' {
			return schema, name, at, ok
		}
		s.at++
	}
}
