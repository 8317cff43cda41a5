package plan

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/schemas"
)

// use is a place that a step reads or changes. Of two uses of which one lies in the other, and of which one at least
// changes its place, the steps keep their order.
type use struct {
	place   string // a path, beside for all that is no path, or everywhere
	changes bool
}

const (
	everywhere = ""
	beside     = "beside" // services, packages, images: what they have to do with each other is not known
)

// orderer finds the steps that have to keep the order in which they were recorded.
type orderer struct {
	at, below map[string][]user // by place: the uses of it, and of what lies in it
	services  []use             // what the steps use that left something running
	shellOf   map[string]int    // the last step of a session that changed its shell
	users     map[string][]int  // the steps of a session since then
}

type user struct {
	step    int
	changes bool
}

// order adds the dependencies that only keep an order: what a step uses must not be changed by an earlier one later than
// it was, nor by a later one earlier. Steps of which nothing keeps the order may run side by side, so it is better to
// add one too many.
func (b *builder) order(steps []replay.Step) {
	o := orderer{at: map[string][]user{}, below: map[string][]user{}, shellOf: map[string]int{}, users: map[string][]int{}}
	before := make([]bits, len(steps)) // what each step waits for, directly or not
	for i, a := range b.w.acts {
		if !b.s.kept[i] {
			continue
		}
		k := b.index[i]
		st := &steps[k]
		for _, n := range st.Needs {
			before[k].add(n.On)
			before[k].join(before[n.On])
		}
		on := o.shell(a, k)
		for _, u := range o.uses(a) {
			maps.Copy(on, o.conflicts(u, k))
		}
		for _, j := range slices.Backward(slices.Sorted(maps.Keys(on))) {
			if j == k || before[k].has(j) {
				continue
			}
			what := on[j]
			if strings.HasPrefix(what, "/") {
				what = b.m.Path(what)
			}
			st.Needs = append(st.Needs, replay.Need{On: j, Kind: replay.NeedOrder, What: what, Evidence: []schemas.Position{steps[j].Position, st.Position}, Confidence: 0.5})
			before[k].add(j)
			before[k].join(before[j])
		}
	}
}

// shell returns the earlier steps that must have ended before a step changes the shell of its session.
func (o *orderer) shell(a *act, step int) map[int]string {
	on := map[int]string{}
	if a.Session == "" {
		return on
	}
	if len(a.Sets)+len(a.Unsets) == 0 {
		o.users[a.Session] = append(o.users[a.Session], step)
		return on
	}
	earlier := o.users[a.Session]
	if last, ok := o.shellOf[a.Session]; ok {
		earlier = append(earlier, last)
	}
	for _, j := range earlier {
		on[j] = "the shell of " + a.Session
	}
	o.shellOf[a.Session], o.users[a.Session] = step, nil
	return on
}

// conflicts returns the earlier steps that must not run beside a step because of a use of it, with the reason, and keeps
// the use in mind.
func (o *orderer) conflicts(u use, step int) map[int]string {
	on := map[int]string{}
	with := func(all []user) {
		for _, t := range all {
			if t.changes || u.changes {
				on[t.step] = u.String()
			}
		}
	}
	with(o.at[u.place])
	with(o.below[u.place])
	if u.changes { // what waits for this step waits for those as well
		delete(o.at, u.place)
		delete(o.below, u.place)
	}
	t := user{step, u.changes}
	o.at[u.place] = append(o.at[u.place], t)
	for place := u.place; place != everywhere; {
		place = around(place)
		with(o.at[place])
		o.below[place] = append(o.below[place], t)
	}
	return on
}

// around returns the place that a place lies in.
func around(place string) string {
	if dir := path.Dir(place); dir != place && dir != "." {
		return dir
	}
	return everywhere
}

func (u use) String() string {
	switch u.place {
	case everywhere:
		return "what it may read or change"
	case beside:
		return "services, packages and the like"
	}
	return strings.TrimSuffix(u.place, "/.")
}

// uses returns what a step uses. What a service does is done by the steps that begin it, call it, wait for it or end it.
func (o *orderer) uses(a *act) []use {
	if !a.Known || a.Line == nil || a.Elsewhere || len(a.Opaque)+len(a.Reads) > 0 {
		all := []use{{everywhere, true}}
		if a.Background {
			o.services = append(o.services, all...)
		}
		return all
	}
	all := []use{{path.Clean(a.Cwd) + "/.", false}} // it has to be there, whatever is in it
	add := func(place string, changes bool) { all = append(all, use{place, changes}) }
	serves := false
	for _, t := range a.Things {
		changes := t.Access != effects.Read
		switch {
		case isPath(t) || slices.Contains([]string{effects.Entries, effects.Mode, effects.Products}, t.Kind):
			place := t.Name
			for t.Glob && strings.ContainsAny(place, "*?[") {
				place = path.Dir(place)
			}
			add(place, changes)
		case t.Repo == "~": // the settings of all repositories
			add(everywhere, changes)
		case strings.HasPrefix(t.Repo, "/"):
			if place := t.Repo; changes {
				add(place, true) // git's hooks and filters may read any file of it
			} else {
				add(place+"/.git", false)
			}
		default:
			add(beside, changes)
			serves = serves || t.Kind == effects.Port || t.Kind == effects.Job || t.Kind == effects.Address
		}
	}
	if a.Background {
		o.services = append(o.services, all...)
	} else if serves {
		all = append(all, o.services...)
	}
	return all
}
