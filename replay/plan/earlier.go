package plan

import (
	"fmt"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/wordset"
)

// A plan of a part of a session begins with what the commands before it told the shell: those that do nothing else are
// steps if others need them, and of the rest it is said what they set.

// setter is a command before those of the narrative that set something, and did something else.
type setter struct {
	commands.Scanned
	sets []string
}

// tellers are the builtins that only change their shell. What a trap does at the end of the shell is none of a part.
var tellers = wordset.Of("export declare typeset readonly alias unalias unset shopt set setopt unsetopt umask ulimit shift enable source . : true")

// onlyTells reports whether a line only changes its shell.
func onlyTells(l *shell.Line) bool {
	if len(l.Redirects) > 0 && (len(l.Functions) == 0 || slices.ContainsFunc(l.File.Stmts, func(s *syntax.Stmt) bool { return len(s.Redirs) > 0 })) {
		return false
	}
	return !slices.ContainsFunc(l.Calls, func(c shell.Call) bool {
		return !c.Deferred && (!tellers[c.Name] || c.Inner || c.Apart)
	})
}

// earlier adds the commands of the session before one that changed its shell.
func (d *reader) earlier(from commands.Scanned) error {
	part := d.g
	if err := d.gather(commands.Filters{Session: d.r.Session, Until: from.Time}, nil); err != nil {
		return err
	}
	before := d.g.Commands
	d.g = part
	d.n.Earlier = map[schemas.EventID]bool{}
	for _, c := range before {
		e := effects.Of(effects.Command{Text: c.Command, Shell: c.Shell, Cwd: c.Cwd, User: c.User})
		switch {
		case e.Line == nil || len(e.Sets)+len(e.Unsets) == 0 || c.ExitCode != nil && *c.ExitCode != 0 || c.ID == from.ID:
		case onlyTells(e.Line):
			d.g.Commands = append(d.g.Commands, c)
			d.n.Earlier[c.ID] = true
		default:
			d.n.Setters = append(d.n.Setters, setter{c, e.Sets})
		}
	}
	return nil
}

// lacks names what steps use of their shell and commands before the narrative set, which are not in the plan.
func (b *builder) lacks() (out []replay.Missing) {
	said := map[string]bool{}
	for i, a := range b.w.acts {
		if !b.s.kept[i] || a.apart {
			continue
		}
		for _, name := range a.Uses {
			for _, s := range slices.Backward(b.n.Setters) {
				if s.Session != a.Session || said[name] || !slices.Contains(s.sets, name) || slices.ContainsFunc(b.w.acts[:i], func(o *act) bool {
					return o.Session == a.Session && slices.Contains(o.Sets, name)
				}) {
					continue
				}
				said[name] = true
				out = append(out, replay.Missing{Ref: s.Position.String(), Text: fmt.Sprintf("%q uses %s, which %q set before the first command of this plan", replay.Brief(a.Command), name, replay.Brief(s.Command))})
			}
		}
	}
	return out
}
