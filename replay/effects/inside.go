package effects

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// maxWithin bounds how deep functions and scripts are followed into others.
const maxWithin = 4

// inside looks into a call of a function, or of a shell script, whose text the command or an earlier one
// has written down. It reports whether there is such a text.
func (f *finder) inside(c *shell.Call) bool {
	if len(c.Via) > 0 && c.Via[len(c.Via)-1] != "eval" {
		return false // sudo f runs no function
	}
	if body, ok := f.body(c.Name); ok && !strings.Contains(c.Head.Value, "/") {
		return f.follow(c, c.Name+"()", body, c.Args, true)
	}
	if c.Document != nil && shellNames[c.Name] && len(shell.Operands(c.Args, "")) == 0 {
		return f.follow(c, "document", *c.Document, nil, false)
	}
	name, text, ok := f.script(c, f.content)
	_, args, _ := scriptOf(c)
	if !ok {
		f.likely(c, args)
		return false
	}
	if !f.follow(c, name, text, args, c.Name == "source" || c.Name == ".") {
		return false
	}
	f.add(Thing{Kind: Path, Name: name, Access: Read})
	return true
}

// likely adds the files that a script named before it was edited: what it does now is not known, and most of that is
// where it was.
func (f *finder) likely(c *shell.Call, args []shell.Word) {
	if f.c.Older == nil {
		return
	}
	name, text, ok := f.script(c, f.c.Older)
	if !ok {
		return
	}
	in := f.enter(c, name, text, args, false)
	if in == nil {
		return
	}
	for _, t := range in.Things {
		if t.Kind == Path && t.Access != Remove {
			t.Sure = 0.6
			f.add(t)
		}
	}
	for _, dir := range in.Reads {
		f.reads(dir)
	}
}

// script returns the shell script that a call runs, and its text, if content knows that.
func (f *finder) script(c *shell.Call, content func(string) (string, bool)) (name, text string, ok bool) {
	script, _, own := scriptOf(c)
	if script.Value == "" {
		return "", "", false
	}
	name, t, ok := f.named(script, c.Dir)
	if !ok || t.Glob || t.Partial {
		return "", "", false
	}
	text, ok = content(name)
	return name, text, ok && (own || isShell(text))
}

// body returns what a function does, if that is known.
func (f *finder) body(name string) (string, bool) {
	if body, ok := f.Functions[name]; ok {
		return body, true
	}
	body, ok := f.c.Functions[name]
	return body, ok
}

func (f *finder) declares(name, body string) {
	if body == "" {
		return
	}
	if f.Functions == nil {
		f.Functions = map[string]string{}
	}
	f.Functions[name] = body
}

// content returns the content of a file as far as it was written down.
func (f *finder) content(name string) (string, bool) {
	if text, ok := f.Texts[name]; ok {
		return text, true
	}
	if f.c.Content == nil {
		return "", false
	}
	return f.c.Content(name)
}

// texts keeps the files whose content the line writes down.
func (f *finder) texts() {
	for _, t := range f.Line.Texts {
		if name, u, ok := f.named(t.Target, t.Dir); ok && !u.Glob && !u.Partial {
			if f.Texts == nil {
				f.Texts = map[string]string{}
			}
			f.Texts[name] = t.Content
		}
	}
}

// scriptOf returns the file with the script that a call runs, and what it is given. own means that the
// call says itself that it is one of the shell.
func scriptOf(c *shell.Call) (script shell.Word, args []shell.Word, own bool) {
	switch c.Name {
	case "source", ".", "bash", "sh", "dash", "zsh", "ksh":
		for i, a := range c.Args {
			switch {
			case a.Value == "-c", a.Value == "-s", a.Value == "-n":
				return shell.Word{}, nil, false
			case len(a.Value) > 1 && a.Value[0] == '-':
			default:
				return a, c.Args[i+1:], true
			}
		}
		return shell.Word{}, nil, false
	}
	if strings.Contains(c.Head.Value, "/") {
		return c.Head, c.Args, false
	}
	return shell.Word{}, nil, false
}

