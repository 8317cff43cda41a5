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
	Raw // a document whose end is quoted: nothing is special in it
)

// Pieces returns the literal parts of a word, and its value with expansions as written.
func Pieces(source string, w *syntax.Word) (pieces []Piece, value string) {
	p := splitter{source: source}
	p.parts(w.Parts, Bare)
	return p.pieces, p.value.String()
}

// DocumentPieces returns those of the here-document of a redirection.
func DocumentPieces(source string, r *syntax.Redirect) (pieces []Piece, value string) {
	p := splitter{source: source}
	quote := Document
	if _, bare := r.Word.Parts[0].(*syntax.Lit); !bare || len(r.Word.Parts) != 1 || strings.Contains(cut(source, int(r.Word.Pos().Offset()), int(r.Word.End().Offset())), "\\") {
		quote = Raw
	}
	p.parts(r.Hdoc.Parts, quote)
	return p.pieces, p.value.String()
}

// Source returns where a part of the piece's value stands in the source. ok is false if that is not known.
func (p Piece) Source(source string, from, until int) (a, b int, ok bool) {
	if p.From < 0 || p.From > len(source) {
		return 0, 0, false
	}
	a, b = -1, -1
	at, i := 0, p.From
	for {
		if at == from && a < 0 {
			a = i
		}
		if at == until {
			b = i
			break
		}
		if at >= len(p.Value) || i >= len(source) {
			return 0, 0, false
		}
		// An escape is taken as a whole, and a line that goes on after a backslash says nothing.
		switch n := escape(source[i:], p.Quote); {
		case n == 2 && source[i+1] == '\n':
			i += 2
		case source[i+n-1] != p.Value[at]:
			return 0, 0, false
		default:
			i, at = i+n, at+1
		}
	}
	return a, b, a >= 0
}

// escape returns how long the first character of a text is as written: 2 if a backslash is removed before it.
func escape(s string, quote Quote) int {
	if s[0] != '\\' || len(s) == 1 || quote == Single || quote == Dollar || quote == Raw ||
		s[1] != '\n' && (quote == Double && strings.IndexByte("$`\"\\", s[1]) < 0 || quote == Document && strings.IndexByte("$`\\", s[1]) < 0) {
		return 1
	}
	return 2
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
			p.value.WriteString(inBraces(part, cut(p.source, from, to)))
		}
	}
}

// inBraces returns an expansion as bash has it, of which one of fish or zsh would be taken for another: $a[1], (cmd).
func inBraces(part syntax.WordPart, text string) string {
	switch part := part.(type) {
	case *syntax.ParamExp:
		if !strings.HasPrefix(text, "$") || part.Index != nil && !strings.HasPrefix(text, "${") {
			return "${" + strings.TrimPrefix(text, "$") + "}"
		}
	case *syntax.CmdSubst:
		if strings.HasPrefix(text, "(") {
			return "$" + text
		}
	}
	return text
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
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n := escape(s[i:], quote)
		if i += n; n == 1 || s[i-1] != '\n' {
			b.WriteByte(s[i-1])
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
		Dynamic: p.dynamic, Glob: p.glob && p.value.String() != "[", Quoted: p.quoted, Node: w,
	}
	if p.dynamic {
		r.expansions(w)
	}
	return out
}
