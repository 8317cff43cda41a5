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
	c := scanner{sqlFile: s, src: src, comment: -1, bodyEnd: -1}
	for c.pos < len(src) && c.lost <= maxLost {
		from := c.pos
		switch b := src[from]; {
		case c.delimiter != "" && bytes.HasPrefix(src[from:], []byte(c.delimiter)):
			c.pos += len(c.delimiter)
			c.add(';', "", from)
		case c.bodyEnd >= 0 && from >= c.bodyEnd:
			end := c.bodyEnd + c.tag
			s.tokens = append(s.tokens, sqlToken{kind: '$', start: uint32(c.bodyEnd), end: uint32(end)})
			c.pos, c.bodyEnd = max(from, end), -1
		case b <= ' ':
			c.pos++
		case b == '-' && c.next(1) == '-', b == '#':
			if c.comment < 0 || bytes.Count(src[c.commentEnd:from], []byte("\n")) > 1 {
				c.comment = from
			}
			c.pos = extract.LineEndAt(src, from)
			c.commentEnd = c.pos
		case b == '/' && c.next(1) == '*' && c.next(2) == '!': // MySQL executes its content
			for c.pos += 3; isDigit(c.next(0)); {
				c.pos++
			}
		case b == '/' && c.next(1) == '*':
			c.comment = from
			if end := bytes.Index(src[from+2:], []byte("*/")); end < 0 {
				c.pos = len(src)
			} else {
				c.pos += end + 4
			}
			c.commentEnd = c.pos
		case b == '*' && c.next(1) == '/':
			c.pos += 2
		default:
			c.token(b)
			c.document(from)
		}
	}
	if c.lost > maxLost {
		extract.Partial(s.Facts, s.Place(c.lostAt), "dollar quotes that nothing closes")
	}
}

// maxLost is the maximum number of tags in dollars that nothing closes.
const maxLost = 64

// scanner splits a file into tokens.
type scanner struct {
	*sqlFile
	src []byte
	pos int
	// comment is the start of the comment before pos, -1 if there is none; commentEnd is its end.
	comment, commentEnd int
	// bodyEnd is the end of the body in dollar quotes of the enclosing routine, -1 if there is none; tag is the length of
	// its tag.
	bodyEnd, tag int
	// lost counts the tags that nothing closes; lostAt is the last one.
	lost      int
	lostAt    uint32
	delimiter string // of MySQL's client, if it is not ;
}

// next returns the byte i bytes after pos, 0 beyond the end.
func (c *scanner) next(i int) byte {
	if c.pos+i < len(c.src) {
		return c.src[c.pos+i]
	}
	return 0
}

// add adds the token that ends at pos.
func (c *scanner) add(kind byte, text string, from int) {
	t := sqlToken{kind: kind, text: text, start: uint32(from), end: uint32(c.pos)}
	if kind == 'w' {
		t.upper = strings.ToUpper(text)
	}
	c.tokens = append(c.tokens, t)
}

// document makes the comment before a token its documentation, if no line is empty between them.
func (c *scanner) document(token int) {
	if c.comment < 0 {
		return
	}
	if gap := c.src[min(c.commentEnd, token):token]; bytes.Count(gap, []byte("\n")) <= 1 {
		c.comments[uint32(token)] = extract.CleanDoc(string(c.src[c.comment:c.commentEnd]))
	}
	c.comment = -1
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// beginsName reports whether a name may begin with a byte.
func beginsName(b byte) bool { return extract.IsWordByte(b) && !isDigit(b) }

// token reads the token at pos, which begins with b.
func (c *scanner) token(b byte) {
	from := c.pos
	switch {
	case b == '\'':
		c.pos = quotedEnd(c.src, from, '\'')
		c.add('s', "", from)
	case b == '"' || b == '`':
		c.pos = quotedEnd(c.src, from, b)
		quote := string(b)
		c.add('q', strings.ReplaceAll(strings.Trim(string(c.src[from:c.pos]), quote), quote+quote, quote), from)
	case b == '[' && beginsName(c.next(1)):
		for c.pos < len(c.src) && c.src[c.pos] != ']' && c.src[c.pos] != '\n' {
			c.pos++
		}
		c.pos = min(c.pos+1, len(c.src))
		c.add('q', strings.Trim(string(c.src[from:c.pos]), "[]\n"), from)
	case b == '$' && (c.next(1) == '$' || beginsName(c.next(1))):
		c.dollars()
	case extract.IsWordByte(b) || b >= 0x80:
		c.wordOrNumber(b)
	default:
		c.pos++
		c.add(b, "", from)
	}
}

// dollars reads a text in dollar quotes: a literal, or the body of a routine, whose tokens follow.
func (c *scanner) dollars() {
	from := c.pos
	open, end := dollarQuoted(c.src, from)
	switch {
	case open == 0:
		c.pos++
	case end < 0:
		c.pos += open
		c.lost++
		c.lostAt = uint32(from)
	case c.bodyEnd < 0 && c.before("AS", "IS", "DO"):
		c.pos += open
		c.add('$', "", from)
		c.bodyEnd, c.tag = end, open
	default:
		c.pos = end + open
		c.add('s', "", from)
	}
}

// wordOrNumber reads a word, a number, or the command DELIMITER of MySQL's client.
func (c *scanner) wordOrNumber(b byte) {
	from := c.pos
	for extract.IsWordByte(c.next(0)) || c.next(0) >= 0x80 || c.next(0) == '$' {
		c.pos++
	}
	switch text := string(c.src[from:c.pos]); {
	case isDigit(b):
		c.add('s', "", from)
	case strings.EqualFold(text, "DELIMITER") && (len(c.tokens) == 0 || c.tokens[len(c.tokens)-1].kind == ';'):
		end := extract.LineEndAt(c.src, c.pos)
		c.delimiter = strings.TrimSpace(string(c.src[c.pos:end]))
		if len(c.delimiter) > 8 || c.delimiter == ";" {
			c.delimiter = ""
		}
		c.pos = end
	default:
		c.add('w', text, from)
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