// isShell reports whether a program that is called by its path is a script of the shell. One that names no
// interpreter is.
func isShell(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(first, "#!")
	if !ok {
		return true
	}
	words := strings.Fields(line)
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
	}
	return len(words) > 0 && shellNames[path.Base(words[0])]
}

var shellNames = words("sh bash dash ksh zsh")

// follow adds what a text of the shell does with some arguments. Of a function, or a file that is sourced,
// the shell itself is changed too.
func (f *finder) follow(c *shell.Call, name, text string, args []shell.Word, here bool) bool {
	in := f.enter(c, name, text, args, here)
	if in == nil {
		return false
	}
	if in.Interactive != "" && (c.Piped || c.Fed) {
		in.Interactive = ""
	}
	f.Followed, f.Ends = append(f.Followed, c.Name), ""
	for _, last := range slices.Backward(in.Line.Calls) {
		if !last.Inner {
			if f.Ends = in.Ends; last.Name == "git" {
				f.Ends = last.Sub()
			}
			break
		}
	}
	f.takes(c, in, here)
	return true
}

// enter finds what a text of the shell does with some arguments; nil if it can't be followed.
func (f *finder) enter(c *shell.Call, name, text string, args []shell.Word, here bool) *finder {
	if len(f.within) >= maxWithin || slices.Contains(f.within, name) {
		return nil
	}
	in := newFinder(nil, f.c)
	in.within = append(slices.Clone(f.within), name)
	in.kept = f.keeps(c)
	in.c.Vars, in.c.Functions = maps.Clone(f.c.Vars), maps.Clone(f.c.Functions)
	in.c.Content = f.content
	if c.Dir != "" {
		in.c.Cwd = c.Dir
	}
	if in.c.Vars == nil {
		in.c.Vars = map[string]string{}
	}
	if in.c.Functions == nil {
		in.c.Functions = map[string]string{}
	}
	maps.Copy(in.c.Functions, f.Functions)
	for n, v := range f.Values {
		in.c.Vars[n] = v
	}
	for n := range f.unsure {
		delete(in.c.Vars, n)
	}
	for n := range f.Line.Loops {
		delete(in.c.Vars, n)
	}
	for _, v := range c.Assigns {
		if w := f.expand(v.Value); w.Dynamic {
			delete(in.c.Vars, v.Name)
		} else {
			in.c.Vars[v.Name] = w.Value
		}
	}
	in.args = make([]shell.Word, len(args))
	for i, a := range args {
		a = f.expand(a)
		if rest, ok := strings.CutPrefix(a.Value, "~/"); ok && !a.Quoted && f.c.Home != "" {
			a.Value = f.c.Home + "/" + rest // its shell has put the home there
		}
		in.args[i] = a
	}
	l, err := shell.ReadIn(text, "bash", c.Dir, f.c.Home, func(l *shell.Line, w shell.Word) shell.Word {
		at := newFinder(l, in.c)
		at.within, at.args = in.within, in.args
		return at.soFar(w)
	})
	if err != nil || len(l.Calls) >= shell.MaxCalls {
		return nil
	}
	in.Line, in.Background = l, l.Background && (here || !endsAtExit(l))
	if slices.ContainsFunc(l.Calls, func(c shell.Call) bool { return moves(c) && c.Maybe }) {
		in.args = nil // as in a loop over them
	}
	in.all()
	if !here {
		in.exits()
	}
	return in
}

// endsAtExit reports whether a script ends what it starts when it ends: trap 'kill $pid' EXIT.
func endsAtExit(l *shell.Line) bool {
	return slices.ContainsFunc(l.Calls, func(c shell.Call) bool { return trapsExit(&c) && strings.Contains(c.Args[0].Value, "kill") })
}

// trapsExit reports whether a call says what its shell does when it ends: trap 'rmdir lock' EXIT.
func trapsExit(c *shell.Call) bool {
	return c.Name == "trap" && len(c.Args) > 1 && slices.ContainsFunc(c.Args[1:], func(w shell.Word) bool { return w.Value == "EXIT" || w.Value == "0" })
}

