package shell

import (
	"errors"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/processors/command"
)

// Parse returns the syntax tree of a command line. One of fish gets the tree that bash's line with the same effects has,
// with the places of its own words; one that cannot be read as fish's is read as others are.
func Parse(text, shell string) (*syntax.File, error) {
	if isFish(shell) && len(text) <= maxFish {
		if f, err := parseFish(text); err == nil {
			return f, nil
		}
	}
	return command.Parse(text, shell)
}

func isFish(shell string) bool { return path.Base(shell) == "fish" }

const (
	maxFish     = 64 << 10
	maxFishDeep = 64 // blocks and substitutions in each other
)

// fish reads a line of fish.
type fish struct {
	src  string
	at   int
	deep int
	// end is the place of the word that ended the last list of statements.
	end int
}

var errFish = errors.New("it is not fish's syntax")

// parseFish reads a line of fish. Errors are panics of errFish in between.
func parseFish(text string) (f *syntax.File, err error) {
	defer func() {
		if e := recover(); e != nil {
			if e != errFish { //nolint:errorlint // its own panic
				panic(e)
			}
			err = errFish
		}
	}()
	p := &fish{src: text}
	stmts := p.list(false)
	p.must(p.at == len(text))
	return &syntax.File{Stmts: stmts}, nil
}

func (p *fish) must(ok bool) {
	if !ok {
		panic(errFish)
	}
}

func pos(at int) syntax.Pos { return syntax.NewPos(uint(at), 1, uint(at)+1) }

// peek returns the next byte, 0 at the end.
func (p *fish) peek() byte { return p.ahead(0) }

func (p *fish) ahead(n int) byte {
	if p.at+n < len(p.src) {
		return p.src[p.at+n]
	}
	return 0
}

