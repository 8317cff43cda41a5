package secrets

import (
	"context"
	"strings"
	"sync"
)

// text is one pass over a text. It holds the findings, and how far each part that reads ahead has
// got, so that nothing is read twice.
type text struct {
	r     *Redactor
	s     string
	spans []span
	memo  memo

	names   int // names before this offset are inside a value that was read already
	places  int // the same for places
	walked  int // commands before this offset were walked
	quoted  int // quotes before this offset were counted
	quote   byte
	parted  int // commands before this offset were separated; the last one
	command int // begins here
	pgpass  bool
	netrc   tri
	values  bool // search for names, places and programs, not only for formats
	err     error
	tried   map[int]bool // extra rules that were tried
	open    [2]int       // before this offset a quote (" and ') is known not to close
}

// unused keeps texts for reuse: most texts are short, and the state is larger than they are.
var unused = sync.Pool{New: func() any { return new(text) }}

// free returns t for reuse, without its content.
func (t *text) free() {
	spans := t.spans[:0]
	if cap(spans) > 64 {
		spans = nil
	}
	clear(spans[:cap(spans)])
	*t = text{spans: spans}
	unused.Put(t)
}

type tri uint8

// has reports whether the text contains a word, and caches the answer.
func (t *text) has(known *tri, word string) bool {
	if *known == 0 {
		*known = 1
		if strings.Contains(t.s, word) {
			*known = 2
		}
	}
	return *known == 2
}

// found adds a secret.
func (t *text) found(start, end int, name string, rank int) {
	if start < end {
		t.spans = append(t.spans, span{start, end, rank, name})
	}
}

// These ranks decide the name of a union of spans: the lowest rank wins.
const (
	rankExtra   = 0
	rankFormat  = 1000
	rankPlace   = 3000
	rankName    = 4000
	rankProgram = 5000
	rankEntropy = 9000
)

// stride is the number of bytes between two checks of the context.
const stride = 64 << 10

func (t *text) sweep(ctx context.Context) {
	next := stride
	t.r.triggers.each(t.s, func(at int, l *trigger) {
		if t.err != nil {
			return
		}
		if at >= next {
			next = at + stride
			if t.err = ctx.Err(); t.err != nil {
				return
			}
		}
		switch l.kind {
		case onFormat:
			f := &t.r.formats[l.id]
			if start, end, ok := f.find(t.s, at, &t.memo); ok {
				t.found(start, end, f.name, rankFormat+int(l.id))
			}
		case onPlace:
			if p := &places[l.id]; (t.values || p.file) && at >= t.places {
				p.find(t, at, at+len(l.text))
			}
		case onName:
			if t.values && at >= t.names {
				t.name(at, at+len(l.text))
			}
		case onProgram:
			if t.values && at >= t.walked {
				t.program(at, at+len(l.text))
			}
		case onExtra:
			if e := &t.r.extra[l.id]; len(t.s) > 0 {
				t.extra(e, int(l.id))
			}
		}
	})
}

// value reads a value from p on: quoted, in escaped quotes because an outer quote encloses it, or
// bare. A bare value may contain quoted parts, as in the shell. start and end exclude the outer
// quotes.
func (t *text) value(p int) (start, end int, quoted, ok bool) {
	s := t.s
	if p >= len(s) {
		return 0, 0, false, false
	}
	switch c := s[p]; {
	case c == '"' || c == '\'' || c == '`':
		if e := closing(s, p+1, c); e > p+1 {
			return p + 1, e, true, true
		}
		return 0, 0, false, false
	case c == '\\' && p+1 < len(s) && (s[p+1] == '"' || s[p+1] == '\''):
		for e := p + 2; e < len(s) && s[e] != '\n' && s[e] != s[p+1]; e++ {
			if s[e] == '\\' && e+1 < len(s) && s[e+1] == s[p+1] {
				return p + 2, e, true, e > p+2
			}
		}
		return 0, 0, false, false
	case (c == '$' || c == 'N') && p+1 < len(s) && s[p+1] == '\'':
		if e := closing(s, p+2, '\''); e > p+2 {
			return p + 2, e, true, true
		}
		return 0, 0, false, false
	}
	e := t.memo.end(s, p, bare)
	for e < len(s) && (s[e] == '\'' || s[e] == '"') && e > p && s[e-1] != '\\' && e+1 < len(s) && inClass(s[e+1], alnum) {
		// hunt'er'2, but not the quote that ends the enclosing one.
		q := e + 1
		for q < len(s) && q < e+64 && inClass(s[q], dotted) {
			q++
		}
		if q >= len(s) || s[q] != s[e] {
			break
		}
		e = t.memo.end(s, q+1, bare)
	}
	if e > p && s[e-1] == '\\' && e < len(s) {
		e-- // an escaped quote, or a continued line
	}
	return p, e, false, e > p
}

// closing returns where a quote that was opened before p is closed on its line, -1 if it is not.
func closing(s string, p int, quote byte) int {
	for ; p < len(s) && s[p] != '\n'; p++ {
		switch {
		case s[p] == quote:
			return p
		case s[p] == '\\' && quote == '"':
			p++
		}
	}
	return -1
}

// blanks skips spaces, tabs and escaped line endings.
func blanks(s string, p int) int {
	for p < len(s) {
		switch {
		case s[p] == ' ' || s[p] == '\t':
			p++
		case s[p] == '\\' && p+1 < len(s) && s[p+1] == '\n':
			p += 2
		case s[p] == '\\' && strings.HasPrefix(s[p+1:], "\r\n"):
			p += 3
		default:
			return p
		}
	}
	return p
}