// exits adds what a script does when it ends.
func (f *finder) exits() {
	ends := f.Ends
	for i := range f.Line.Calls {
		if c := &f.Line.Calls[i]; trapsExit(c) {
			f.follow(c, "trap", c.Args[0].Value, nil, false)
		}
	}
	f.Ends = ends
}

// moves reports whether a call changes what $1 is: shift, set -- a, but not set -eu.
func moves(c shell.Call) bool {
	if c.Name != "set" || len(c.Args) == 0 {
		return c.Name == "shift"
	}
	first := c.Args[0].Value
	return !strings.HasPrefix(first, "-") && !strings.HasPrefix(first, "+") || slices.ContainsFunc(c.Args, func(w shell.Word) bool { return w.Value == "--" || w.Value == "-" })
}

// takes adds what was found inside a function or a script.
func (f *finder) takes(c *shell.Call, in *finder, here bool) {
	for _, t := range in.Things {
		if (t.Kind == Job || t.Kind == Port && t.Access == Write) && !here && !in.Background && in.Line.Background {
			continue // what the script started it also ended
		}
		f.add(t)
	}
	for _, t := range in.Shown {
		f.see(t, false)
	}
	for _, dir := range in.Opaque {
		f.opaque(dir)
	}
	for _, dir := range in.Reads {
		f.reads(dir)
	}
	f.Mentions = append(f.Mentions, in.Mentions...)
	f.Known, f.Elsewhere = f.Known && in.Known, f.Elsewhere || in.Elsewhere
	f.Built = f.Built || in.Built
	f.Background = f.Background || in.Background && (here || !in.Joins)
	if f.Interactive == "" {
		f.Interactive = in.Interactive
	}
	f.Waits, f.Joins = f.Waits || in.Waits, f.Joins || here && in.Joins
	f.acts, f.sees, f.checks = f.acts+in.acts, f.sees+in.sees, f.checks+in.checks
	switch {
	case here && in.goes > 0:
		if f.goes += in.goes; f.at < len(f.Line.Calls)-1 && !f.goesOn(c, in.Line) {
			f.opaque(c.Dir) // where the rest of the line runs is not known
		}
	case in.acts+in.sees+in.checks == 0:
		f.sees++
	}
	for _, name := range in.Uses {
		if !slices.Contains(f.Uses, name) {
			f.Uses = append(f.Uses, name)
		}
	}
	if !here || c.Inner || c.Apart || c.Piped {
		return
	}
	sourced := c.Name == "source" || c.Name == "."
	for _, name := range in.Sets {
		if !slices.Contains(f.Sets, name) {
			f.Sets = append(f.Sets, name)
			if !sourced {
				f.Passing = append(f.Passing, name)
			}
		}
		if v, ok := in.Values[name]; ok && !in.unsure[name] {
			f.Values[name] = v
		} else {
			delete(f.Values, name)
		}
	}
	for name, body := range in.Functions {
		f.declares(name, body)
	}
	f.Unsets = append(f.Unsets, in.Unsets...)
}

// goesOn tells the rest of the line in which directory a function has left it. It reports false if that is not known, or
// may be true of a part of the rest alone.
func (f *finder) goesOn(c *shell.Call, function *shell.Line) bool {
	rest, dir := f.Line.Calls[f.at+1:], function.Dir
	branches := slices.ContainsFunc(function.Calls, func(o shell.Call) bool { return o.Maybe && o.Name == "cd" })
	if dir == "" || branches || c.Inner || c.Apart || c.Piped || c.Maybe && len(f.within) > 0 || slices.ContainsFunc(rest, func(o shell.Call) bool { return o.Dir != c.Dir }) {
		return false
	}
	for i := range rest {
		rest[i].Dir = dir
	}
	for i := range f.Line.Redirects {
		if r := &f.Line.Redirects[i]; r.Before > f.at {
			r.Dir = dir
		}
	}
	return true
}
