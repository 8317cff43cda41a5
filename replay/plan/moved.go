package plan

import (
	"strings"

	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// move is a directory that an act renamed. to is "" if it is not known. into is to, or the directory that it lies in then,
// or "".
type move struct {
	act            int
	from, to, into string
}

// moves notes the directories that an act renames with mv. What is in their repositories goes with them: commits, tags.
func (w *world) moves(a *act) {
	if a.Line == nil {
		return
	}
	for i := range a.Line.Calls {
		c := &a.Line.Calls[i]
		ws := shell.Operands(c.Args, "")
		if c.Name != "mv" || c.Abroad || c.Deferred || len(ws) < 2 || c.Flag("-t", "--target-directory") {
			continue
		}
		to, known := shell.Resolve(ws[len(ws)-1], c.Dir, a.home)
		for _, v := range ws[:len(ws)-1] {
			if from, ok := shell.Resolve(v, c.Dir, a.home); ok {
				m := move{act: a.at, from: from, into: to}
				if known && len(ws) == 2 && !strings.HasSuffix(ws[1].Value, "/") && !w.isDirectory(to) {
					m.to = to
				}
				w.moved = append(w.moved, m)
			}
		}
	}
}

// isDirectory reports whether an act is known to have made a directory, so that mv a b moves a into it.
func (w *world) isDirectory(name string) bool {
	for _, o := range w.exact["path\x00\x00"+name] {
		if o.gone < 0 && o.thing.Kind == effects.Directory {
			return true
		}
	}
	return false
}

// repoNow returns where the repository of a thing is by now, "" if that is not known.
func (w *world) repoNow(o *write) string {
	repo := o.thing.Repo
	for _, m := range w.moved {
		if repo == "" || o.act >= m.act || !within(repo, m.from) {
			continue
		}
		if m.to == "" {
			return ""
		}
		repo = m.to + strings.TrimPrefix(repo, m.from)
	}
	return repo
}
