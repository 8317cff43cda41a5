package danger

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/replay/shell"
)

// A line is judged in its plain form: as its shell runs it, as far as the line itself tells. Words that expand to what is
// known have that in their place, loops over known words are written out, functions and aliases stand where they are
// called, and a shell that is told or fed a known text has that text. Whatever is not known stays as it is written.

// Bounds of what is written out.
const (
	maxUnfolded = 600 // statements
	maxDeep     = 6   // texts and functions in each other
	maxRounds   = 16  // of a loop, or values of a variable
	maxLines    = 200 // that a loop, xargs or parallel reads
	maxText     = 1 << 14
)

// unfold returns a line in its plain form, the line itself if that is the same or too long.
func unfold(l *shell.Line, at Place) *shell.Line {
	if l.File == nil || at.plain || !strings.ContainsAny(l.Source, "$`{|<(") && !strings.Contains(l.Source, "alias") && !strings.Contains(l.Source, "eval") && !strings.Contains(l.Source, ":::") && len(at.Functions)+len(at.Aliases) == 0 {
		return l
	}
	u := &unfolder{home: at.Home, vars: map[string][]value{"SHELL": {{text: "/bin/sh", known: true}}}, functions: map[string]*syntax.Stmt{}, aliases: map[string]string{}}
	for name, body := range at.Functions {
		if f, err := command.Parse(body, "bash"); err == nil && len(f.Stmts) == 1 {
			u.functions[name] = f.Stmts[0]
		}
	}
	for name, text := range at.Aliases {
		u.aliases[name] = text
	}
	for name, text := range at.Values {
		u.vars[name] = []value{{}, {text: text, known: true}}
	}
	u.called = calledIn(l.File)
	stmts := u.line(l.File.Stmts)
	if !u.changed || u.spent > maxUnfolded {
		return l
	}
	text, ok := asText(stmts)
	if !ok {
		return l
	}
	again, err := l.Again(text)
	if err != nil {
		return l
	}
	return again
}

// calledIn returns the names that statements call, each with how often.
func calledIn(n syntax.Node) map[string]int {
	names := map[string]int{}
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			names[c.Args[0].Lit()]++
		}
		return true
	})
	return names
}

// asText returns statements as text.
func asText(stmts []*syntax.Stmt) (string, bool) {
	var b strings.Builder
	err := syntax.NewPrinter().Print(&b, &syntax.File{Stmts: stmts})
	return b.String(), err == nil
}

// unfolder makes the plain form of statements, in the order in which they run. It makes new nodes and changes none.
type unfolder struct {
	// vars are the values that variables may have, functions and aliases those that are there.
	vars      map[string][]value
	functions map[string]*syntax.Stmt
	aliases   map[string]string
	// home is the home directory, which a word may begin with: quotes around what the word is put into mean nothing to it.
	home string
	// given are the words that a function or a shell was given, nil if they are not known; zero stands for $0.
	given []field
	zero  *field
	// input is what the commands at this place read, nil if that is not known, and took tells that they have read it.
	input *string
	took  bool
	// branch counts the branches around this place, deep the texts and functions, spent the statements.
	branch, deep, spent int
	// choice is which of their values variables have, choices how many there are.
	choice, choices int
	// within are the functions around this place, called the names that the line calls.
	within []string
	called map[string]int
	// changed tells that something was put in the place of something else.
	changed bool
}

// line returns the plain form of all statements of a line. Functions that are still called in it, as in a substitution
// or deeper than they are written out, are declared before it.
func (u *unfolder) line(list []*syntax.Stmt) []*syntax.Stmt {
	out := u.stmts(list)
	left := maps.Clone(u.functions)
	for more := true; more; {
		more = false
		called := calledIn(&syntax.File{Stmts: out})
		for _, name := range slices.Sorted(maps.Keys(left)) {
			if called[name] > 0 {
				declared := &syntax.FuncDecl{Parens: true, Name: &syntax.Lit{Value: name}, Body: left[name]}
				out = append([]*syntax.Stmt{{Cmd: declared}}, out...)
				delete(left, name)
				more = true
			}
		}
	}
	return out
}

