package danger

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/replay/shell"
)

// Calls in their plain form: with the words that they get, and with what they run where a text says it.

// call returns the plain form of a simple command, once for each value that its variables may have.
func (u *unfolder) call(c *syntax.CallExpr) []*syntax.Stmt {
	out := syntax.CallExpr{}
	for _, a := range c.Assigns {
		if len(c.Args) > 0 {
			was, had := u.vars[a.Name.Value]
			out.Assigns = append(out.Assigns, u.assign(a))
			if u.vars[a.Name.Value] = was; !had {
				delete(u.vars, a.Name.Value)
			}
			continue
		}
		out.Assigns = append(out.Assigns, u.assign(a))
	}
	if len(c.Args) == 0 {
		return []*syntax.Stmt{{Cmd: &out}}
	}
	var all []*syntax.Stmt
	for k := 0; k < maxRounds; k++ {
		u.choice, u.choices = k, 1
		fields := u.fields(c.Args)
		more := k+1 < u.choices
		all = append(all, u.run(out.Assigns, fields, false)...)
		if !more {
			break
		}
	}
	return all
}

// run returns what a call does with the words that it gets. Under another program, as sudo, the shell's own words
// mean nothing.
func (u *unfolder) run(assigns []*syntax.Assign, fields []field, under bool) []*syntax.Stmt {
	if len(fields) == 0 {
		return nil
	}
	as := func(fields []field) []*syntax.Stmt {
		return []*syntax.Stmt{{Cmd: &syntax.CallExpr{Assigns: assigns, Args: u.words(fields)}}}
	}
	head, args := fields[0], fields[1:]
	if !head.plain() {
		out := as(fields)
		if without, ok := u.withoutPrefix(fields); ok {
			u.changed = true
			out = append(out, without...)
		}
		return out
	}
	name := head.word().Lit()
	if !under {
		if text, ok := u.aliases[name]; ok && head.written != nil && !head.quoted {
			if out, ok := u.aliased(name, text, args); ok {
				return out
			}
		}
		if body := u.functions[name]; body != nil && !slices.Contains(u.within, name) && u.deep < maxDeep {
			return u.inlined(name, body, args)
		}
		if out, ok := u.builtin(name, args); ok {
			return out
		}
	}
	name = base(head.literal())
	switch {
	case shells[name] || name == "fish":
		return as(u.shellCall(fields))
	case name == "xargs":
		if out, ok := u.xargs(args); ok {
			return out
		}
	case name == "parallel":
		if out, ok := u.parallel(args); ok {
			return out
		}
		return as(fields)
	}
	at := shell.CommandAt(asWords(fields))
	if at == 0 || name == "parallel" || name == "ssh" {
		return as(fields)
	}
	own := name == "command" || name == "exec" || name == "builtin" || name == "time"
	out := u.run(nil, fields[at:], !own || name == "command")
	prefix := u.words(fields[:at])
	for _, s := range out {
		if c, ok := s.Cmd.(*syntax.CallExpr); ok {
			c.Assigns, c.Args = assigns, append(slices.Clone(prefix), c.Args...)
		}
	}
	return out
}

// plain reports whether a field is a known text.
func (f field) plain() bool { return f.literal() != "" }

// literal returns the text of a field, "" if it is not known.
func (f field) literal() string {
	if f.known {
		return f.text
	}
	return ""
}

func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// withoutPrefix returns a call without a variable before it of which nothing is known: $SUDO rm -rf /srv.
func (u *unfolder) withoutPrefix(fields []field) ([]*syntax.Stmt, bool) {
	head := fields[0]
	if len(fields) < 2 || !fields[1].plain() || head.quoted || head.written == nil || len(head.written.Parts) != 1 {
		return nil, false
	}
	if p, ok := head.written.Parts[0].(*syntax.ParamExp); !ok || p.Param == nil || !syntax.ValidName(p.Param.Value) {
		return nil, false
	}
	rest := u.words(fields[1:])
	if text, ok := asText([]*syntax.Stmt{{Cmd: &syntax.CallExpr{Args: rest}}}); !ok || !known(text) {
		return nil, false
	}
	return u.run(nil, fields[1:], true), true
}

