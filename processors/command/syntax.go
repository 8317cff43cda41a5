package command

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// parsers keeps parsers for reuse, because each has buffers. A parser is used by one goroutine at a
// time.
var parsers = sync.Pool{New: func() any { return new(shellParsers) }}

type shellParsers struct{ bash, posix, mksh, zsh *syntax.Parser }

func (p *shellParsers) parserFor(lang syntax.LangVariant) *syntax.Parser {
	slot := &p.bash
	switch lang {
	case syntax.LangPOSIX:
		slot = &p.posix
	case syntax.LangMirBSDKorn:
		slot = &p.mksh
	case syntax.LangZsh:
		slot = &p.zsh
	}
	if *slot == nil {
		*slot = syntax.NewParser(syntax.Variant(lang))
	}
	return *slot
}

// languages returns the grammars to try for a shell, in order. If the shell is unknown, bash is
// assumed, which accepts most of what is typed in any. PowerShell and similar shells are not tried:
// what looks like sh there has another meaning.
func languages(shell string) []syntax.LangVariant {
	switch strings.TrimPrefix(strings.ToLower(base(shell)), "-") {
	case "sh", "dash", "ash", "busybox", "posix":
		return []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash}
	case "mksh", "ksh", "ksh93", "pdksh":
		return []syntax.LangVariant{syntax.LangMirBSDKorn, syntax.LangBash}
	case "zsh":
		return []syntax.LangVariant{syntax.LangZsh, syntax.LangBash}
	case "pwsh", "powershell", "powershell.exe", "pwsh.exe", "cmd", "cmd.exe", "nu", "elvish":
		return nil
	}
	return []syntax.LangVariant{syntax.LangBash}
}

// parse parses a command with the grammar of its shell. It returns false if no grammar fits, or if
// parsing could cost too much.
func parse(command, shell string) (*line, bool) {
	file, err := Parse(command, shell)
	if err != nil {
		return nil, false
	}
	w := walker{line: &line{src: command, items: make([]item, 0, 16)}}
	w.stmts(file.Stmts)
	return w.line, len(w.line.items) > 0
}

// Parse returns the syntax tree of a command by the grammar of its shell, or of bash if the shell is
// not known. The error is the grammar's, or says why the command was not parsed at all: parsing it
// could cost too much, or its shell has another kind of syntax.
func Parse(command, shell string) (*syntax.File, error) {
	if len(command) > maxParse {
		return nil, fmt.Errorf("it has %d bytes, and at most %d are parsed", len(command), maxParse)
	}
	if tooDeep(command) {
		return nil, errors.New("it is nested too deeply")
	}
	pool := parsers.Get().(*shellParsers)
	defer parsers.Put(pool)
	err := fmt.Errorf("the syntax of %s is not known", shell)
	for _, lang := range languages(shell) {
		var file *syntax.File
		if file, err = pool.parserFor(lang).Parse(strings.NewReader(command), ""); err == nil {
			return file, nil
		}
	}
	return nil, err
}

// maxDepth limits the nesting of a command: the parser is recursive, and a Go program cannot
// recover from a stack overflow.
const maxDepth = 128

// tooDeep counts an upper bound of the nesting of brackets and compound commands, without
// interpreting quotes.
func tooDeep(s string) bool {
	open, ticks, words := 0, 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '{', '[':
			open++
		case ')', '}', ']':
			if open > 0 {
				open--
			}
		case '`':
			ticks++
		case '!', '-', '+', '~', '?', '*', '\\', '"':
			// Prefix operators of arithmetic and of tests recurse once each.
			if i > 0 && s[i-1] == s[i] {
				words++
			}
		case 'i', 'w', 'u', 'f', 'c', 's', 't':
			if (i == 0 || !isWordByte(s[i-1])) && opensCompound(s[i:]) {
				words++
			}
		}
		if open > maxDepth || words > 8*maxDepth || ticks > 8*maxDepth {
			return true
		}
	}
	return false
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

func opensCompound(s string) bool {
	for _, k := range [...]string{"if", "while", "until", "for", "case", "select", "time", "function", "coproc"} {
		if strings.HasPrefix(s, k) && (len(s) == len(k) || !isWordByte(s[len(k)])) {
			return true
		}
	}
	return false
}

// walker converts the syntax tree into a line.
type walker struct {
	*line
	depth int // of substitutions
}

