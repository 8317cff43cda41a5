package command

import (
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// scanner reads any text as a command line, in one pass and without nesting. It is used for shells
// without a grammar here and for commands with broken syntax. Its words, operators and redirections
// are right if the shell resembles sh; it never fails.
type scanner struct {
	*line
	pos int
	// literal means that backslashes are literal: PowerShell and cmd use them in paths.
	literal bool
	words   []int
	// header means that the words up to the next operator belong to a keyword such as "for".
	header bool
}

func scan(command, shell string) *line {
	if len(command) > maxScan {
		command = schemas.Clip(command, maxScan)
	}
	s := scanner{line: &line{src: command, items: make([]item, 0, 16)}}
	switch strings.ToLower(base(shell)) {
	case "pwsh", "powershell", "pwsh.exe", "powershell.exe", "cmd", "cmd.exe":
		s.literal = true
	}
	for s.pos < len(s.src) && !s.full() {
		s.next()
	}
	s.endCall()
	return s.line
}

func (s *scanner) endCall() {
	s.header = false
	if len(s.words) > 0 {
		s.complexity++
		s.calls = append(s.calls, call{words: s.words})
		s.words = nil
	}
}

// operators has longer operators before their own prefixes.
var operators = []struct {
	text string
	kind recountv1.TokenKind
}{
	{"&&", recountv1.TokenKind_TOKEN_KIND_AND},
	{"||", recountv1.TokenKind_TOKEN_KIND_OR},
	{";;", recountv1.TokenKind_TOKEN_KIND_SEQUENCE},
	{"|&", recountv1.TokenKind_TOKEN_KIND_PIPE},
	{"|", recountv1.TokenKind_TOKEN_KIND_PIPE},
	{";", recountv1.TokenKind_TOKEN_KIND_SEQUENCE},
	{"\n", recountv1.TokenKind_TOKEN_KIND_SEQUENCE},
	{"&", recountv1.TokenKind_TOKEN_KIND_BACKGROUND},
}

// keywords are those of many shells, at the start of a command. The value is true for keywords that
// are followed by words of their own, not by a command.
var keywords = map[string]bool{
	"and": false, "or": false, "not": false, "begin": false, "end": true, "if": false, "elif": false,
	"elseif": false, "else": false, "then": false, "fi": true, "while": false, "until": false, "do": false,
	"done": true, "for": true, "foreach": true, "switch": true, "case": true, "esac": true, "function": true,
	"try": false, "catch": true, "finally": false, "!": false, "time": false,
}

// next reads one space, operator, redirection or word.
func (s *scanner) next() {
	rest := s.src[s.pos:]
	switch rest[0] {
	case ' ', '\t', '\r', '\v', '\f':
		s.pos++
		return
	case '#':
		// A comment, to the end of the line.
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			s.pos += i
		} else {
			s.pos = len(s.src)
		}
		return
	case '(', ')', '{', '}':
		if len(rest) > 1 && rest[0] == '{' && rest[1] != ' ' && rest[1] != '\n' {
			break // a brace inside a word: {a,b}
		}
		s.endCall()
		s.add(item{kind: recountv1.TokenKind_TOKEN_KIND_KEYWORD, text: rest[:1], value: rest[:1], offset: s.pos})
		s.pos++
		return
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op.text) && !strings.HasPrefix(rest, "&>") {
			s.endCall()
			text := op.text
			if text == "\n" {
				text = ";"
			}
			s.op(op.kind, text, s.pos)
			s.pos += len(op.text)
			return
		}
	}
	if s.redirect(rest) {
		return
	}
	w := s.word()
	if w.text == "" {
		s.pos++ // skip a byte that cannot begin a word, so that the scanner always advances
		return
	}
	w.kind = recountv1.TokenKind_TOKEN_KIND_ARGUMENT
	if s.header {
		if w.text == "in" {
			w.kind = recountv1.TokenKind_TOKEN_KIND_KEYWORD
		}
		s.add(w)
		return
	}
	if header, ok := keywords[strings.ToLower(w.text)]; ok && len(s.words) == 0 {
		w.kind = recountv1.TokenKind_TOKEN_KIND_KEYWORD
		s.header = header
		s.add(w)
		return
	}
	if len(s.words) == 0 && isAssignment(w.text) {
		w.kind = recountv1.TokenKind_TOKEN_KIND_ASSIGNMENT
		name, _, _ := strings.Cut(w.text, "=")
		w.place = name + "=<arg>"
		s.add(w)
		return
	}
	if i := s.add(w); i >= 0 {
		s.words = append(s.words, i)
	}
}