// parsed returns the statements of a text.
func (u *unfolder) parsed(text string) ([]*syntax.Stmt, bool) {
	if u.deep >= maxDeep {
		return nil, false
	}
	f, err := command.Parse(text, "bash")
	if err != nil {
		return nil, false
	}
	return f.Stmts, true
}

// deeper runs f for a text or a function within this place.
func (u *unfolder) deeper(f func()) {
	u.deep++
	f()
	u.deep--
}

// aliased returns what an alias and the words after it stand for.
func (u *unfolder) aliased(name, text string, args []field) (out []*syntax.Stmt, ok bool) {
	line, ok := asText([]*syntax.Stmt{{Cmd: &syntax.CallExpr{Args: append([]*syntax.Word{literal(text)}, u.words(args)...)}}})
	if !ok {
		return nil, false
	}
	stmts, ok := u.parsed(line)
	if !ok {
		return nil, false
	}
	delete(u.aliases, name)
	u.changed = true
	u.deeper(func() { out = u.stmts(stmts) })
	u.aliases[name] = text
	return out, true
}

// inlined returns what a function does with the words that it is given.
func (u *unfolder) inlined(name string, body *syntax.Stmt, args []field) (out []*syntax.Stmt) {
	given, zero := u.given, u.zero
	u.given = append([]field{}, args...)
	u.within = append(u.within, name)
	u.changed = true
	u.deeper(func() { out = u.stmt(body) })
	u.within = u.within[:len(u.within)-1]
	u.given, u.zero = given, zero
	return []*syntax.Stmt{together(out)}
}

// builtin follows what a shell does by itself. ok is false if the call stays as it is.
func (u *unfolder) builtin(name string, args []field) (out []*syntax.Stmt, ok bool) {
	unknown := func(f field) bool { return !f.known }
	switch name {
	case "eval":
		if slices.ContainsFunc(args, unknown) || len(args) == 0 {
			return nil, false
		}
		var texts []string
		for _, f := range args {
			texts = append(texts, f.text)
		}
		return u.here(strings.Join(texts, " "))
	case "source", ".":
		if len(args) == 0 {
			return nil, false
		}
		if text, ok := u.textOf(args[0]); ok {
			return u.here(text)
		}
	case "set":
		if len(args) == 0 || args[0].literal() == "" || args[0].text[0] == '-' && args[0].text != "--" || args[0].text[0] == '+' {
			return nil, false
		}
		if args[0].text == "--" {
			args = args[1:]
		}
		if u.given = append([]field{}, args...); u.branch > 0 {
			u.given = nil
		}
	case "shift":
		if u.given != nil && u.branch == 0 && len(args) == 0 {
			u.given = u.given[min(1, len(u.given)):]
		} else {
			u.given = nil
		}
	case "unset":
		for _, f := range args {
			delete(u.vars, f.text)
		}
	case "alias":
		for _, f := range args {
			if name, text, ok := strings.Cut(f.literal(), "="); ok {
				u.aliases[name] = text
				u.changed = u.changed || u.called[name] > 0
			}
		}
		if len(args) > 0 && args[0].known && u.called[strings.SplitN(args[0].text, "=", 2)[0]] > 0 {
			return []*syntax.Stmt{{Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(":")}}}}, true
		}
	case "read":
		var names []string
		for _, f := range args {
			if syntax.ValidName(f.literal()) {
				names = append(names, f.text)
			}
		}
		for _, name := range names {
			u.set(name, value{})
		}
		if u.input != nil {
			line, _, _ := strings.Cut(*u.input, "\n")
			u.sets(names, line)
		}
	case "printf":
		if len(args) > 2 && args[0].text == "-v" && args[1].known {
			if text, ok := formattedText(args[2:]); ok {
				u.set(args[1].text, value{text: text, known: true})
			}
		}
	case "mapfile", "readarray":
		if n := len(args); n > 0 && args[n-1].known && u.input != nil {
			v := value{known: true, array: true}
			for line := range strings.Lines(*u.input) {
				v.items = append(v.items, field{text: strings.TrimSuffix(line, "\n"), known: true, quoted: true})
			}
			u.set(args[n-1].text, v)
		}
	}
	return nil, false
}

