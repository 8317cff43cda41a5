package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/effects"
)

// throughLinks replaces the names of what an act reads and writes below symbolic links that earlier acts made by
// what the links lead to, and lets it read the links: after ln -s v2 current, current/f is v2/f.
func (w *world) throughLinks(a *act) {
	if len(w.links) == 0 {
		return
	}
	passed := map[string]bool{}
	in := func(name string) string {
		dir, changed := w.followed(path.Dir(name), passed)
		if !changed {
			return name
		}
		return path.Join(dir, path.Base(name))
	}
	for i := range a.Things {
		switch t := &a.Things[i]; {
		case isPath(*t) && t.Access == effects.Read:
			t.Name, _ = w.followed(t.Name, passed) // of a link, what it leads to is read
		case isPath(*t), t.Kind == effects.Mode:
			t.Name = in(t.Name)
		}
	}
	for i, name := range a.Mentions {
		a.Mentions[i] = in(name)
	}
	for _, dirs := range [][]string{a.Reads, a.Opaque} {
		for i, dir := range dirs {
			dirs[i], _ = w.followed(dir, passed)
		}
	}
	for link := range passed {
		t := effects.Thing{Kind: effects.Path, Name: link, Access: effects.Read, Sure: 0.95}
		if !slices.Contains(a.Things, t) {
			a.Things = append(a.Things, t)
		}
	}
	slices.SortStableFunc(a.Things[len(a.Things)-len(passed):], func(x, y effects.Thing) int { return strings.Compare(x.Name, y.Name) })
}

// followed returns what a path is once the links that it leads through, or is, are followed, and notes them.
func (w *world) followed(name string, passed map[string]bool) (to string, changed bool) {
	const most = 8 // links may lead in a circle
	for range most {
		link := name
		for len(link) > 1 && w.links[link] == "" {
			link = path.Dir(link)
		}
		if len(link) <= 1 {
			break
		}
		name, changed, passed[link] = path.Join(w.links[link], strings.TrimPrefix(name, link)), true, true
	}
	return name, changed
}

// notesLinks notes the symbolic links that an act makes and removes. It is called before its writes are recorded.
func (w *world) notesLinks(a *act) {
	for _, t := range a.Things {
		switch {
		case !isPath(t) || t.Glob || t.Partial:
		case t.Access == effects.Remove:
			for link := range w.links {
				if within(link, t.Name) {
					delete(w.links, link)
				}
			}
		case t.Access == effects.Write && t.Value != "" && t.Sure >= 0.9 && len(w.below(t.Name)) == 0:
			to := t.Value
			if !path.IsAbs(to) {
				to = path.Join(path.Dir(t.Name), to)
			}
			if w.links == nil {
				w.links = map[string]string{}
			}
			w.links[t.Name] = to
		}
	}
}
