package plan

import (
	"path"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
)

// afterRemoval adds that an act looks at all of which an earlier one removed a part: a listing, an archive, a copy. That
// matters where the part is there.
func (w *world) afterRemoval(a *act, o *write) {
	if a.at != o.act {
		a.needs(dep{o.act, replay.NeedOrder, name(o.thing), 0.6, true})
	}
}

// listed adds dependencies on the acts that made a name in a directory, or took one away, for an act that lists it.
func (w *world) listed(a *act, dir string) {
	w.afterBacks(a, effects.Thing{Kind: effects.Path, Name: dir, Tree: true})
	for _, o := range w.below(dir) {
		if path.Dir(o.thing.Name) == dir {
			a.mayNeed(dep{o.act, kindOf(o.thing), o.thing.Name, min(o.thing.Sure, 0.9), false})
		}
	}
	for _, list := range w.exact {
		for _, o := range list {
			if o.gone < 0 && o.thing.Access == effects.Remove && isPath(o.thing) && path.Dir(o.thing.Name) == dir {
				w.afterRemoval(a, o)
			}
		}
	}
	for _, o := range w.wide {
		if o.gone < 0 && isPath(o.thing) && (within(dir, o.thing.Name) || path.Dir(o.thing.Name) == dir) {
			a.mayNeed(dep{o.act, replay.NeedDirectory, o.thing.Name, 0.5, false})
		}
	}
	for _, o := range w.opaque {
		b := w.acts[o.act]
		looked := b.seen != nil && within(dir, b.seen.Below) && !within(o.thing.Name, b.seen.Below) // what it wrote here was seen
		if o.gone < 0 && !b.weak && !looked && within(dir, o.thing.Name) {
			a.mayNeed(dep{o.act, replay.NeedDirectory, o.thing.Name, 0.5, false})
		}
	}
}
