package effects

import (
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// awk judges a call of awk by its program: what it prints into files and commands, reads from them, and
// hands to system.
func (f *finder) awk(c *shell.Call) {
	ws := shell.Operands(c.Args, "-F -v -f -i -E --field-separator --assign --file --include --exec")
	var programs []string
	known, given := true, false
	vars := map[string]string{}
	for i, a := range c.Args {
		next := shell.Word{}
		if i+1 < len(c.Args) {
			next = c.Args[i+1]
		}
		switch v := a.Value; {
		case v == "-f", v == "--file", v == "-E", v == "--exec", strings.HasPrefix(v, "-f") && len(v) > 2, strings.HasPrefix(v, "--file="):
			if given = true; strings.HasPrefix(v, "-f") && len(v) > 2 {
				next.Value = v[2:]
			} else if rest, ok := strings.CutPrefix(v, "--file="); ok {
				next.Value = rest
			}
			f.path(next, c.Dir, Read, false)
			name, _, _ := f.named(next, c.Dir)
			text, ok := f.content(name)
			programs, known = append(programs, text), known && ok
		case (v == "-v" || v == "--assign") && !next.Dynamic:
			if name, value, ok := strings.Cut(next.Value, "="); ok {
				vars[name] = value
			}
		}
	}
	if !given && len(ws) > 0 {
		programs, known, ws = []string{ws[0].Value}, !ws[0].Dynamic, ws[1:]
	}
	if w, ok := c.FlagValue("-i", "--include"); ok && w.Value == "inplace" {
		f.acts++
		for _, w := range ws {
			f.path(w, c.Dir, Update, false)
		}
		return
	}
	acts := f.acts
	if !known && given && !c.Drained {
		f.acts++
		f.opaque(c.Dir)
	}
	for _, text := range programs {
		p := awkProgram{tokens: awkTokens(text), vars: vars}
		p.assigned()
		f.awkDoes(c, &p)
	}
	if f.acts == acts {
		f.sees++
	}
	for _, w := range ws {
		if name, _, ok := strings.Cut(w.Value, "="); !ok || name == "" || strings.ContainsAny(name, "/.") {
			f.path(w, c.Dir, Read, false)
		}
	}
}

// awkDoes adds what a program does besides printing.
func (f *finder) awkDoes(c *shell.Call, p *awkProgram) {
	t := p.tokens
	for i := 0; i < len(t); i++ {
		switch {
		case t[i].is("print"), t[i].is("printf"):
			end := p.statement(i + 1)
			at := p.operator(i+1, end, ">", ">>", "|", "|&")
			if at < 0 {
				continue
			}
			f.awkPrints(c, t[at].text, p.names(t[at+1:end]))
			i = at
		case t[i].is("system") && i+1 < len(t) && t[i+1].text == "(":
			f.awkPrints(c, "|", p.names(t[i+2:p.closing(i+1)]))
		case t[i].is("getline") && i > 0 && (t[i-1].text == "|" || t[i-1].text == "|&") && t[i-1].kind == awkOperator:
			begin := i - 1
			for begin > 0 && (t[begin-1].kind == awkString || t[begin-1].kind == awkName && !awkWords[t[begin-1].text]) {
				begin--
			}
			f.awkPrints(c, "|", p.names(t[begin:i-1]))
		case t[i].is("getline"):
			if end := min(p.statement(i+1), i+3); end > i+1 {
				if at := p.operator(i+1, end, "<"); at >= 0 && at+1 < len(t) {
					for _, n := range p.names(t[at+1 : at+2]) {
						f.path(shell.Word{Value: n.text, Dynamic: n.unknown, Quoted: true}, c.Dir, Read, false)
					}
				}
			}
		}
	}
}

// awkPrints adds the files, or the commands, that something is printed into.
func (f *finder) awkPrints(c *shell.Call, operator string, names []awkText) {
	for _, n := range names {
		piped := strings.HasPrefix(operator, "|")
		switch {
		case piped && n.unknown, n.unknown && strings.Trim(n.text, "*") == "":
			f.acts++
			f.opaque(c.Dir)
		case piped:
			if !f.follow(c, "awk "+n.text, n.text, nil, false) {
				f.acts++
				f.opaque(c.Dir)
			}
		case n.text == "-", n.text == "", shell.IsDevice(n.text):
		default:
			f.acts++
			access := Write
			if operator == ">>" {
				access = Update
			}
			name, ok := shell.Resolve(shell.Word{Value: n.text, Quoted: true}, c.Dir, f.c.Home)
			if !ok {
				f.opaque(c.Dir)
				continue
			}
			f.add(Thing{Kind: Path, Name: name, Access: access, Glob: n.unknown, Sure: 0.9})
		}
	}
}

// awkText is what an expression may be. Where it is unknown, an asterisk stands for each part that is not
// known.
type awkText struct {
	text    string
	unknown bool
}

// Kinds of tokens.
const (
	awkName = iota
	awkString
	awkNumber
	awkRegexp
	awkOperator
	awkLine
)

type awkToken struct {
	kind int
	text string
}

func (t awkToken) is(name string) bool { return t.kind == awkName && t.text == name }

// ends reports whether a token ends a statement.
func (t awkToken) ends() bool {
	return t.kind == awkLine || t.kind == awkOperator && (t.text == ";" || t.text == "}")
}

var awkWords = words("BEGIN END function func if else while for do break continue next nextfile exit return delete in getline print printf switch case default BEGINFILE ENDFILE")

// awkProgram is a program of awk as tokens. vars are variables that have one value throughout.
type awkProgram struct {
	tokens []awkToken
	vars   map[string]string
}

// awkTokens cuts a program into tokens.
func awkTokens(s string) (all []awkToken) {
	letter := func(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for i := 0; i < len(s); {
		from := i
		add := func(kind int) { all = append(all, awkToken{kind, s[from:i]}) }
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '\\' && i+1 < len(s) && s[i+1] == '\n':
			i += 2
		case c == '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case c == '\n':
			i++
			add(awkLine)
		case c == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(s))
			text, err := strconv.Unquote(s[from:i])
			if err != nil {
				text = strings.Trim(s[from:i], `"`)
			}
			all = append(all, awkToken{awkString, text})
		case c == '/' && awkRegexpAfter(all):
			for i++; i < len(s) && s[i] != '/' && s[i] != '\n'; i++ {
				switch s[i] {
				case '\\':
					i++
				case '[':
					if end := strings.IndexByte(s[min(i+2, len(s)):], ']'); end >= 0 {
						i += 2 + end
					}
				}
			}
			i = min(i+1, len(s))
			add(awkRegexp)
		case letter(c):
			for i < len(s) && (letter(s[i]) || digit(s[i])) {
				i++
			}
			add(awkName)
		case digit(c):
			for i < len(s) && (digit(s[i]) || s[i] == '.') {
				i++
			}
			add(awkNumber)
		default:
			i++
			for _, op := range []string{">>", ">=", "<=", "==", "!=", "&&", "||", "|&", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "!~"} {
				if strings.HasPrefix(s[from:], op) {
					i = from + 2
				}
			}
			add(awkOperator)
		}
	}
	return all
}