func (u *unfolder) stmts(list []*syntax.Stmt) (out []*syntax.Stmt) {
	for _, s := range list {
		out = append(out, u.stmt(s)...)
	}
	return out
}

// one returns the plain form of a statement as one statement.
func (u *unfolder) one(s *syntax.Stmt) *syntax.Stmt {
	if s == nil {
		return nil
	}
	return together(u.stmt(s))
}

func together(out []*syntax.Stmt) *syntax.Stmt {
	switch len(out) {
	case 0:
		return &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(":")}}}
	case 1:
		return out[0]
	}
	return &syntax.Stmt{Cmd: &syntax.Block{Stmts: out}}
}

// inBranch runs f for what may not run: what it sets adds to what was known.
func (u *unfolder) inBranch(f func()) {
	u.branch++
	f()
	u.branch--
}

// apart runs f for what has variables of its own.
func (u *unfolder) apart(f func()) {
	vars, given := u.vars, u.given
	u.vars = make(map[string][]value, len(vars))
	for name, v := range vars {
		u.vars[name] = v
	}
	f()
	u.vars, u.given = vars, given
}

func (u *unfolder) stmt(s *syntax.Stmt) []*syntax.Stmt {
	if u.spent++; u.spent > maxUnfolded {
		return nil
	}
	out := *s
	out.Comments = nil
	input, took := u.input, u.took
	u.took = false
	if text, ok := u.reads(s.Redirs); ok {
		u.input = text
	}
	out.Redirs = u.redirects(s.Redirs)
	list := u.command(s.Cmd)
	if u.took {
		u.changed = true
		out.Redirs = slices.DeleteFunc(out.Redirs, func(rd *syntax.Redirect) bool { return strings.HasPrefix(rd.Op.String(), "<") })
		if u.input == input {
			took = true // what stands around it was read
		}
	}
	u.input, u.took = input, took
	if len(out.Redirs) == 0 && !out.Negated && !out.Background && !out.Coprocess {
		return list
	}
	if s.Cmd != nil {
		whole := together(list)
		if out.Cmd = whole.Cmd; len(whole.Redirs) > 0 || whole.Negated || whole.Background {
			out.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{whole}}
		}
	}
	return []*syntax.Stmt{&out}
}

// command returns the plain form of a command.
func (u *unfolder) command(c syntax.Command) []*syntax.Stmt {
	as := func(c syntax.Command) []*syntax.Stmt { return []*syntax.Stmt{{Cmd: c}} }
	switch c := c.(type) {
	case nil:
		return nil
	case *syntax.CallExpr:
		return u.call(c)
	case *syntax.BinaryCmd:
		return u.binary(c)
	case *syntax.Subshell:
		out := *c
		u.apart(func() { out.Stmts = u.stmts(c.Stmts) })
		return as(&out)
	case *syntax.Block:
		out := *c
		out.Stmts = u.stmts(c.Stmts)
		return as(&out)
	case *syntax.IfClause:
		return as(u.ifClause(c))
	case *syntax.WhileClause:
		return u.while(c)
	case *syntax.ForClause:
		return u.loop(c)
	case *syntax.CaseClause:
		out := *c
		out.Items = nil
		for _, it := range c.Items {
			item := *it
			u.inBranch(func() { item.Stmts = u.stmts(it.Stmts) })
			out.Items = append(out.Items, &item)
		}
		return as(&out)
	case *syntax.FuncDecl:
		return u.function(c)
	case *syntax.DeclClause:
		return as(u.declaration(c))
	case *syntax.TimeClause:
		out := *c
		out.Stmt = u.one(c.Stmt)
		return as(&out)
	case *syntax.CoprocClause:
		out := *c
		out.Stmt = u.one(c.Stmt)
		return as(&out)
	}
	return as(c)
}

