package effects

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// variables finds the variables that the line sets, and their values.
func (f *finder) variables() {
	times := map[string]int{}
	given := f.args
	defer func() { f.args = given }()
	for _, v := range f.Line.Assigned {
		f.args = shifted(given, f.Line.Calls[:v.Before])
		if (!v.Local || len(f.within) == 0) && !v.Apart {
			f.sets(v.Name)
		}
		w := f.expand(f.temporary(v))
		known := !v.Unknown || !w.Dynamic && w.Value != ""
		if known {
			f.Values[v.Name] = w.Value
			if rest, ok := strings.CutPrefix(w.Value, "~/"); ok && strings.HasPrefix(v.Value.Text, "~/") && f.c.Home != "" {
				f.Values[v.Name] = f.c.Home + "/" + rest
			}
		}
		if times[v.Name]++; times[v.Name] > 1 || !known || v.Maybe && len(f.within) > 0 {
			if f.unsure == nil {
				f.unsure = map[string]bool{}
			}
			f.unsure[v.Name] = true
		}
	}
}

// shellState finds what else the line changes in its shell, and what it uses of it.
func (f *finder) shellState() {
	l := f.Line
	f.Uses = append(f.Uses, l.Uses...)
	for _, name := range l.Functions {
		f.sets(name + "()")
		f.declares(name, l.Bodies[name])
	}
	f.stack()
	for i := range l.Calls {
		c := &l.Calls[i]
		if c.Name == "" || c.Abroad {
			continue
		}
		f.Uses = append(f.Uses, c.Name+"()", "alias "+c.Name)
		if c.Inner || c.Apart || c.Deferred || len(c.Via) > 0 && c.Via[0] != "builtin" && c.Via[0] != "command" && c.Via[0] != "eval" {
			continue
		}
		f.builtin(c)
	}
}

// directories is the variable with the directories that pushd and popd go between.
const directories = "DIRSTACK"

// stack finds whether the line leaves directories for a later popd, or takes those that an earlier line left.
func (f *finder) stack() {
	depth, uses, sets := 0, false, false
	for i := range f.Line.Calls {
		c := &f.Line.Calls[i]
		if c.Inner || c.Apart || c.Deferred || c.Abroad || len(c.Via) > 0 {
			uses = uses || c.Name == "dirs" && c.Inner && depth == 0
			continue
		}
		switch c.Name {
		case "pushd":
			depth++
			if len(shell.Operands(c.Args, "")) == 0 || strings.HasPrefix(c.Args[0].Value, "+") {
				uses, sets = true, true
			}
		case "popd":
			if depth--; depth < 0 {
				depth, uses, sets = 0, true, true
			}
		case "dirs":
			uses = uses || depth == 0
		}
	}
	if uses {
		f.Uses = append(f.Uses, directories)
	}
	if sets || depth > 0 {
		f.sets(directories)
	}
}

func (f *finder) sets(name string) {
	if !slices.Contains(f.Sets, name) {
		f.Sets = append(f.Sets, name)
	}
}

// unknownState are programs, most of them functions, that change the shell in ways of their own.
var unknownState = words("nvm rvm conda mamba micromamba workon module deactivate pyenv rbenv asdf sdk direnv ssh-agent z autojump enable fish_add_path")

// builtin adds what a builtin of the shell changes.
func (f *finder) builtin(c *shell.Call) {
	switch c.Name {
	case "source", ".":
		if _, _, known := f.script(c, f.content); !known {
			f.sets("*")
		}
		if len(c.Args) > 0 {
			f.path(c.Args[0], c.Dir, Read, false)
		}
	case "eval":
		if !c.Wraps || slices.ContainsFunc(c.Args, func(w shell.Word) bool { return f.expand(w).Dynamic }) {
			f.sets("*") // eval "$(direnv export bash)"
		}
	case "alias":
		for _, a := range shell.Operands(c.Args, "") {
			if name, text, ok := strings.Cut(a.Value, "="); ok {
				f.sets("alias " + name)
				if first, _, _ := strings.Cut(text, " "); first != "" && first != name {
					f.Uses = append(f.Uses, first+"()", "alias "+first) // what it calls
				}
			}
		}
	case "unalias":
		for _, a := range shell.Operands(c.Args, "") {
			f.Unsets = append(f.Unsets, "alias "+a.Value)
		}
	case "unset":
		for _, a := range shell.Operands(c.Args, "") {
			if array, _, element := strings.Cut(a.Value, "["); element {
				f.Uses = append(f.Uses, array) // its other elements stay
				f.sets(array)
			} else {
				f.Unsets = append(f.Unsets, a.Value)
			}
		}
	case "export", "declare", "typeset", "readonly":
		for _, a := range shell.Operands(c.Args, "") {
			if a.Dynamic {
				f.sets("*") // export $(cat .env)
			}
		}
	case "shift":
		if len(f.within) == 0 { // a function shifts its own
			f.sets("option")
		}
	case "shopt":
		if c.Flag("-s", "-u") {
			f.sets("option")
		}
	case "trap":
		if len(c.Args) > 0 && c.Args[0].Value != "-p" && c.Args[0].Value != "-l" {
			f.sets("option")
			f.traps(c)
		}
	case "functions":
		if f.c.fish() && c.Flag("-c", "--copy") {
			f.sets("*")
		}
	case "set", "setopt", "unsetopt", "umask", "ulimit", "enable", "zstyle", "autoload":
		if len(c.Args) > 0 && !(len(c.Args) == 1 && (c.Args[0].Value == "-p" || c.Args[0].Value == "-a" || c.Args[0].Value == "-S") && c.Name != "set") &&
			!(c.Name == "set" && len(c.Args) == 1 && (c.Args[0].Value == "-o" || c.Args[0].Value == "+o")) {
			f.sets("option")
		}
	case "exec":
		if !c.Wraps && len(c.Args) == 0 && f.Line.Opens {
			f.sets("option") // exec > file: its descriptors
		}
	default:
		if unknownState[c.Name] && (c.Name != "pyenv" && c.Name != "rbenv" && c.Name != "asdf" && c.Name != "sdk" && c.Name != "direnv" || c.Sub() == "shell" || c.Sub() == "use") {
			f.sets("*")
		}
	}
}
