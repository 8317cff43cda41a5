package plan

import (
	"maps"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// told is what lines have told their shell that gives later lines another meaning: functions with their bodies, aliases
// with their texts, and values of variables. What is dangerous about a line is judged with it. It may have more than the
// shell has in the end, as a value that a branch sets: it can only add to what is asked about.
type told struct {
	functions, aliases, values map[string]string
}

// told returns what the steps so far have told the shell of an act.
func (b *builder) told(a *act) *told {
	t := b.shells[a.Session]
	if t == nil || a.apart {
		t = &told{map[string]string{}, map[string]string{}, map[string]string{}}
	}
	if !a.apart {
		b.shells[a.Session] = t
	}
	return t
}

// learn takes note of what a line tells its shell.
func (t *told) learn(l *shell.Line) {
	maps.Copy(t.functions, l.Bodies)
	for _, v := range l.Assigned {
		if delete(t.values, v.Name); !v.Unknown && !v.Local && !v.Appends && !v.Value.Dynamic && v.Value.Node != nil {
			t.values[v.Name] = v.Value.Value
		}
	}
	for i := range l.Calls {
		c := &l.Calls[i]
		if c.Inner || c.Apart || c.Abroad {
			continue
		}
		for _, w := range shell.Operands(c.Args, "") {
			name, text, sets := strings.Cut(w.Value, "=")
			switch {
			case c.Name == "alias" && sets:
				t.aliases[name] = text
			case c.Name == "unalias":
				delete(t.aliases, name)
			case c.Name == "unset":
				delete(t.functions, name)
				delete(t.values, name)
			}
		}
	}
}
