package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// writesDown stores the text of files whose content stands in the command itself, as after cat <<EOF or
// echo, and forgets the text of files that the act may have changed in another way. What a file said before
// that is kept, unless it is known to be another file now. A build is taken not to change files written by hand.
func (w *world) writesDown(a *act) {
	if a.Line != nil && len(a.Line.Redirects) == 0 && !slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { return c.Name != "chmod" }) && len(a.Line.Calls) > 0 {
		return // chmod +x
	}
	for name, text := range w.texts {
		changed := slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
			return isPath(t) && t.Access != effects.Read && (within(name, t.Name) || t.Glob && covers(t, effects.Thing{Kind: effects.Path, Name: name}))
		})
		if changed = changed && !a.onlyMode(name); changed || a.around != nil && !a.passedBy(name) && !a.onlyMode(name) && within(name, a.around.Below) || !a.Built && !a.passedBy(name) && slices.ContainsFunc(a.Opaque, func(dir string) bool { return within(name, dir) }) {
			delete(w.texts, name)
			w.older[name] = text
		}
	}
	for name := range w.older {
		if _, written := a.Texts[name]; written || a.changes(name) && !a.saysHow(a.scripts) {
			delete(w.older, name)
		}
	}
	maps.Copy(w.texts, a.Texts)
	for name := range w.scripts {
		if _, there := w.texts[name]; !there && (len(a.Opaque) > 0 && !a.passedBy(name) || a.changes(name)) && !a.saysHow(nil) {
			delete(w.scripts, name)
		}
	}
	for name := range a.Texts {
		w.scripts[name] = true
	}
}

// changes reports whether an act is known or was seen to change a file.
func (a *act) changes(name string) bool {
	if a.around != nil && within(name, a.around.Below) {
		return !a.passedBy(name)
	}
	return slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
		return isPath(t) && t.Access != effects.Read && (within(name, t.Name) || covers(t, effects.Thing{Kind: effects.Path, Name: name}))
	})
}

// saysHow reports whether all that an act does to files stands in its line, as what an editor is told. What the calls
// except do is left out.
func (a *act) saysHow(except []string) bool {
	return a.Line != nil && !slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool {
		return !slices.Contains(except, c.Name) && c.Name != "sed" && c.Name != "ed" && c.Name != "chmod" && c.Name != "printf" && c.Name != "echo" && c.Name != "cat"
	})
}

// own returns the names of the calls of an act that are scripts which acts before it wrote down.
func (w *world) own(a *act) (names []string) {
	if a.Line == nil {
		return nil
	}
	for _, c := range a.Line.Calls {
		name, ok := shell.Resolve(c.Head, c.Dir, a.home)
		if ok && strings.Contains(c.Head.Value, "/") && w.scripts[name] {
			names = append(names, c.Name)
		}
	}
	return names
}

// passedBy reports whether a file was seen not to change while an act ran.
func (a *act) passedBy(name string) bool {
	if a.around == nil || !within(name, a.around.Below) {
		return false
	}
	_, changed := a.around.Files[name]
	return !changed
}

// text returns the content of a file, if an earlier command line had it; see writesDown.
func (w *world) text(name string) (string, bool) {
	text, ok := w.texts[name]
	return text, ok
}

// formerly returns what a file said before acts that say how edited it, and before programs ran that may have; see
// writesDown.
func (w *world) formerly(name string) (string, bool) {
	text, ok := w.older[name]
	return text, ok
}
