package plan

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// throughLinks replaces the names of what an act reads and writes below symbolic links, such as those that earlier acts made, by
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
			if t.Access == effects.Remove || t.Kind == effects.Directory || t.Value != "" && t.Kind == effects.Path || t.Same != "" || a.renews(t.Name) {
				t.Name = in(t.Name)
			} else {
				t.Name, _ = w.followed(t.Name, passed) // it is written into what the link leads to
			}
			if t.Same != "" {
				t.Same = in(t.Same)
			}
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
	maps.DeleteFunc(passed, func(link string, _ bool) bool { return w.given[link] != "" })
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
		case !isPath(t) || t.Glob || t.Partial || t.Access == effects.Read:
		case t.Access == effects.Remove:
			for link := range w.links {
				if within(link, t.Name) {
					w.leadsNowhere(link)
				}
			}
		case t.Access == effects.Write && t.Value != "":
			if !w.isMadeAt(a, t) {
				continue
			}
			to := t.Value
			if !path.IsAbs(to) {
				to = path.Join(path.Dir(t.Name), to)
			}
			if w.links == nil {
				w.links = map[string]string{}
			}
			w.links[t.Name] = to
			delete(w.given, t.Name)
		case t.Kind == effects.Path && t.Sure >= 0.9 && a.renews(t.Name):
			w.leadsNowhere(t.Name)
		}
	}
}

// leadsNowhere notes that a path is no symbolic link any more.
func (w *world) leadsNowhere(link string) {
	delete(w.links, link)
	delete(w.given, link)
}

// isMadeAt reports whether a link that an act makes is at a path, and not in or instead of the directory that the path
// may be: ln a b makes b, or b/a.
func (w *world) isMadeAt(a *act, t effects.Thing) bool {
	of := path.Base(t.Value + t.Same)
	if a.seen != nil && a.seen.has(path.Join(t.Name, of)) {
		return false
	}
	if t.Sure < 0.9 {
		return a.seen != nil && a.seen.has(t.Name) || w.isDirectory(path.Dir(t.Name))
	}
	if to := w.links[t.Name]; to != "" {
		within := func(o effects.Thing) bool { return o.Value == t.Value && o.Name == path.Join(to, of) }
		return a.seen != nil && a.seen.has(t.Name) || !slices.ContainsFunc(a.Things, within) // ln -n
	}
	return !w.isDirectory(t.Name) && !slices.ContainsFunc(w.below(t.Name), func(o *write) bool { return o.thing.Name != t.Name })
}

// renewing has the programs that make a file anew where one is, and write nothing into what is there.
var renewing = map[string]bool{
	"mv": true, "ln": true, "sed": true, "gsed": true, "perl": true, "awk": true, "gawk": true, "install": true, "rsync": true,
	"patch": true, "git": true, "tar": true, "bsdtar": true, "unzip": true, "7z": true, "ld": true, "gcc": true, "cc": true, "go": true,
}

// renewingAny has those of them that may do so with files which their words do not name.
var renewingAny = map[string]bool{"patch": true, "git": true, "tar": true, "bsdtar": true, "unzip": true, "7z": true}

// renews reports whether an act that writes a file makes it anew, so that other names of the old one, and what a link
// led to, stay as they are.
func (a *act) renews(name string) bool {
	if a.Line == nil || a.redirects(name) {
		return false
	}
	for i := range a.Line.Calls {
		c := &a.Line.Calls[i]
		if !renewing[c.Name] && !(c.Name == "cp" && c.Flag("--remove-destination")) {
			continue
		}
		if renewingAny[c.Name] || slices.ContainsFunc(c.Args, func(v shell.Word) bool {
			of, ok := shell.Resolve(v, c.Dir, a.home)
			return ok && (of == name || of == path.Dir(name))
		}) {
			return true
		}
	}
	return false
}

// redirects reports whether the output of an act goes into a file.
func (a *act) redirects(name string) bool {
	return slices.ContainsFunc(a.Line.Redirects, func(r shell.Redirect) bool {
		of, ok := shell.Resolve(r.Target, r.Dir, a.home)
		return ok && r.Writes() && of == name
	})
}
