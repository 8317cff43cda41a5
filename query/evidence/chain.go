package evidence

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/recountdb/recount/schemas"
)

// chain is the chain of causes of one hit.
type chain struct {
	// parts are the objects that led to it, the nearest first.
	parts []*part
	edges []tie
	roots []*part
	// dangling are events that are named as causes but not known.
	dangling []schemas.EventID
	cut      bool
	cyclic   bool
}

// toAnswer converts the chain to the form of the answer.
func (c *chain) toAnswer() *Chain {
	out := &Chain{Length: len(c.parts), Complete: len(c.dangling) == 0 && !c.cut, Cut: c.cut, Cyclic: c.cyclic}
	for _, p := range c.roots[:min(len(c.roots), 3)] {
		out.Roots = append(out.Roots, p.idText)
	}
	for _, id := range c.dangling[:min(len(c.dangling), 3)] {
		out.Dangling = append(out.Dangling, id.String())
	}
	return out
}

// walk is a chain under construction.
type walk struct {
	chain
	seen map[*part]bool
	// open are the objects whose causes come next; spare is a reused buffer for the next ones.
	open, spare []*part
}

// chains follows the causes of each hit back to the roots. The total number of objects in all
// chains is limited. The chains advance alternately, one edge at a time, so that the nearest causes
// of each hit are found whatever the others need.
func (a *session) chains(hits []*hit) error {
	walks := a.walksOf(len(hits))
	for i, h := range hits {
		p := a.partAt(h.ref)
		walks[i].seen[p], p.taken = true, true
		walks[i].open = append(walks[i].open, p)
	}
	room := a.r.Expand.Nodes
	for going := true; going; {
		going = false
		for i := range walks {
			w := &walks[i]
			if err := a.Ctx.Err(); err != nil {
				return err
			}
			open := w.open
			w.open, w.spare = w.spare[:0], open
			for _, p := range open {
				if err := a.stepBack(w, p, &room); err != nil {
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
	a.Step(Step{
		Operator: "chain", Inputs: map[string]string{"kinds": "caused_by derived_from tool_produces", "nodes": strconv.Itoa(a.r.Expand.Nodes)},
		Counts: map[string]int64{"objects": int64(len(hits) + a.r.Expand.Nodes - room), "complete": int64(whole), "cut": int64(cut), "dangling": int64(dangling)},
	})
	a.RecordTime("chain")
	return nil
}

// stepBack adds the causes of one object to a chain. Objects that are in no chain yet count towards
// the limit.
func (a *session) stepBack(w *walk, p *part, room *int) error {
	led, err := a.causes(p)
	if err != nil {
		return err
	}
	if len(led) == 0 && len(w.seen) > 1 {
		w.roots = append(w.roots, p)
	}
	for i := range led {
		c := &led[i]
		if c.to != nil && !c.to.taken {
			if *room == 0 {
				w.cut = true
				continue
			}
			*room--
			c.to.taken = true
		}
		w.edges = append(w.edges, tie{c, p})
		switch {
		case c.to == nil:
			if !slices.Contains(w.dangling, c.event) {
				w.dangling = append(w.dangling, c.event)
			}
		case !w.seen[c.to]:
			w.seen[c.to] = true
			w.parts = append(w.parts, c.to)
			w.open = append(w.open, c.to)
		case !w.cyclic:
			w.cyclic = a.leadsBack(c.to, p)
		}
	}
	return nil
}

// tie is an edge of a chain: a cause and its effect. Chains share many edges, whose ties are equal;
// few are shown.
type tie struct {
	*led
	of *part
}

// edge returns the edge as the answer shows it: from the effect to the cause, as stated in its
// event; for a tool's result, from the call.
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

// leadsBack reports whether the causes of an object lead to another, within what was read.
func (a *session) leadsBack(from, to *part) bool {
	seen := map[*part]bool{}
	open := []*part{from}
	for len(open) > 0 && len(seen) <= MaxNodes {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		if p == to {
			return true
		}
		if !seen[p] {
			seen[p] = true
			for _, c := range p.led {
				if c.to != nil {
					open = append(open, c.to)
				}
			}
		}
	}
	return false
}

// comparePart orders parts by time, then by position.
func comparePart(x, y *part) int {
	if x == y { // common, because chains overlap
		return 0
	}
	return cmp.Or(cmp.Compare(x.time, y.time), x.ref.Compare(y.ref))
}