func (u *unfolder) binary(c *syntax.BinaryCmd) []*syntax.Stmt {
	out := *c
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		out.X = u.one(c.X)
		if c.Op == syntax.OrStmt {
			u.inBranch(func() { out.Y = u.one(c.Y) })
		} else {
			out.Y = u.one(c.Y)
		}
		return []*syntax.Stmt{{Cmd: &out}}
	}
	input, took := u.input, u.took
	text, known := u.output(c.X)
	u.apart(func() { out.X = u.one(c.X) })
	u.input, u.took = nil, false
	if known {
		u.input = &text
	}
	u.apart(func() { out.Y = u.one(c.Y) })
	read := u.took
	u.input, u.took = input, took
	if read {
		return []*syntax.Stmt{out.Y}
	}
	return []*syntax.Stmt{{Cmd: &out}}
}

func (u *unfolder) ifClause(c *syntax.IfClause) *syntax.IfClause {
	if c == nil {
		return nil
	}
	out := *c
	out.Cond = u.stmts(c.Cond)
	u.inBranch(func() {
		out.Then = u.stmts(c.Then)
		out.Else = u.ifClause(c.Else)
	})
	return &out
}

// while writes out a loop that reads lines which are known.
func (u *unfolder) while(c *syntax.WhileClause) []*syntax.Stmt {
	if names, ok := readNames(c.Cond); ok && u.input != nil && !c.Until {
		lines := strings.Split(strings.TrimSuffix(*u.input, "\n"), "\n")
		if len(lines) <= maxLines {
			var out []*syntax.Stmt
			u.took = true
			for _, line := range lines {
				u.sets(names, line)
				out = append(out, u.stmts(c.Do)...)
			}
			return out
		}
	}
	if shifts(c.Do) && len(u.given) > 0 && len(u.given) <= maxRounds { // once for each word that it was given
		var out []*syntax.Stmt
		for range u.given {
			out = append(out, u.stmts(c.Do)...)
		}
		return out
	}
	out := *c
	u.forget(c)
	input := u.input
	u.input = nil
	out.Cond = u.stmts(c.Cond)
	u.inBranch(func() { out.Do = u.stmts(c.Do) })
	u.input = input
	return []*syntax.Stmt{{Cmd: &out}}
}

// shifts reports whether a loop takes the words that it was given one by one.
func shifts(body []*syntax.Stmt) bool {
	return slices.ContainsFunc(body, func(s *syntax.Stmt) bool {
		c, ok := s.Cmd.(*syntax.CallExpr)
		return ok && len(c.Args) == 1 && c.Args[0].Lit() == "shift"
	})
}

// readNames returns the variables of a condition that only reads a line.
func readNames(cond []*syntax.Stmt) ([]string, bool) {
	if len(cond) != 1 || len(cond[0].Redirs) > 0 {
		return nil, false
	}
	c, ok := cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || c.Args[0].Lit() != "read" {
		return nil, false
	}
	var names []string
	for _, w := range c.Args[1:] {
		switch name := w.Lit(); {
		case name == "-r":
		case !syntax.ValidName(name):
			return nil, false
		default:
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	return names, true
}

// sets gives the words of a line to variables, the last of which gets all that is left.
func (u *unfolder) sets(names []string, line string) {
	for i, name := range names {
		line = strings.TrimSpace(line)
		word := line
		if i < len(names)-1 {
			word, line, _ = strings.Cut(line, " ")
		}
		u.set(name, value{text: word, known: true})
	}
}

// loop writes out a loop over words that are known.
func (u *unfolder) loop(c *syntax.ForClause) []*syntax.Stmt {
	over, ok := c.Loop.(*syntax.WordIter)
	if ok && !c.Select {
		items, known := u.items(over)
		if known && len(items) > 0 && len(items) <= maxRounds {
			u.changed = true
			var out []*syntax.Stmt
			for _, item := range items {
				u.set(over.Name.Value, item.value())
				out = append(out, u.stmts(c.Do)...)
			}
			return out
		}
	}
	out := *c
	if ok {
		u.vars[over.Name.Value] = []value{{}}
		loop := *over
		loop.Items = nil
		for _, w := range over.Items {
			loop.Items = append(loop.Items, u.words(u.fields([]*syntax.Word{w}))...)
		}
		out.Loop = &loop
	}
	u.forget(c)
	u.inBranch(func() { out.Do = u.stmts(c.Do) })
	return []*syntax.Stmt{{Cmd: &out}}
}

// items returns the words that a loop goes over.
func (u *unfolder) items(over *syntax.WordIter) (items []field, known bool) {
	if !over.InPos.IsValid() {
		return u.given, u.given != nil
	}
	u.choice, u.choices = 0, 1
	items = u.fields(over.Items)
	return items, u.choices == 1 && !slices.ContainsFunc(items, func(f field) bool { return !f.known })
}

// forget makes the variables that a loop sets unknown in it, as its rounds change them.
func (u *unfolder) forget(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				u.vars[n.Name.Value] = []value{{}}
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && (n.Args[0].Lit() == "shift" || n.Args[0].Lit() == "set") {
				u.given = nil
			}
		}
		return true
	})
}