// redirect reads [N|&|*](<|>)[>|&|<...] and its target.
func (s *scanner) redirect(rest string) bool {
	n := 0
	for n < len(rest) && n < 3 && (rest[n] >= '0' && rest[n] <= '9') {
		n++
	}
	if n == 0 && (rest[0] == '&' || rest[0] == '*') {
		n = 1
	}
	if n >= len(rest) || rest[n] != '<' && rest[n] != '>' {
		return false
	}
	fd := rest[:n]
	end := n + 1
	for end < len(rest) && end < n+3 && strings.IndexByte("<>&|", rest[end]) >= 0 {
		end++
	}
	op := rest[n:end]
	start := s.pos
	s.pos += end
	for s.pos < len(s.src) && (s.src[s.pos] == ' ' || s.src[s.pos] == '\t') {
		s.pos++
	}
	target := s.word()
	text := s.src[start:s.pos]
	if strings.HasPrefix(op, "<<") {
		s.complexity++
		s.add(item{kind: recountv1.TokenKind_TOKEN_KIND_HEREDOC, text: text, value: text, offset: start, place: fd + op + " <doc>"})
		return true
	}
	if target.text == "" {
		s.op(recountv1.TokenKind_TOKEN_KIND_REDIRECTION, text, start)
		return true
	}
	s.redirection(fd, op, text, target, start)
	return true
}

// word reads up to the next unquoted space or operator. It always advances, except at the end or at
// an operator.
func (s *scanner) word() item {
	start := s.pos
	it := item{offset: start}
	var b strings.Builder
	depth := 0 // of $( ) inside the word
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == '\\' && !s.literal:
			if s.pos+1 < len(s.src) {
				s.pos++
				b.WriteByte(s.src[s.pos])
			}
		case c == '\'' || c == '"' || c == '`':
			end := strings.IndexByte(s.src[s.pos+1:], c)
			if end < 0 || c == '\'' && s.pos > start && isWordByte(s.src[s.pos-1]) && depth == 0 {
				b.WriteByte(c) // an apostrophe, or a quote without an end
				break
			}
			it.quoted = it.quoted || c != '`'
			body := s.src[s.pos+1 : s.pos+1+end]
			it.dynamic = it.dynamic || c == '`' || c == '"' && strings.ContainsAny(body, "$`")
			b.WriteString(body)
			s.pos += end + 1
		case c == '(' && (depth > 0 || s.pos > start && s.src[s.pos-1] == '$'):
			depth++
			it.dynamic = true
			b.WriteByte(c)
		case c == ')' && depth > 0:
			depth--
			b.WriteByte(c)
		case depth == 0 && strings.IndexByte(" \t\r\n\v\f|;&()<>", c) >= 0:
			it.text, it.value = s.src[start:s.pos], b.String()
			return it
		default:
			if c == '$' {
				it.dynamic = true
			}
			if c == '*' || c == '?' {
				it.glob = true
			}
			b.WriteByte(c)
		}
		s.pos++
	}
	it.text, it.value = s.src[start:s.pos], b.String()
	return it
}

// isAssignment reports whether a word is NAME=value or, in PowerShell, $name=value.
func isAssignment(s string) bool {
	name, _, ok := strings.Cut(strings.TrimPrefix(s, "$"), "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := 0; i < len(name); i++ {
		if !isWordByte(name[i]) {
			return false
		}
	}
	return true
}
