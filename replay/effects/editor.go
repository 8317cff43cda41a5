package effects

import (
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// edited reports whether the editor that git would open for a call is a program into which nobody types, so that the
// call needs no terminal: the editor of messages, or if list is set that of the list of a rebase. It is the one that
// git would choose: by a variable, a setting, or $VISUAL and $EDITOR. For a list the last three count only if nobody had
// the time to edit it, since the user may have another editor for lists.
func (f *finder) edited(c *shell.Call, list bool) bool {
	name, setting := "GIT_EDITOR", "core.editor"
	if list {
		name, setting = "GIT_SEQUENCE_EDITOR", "sequence.editor"
	}
	editor, ok := f.editor(c, name, setting)
	if v := f.c.Env[name]; !ok && v != "" && f.c.Quick {
		editor, ok = shell.Word{Value: v}, true
	}
	if !ok && list && f.c.Quick {
		editor, ok = f.editor(c, "GIT_EDITOR", "core.editor")
	}
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if !ok && f.c.Quick {
			editor, ok = f.variableOf(c, name)
		}
	}
	if !ok || editor.Dynamic {
		return ok
	}
	l, err := shell.Read(editor.Value, "bash", c.Dir)
	if err != nil || len(l.Calls) == 0 {
		return false
	}
	by := &l.Calls[0]
	return !editors[by.Name] && !interactive[by.Name] || by.Flag("-es", "-Es", "--headless", "--batch", "-batch")
}

// editor returns the editor that a call of git is told by a variable or else by a setting, with -c or by an earlier
// command, and whether there is one.
func (f *finder) editor(c *shell.Call, name, setting string) (shell.Word, bool) {
	if w, ok := f.variableOf(c, name); ok {
		return w, true
	}
	for i, w := range c.Args[:len(c.Args)-len(c.After())] {
		if v, ok := strings.CutPrefix(w.Value, setting+"="); ok && i > 0 && c.Args[i-1].Value == "-c" {
			w.Value = v
			return f.expand(w), v != ""
		}
	}
	if f.c.Setting == nil {
		return shell.Word{}, false
	}
	v := f.c.Setting(setting, c.Dir)
	return shell.Word{Value: v}, v != ""
}

// variableOf returns the value of a variable that a call is given: before it, or by its shell.
func (f *finder) variableOf(c *shell.Call, name string) (shell.Word, bool) {
	for _, v := range c.Assigns {
		if v.Name == name {
			w := f.expand(v.Value)
			return w, w.Value != ""
		}
	}
	v, _ := f.value(name)
	if v != "" {
		f.Uses = append(f.Uses, name)
	}
	return shell.Word{Value: v}, v != ""
}