func (w *walker) slice(from, to syntax.Pos) string {
	a, b := int(from.Offset()), int(to.Offset())
	if a < 0 || b > len(w.src) || a > b {
		return ""
	}
	return w.src[a:b]
}

func (w *walker) keyword(text string, at syntax.Pos) {
	w.add(item{kind: recountv1.TokenKind_TOKEN_KIND_KEYWORD, text: text, value: text, offset: int(at.Offset())})
}

func (w *walker) stmts(list []*syntax.Stmt) {
	for i, s := range list {
		if w.full() {
			return
		}
		if i > 0 && !list[i-1].Background {
			at := list[i-1].Semicolon
			if !at.IsValid() {
				at = list[i-1].End()
			}
			w.op(recountv1.TokenKind_TOKEN_KIND_SEQUENCE, ";", int(at.Offset()))
		}
		w.stmt(s)
	}
}

func (w *walker) stmt(s *syntax.Stmt) {
	if s.Negated {
		w.keyword("!", s.Pos())
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		w.call(call, s.Redirs)
	} else {
		w.command(s.Cmd)
		for _, r := range s.Redirs {
			w.redirect(r)
		}
	}
	if s.Background {
		w.op(recountv1.TokenKind_TOKEN_KIND_BACKGROUND, "&", int(s.Semicolon.Offset()))
	}
}

// call adds a simple command: assignments, words and redirections in source order.
func (w *walker) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	w.complexity++
	for _, a := range c.Assigns {
		w.assign(a)
	}
	words := make([]int, 0, len(c.Args))
	for _, arg := range c.Args {
		for len(redirs) > 0 && arg.Pos().After(redirs[0].Pos()) {
			w.redirect(redirs[0])
			redirs = redirs[1:]
		}
		if i := w.word(arg, recountv1.TokenKind_TOKEN_KIND_ARGUMENT); i >= 0 {
			words = append(words, i)
		}
	}
	for _, r := range redirs {
		w.redirect(r)
	}
	if len(words) > 0 {
		w.calls = append(w.calls, call{words, w.depth > 0})
	}
}

func (w *walker) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		w.stmt(c.X)
		kind := recountv1.TokenKind_TOKEN_KIND_PIPE
		switch c.Op {
		case syntax.AndStmt:
			kind = recountv1.TokenKind_TOKEN_KIND_AND
		case syntax.OrStmt:
			kind = recountv1.TokenKind_TOKEN_KIND_OR
		}
		w.op(kind, c.Op.String(), int(c.OpPos.Offset()))
		w.stmt(c.Y)
	case *syntax.Subshell:
		w.keyword("(", c.Lparen)
		w.stmts(c.Stmts)
		w.keyword(")", c.Rparen)
	case *syntax.Block:
		w.keyword("{", c.Lbrace)
		w.stmts(c.Stmts)
		w.keyword("}", c.Rbrace)
	case *syntax.IfClause:
		w.ifClause(c)
		w.keyword("fi", c.FiPos)
	case *syntax.WhileClause:
		name := "while"
		if c.Until {
			name = "until"
		}
		w.keyword(name, c.WhilePos)
		w.stmts(c.Cond)
		w.keyword("do", c.DoPos)
		w.stmts(c.Do)
		w.keyword("done", c.DonePos)
	case *syntax.ForClause:
		w.forClause(c)
	case *syntax.CaseClause:
		w.keyword("case", c.Case)
		w.word(c.Word, recountv1.TokenKind_TOKEN_KIND_ARGUMENT)
		w.keyword("in", c.In)
		for _, it := range c.Items {
			for _, p := range it.Patterns {
				if i := w.word(p, recountv1.TokenKind_TOKEN_KIND_ARGUMENT); i >= 0 {
					w.items[i].place = w.items[i].text
				}
			}
			w.stmts(it.Stmts)
			w.op(recountv1.TokenKind_TOKEN_KIND_SEQUENCE, ";;", int(it.OpPos.Offset()))
		}
		w.keyword("esac", c.Esac)
	case *syntax.FuncDecl:
		if c.RsrvWord {
			w.keyword("function", c.Position)
		}
		if c.Name != nil {
			w.add(item{kind: recountv1.TokenKind_TOKEN_KIND_ARGUMENT, text: c.Name.Value, value: c.Name.Value, offset: int(c.Name.Pos().Offset()), place: c.Name.Value + "()"})
		}
		w.stmt(c.Body)
	case *syntax.DeclClause:
		w.declaration(c)
	case *syntax.TimeClause:
		w.keyword("time", c.Time)
		if c.Stmt != nil {
			w.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		w.keyword("coproc", c.Coproc)
		w.stmt(c.Stmt)
	case *syntax.TestClause:
		w.complexity++
		w.keyword("[[", c.Left)
		w.opaque(c.X)
		w.keyword("]]", c.Right)
	case nil:
		// A statement of redirections only.
		w.complexity++
	default:
		// Arithmetic and the like are one item.
		w.complexity++
		w.opaque(c)
	}
}