// here returns the statements of a text that the shell runs itself.
func (u *unfolder) here(text string) (out []*syntax.Stmt, ok bool) {
	stmts, ok := u.parsed(text)
	if !ok || len(stmts) == 0 {
		return nil, false
	}
	u.changed = true
	u.deeper(func() { out = u.stmts(stmts) })
	return []*syntax.Stmt{together(out)}, true
}

// textOf returns what a shell reads from a file that its word names: its input, or a substitution of processes.
func (u *unfolder) textOf(f field) (string, bool) {
	if f.literal() == "/dev/stdin" || f.literal() == "-" || f.literal() == "/dev/fd/0" {
		if u.input == nil {
			return "", false
		}
		u.took = true
		return *u.input, true
	}
	if f.written != nil && len(f.written.Parts) == 1 {
		if p, ok := f.written.Parts[0].(*syntax.ProcSubst); ok && p.Op == syntax.CmdIn {
			return u.substitution(p.Stmts)
		}
	}
	return "", false
}

// shellCall returns a call of a shell with the text that it is told or fed in its plain form, and without the words that
// the text is given.
func (u *unfolder) shellCall(fields []field) []field {
	text, at, given := field{}, -1, []field(nil)
	for i := 1; i < len(fields); i++ {
		v := fields[i].literal()
		isFlag := len(v) > 1 && (v[0] == '-' || v[0] == '+')
		if isFlag && v[1] != '-' && strings.HasSuffix(v, "c") && i+1 < len(fields) {
			text, at, given = fields[i+1], i+1, fields[i+2:]
			break
		}
		if isFlag && (strings.HasSuffix(v, "o") || strings.HasSuffix(v, "O")) && v[1] != '-' {
			i++
			continue
		}
		if v == "-n" || v == "-nv" || v == "-vn" {
			return fields // it only reads them
		}
		if v == "--" {
			fields = slices.Delete(slices.Clone(fields), i, i+1)
			i--
			continue
		}
		if isFlag {
			continue
		}
		if said, ok := u.textOf(fields[i]); ok {
			return u.told(fields[:i], field{text: said, known: true}, append([]field{{text: "sh", known: true}}, fields[i+1:]...))
		}
		if !slices.ContainsFunc(fields[1:i], func(f field) bool { return f.literal() == "-s" }) {
			return fields // a file
		}
		given = append([]field{{text: "sh", known: true}}, fields[i:]...)
		fields = fields[:i]
		break
	}
	if at < 0 {
		if u.input == nil {
			return fields
		}
		u.took = true
		return u.told(fields, field{text: *u.input, known: true}, given)
	}
	if !text.known {
		return fields
	}
	return u.told(fields[:at-1], text, given)
}

// told returns a call of a shell that runs a text.
func (u *unfolder) told(before []field, text field, given []field) []field {
	u.changed = u.changed || text.written == nil
	stmts, ok := u.parsed(text.text)
	if !ok {
		return append(slices.Clone(before), field{text: "-c", known: true}, text)
	}
	inner := *u
	inner.vars = make(map[string][]value, len(u.vars))
	for name, v := range u.vars {
		inner.vars[name] = v
	}
	inner.given, inner.zero, inner.input, inner.branch, inner.changed = nil, nil, nil, 0, false
	if len(given) > 0 {
		inner.zero, inner.given = &given[0], append([]field{}, given[1:]...)
	}
	inner.called = calledIn(&syntax.File{Stmts: stmts})
	inner.functions, inner.deep = map[string]*syntax.Stmt{}, u.deep+1
	plain := inner.line(stmts)
	u.spent = inner.spent
	if said, ok := asText(plain); ok && inner.changed {
		text, u.changed = field{text: strings.TrimSuffix(said, "\n"), known: true}, true
	}
	if text.written == nil {
		text.quoted = true
	}
	before = slices.DeleteFunc(slices.Clone(before), func(f field) bool { return f.literal() == "-s" })
	return append(before, field{text: "-c", known: true}, text)
}