// function takes note of a function. One that the line calls is judged there alone.
func (u *unfolder) function(c *syntax.FuncDecl) []*syntax.Stmt {
	if c.Name == nil {
		return []*syntax.Stmt{{Cmd: c}}
	}
	name := c.Name.Value
	own := calledIn(c.Body)[name]
	if own == 0 {
		u.functions[name] = c.Body
		if u.called[name] > 0 {
			u.changed = true
			return nil
		}
	}
	out := *c
	u.apart(func() {
		u.given = nil
		u.inBranch(func() { out.Body = u.one(c.Body) })
	})
	return []*syntax.Stmt{{Cmd: &out}}
}

// declaration takes note of what export, local and the like set.
func (u *unfolder) declaration(c *syntax.DeclClause) *syntax.DeclClause {
	out := *c
	out.Args = nil
	for _, a := range c.Args {
		if a.Name == nil || a.Naked {
			out.Args = append(out.Args, a)
			continue
		}
		out.Args = append(out.Args, u.assign(a))
	}
	return &out
}

// assign takes note of an assignment, and returns it with what is known of its value.
func (u *unfolder) assign(a *syntax.Assign) *syntax.Assign {
	out := *a
	name := a.Name.Value
	switch {
	case a.Index != nil:
		u.set(name, value{})
	case a.Array != nil:
		var v value
		if was := u.vars[name]; a.Append && len(was) == 1 {
			v = was[0]
		}
		v.known, v.array = true, true
		array := *a.Array
		array.Elems = nil
		for _, e := range a.Array.Elems {
			if e.Value == nil || e.Index != nil {
				v.known = false
				array.Elems = append(array.Elems, e)
				continue
			}
			u.choice, u.choices = 0, 1
			fields := u.fields([]*syntax.Word{e.Value})
			v.items = append(slices.Clip(v.items), fields...)
			for _, w := range u.words(fields) {
				array.Elems = append(array.Elems, &syntax.ArrayElem{Value: w})
			}
		}
		out.Array = &array
		u.set(name, v)
	case a.Value != nil:
		var values []value
		for k := 0; k < maxRounds; k++ {
			u.choice, u.choices = k, 1
			f := u.whole(a.Value)
			if k == 0 {
				out.Value = f.word()
			}
			v := f.value()
			if was := u.vars[name]; a.Append {
				v.known = v.known && len(was) == 1 && was[0].known && !was[0].array
				if v.known {
					v.text = was[0].text + v.text
				}
			}
			values = append(values, v)
			if k+1 >= u.choices {
				break
			}
		}
		u.set(name, values...)
	default:
		u.set(name, value{known: true})
	}
	return &out
}

// set gives a variable its values. In a branch it may have kept the others.
func (u *unfolder) set(name string, values ...value) {
	if u.branch > 0 {
		was := u.vars[name]
		if was == nil {
			was = []value{{}}
		}
		values = append(slices.Clip(was), values...)
	}
	if len(values) > maxRounds {
		values = []value{{}}
	}
	u.vars[name] = values
}
