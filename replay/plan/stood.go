package plan

import (
	"slices"

	"github.com/recountdb/recount/replay/effects"
)

// stoodBefore reports whether the recorder saw that something of a path which an act removes was there before the
// narrative: what it first saw of a file was that it was removed, or changed from something else. A process in the
// background may have made a file unseen, and a folder that is moved or copied takes files to new names.
func (w *world) stoodBefore(remover int, t effects.Thing) bool {
	if !isPath(t) {
		return false
	}
	for name, versions := range w.versions {
		first := versions[0]
		of := effects.Thing{Kind: effects.Path, Name: name}
		if first.act > remover || !within(name, t.Name) && !covers(t, of) || first.Is != absent && (first.Was == "" || first.Was == absent) {
			continue
		}
		unseen := slices.ContainsFunc(w.acts[:first.act], func(a *act) bool {
			return a.Background || slices.ContainsFunc(a.writes, func(o *write) bool {
				return isPath(o.thing) && o.thing.Access == effects.Write && (o.thing.Tree || o.thing.Glob) && overlaps(o.thing, of)
			})
		})
		if !unseen {
			return true
		}
	}
	return false
}