// xargs returns the calls that xargs makes of words which are known.
func (u *unfolder) xargs(args []field) ([]*syntax.Stmt, bool) {
	if u.input == nil {
		return nil, false
	}
	at := shell.CommandAt(asWords(append([]field{{text: "xargs", known: true}}, args...)))
	if at == 0 {
		return nil, false
	}
	run := args[at-1:]
	own := &shell.Call{Name: "xargs", Args: asWords(args[:at-1])}
	if own.Flag("-a", "--arg-file") {
		return nil, false
	}
	place, replaces := own.Replaces()
	var items []string
	switch {
	case own.Flag("-0", "--null"):
		items = strings.Split(strings.TrimSuffix(*u.input, "\x00"), "\x00")
	case replaces:
		items = strings.Split(strings.TrimSuffix(*u.input, "\n"), "\n")
	default:
		items = strings.Fields(*u.input)
	}
	if replaces && len(items) > maxLines {
		return nil, false
	}
	u.took, u.changed = true, true
	if !replaces {
		for _, item := range items {
			run = append(slices.Clip(run), field{text: item, known: true, quoted: true})
		}
		return u.run(nil, run, true), true
	}
	var out []*syntax.Stmt
	for _, item := range items {
		out = append(out, u.run(nil, filled(run, place, item), true)...)
	}
	return out, true
}

// filled returns words with a text in a place that they name.
func filled(fields []field, place, text string) (out []field) {
	for _, f := range fields {
		if f.known && strings.Contains(f.text, place) {
			f = field{text: strings.ReplaceAll(f.text, place, text), known: true, quoted: f.quoted}
		}
		out = append(out, f)
	}
	return out
}

// parallel returns the lines that parallel makes of words which are known.
func (u *unfolder) parallel(args []field) (out []*syntax.Stmt, ok bool) {
	is := func(v string) func(field) bool { return func(f field) bool { return f.literal() == v } }
	if slices.ContainsFunc(args, is("--dry-run")) || slices.ContainsFunc(args, is("--pipe")) || slices.ContainsFunc(args, is("-S")) {
		return nil, false
	}
	var items []string
	run := args
	if i := slices.IndexFunc(args, is(":::")); i >= 0 {
		run = args[:i]
		for _, f := range args[i+1:] {
			if !f.known || f.text == ":::" {
				return nil, false
			}
			items = append(items, f.text)
		}
	} else if u.input == nil {
		return nil, false
	} else {
		items = strings.Split(strings.TrimSuffix(*u.input, "\n"), "\n")
		defer func() { u.took = u.took || ok }()
	}
	if len(items) > maxLines {
		return nil, false
	}
	words := []field{{text: "parallel", known: true}}
	if at := shell.CommandAt(asWords(append(words, run...))); at > 0 {
		run = run[at-1:]
	} else {
		run = nil
	}
	var texts []string
	for _, f := range run {
		if f.text == "" && !f.known {
			return nil, false
		}
		texts = append(texts, f.text)
	}
	line := strings.Join(texts, " ")
	own := &shell.Call{Name: "parallel", Args: asWords(args[:len(args)-len(run)])}
	none := own.Flag("-N0") // it gives them no word
	for _, item := range items {
		text := strings.ReplaceAll(line, "{}", item)
		if text == line && !none {
			text = strings.TrimSpace(line + " " + item)
		}
		stmts, parsed := u.here(text)
		if !parsed {
			return nil, false
		}
		out = append(out, stmts...)
	}
	return out, true
}
