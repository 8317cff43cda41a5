package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// sameFile is two names of one file, as ln a b gives it, or of each file in two trees: cp -al a b.
type sameFile struct {
	act   int
	names [2]string
	apart map[string]bool // what follows the names of files that were made anew under one of them
}

// others returns the other names of a file, and the acts that gave them.
func (w *world) others(name string) (names []string, by []int) {
	all := []string{name}
	for i := 0; i < len(all); i++ {
		for _, j := range w.same {
			for k, of := range j.names {
				rest := strings.TrimPrefix(all[i], of)
				if other := j.names[1-k] + rest; within(all[i], of) && !j.apart[rest] && !slices.Contains(all, other) {
					all, by = append(all, other), append(by, j.act)
				}
			}
		}
	}
	return all[1:], by
}

// writesOthers lets an act that writes into a file, or changes its mode, do so under the other names of the file.
func (w *world) writesOthers(a *act) {
	if len(w.same) == 0 {
		return
	}
	for _, t := range slices.Clone(a.Things) {
		if t.Kind != effects.Path && t.Kind != effects.Mode || t.Access == effects.Read || t.Access == effects.Remove || t.Tree || t.Glob || w.setsApart(a, t) {
			continue
		}
		names, by := w.others(t.Name)
		for i, name := range names {
			a.needs(dep{by[i], replay.NeedFile, name, 0.9, false})
			if slices.ContainsFunc(a.Things, func(o effects.Thing) bool { return o.Kind == t.Kind && o.Name == name && o.Access != effects.Read }) {
				continue
			}
			o := t
			if o.Name = name; t.Kind == effects.Path && !a.writesInto(t.Name) {
				o.Access, o.Sure = effects.Update, min(t.Sure, 0.6) // if it does not make the file anew
			}
			a.Things = append(a.Things, o)
		}
	}
}

// intoWhatIsThere has programs that write into a file which is there.
var intoWhatIsThere = map[string]bool{"tee": true, "cp": true, "dd": true, "truncate": true, "touch": true, "sort": true}

// writesInto reports whether an act is known to write into a file that is there.
func (a *act) writesInto(name string) bool {
	if a.Line == nil {
		return false
	}
	return a.redirects(name) || !slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { return !intoWhatIsThere[c.Name] })
}

// setsApart reports whether an act that writes a file makes it anew, so that its other names are those of another file.
func (w *world) setsApart(a *act, t effects.Thing) bool {
	if t.Kind != effects.Path {
		return false
	}
	names, _ := w.others(t.Name)
	if a.seen != nil && a.seen.has(t.Name) && slices.ContainsFunc(names, func(name string) bool {
		return within(name, a.seen.Below) && !a.seen.has(name)
	}) {
		return true
	}
	return t.Value != "" || t.Same != "" || a.renews(t.Name)
}

// notesSame notes the names that an act gives to files, and those that it takes away. It is called before its writes
// are recorded.
func (w *world) notesSame(a *act) {
	from, to, moves := oneToOne(a)
	if moves = moves && a.Line.Calls[0].Name == "mv"; moves && w.isDirectory(to) {
		to = path.Join(to, path.Base(from))
	}
	for _, t := range a.Things {
		switch {
		case t.Access == effects.Read || !isPath(t):
		case t.Access == effects.Remove && !(moves && t.Name == from):
			w.same = slices.DeleteFunc(w.same, func(j *sameFile) bool {
				return slices.ContainsFunc(j.names[:], func(name string) bool {
					return within(name, t.Name) || covers(t, effects.Thing{Kind: effects.Path, Name: name})
				})
			})
			w.separate(t.Name)
		case t.Access != effects.Remove && t.Kind == effects.Path && !t.Glob && t.Sure >= 0.9 && w.setsApart(a, t):
			w.separate(t.Name)
		}
	}
	for _, j := range w.same {
		for k, name := range j.names {
			if moves && within(name, from) {
				j.names[k] = to + strings.TrimPrefix(name, from)
			}
		}
	}
	for _, t := range a.Things {
		if isPath(t) && t.Access == effects.Write && t.Same != "" && w.links[t.Same] == "" && w.isMadeAt(a, t) {
			w.same = append(w.same, &sameFile{a.at, [2]string{t.Same, t.Name}, map[string]bool{}})
		}
	}
}

// separate notes that a name is that of a file of its own from now on.
func (w *world) separate(name string) {
	for _, j := range w.same {
		for _, of := range j.names {
			if within(name, of) {
				j.apart[strings.TrimPrefix(name, of)] = true
			}
		}
	}
}