// blanks skips what stands between words: also a comment, but not the end of its line.
func (p *fish) blanks() {
	for p.at < len(p.src) {
		switch c := p.peek(); {
		case c == ' ', c == '\t', c == '\r':
			p.at++
		case c == '\\' && p.ahead(1) == '\n':
			p.at += 2
		case c == '#':
			for p.at < len(p.src) && p.peek() != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

// separators skips what stands between statements.
func (p *fish) separators() {
	for p.blanks(); p.peek() == ';' || p.peek() == '\n'; p.blanks() {
		p.at++
	}
}

// bare returns the plain word that comes next, "" if there is none.
func (p *fish) bare() string {
	i := p.at
	for i < len(p.src) && (isNameByte(p.src[i]) || p.src[i] == '!') {
		i++
	}
	if i < len(p.src) && strings.IndexByte(" \t\r\n;|&<>()#", p.src[i]) < 0 && !strings.HasPrefix(p.src[i:], "\\\n") {
		return ""
	}
	return p.src[p.at:i]
}

func isNameByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// takes skips a plain word if it comes next.
func (p *fish) takes(word string) bool {
	if p.bare() != word {
		return false
	}
	p.at += len(word)
	p.blanks()
	return true
}

// list reads statements up to the end, to what closes a substitution, or inside a block to one of the words that end a part of it.
func (p *fish) list(block bool) (all []*syntax.Stmt) {
	p.deep++
	p.must(p.deep <= maxFishDeep)
	defer func() { p.deep-- }()
	for {
		p.separators()
		word := p.bare()
		if p.end = p.at; p.at == len(p.src) || p.peek() == ')' {
			p.must(!block)
			return all
		}
		if word == "end" || word == "else" || word == "case" {
			p.must(block)
			return all
		}
		if op, ok := joins[word]; ok && len(all) > 0 {
			all[len(all)-1] = p.joined(all[len(all)-1], op, word)
			continue
		}
		all = append(all, p.statement())
	}
}

// joins are the words that join a statement to the one before.
var joins = map[string]syntax.BinCmdOperator{"and": syntax.AndStmt, "or": syntax.OrStmt}

func (p *fish) joined(x *syntax.Stmt, op syntax.BinCmdOperator, word string) *syntax.Stmt {
	at := p.at
	p.must(p.takes(word))
	return binary(x, op, at, p.statement())
}

func binary(x *syntax.Stmt, op syntax.BinCmdOperator, at int, y *syntax.Stmt) *syntax.Stmt {
	return &syntax.Stmt{Position: x.Position, Cmd: &syntax.BinaryCmd{OpPos: pos(at), Op: op, X: x, Y: y}}
}

// statement reads pipelines that are joined by && and ||, and whether they run in the background.
func (p *fish) statement() *syntax.Stmt {
	s := p.pipeline()
	for {
		at, op := p.at, syntax.AndStmt
		switch two := p.src[p.at:min(p.at+2, len(p.src))]; {
		case two == "||":
			op = syntax.OrStmt
		case two == "&&":
		case strings.HasPrefix(two, "&"):
			s.Background, s.Semicolon = true, pos(p.at)
			p.at++
			return s
		default:
			p.must(two == "" || strings.IndexByte(";\n)", two[0]) >= 0)
			return s
		}
		p.at += 2
		p.separators()
		s = binary(s, op, at, p.pipeline())
	}
}

func (p *fish) pipeline() *syntax.Stmt {
	at := p.at
	if p.takes("not") || p.takes("!") {
		s := p.pipeline()
		return &syntax.Stmt{Position: pos(at), Negated: true, Cmd: &syntax.Block{Lbrace: s.Pos(), Rbrace: pos(int(s.End().Offset()) - 1), Stmts: []*syntax.Stmt{s}}}
	}
	if p.takes("time") {
		return &syntax.Stmt{Position: pos(at), Cmd: &syntax.TimeClause{Time: pos(at), Stmt: p.pipeline()}}
	}
	s := p.command()
	for {
		at, op, n := p.at, syntax.Pipe, 1
		switch rest := p.src[p.at:]; {
		case strings.HasPrefix(rest, "&|"):
			op, n = syntax.PipeAll, 2
		case strings.HasPrefix(rest, "2>|"):
			n = 3
		case !strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "||"):
			return s
		}
		p.at += n
		p.separators()
		s = binary(s, op, at, p.command())
	}
}

// command reads one command, or a block, with its redirections.
func (p *fish) command() *syntax.Stmt {
	at := p.at
	s := &syntax.Stmt{Position: pos(at)}
	if p.takes("begin") {
		stmts := p.list(true)
		s.Cmd = &syntax.Block{Lbrace: pos(at), Rbrace: pos(p.end + 2), Stmts: stmts}
		p.must(p.takes("end"))
	} else if block := blocks[p.bare()]; block != nil {
		p.must(p.takes(p.bare()))
		s.Cmd = block(p, at)
	}
	if s.Cmd != nil {
		for p.redirects(s) {
		}
		return s
	}
	var words []*syntax.Word
	var assigns []*syntax.Assign
	for {
		p.blanks()
		if p.redirects(s) {
			continue
		}
		if p.stops() {
			break
		}
		if a := p.assigns(); a != nil && len(words) == 0 {
			assigns = append(assigns, a)
			continue
		}
		words = append(words, p.word(""))
	}
	p.must(len(words) > 0)
	s.Cmd = plain(words, assigns)
	return s
}

// stops reports whether no word comes next.
func (p *fish) stops() bool {
	switch c := p.peek(); c {
	case 0, ';', '\n', '|', ')', '<', '>':
		return true
	case '&':
		return true
	default:
		return strings.HasPrefix(p.src[p.at:], "2>|")
	}
}

// assigns reads NAME=value before a command.
func (p *fish) assigns() *syntax.Assign {
	i := p.at
	for i < len(p.src) && isNameByte(p.src[i]) {
		i++
	}
	if i == p.at || i >= len(p.src) || p.src[i] != '=' || !isName(p.src[p.at:i]) {
		return nil
	}
	a := &syntax.Assign{Name: literal(p.src[p.at:i], p.at, i)}
	if p.at = i + 1; !p.stops() && strings.IndexByte(" \t", p.peek()) < 0 {
		a.Value = p.word("")
	}
	return a
}

func literal(value string, from, to int) *syntax.Lit {
	return &syntax.Lit{ValuePos: pos(from), ValueEnd: pos(to), Value: value}
}

// redirections are fish's, the longest first.
var redirections = []struct {
	text string
	op   syntax.RedirOperator
}{
	{"&>>", syntax.AppAll},
	{"&>?", syntax.RdrAll},
	{"&>", syntax.RdrAll},
	{">>", syntax.AppOut},
	{">?", syntax.RdrOut},
	{">&", syntax.DplOut},
	{">", syntax.RdrOut},
	{"<?", syntax.RdrIn},
	{"<&", syntax.DplIn},
	{"<", syntax.RdrIn},
}

// redirects reads a redirection, if one comes next.
func (p *fish) redirects(s *syntax.Stmt) bool {
	p.blanks()
	i := p.at
	for i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9' {
		i++
	}
	for _, r := range redirections {
		if !strings.HasPrefix(p.src[i:], r.text) || strings.HasPrefix(p.src[i:], ">|") || i > p.at && r.text[0] == '&' {
			continue
		}
		rd := &syntax.Redirect{OpPos: pos(i), Op: r.op}
		if i > p.at {
			rd.N = literal(p.src[p.at:i], p.at, i)
		}
		p.at = i + len(r.text)
		p.blanks()
		p.must(!p.stops())
		rd.Word = p.word("")
		s.Redirs = append(s.Redirs, rd)
		return true
	}
	return false
}
