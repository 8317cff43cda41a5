package plan

import (
	"os"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/danger"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/replay/transform"
)

// known returns the variables of a step's shell whose values are known before it runs, without those that the step
// itself may set, and if it makes functions without those that a later act may set.
func (b *builder) known(a *act) map[string]string {
	all := map[string]string{}
	for name, v := range b.vars[a.Session] {
		sets := func(o *act) bool {
			return o.Session == a.Session && (slices.Contains(o.Sets, name) || slices.Contains(o.Unsets, name) || slices.Contains(o.Sets, "*"))
		}
		if !sets(a) && (len(a.Functions) == 0 || !slices.ContainsFunc(b.w.acts[a.at:], sets)) {
			all[name] = v
		}
	}
	return all
}

// learn takes note of the variables that a step sets, by its line in the plan. home is the home directory there.
func (b *builder) learn(a *act, l *shell.Line, home string) {
	vars := b.vars[a.Session]
	if vars == nil || slices.Contains(a.Sets, "*") {
		vars = map[string]string{}
		b.vars[a.Session] = vars
	}
	for _, name := range slices.Concat(a.Sets, a.Unsets) {
		delete(vars, name)
	}
	for i, v := range l.Assigned {
		again := slices.ContainsFunc(l.Assigned[:i], func(o shell.Variable) bool { return o.Name == v.Name })
		if v.Unknown && !v.Value.Dynamic || v.Appends || v.Maybe || v.Local || again || v.Value.Glob || !slices.Contains(a.Sets, v.Name) {
			delete(vars, v.Name)
			continue
		}
		if made, ok := danger.Temporary(v.Value); ok {
			vars[v.Name] = made
			continue
		}
		if strings.HasPrefix(v.Value.Text, "~") {
			if home == "" || !strings.HasPrefix(v.Value.Text, "~/") {
				continue
			}
			v.Value.Value = home + v.Value.Value[1:]
		}
		// A value of several words may become several without quotes.
		if value, ok := expand(v.Value, vars); ok && !strings.ContainsAny(value, " \t\n*?[") {
			vars[v.Name] = value
		}
	}
}

// expand returns the value of a word in which nothing stands but text and variables that are known.
func expand(w shell.Word, vars map[string]string) (value string, ok bool) {
	if !w.Dynamic {
		return w.Value, true
	}
	if strings.ContainsAny(w.Value, "`(") || strings.Contains(w.Value, "$$") {
		return "", false
	}
	ok = true
	value = os.Expand(w.Value, func(name string) string {
		v, known := vars[name]
		ok = ok && known
		return v
	})
	return value, ok && len(value) <= maxKnown
}

// maxKnown is the maximum length of a value that is known: values may double from step to step.
const maxKnown = 1024

// made returns the repositories that steps before an act cloned, those that they cloned or began, and the branches that
// they made in the repository in which the act works.
func (b *builder) made(i int) (cloned, begun, branches []string) {
	repo := ""
	for _, t := range b.w.acts[i].Things {
		if t.Kind == effects.Repository {
			repo = t.Repo
		}
	}
	for _, a := range b.w.acts[:i] {
		if !b.s.kept[a.at] || a.failed || a.Line == nil {
			continue
		}
		for _, t := range a.Things {
			switch {
			case t.Kind == effects.Branch && t.Access == effects.Write && t.Repo == repo && !slices.ContainsFunc(a.Line.Calls, replacesBranch):
				branches = append(branches, b.m.Name(transform.Branch, t.Name))
			case t.Kind != effects.Repository || !a.begins(t.Repo):
			case slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { return c.Name == "git" && c.Sub() == "clone" }):
				cloned, begun = append(cloned, b.m.Path(t.Repo)), append(begun, b.m.Path(t.Repo))
			case !b.w.there(t.Repo, a.at):
				begun = append(begun, b.m.Path(t.Repo))
			}
		}
	}
	return cloned, begun, branches
}

// replacesBranch reports whether a call of git may make a branch anew that is there.
func replacesBranch(c shell.Call) bool {
	here := shell.Call{Args: c.After()}
	return here.Flag("-B", "-C", "-M", "-f", "--force")
}

// movesRefs reports whether a line moves a tag or a branch that may be there already: git tag -f v1.
func movesRefs(l *shell.Line) bool {
	return l != nil && slices.ContainsFunc(l.Calls, func(c shell.Call) bool {
		return c.Name == "git" && slices.Contains([]string{"tag", "branch", "checkout", "switch"}, c.Sub()) && replacesBranch(c)
	})
}

// there reports whether a repository had commits when an act, or one before it, ran in its directory: git init changes
// nothing there.
func (w *world) there(repo string, at int) bool {
	return slices.ContainsFunc(w.acts[:at+1], func(a *act) bool { return a.GitHead != "" && (a.Cwd == repo || a.Workspace == repo) })
}
