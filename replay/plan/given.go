package plan

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/replay/effects"
)

// leads notes the symbolic links that were there before the narrative, as far as an act shows them: it wrote a path at
// which nothing changed, and of all files that its command does not name one changed that is called the same.
func (o *observer) leads(w *world, a *act) {
	s, ok := o.seen[a.ID]
	if !ok || a.failed || a.ended || a.Background || o.busy(w, a.Session) {
		return
	}
	for _, t := range a.Things {
		if t.Kind != effects.Path || t.Access != effects.Write && t.Access != effects.Update || t.Tree || t.Glob || t.Partial || t.Value+t.Same != "" || t.Sure < 0.9 {
			continue
		}
		if !within(t.Name, s.Below) || a.renews(t.Name) || s.has(t.Name) || slices.Contains(s.Directories, path.Dir(t.Name)) || !a.slow() && !a.writesInto(t.Name) {
			continue
		}
		var found []string
		for file, f := range s.Files {
			if f.Is != absent && !strings.Contains(file, "/.git/") && !cached(file) && !a.writesByName(file) && (path.Base(file) == path.Base(t.Name) || a.redirects(t.Name)) {
				found = append(found, file)
			}
		}
		if len(found) == 1 {
			o.leadsTo(w, t.Name, found[0])
		}
	}
}

// slow reports whether an act took longer than the clock of file times may lag behind.
func (a *act) slow() bool { return a.Duration != nil && time.Duration(*a.Duration) >= clockLag }

// leadsTo notes that a path is another one, by the link that is as near to the root as both allow. A link that was seen to
// lead to two places counts as none, and so does a path that an act wrote.
func (o *observer) leadsTo(w *world, name, to string) {
	for path.Base(name) == path.Base(to) && path.Dir(name) != path.Dir(to) {
		name, to = path.Dir(name), path.Dir(to)
	}
	if within(to, name) || within(name, to) || w.latest(name) != nil {
		return
	}
	if o.links == nil {
		o.links = map[string]string{}
	}
	if before, known := o.links[name]; known && before != to {
		to = ""
	}
	o.links[name] = to
}
