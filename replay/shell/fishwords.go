package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word reads a word up to a blank, to what ends a statement, or to one of the bytes that are given.
func (p *fish) word(until string) *syntax.Word {
	w := &syntax.Word{}
	from := p.at
	text := func() {
		if from < p.at {
			w.Parts = append(w.Parts, literal(escaped(p.src[from:p.at], "&`"), from, p.at))
		}
	}
	for p.at < len(p.src) {
		c := p.peek()
		if strings.IndexByte(" \t\r\n;|<>)", c) >= 0 || strings.IndexByte(until, c) >= 0 {
			break
		}
		if c == '&' && (p.at+1 == len(p.src) || strings.IndexByte(" \t\n;&|<>)", p.ahead(1)) >= 0) {
			break // elsewhere it is a letter: a&b
		}
		if c == '\\' {
			p.must(p.at+1 < len(p.src))
			p.at += 2
			continue
		}
		if c != '\'' && c != '"' && c != '(' && !p.expands() {
			p.at++
			continue
		}
		text()
		switch c {
		case '\'':
			w.Parts = append(w.Parts, p.single())
		case '"':
			w.Parts = append(w.Parts, p.double())
		default:
			w.Parts = append(w.Parts, p.expansion())
		}
		from = p.at
	}
	text()
	p.must(len(w.Parts) > 0)
	return w
}