// opaque adds a node as one argument, without its inner structure.
func (w *walker) opaque(n syntax.Node) {
	text := w.slice(n.Pos(), n.End())
	w.add(item{kind: recountv1.TokenKind_TOKEN_KIND_ARGUMENT, text: text, value: text, offset: int(n.Pos().Offset()), dynamic: true, place: "<expr>"})
}

func (w *walker) ifClause(c *syntax.IfClause) {
	name := "if"
	for first := true; c != nil; c, first = c.Else, false {
		switch {
		case !first && c.ThenPos.IsValid():
			name = "elif"
		case !first:
			name = "else"
		}
		w.keyword(name, c.Position)
		if c.ThenPos.IsValid() {
			w.stmts(c.Cond)
			w.keyword("then", c.ThenPos)
		}
		w.stmts(c.Then)
	}
}

func (w *walker) forClause(c *syntax.ForClause) {
	name := "for"
	if c.Select {
		name = "select"
	}
	w.keyword(name, c.ForPos)
	if loop, ok := c.Loop.(*syntax.WordIter); ok {
		w.add(item{kind: recountv1.TokenKind_TOKEN_KIND_ARGUMENT, text: loop.Name.Value, value: loop.Name.Value, offset: int(loop.Name.Pos().Offset()), place: "<var>"})
		if loop.InPos.IsValid() {
			w.keyword("in", loop.InPos)
		}
		for _, word := range loop.Items {
			w.word(word, recountv1.TokenKind_TOKEN_KIND_ARGUMENT)
		}
	} else {
		w.opaque(c.Loop)
	}
	w.keyword("do", c.DoPos)
	w.stmts(c.Do)
	w.keyword("done", c.DonePos)
}

// declaration adds export, declare, local and readonly as ordinary commands.
func (w *walker) declaration(c *syntax.DeclClause) {
	w.complexity++
	name := c.Variant.Value
	i := w.add(item{kind: recountv1.TokenKind_TOKEN_KIND_ARGUMENT, text: name, value: name, offset: int(c.Pos().Offset())})
	if i < 0 {
		return
	}
	words := []int{i}
	for _, a := range c.Args {
		switch {
		case a.Naked && a.Name == nil && a.Value != nil:
			if i := w.word(a.Value, recountv1.TokenKind_TOKEN_KIND_ARGUMENT); i >= 0 {
				words = append(words, i)
			}
		default:
			if i := w.assign(a); i >= 0 {
				words = append(words, i)
			}
		}
	}
	w.calls = append(w.calls, call{words, w.depth > 0})
}

func (w *walker) assign(a *syntax.Assign) int {
	text := w.slice(a.Pos(), a.End())
	name, _, found := strings.Cut(text, "=")
	it := item{kind: recountv1.TokenKind_TOKEN_KIND_ASSIGNMENT, text: text, value: text, offset: int(a.Pos().Offset())}
	if !found {
		it.place = name
		return w.add(it)
	}
	var inner []substitution
	if a.Value != nil {
		v := w.read(a.Value, &inner)
		it.dynamic, it.quoted, it.subst = v.dynamic, v.quoted, len(inner) > 0
		it.place = name + "=" + shape(&v)
	} else {
		it.place = name + "=(<arg>)"
	}
	if it.subst {
		it.place = name + "="
	}
	i := w.add(it)
	w.substitutions(inner)
	return i
}

// substitution is a command inside a word.
type substitution struct {
	open  string
	from  syntax.Pos
	to    syntax.Pos
	stmts []*syntax.Stmt
}

// word adds a word and the substitutions in it.
func (w *walker) word(word *syntax.Word, kind recountv1.TokenKind) int {
	var inner []substitution
	it := w.read(word, &inner)
	it.kind = kind
	i := w.add(it)
	w.substitutions(inner)
	return i
}

