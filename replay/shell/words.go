package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Piece is a literal part of a word: what it says, and where it stands in the source.
type Piece struct {
	Value    string
	From, To int // of the text between quotes, if there are any
	Quote    Quote
	// At is the place of Value in the value of the word.
	At int
}

// Quote is how a piece is quoted.
type Quote uint8

// Kinds of quotes.
const (
	Bare Quote = iota
	Single
	Double
	Dollar // $'…'
	Document
)

// Pieces returns the literal parts of a word, and its value with expansions as written.
func Pieces(source string, w *syntax.Word) (pieces []Piece, value string) {
	p := splitter{source: source}
	p.parts(w.Parts, Bare)
	return p.pieces, p.value.String()
}

// DocumentPieces returns those of a here-document.
func DocumentPieces(source string, w *syntax.Word) (pieces []Piece, value string) {
	p := splitter{source: source}
	p.parts(w.Parts, Document)
	return p.pieces, p.value.String()
}

type splitter struct {
	source string
	pieces []Piece
	value  strings.Builder
	// What is not literal.
	dynamic, glob, quoted bool
}

func (p *splitter) parts(parts []syntax.WordPart, quote Quote) {
	for _, part := range parts {
		from, to := int(part.Pos().Offset()), int(part.End().Offset())
		switch part := part.(type) {
		case *syntax.Lit:
			text := part.Value
			if quote == Bare && hasGlob(text) {
				p.glob = true
			}
			p.literal(unescape(text, quote), from, to, quote)
		case *syntax.SglQuoted:
			p.quoted = true
			q, skip := Single, 1
			if part.Dollar {
				q, skip = Dollar, 2
			}
			p.literal(part.Value, from+skip, to-1, q)
		case *syntax.DblQuoted:
			p.quoted = true
			p.parts(part.Parts, Double)
		case *syntax.ExtGlob:
			p.glob = true
			p.value.WriteString(cut(p.source, from, to))
		default:
			p.dynamic = true
			p.value.WriteString(cut(p.source, from, to))
		}
	}
}

func (p *splitter) literal(value string, from, to int, quote Quote) {
	p.pieces = append(p.pieces, Piece{Value: value, From: from, To: to, Quote: quote, At: p.value.Len()})
	p.value.WriteString(value)
}

func cut(s string, from, to int) string {
	if from < 0 || to > len(s) || from > to {
		return ""
	}
	return s[from:to]
}

func hasGlob(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		case '{':
			if end := strings.IndexByte(s[i:], '}'); end > 0 && (strings.Contains(s[i:i+end], ",") || strings.Contains(s[i:i+end], "..")) {
				return true
			}
		}
	}
	return false
}

// unescape removes the backslashes that the shell removes.
func unescape(s string, quote Quote) string {
	if quote == Single || quote == Dollar || strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		switch next := s[i+1]; {
		case next == '\n':
			i++
		case quote == Double && strings.IndexByte("$`\"\\", next) < 0, quote == Document && strings.IndexByte("$`\\", next) < 0:
			b.WriteByte('\\')
		default:
			b.WriteByte(next)
			i++
		}
	}
	return b.String()
}

// word reads a word, and the commands in its substitutions.
func (r *reader) word(w *syntax.Word) Word {
	p := splitter{source: r.line.Source}
	p.parts(w.Parts, Bare)
	out := Word{
		Text: cut(r.line.Source, int(w.Pos().Offset()), int(w.End().Offset())), Value: p.value.String(),
		Dynamic: p.dynamic, Glob: p.glob, Quoted: p.quoted, Node: w,
	}
	if p.dynamic {
		r.expansions(w)
	}
	return out
}