// escaped returns a text with a backslash before the letters that are special in bash alone.
func escaped(s, special string) string {
	if !strings.ContainsAny(s, special) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			b.WriteByte('\\')
			i++
		} else if strings.IndexByte(special, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// expands reports whether a variable or a substitution with a dollar sign comes next.
func (p *fish) expands() bool {
	return p.peek() == '$' && (p.ahead(1) == '$' || p.ahead(1) == '(' || isNameByte(p.ahead(1)))
}

func (p *fish) single() syntax.WordPart {
	q := &syntax.SglQuoted{Left: pos(p.at)}
	var b strings.Builder
	for p.at++; ; p.at++ {
		p.must(p.at < len(p.src))
		c := p.peek()
		if c == '\'' {
			break
		}
		if c == '\\' && (p.ahead(1) == '\'' || p.ahead(1) == '\\') {
			p.at++
			c = p.peek()
		}
		b.WriteByte(c)
	}
	q.Right, q.Value = pos(p.at), b.String()
	p.at++
	return q
}

func (p *fish) double() syntax.WordPart {
	q := &syntax.DblQuoted{Left: pos(p.at)}
	p.at++
	from := p.at
	text := func() {
		if from < p.at {
			q.Parts = append(q.Parts, literal(escaped(p.src[from:p.at], "`"), from, p.at))
		}
	}
	for {
		p.must(p.at < len(p.src))
		switch c := p.peek(); {
		case c == '"':
			text()
			q.Right = pos(p.at)
			p.at++
			return q
		case c == '\\':
			p.at += 2
		case p.expands():
			text()
			q.Parts = append(q.Parts, p.expansion())
			from = p.at
		default:
			p.at++
		}
	}
}

// expansion reads $name, $name[1], $(command) or (command).
func (p *fish) expansion() syntax.WordPart {
	at := p.at
	for p.peek() == '$' {
		p.at++
	}
	if p.peek() == '(' {
		p.must(p.at-at <= 1)
		p.at++
		c := &syntax.CmdSubst{Left: pos(at), Stmts: p.list(false)}
		p.must(p.peek() == ')')
		c.Right = pos(p.at)
		p.at++
		return c
	}
	from := p.at
	for isNameByte(p.peek()) {
		p.at++
	}
	p.must(from < p.at)
	e := &syntax.ParamExp{Dollar: pos(at), Short: true, Param: literal(p.src[from:p.at], from, p.at)}
	if e.Param.Value == "status" {
		e.Param.Value = "?"
	}
	if p.peek() != '[' {
		return e
	}
	p.at++
	index := p.at
	depth := 1
	for ; depth > 0; p.at++ {
		switch p.must(p.at < len(p.src)); p.peek() {
		case '[':
			depth++
		case ']':
			depth--
		}
	}
	text := p.src[index : p.at-1]
	e.Short, e.Rbrace = false, pos(p.at-1)
	if e.Param.Value == "argv" && len(text) == 1 && text[0] >= '1' && text[0] <= '9' {
		e.Param.Value = text
	} else {
		e.Index = &syntax.Word{Parts: []syntax.WordPart{literal(text, index, p.at-1)}}
	}
	return e
}

// plain returns a command in the words that bash has for what it does to its shell: set n 3 is n=3.
func plain(words []*syntax.Word, assigns []*syntax.Assign) syntax.Command {
	call := func(name string, args ...*syntax.Word) syntax.Command {
		head := &syntax.Word{Parts: []syntax.WordPart{literal(name, int(words[0].Pos().Offset()), int(words[0].End().Offset()))}}
		return &syntax.CallExpr{Assigns: assigns, Args: append([]*syntax.Word{head}, args...)}
	}
	switch name := words[0].Lit(); {
	case name == "set" && len(assigns) == 0:
		return setting(words[1:], call)
	case name == "functions" && len(words) > 2 && (words[1].Lit() == "-e" || words[1].Lit() == "--erase"):
		return call("unset", words[2:]...)
	case name == "alias" && len(words) > 2 && words[len(words)-2].Lit() != "" && !strings.Contains(words[len(words)-2].Lit(), "="):
		name, text := words[len(words)-2], words[len(words)-1]
		at := int(name.End().Offset())
		return call("alias", &syntax.Word{Parts: slices.Concat(name.Parts, []syntax.WordPart{literal("=", at, at)}, text.Parts)})
	}
	return &syntax.CallExpr{Assigns: assigns, Args: words}
}

// setting returns what set does: it shows, it erases, or it gives a value.
func setting(words []*syntax.Word, call func(string, ...*syntax.Word) syntax.Command) syntax.Command {
	flags := ""
	for len(words) > 0 && strings.HasPrefix(words[0].Lit(), "-") {
		flag := words[0].Lit()
		words = words[1:]
		if flag == "--" {
			break
		}
		if long, ok := strings.CutPrefix(flag, "--"); ok {
			flag = longFlags[long]
		}
		flags += flag
	}
	if len(words) == 0 || strings.ContainsAny(flags, "qSn") {
		for i, w := range words { // what it asks about is used
			if name, _, _ := strings.Cut(w.Lit(), "["); isName(name) {
				from, to := int(w.Pos().Offset()), int(w.End().Offset())
				words[i] = &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Dollar: pos(from), Short: true, Param: literal(name, from, to)}}}
			}
		}
		return call(":", words...)
	}
	if strings.Contains(flags, "e") {
		return call("unset", words...)
	}
	name, index, element := strings.Cut(words[0].Lit(), "[")
	if !isName(name) {
		return call("export", words...) // a name that is not known
	}
	from := int(words[0].Pos().Offset())
	a := &syntax.Assign{Name: literal(name, from, from+len(name)), Append: strings.ContainsAny(flags, "ap") || element}
	if element && index != "" && len(words) == 1 {
		return call("unset", words...)
	}
	if values := words[1:]; len(values) == 1 {
		a.Value = values[0]
	} else if len(values) > 1 {
		a.Array = &syntax.ArrayExpr{Lparen: values[0].Pos(), Rparen: pos(int(values[len(values)-1].End().Offset()) - 1)}
		for _, v := range values {
			a.Array.Elems = append(a.Array.Elems, &syntax.ArrayElem{Value: v})
		}
	}
	variant := ""
	switch {
	case strings.ContainsAny(flags, "lf"):
		variant = "local"
	case strings.Contains(flags, "x"):
		variant = "export"
	}
	if variant == "" {
		return &syntax.CallExpr{Assigns: []*syntax.Assign{a}}
	}
	return &syntax.DeclClause{Variant: literal(variant, from, from), Args: []*syntax.Assign{a}}
}

// longFlags are the long flags of set by their letters.
var longFlags = map[string]string{
	"global": "g", "export": "x", "unexport": "u", "universal": "U", "local": "l", "function": "f", "erase": "e", "query": "q", "show": "S", "names": "n",
	"append": "a", "prepend": "p", "path": "P", "unpath": "P", "long": "L",
}