func (w *walker) substitutions(inner []substitution) {
	for _, s := range inner {
		w.op(recountv1.TokenKind_TOKEN_KIND_SUBSTITUTION, s.open, int(s.from.Offset()))
		w.depth++
		w.stmts(s.stmts)
		w.depth--
		w.add(item{text: ")", value: ")", offset: max(0, int(s.to.Offset())-1)})
	}
}

// read returns the item for a word, without adding it.
func (w *walker) read(word *syntax.Word, inner *[]substitution) item {
	it := item{text: w.slice(word.Pos(), word.End()), offset: int(word.Pos().Offset())}
	if len(word.Parts) == 1 {
		if lit, ok := word.Parts[0].(*syntax.Lit); ok && strings.IndexByte(lit.Value, '\\') < 0 {
			it.value, it.glob = lit.Value, hasGlob(lit.Value)
			return it
		}
	}
	var b strings.Builder
	w.parts(&it, &b, word.Parts, inner, false)
	it.value = b.String()
	it.subst = len(*inner) > 0
	return it
}

func (w *walker) parts(it *item, b *strings.Builder, parts []syntax.WordPart, inner *[]substitution, inQuotes bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			unescape(b, p.Value, inQuotes)
			if !inQuotes && hasGlob(p.Value) {
				it.glob = true
			}
		case *syntax.SglQuoted:
			it.quoted = true
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			it.quoted = true
			w.parts(it, b, p.Parts, inner, true)
		case *syntax.CmdSubst:
			it.dynamic = true
			b.WriteString(w.slice(p.Pos(), p.End()))
			*inner = append(*inner, substitution{"$(", p.Pos(), p.End(), p.Stmts})
		case *syntax.ProcSubst:
			it.dynamic = true
			b.WriteString(w.slice(p.Pos(), p.End()))
			*inner = append(*inner, substitution{p.Op.String(), p.Pos(), p.End(), p.Stmts})
		case *syntax.ExtGlob:
			it.glob = true
			b.WriteString(w.slice(p.Pos(), p.End()))
		default:
			it.dynamic = true
			b.WriteString(w.slice(p.Pos(), p.End()))
		}
	}
}

// unescape removes the backslashes that the shell would remove.
func unescape(b *strings.Builder, s string, inQuotes bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		next := s[i+1]
		switch {
		case next == '\n':
			i++
		case inQuotes && strings.IndexByte("$`\"\\", next) < 0:
			b.WriteByte('\\')
		default:
			b.WriteByte(next)
			i++
		}
	}
}

func (w *walker) redirect(r *syntax.Redirect) {
	fd := ""
	if r.N != nil {
		fd = r.N.Value
	}
	op := r.Op.String()
	if r.Hdoc != nil || r.Op == syntax.WordHdoc {
		text := w.slice(r.Pos(), r.Word.End())
		w.complexity++
		w.add(item{kind: recountv1.TokenKind_TOKEN_KIND_HEREDOC, text: text, value: text, offset: int(r.Pos().Offset()), place: fd + op + " <doc>"})
		return
	}
	var inner []substitution
	target := w.read(r.Word, &inner)
	text := w.slice(r.Pos(), r.Word.End())
	w.redirection(fd, op, text, target, int(r.Pos().Offset()))
	w.substitutions(inner)
}

// redirection adds a redirection; both parsers use it.
func (l *line) redirection(fd, op, text string, target item, offset int) {
	l.complexity++
	it := item{kind: recountv1.TokenKind_TOKEN_KIND_REDIRECTION, text: text, value: text, offset: offset, subst: target.subst}
	access := recountv1.Access_ACCESS_WRITE
	switch {
	case strings.HasPrefix(op, "<>"):
		access = recountv1.Access_ACCESS_READ_WRITE
	case strings.HasPrefix(op, "<"):
		access = recountv1.Access_ACCESS_READ
	}
	duplicates := strings.HasSuffix(op, "&") && isFD(target.value)
	switch {
	case duplicates:
		it.place = fd + op + target.value
	case target.subst:
		it.place = fd + op
	case strings.HasPrefix(target.value, "/dev/"):
		it.place = fd + op + " " + target.value
	default:
		it.place = fd + op + " <path>"
	}
	i := l.add(it)
	if i >= 0 && !duplicates && !target.subst {
		l.redirs = append(l.redirs, redirection{i, target, access})
	}
}

// isFD reports whether the target of >& is a descriptor: a number or "-".
func isFD(s string) bool {
	return s == "-" || s != "" && strings.Trim(s, "0123456789-") == ""
}
