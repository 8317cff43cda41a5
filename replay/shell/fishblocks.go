package shell

import (
	"bytes"

	"mvdan.cc/sh/v3/syntax"
)

// blocks read the blocks of fish, by the word that begins them, from behind it.
var blocks map[string]func(p *fish, at int) syntax.Command

func init() {
	blocks = map[string]func(p *fish, at int) syntax.Command{
		"if": (*fish).ifs, "while": (*fish).whiles, "for": (*fish).fors, "switch": (*fish).switches, "function": (*fish).functions,
	}
}

// condition reads a statement with those that and and or join to it.
func (p *fish) condition() []*syntax.Stmt {
	s := p.statement()
	for {
		p.separators()
		op, ok := joins[p.bare()]
		if !ok {
			return []*syntax.Stmt{s}
		}
		s = p.joined(s, op, p.bare())
	}
}

func (p *fish) ifs(at int) syntax.Command {
	first := &syntax.IfClause{Position: pos(at), Cond: p.condition()}
	first.ThenPos = pos(p.at)
	all := []*syntax.IfClause{first}
	for {
		last := all[len(all)-1]
		last.Then = p.list(true)
		at := p.at
		if p.takes("end") {
			for _, c := range all {
				c.FiPos = pos(at + 1)
			}
			return first
		}
		p.must(p.takes("else") && last.ThenPos.IsValid())
		last.Else = &syntax.IfClause{Position: pos(at)}
		if p.takes("if") {
			last.Else.Cond = p.condition()
			last.Else.ThenPos = pos(p.at)
		}
		all = append(all, last.Else)
	}
}

func (p *fish) whiles(at int) syntax.Command {
	c := &syntax.WhileClause{WhilePos: pos(at), Cond: p.condition()}
	c.DoPos = pos(p.at)
	c.Do, c.DonePos = p.body()
	return c
}

// body reads the statements up to end, and returns where a word of four letters would have to stand to end there.
func (p *fish) body() (stmts []*syntax.Stmt, done syntax.Pos) {
	stmts = p.list(true)
	done = pos(p.end - 1)
	p.must(p.takes("end"))
	return stmts, done
}

// words reads words up to the end of the line.
func (p *fish) words() (all []*syntax.Word) {
	for p.blanks(); p.peek() != ';' && p.peek() != '\n'; p.blanks() {
		p.must(!p.stops())
		all = append(all, p.word(""))
	}
	return all
}

func (p *fish) fors(at int) syntax.Command {
	name := p.bare()
	p.must(isName(name))
	loop := &syntax.WordIter{Name: literal(name, p.at, p.at+len(name))}
	p.takes(name)
	loop.InPos = pos(p.at)
	p.must(p.takes("in"))
	loop.Items = p.words()
	c := &syntax.ForClause{ForPos: pos(at), DoPos: pos(p.at), Loop: loop}
	c.Do, c.DonePos = p.body()
	return c
}

func (p *fish) switches(at int) syntax.Command {
	words := p.words()
	p.must(len(words) == 1)
	c := &syntax.CaseClause{Case: pos(at), In: pos(p.at), Word: words[0]}
	p.must(len(p.list(true)) == 0)
	for p.takes("case") {
		it := &syntax.CaseItem{Op: syntax.Break, Patterns: p.words()}
		p.must(len(it.Patterns) > 0)
		for _, w := range it.Patterns { // '*' is a pattern, too
			if q, ok := w.Parts[0].(*syntax.SglQuoted); ok && len(w.Parts) == 1 {
				w.Parts[0] = literal(q.Value, int(q.Left.Offset())+1, int(q.Right.Offset()))
			}
		}
		it.Stmts = p.list(true)
		it.OpPos = pos(p.at)
		c.Items = append(c.Items, it)
	}
	c.Esac = pos(p.at - 1)
	p.must(p.takes("end"))
	return c
}

func (p *fish) functions(at int) syntax.Command {
	words := p.words()
	p.must(len(words) > 0)
	name := words[0].Lit()
	p.must(name != "" && name[0] != '-')
	from := p.at
	stmts := p.list(true)
	end := p.end
	p.must(p.takes("end"))
	return &syntax.FuncDecl{Position: pos(at), RsrvWord: true, Name: literal(name, int(words[0].Pos().Offset()), int(words[0].End().Offset())), Body: &syntax.Stmt{
		Position: pos(from), Cmd: &syntax.Block{Lbrace: pos(from), Rbrace: pos(end + 2), Stmts: stmts},
	}}
}

// asBash writes a statement of fish as one of bash.
func asBash(s *syntax.Stmt) string {
	var b bytes.Buffer
	if syntax.NewPrinter().Print(&b, s) != nil {
		return ""
	}
	return b.String()
}