// awkRegexpAfter reports whether a slash after some tokens begins a regular expression, and is no division.
func awkRegexpAfter(all []awkToken) bool {
	if len(all) == 0 {
		return true
	}
	switch last := all[len(all)-1]; last.kind {
	case awkName:
		return awkWords[last.text]
	case awkNumber, awkString:
		return false
	case awkOperator:
		return !slices.Contains([]string{")", "]", "++", "--", "$"}, last.text)
	}
	return true
}

// statement returns where the statement that holds a token ends.
func (p *awkProgram) statement(at int) int {
	depth := 0
	for i := at; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; {
		case t.kind == awkOperator && (t.text == "(" || t.text == "["):
			depth++
		case t.kind == awkOperator && (t.text == ")" || t.text == "]"):
			depth--
		case t.ends() && depth <= 0:
			return i
		}
	}
	return len(p.tokens)
}

// closing returns where a parenthesis is closed.
func (p *awkProgram) closing(at int) int {
	depth := 0
	for i := at; i < len(p.tokens); i++ {
		if t := p.tokens[i]; t.kind == awkOperator && t.text == "(" {
			depth++
		} else if t.kind == awkOperator && t.text == ")" {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(p.tokens)
}

// operator returns where one of some operators stands outside of parentheses, -1 if none does.
func (p *awkProgram) operator(from, to int, names ...string) int {
	depth := 0
	for i := from; i < to; i++ {
		t := p.tokens[i]
		if t.kind != awkOperator {
			continue
		}
		switch {
		case t.text == "(" || t.text == "[":
			depth++
		case t.text == ")" || t.text == "]":
			depth--
		case depth == 0 && slices.Contains(names, t.text):
			return i
		}
	}
	return -1
}

// assigned finds variables that are set once, to a string.
func (p *awkProgram) assigned() {
	times := map[string]int{}
	for i, t := range p.tokens {
		if t.kind != awkName || i+1 >= len(p.tokens) || p.tokens[i+1].kind != awkOperator {
			continue
		}
		if op := p.tokens[i+1].text; op != "=" {
			if len(op) == 2 && (op[1] == '=' && op[0] != '=' && op[0] != '!' && op[0] != '<' && op[0] != '>' || op == "++" || op == "--") {
				times[t.text] += 2
			}
			continue
		}
		if times[t.text]++; i+2 < len(p.tokens) && p.tokens[i+2].kind == awkString && (i+3 == len(p.tokens) || p.tokens[i+3].ends()) {
			if _, given := p.vars[t.text]; !given {
				p.vars[t.text] = p.tokens[i+2].text
				continue
			}
		}
		times[t.text]++
	}
	for name, n := range times {
		if n > 1 {
			delete(p.vars, name)
		}
	}
}

// names returns what an expression may be: a string, a variable of one value, one of two of these, or some
// of them joined.
func (p *awkProgram) names(t []awkToken) []awkText {
	for len(t) > 1 && t[0].kind == awkOperator && t[0].text == "(" && (&awkProgram{tokens: t}).closing(0) == len(t)-1 {
		t = t[1 : len(t)-1]
	}
	in := awkProgram{tokens: t, vars: p.vars}
	if at := in.operator(0, len(t), "?"); at >= 0 {
		if colon := in.operator(at+1, len(t), ":"); colon >= 0 {
			return append(p.names(t[at+1:colon]), p.names(t[colon+1:])...)
		}
	}
	out := awkText{}
	for i := 0; i < len(t); i++ {
		part, ok := "*", false
		switch x := t[i]; {
		case x.kind == awkString:
			part, ok = x.text, true
		case x.kind == awkName:
			if value, known := p.vars[x.text]; known {
				part, ok = value, true
			}
		}
		if out.unknown = out.unknown || !ok; part != "*" || !strings.HasSuffix(out.text, "*") {
			out.text += part
		}
	}
	if len(t) == 0 {
		out = awkText{"*", true}
	}
	return []awkText{out}
}
