package danger

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/replay/shell"
)

// expanded returns what a word that begins with a variable can stand for, as far as that is known: the items of a
// for loop, or the one value that was assigned before the call. ok is false if the line does not say all of it.
func (c *call) expanded(w shell.Word) (values []shell.Word, ok bool) {
	name, rest := leadingVariable(w.Value)
	if !w.Dynamic || name == "" || strings.ContainsAny(rest, "$`") {
		return nil, false
	}
	if values = c.valuesOf(name); values == nil && c.place.Paths {
		values = c.before(name)
	}
	if values == nil {
		return nil, false
	}
	for i := range values {
		values[i].Value += rest
	}
	return values, true
}

// valuesOf returns the values that a variable can have in a call, nil if not all of them are known.
func (c *call) valuesOf(name string) []shell.Word {
	values, ok := c.line.Loops[name]
	if !ok {
		values = c.assigned(name, c.Head.Node)
	}
	if slices.ContainsFunc(values, func(v shell.Word) bool { return v.Dynamic }) {
		return nil
	}
	return slices.Clone(values)
}

// before returns the value that a variable is known to have before the line, if the line does not set it.
func (c *call) before(name string) []shell.Word {
	_, loops := c.line.Loops[name]
	sets := slices.ContainsFunc(c.line.Assigned, func(v shell.Variable) bool { return v.Name == name })
	if known, ok := c.place.Vars[name]; ok && !loops && !sets && (c.place.Lasting || !c.Deferred) {
		return []shell.Word{{Value: known}}
	}
	return nil
}

// leadingVariable splits a value that begins with $name or ${name}.
func leadingVariable(value string) (name, rest string) {
	value, ok := strings.CutPrefix(value, "$")
	if !ok {
		return "", ""
	}
	if braced, is := strings.CutPrefix(value, "{"); is {
		name, rest, _ = strings.Cut(braced, "}")
		name, _, _ = strings.Cut(name, ":?") // which only checks it
	} else {
		end := 0
		for end < len(value) && (value[end] == '_' || value[end] >= '0' && value[end] <= '9' || value[end]|0x20 >= 'a' && value[end]|0x20 <= 'z') {
			end++
		}
		name, rest = value[:end], value[end:]
	}
	if !syntax.ValidName(name) {
		return "", ""
	}
	return name, rest
}

// assigned returns the value of a variable that the line assigns once, without condition and before some word.
// What mktemp makes is below the directory for temporary files.
func (c *call) assigned(name string, until *syntax.Word) []shell.Word {
	var value shell.Word
	n := 0
	for _, v := range c.line.Assigned {
		if v.Name == name {
			value = v.Value
			if n++; n > 1 || v.Maybe || v.Value.Node == nil || until == nil || !until.Pos().After(v.Value.Node.Pos()) {
				return nil
			}
		}
	}
	if n == 0 {
		return nil
	}
	if made, ok := Temporary(value); ok {
		return []shell.Word{{Value: made}}
	}
	if !value.Dynamic {
		return []shell.Word{value}
	}
	if !slices.ContainsFunc(c.line.Calls[:c.at], func(o shell.Call) bool { return o.Name == "cd" || o.Name == "pushd" }) {
		if name, ok := shell.Resolve(value, c.Dir, c.place.Home); ok { // $PWD/build
			return []shell.Word{{Value: name}}
		}
	}
	other, rest := leadingVariable(value.Value)
	if values := c.assigned(other, value.Node); len(values) == 1 && !values[0].Dynamic && !strings.ContainsAny(rest, "$`") {
		return []shell.Word{{Value: values[0].Value + rest}}
	}
	return []shell.Word{value}
}

// Temporary returns a path that stands for what mktemp makes, if a word is $(mktemp …).
func Temporary(w shell.Word) (string, bool) { return "/tmp/made", makesTemporary(w.Node) }

// makesTemporary reports whether a word is $(mktemp …), with flags alone that say no other directory.
func makesTemporary(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	sub, ok := part.(*syntax.CmdSubst)
	if !ok || len(sub.Stmts) != 1 {
		return false
	}
	run, ok := sub.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(run.Args) == 0 || run.Args[0].Lit() != "mktemp" {
		return false
	}
	for _, a := range run.Args[1:] {
		switch word := a.Lit(); {
		case word == "-d" || word == "-t" || word == "-u" || word == "-q":
		case word == "" || word[0] == '-':
			return false // not known, or another directory
		case strings.Contains(word, "/") && !strings.HasPrefix(word, "/tmp/"):
			return false
		}
	}
	return true
}
