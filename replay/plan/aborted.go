package plan

import (
	"slices"

	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// givesUp reports whether an act aborts what an earlier one began, as git merge --abort does. It marks
// the writes of the earlier act as gone. One that switched to a branch before has done that all the same.
func (w *world) givesUp(a *act) bool {
	c, here, ok := onlyGit(a.Line)
	if !ok || !here.Flag("--abort") || !conflicts[c.Sub()] {
		return false
	}
	for i := a.at - 1; i >= 0; i-- {
		b := w.acts[i]
		if b.Cwd != a.Cwd && b.Workspace != a.Workspace {
			continue
		}
		if branch, begun := switchesFirst(b.Line); branch != "" && begun == c.Sub() {
			a.aborts = i
			return len(b.writes) == 0
		}
		begun := begins(b)
		if begun == c.Sub() || begun == "pull" {
			w.leavesNothing(b, a.at)
			return true
		}
	}
	return false
}

// leavesNothing marks what an act wrote as removed by another one.
func (w *world) leavesNothing(b *act, by int) {
	for _, o := range b.writes {
		if o.gone < 0 {
			o.gone, o.removed = by, true
		}
	}
}

// switchesAgain marks as gone what an act wrote that switched to a branch and began what was aborted then, and its
// abortion, where an act begins with switching to the same branch and there were only looks in between.
func (w *world) switchesAgain(a *act) {
	branch, _ := switchesFirst(a.Line)
	if branch == "" {
		return
	}
	for _, b := range slices.Backward(w.acts[:a.at]) {
		if b.Cwd != a.Cwd && b.Workspace != a.Workspace {
			continue
		}
		if b.Looks || b.Navigates || len(b.writes) == 0 {
			continue
		}
		if was, _ := switchesFirst(w.acts[b.aborts].Line); b.aborts > 0 && was == branch {
			w.leavesNothing(b, a.at)
			w.leavesNothing(w.acts[b.aborts], a.at)
		}
		return
	}
}

// switchesFirst returns the branch to which a line switches before all else, and the subcommand of the one other call
// of git, if any, that does more than look: git checkout main && git merge b. The branch is empty for other lines.
func switchesFirst(l *shell.Line) (branch, begun string) {
	if l == nil || len(l.Redirects) > 0 || l.Background {
		return "", ""
	}
	for i := range l.Calls {
		c := &l.Calls[i]
		here := shell.Call{Args: c.After()}
		switch sub := c.Sub(); {
		case c.Inner || c.Apart || c.Abroad || c.Deferred:
			return "", ""
		case branch == "":
			ws := shell.Operands(here.Args, "")
			if c.Name != "git" || sub != "checkout" && sub != "switch" || len(ws) != 1 || ws[0].Dynamic || ws[0].Value == "-" || len(here.Args) != 1 && !here.Flag("-q", "--quiet") || len(here.Args) > 2 {
				return "", ""
			}
			branch = ws[0].Value
		case displays[c.Name], c.Name == "git" && effects.LooksByGit(sub):
		case c.Name == "git" && begun == "":
			begun = sub
		default:
			begun = "-" // something else, too
		}
	}
	return branch, begun
}
