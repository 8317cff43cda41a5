package evidence

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/recountdb/recount/schemas"
)

// chain is what led to one hit.
type chain struct {
	// parts are the objects that led to it, the nearest first.
	parts []*part
	edges []tie
	roots []*part
	// dangling are events that are named as causes and not known.
	dangling []schemas.EventID
	cut      bool
	cyclic   bool
}

// told is the chain in the answer.
func (c *chain) told() *Chain {
	out := &Chain{Length: len(c.parts), Complete: len(c.dangling) == 0 && !c.cut, Cut: c.cut, Cyclic: c.cyclic}
	for _, p := range c.roots[:min(len(c.roots), 3)] {
		out.Roots = append(out.Roots, p.idText)
	}
	for _, id := range c.dangling[:min(len(c.dangling), 3)] {
		out.Dangling = append(out.Dangling, id.String())
	}
	return out
}

// walk is a chain while it is followed.
type walk struct {
	chain
	seen map[schemas.ObjectRef]bool
	// open are those whose causes come next; spare is room for those after them.
	open, spare []schemas.ObjectRef
}

// chains follow what led to each of some objects back to the roots. The objects that all
// of them together take in are bounded: they go back in turns, one edge at a time, so that
// the nearest causes of each are there whatever the others need.
func (a *asking) chains(hits []*hit) error {
	walks := a.walksOf(len(hits))
	for i, h := range hits {
		walks[i].seen[h.ref] = true
		walks[i].open = append(walks[i].open, h.ref)
	}
	for _, h := range hits {
		a.taken[h.ref] = true
	}
	room := a.r.Expand.Nodes
	for going := true; going; {
		going = false
		for i := range walks {
			w := &walks[i]
			if err := a.ctx.Err(); err != nil {
				return err
			}
			open := w.open
			w.open, w.spare = w.spare[:0], open
			for _, ref := range open {
				if err := a.stepBack(w, ref, &room); err != nil {
					return err
				}
			}
			going = going || len(w.open) > 0
		}
	}
	whole, cut, dangling := 0, 0, 0
	for i := range walks {
		w := &walks[i]
		hits[i].chain = &w.chain
		if len(w.dangling) > 0 {
			dangling++
		}
		if w.cut {
			cut++
		}
		if len(w.dangling) == 0 && !w.cut {
			whole++
		}
	}
	a.step(Step{
		Operator: "chain", Inputs: map[string]string{"kinds": "caused_by derived_from tool_produces", "nodes": strconv.Itoa(a.r.Expand.Nodes)},
		Counts: map[string]int64{"objects": int64(len(a.taken)), "complete": int64(whole), "cut": int64(cut), "dangling": int64(dangling)},
	})
	a.lap("chain")
	return nil
}

// stepBack takes in what led to one object of a chain, as far as there is room for what
// no chain has taken in yet.
func (a *asking) stepBack(w *walk, ref schemas.ObjectRef, room *int) error {
	f, err := a.fragment(ref)
	if err != nil || f == nil {
		return err
	}
	led := a.causes(f)
	if len(led) == 0 && len(w.seen) > 1 {
		w.roots = append(w.roots, &f.part)
	}
	for i := range led {
		c := &led[i]
		if c.to != nil && !a.taken[c.to.ref] {
			if *room == 0 {
				w.cut = true
				continue
			}
			*room--
			a.taken[c.to.ref] = true
		}
		w.edges = append(w.edges, tie{*c, &f.part})
		switch {
		case c.to == nil:
			if !slices.Contains(w.dangling, c.event) {
				w.dangling = append(w.dangling, c.event)
			}
		case !w.seen[c.to.ref]:
			w.seen[c.to.ref] = true
			w.parts = append(w.parts, c.to)
			w.open = append(w.open, c.to.ref)
		case !w.cyclic:
			w.cyclic = a.leadsBack(c.to.ref, ref)
		}
	}
	return nil
}

// led is one cause of an object, as far as it may be known: the object, or the event
// that is not known.
type led struct {
	*cause
	to *part
}

// tie is an edge of a chain: a cause, and what it led to. Chains have many in common, which
// are equal, and few are told.
type tie struct {
	led
	of *part
}

// edge is the cause in the answer: from what it led to, as its event tells it; of a
// tool's result from the call.
func (t *tie) edge() Edge {
	e := Edge{From: t.of.idText, FromVersion: version(t.of.versioned, t.of.at), Kind: t.kind, Confidence: t.confidence, Rule: t.rule}
	if t.to == nil {
		e.To, e.Dangling = t.event.String(), true
		return e
	}
	e.To, e.ToVersion = t.to.idText, version(t.to.versioned, t.to.at)
	if t.back {
		e.turn()
		e.Evidence = []string{t.to.at, t.of.at}
	}
	return e
}

// causes are those of a fragment that may be known of, in its order: of what an event's id
// means what is of the object's workspace, if there is any; of a thing the newest version.
// A call that is not known is no cause; an event is, which the chain then misses.
func (a *asking) causes(f *fragment) []led {
	var out []led
	for i := range f.causes {
		c := &f.causes[i]
		var known []*part
		same := false
		for _, p := range c.parts {
			if p.ref != f.ref && a.known(p.ref) {
				known = append(known, p)
				same = same || p.workspace == f.workspace
			}
		}
		if same {
			known = slices.DeleteFunc(known, func(p *part) bool { return p.workspace != f.workspace })
		}
		switch {
		case len(known) < 2:
		case c.thing:
			known = known[len(known)-1:]
		case c.rule == ruleCallID:
			known = []*part{callOf(&f.part, known)}
		}
		for _, p := range known {
			out = append(out, led{c, p})
		}
		if len(known) == 0 && !c.back {
			out = append(out, led{c, nil})
		}
	}
	return out
}

// leadsBack reports whether an object's causes come, within what was read, to another.
func (a *asking) leadsBack(from, to schemas.ObjectRef) bool {
	seen := map[schemas.ObjectRef]bool{}
	open := []schemas.ObjectRef{from}
	for len(open) > 0 && len(seen) <= MaxNodes {
		ref := open[len(open)-1]
		open = open[:len(open)-1]
		if ref == to {
			return true
		}
		if f := a.fragments[ref]; f != nil && !seen[ref] {
			seen[ref] = true
			for _, c := range a.causes(f) {
				if c.to != nil {
					open = append(open, c.to.ref)
				}
			}
		}
	}
	return false
}

// comparePart orders parts by time, then by position.
func comparePart(x, y *part) int {
	if x == y { // chains have much in common
		return 0
	}
	return cmp.Or(cmp.Compare(x.time, y.time), x.ref.Compare(y.ref))
}
