package plan

import (
	"path"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/schemas"
)

// order adds the dependencies that only keep an order: a step must not overwrite what an earlier step
// still reads or writes, and must not read what a later step overwrites.
func (b *builder) order(steps []replay.Step) {
	type touch struct {
		step   int
		writes bool
	}
	touched := map[string][]touch{}
	var here, broad []part      // what the steps since last touched, and of that what includes other things
	last := -1                  // the last step that may read or write unknown files
	var since []int             // the steps since then
	shellOf := map[string]int{} // the last step of a session that changed its shell
	users := map[string][]int{} // the steps of a session since then
	need := func(i, on int, what string) {
		st := &steps[i]
		if on == i || on < 0 {
			return
		}
		for _, n := range st.Needs {
			if n.On == on {
				return
			}
		}
		st.Needs = append(st.Needs, replay.Need{On: on, Kind: replay.NeedOrder, What: what, Evidence: []schemas.Position{steps[on].Position, st.Position}, Confidence: 0.5})
	}
	for i := range b.w.acts {
		if !b.s.kept[i] {
			continue
		}
		k := b.index[i]
		a := b.w.acts[i]
		wide := len(a.Opaque) > 0 || len(a.Reads) > 0 || a.Line == nil
		for _, t := range a.Things {
			wide = wide || isPath(t) && (t.Tree || t.Glob) && t.Access != effects.Read
			id := key(t)
			for _, o := range touched[id] {
				if o.writes || t.Access != effects.Read {
					need(k, o.step, t.Name)
				}
			}
			if t.Access != effects.Read {
				touched[id] = nil
			}
			touched[id] = append(touched[id], touch{k, t.Access != effects.Read})
			if t.Access != effects.Read && t.Repo != "" && t.Kind != effects.Job {
				for _, o := range touched["\x00"+t.Repo] {
					need(k, o.step, t.Repo) // git locks what it writes of a repository, and does not wait
				}
				touched["\x00"+t.Repo] = []touch{{k, true}}
			}
			p, others := part{k, t}, broad
			if p.broad() {
				others = here
			}
			for _, o := range others {
				if o.meets(p) {
					need(k, o.step, o.thing.Name)
				}
			}
		}
		for _, t := range a.Things {
			p := part{k, t}
			if here = append(here, p); p.broad() {
				broad = append(broad, p)
			}
		}
		if a.Session != "" {
			if on, ok := shellOf[a.Session]; ok && len(a.Sets)+len(a.Unsets) > 0 {
				need(k, on, "the shell of "+a.Session)
			}
			if len(a.Sets)+len(a.Unsets) > 0 {
				for _, on := range users[a.Session] {
					need(k, on, "the shell of "+a.Session)
				}
				shellOf[a.Session], users[a.Session] = k, nil
			} else {
				users[a.Session] = append(users[a.Session], k)
			}
		}
		if last >= 0 {
			need(k, last, "what step before it may change")
		}
		if wide {
			for _, on := range since {
				need(k, on, "what it may read or change")
			}
			since, last, here, broad = nil, k, nil, nil
		} else {
			since = append(since, k)
		}
	}
}

// part is a thing that a step reads or changes.
type part struct {
	step  int
	thing effects.Thing
}

// broad reports whether a thing includes others, which have keys of their own.
func (p part) broad() bool {
	t := p.thing
	return t.Tree || t.Glob || t.Name == "*" || t.Kind == effects.Entries
}

// meets reports whether one of two steps changes what the other reads or changes.
func (p part) meets(o part) bool {
	a, b := p.thing, o.thing
	if b.Kind == effects.Entries {
		a, b = b, a
	}
	switch {
	case p.step == o.step || a.Access == effects.Read && b.Access == effects.Read:
		return false
	case a.Kind == effects.Entries:
		return isPath(b) && (path.Dir(b.Name) == a.Name || b.Tree && within(a.Name, b.Name))
	}
	return overlaps(a, b)
}
