package narrative

import "github.com/recountdb/recount/schemas"

// ending is how an intent ended, compared with the last attempt at the same thing, while its causes are weighed.
type ending struct {
	*causes
	failed  bool
	last    *Node           // the last attempt, nil if there is none
	flip    bool            // the last attempt ended differently
	failure *Node           // the attempt whose output shows what is wrong: this one or the last
	only    *Node           // the only change since the last attempt, if there is exactly one
	named   map[string]bool // the resources by which the output of the failure named a cause
}

// ended adds what made the command fail, or succeed after a failure.
func (c *causes) ended() error {
	w := ending{causes: c, failed: c.to.Failed(), failure: c.to, named: map[string]bool{}}
	if !w.failed && !c.to.Succeeded() {
		return nil
	}
	last, alike, err := c.v.attempt(c.to)
	if err != nil {
		return err
	}
	w.last, w.flip = last, last != nil && alike >= sameThing && last.Failed() != w.failed
	if !w.failed {
		if !w.flip {
			return nil
		}
		w.failure = last
	}
	ties, err := c.v.ties(c.to)
	if err != nil {
		return err
	}
	if w.failed && last != nil && last.Succeeded() && last.session == c.to.session && saysPresent(c.to) {
		c.add(last, strengthPresent, last.ending(), Evidence{Position: c.to.Outcome, Shows: showsPresent})
	}
	changed, err := w.changes()
	if err != nil {
		return err
	}
	if err := w.weighAll(ties, changed); err != nil || !w.failed {
		return err
	}
	return c.moved(last, w.flip)
}

// changes returns the intents that changed something since the last attempt, the newest first, as far as they could be
// a cause.
func (w *ending) changes() (changed []*Node, err error) {
	if w.flip || len(w.to.mentioned) > 0 {
		var since *Node // nil: limited by number only
		if w.flip {
			since = w.last
		}
		if changed, err = w.v.changesSince(since, w.to); err != nil {
			return nil, err
		}
	}
	if w.only, err = w.sole(changed); err != nil {
		return nil, err
	}
	if len(w.failure.mentioned) == 0 {
		return changed, nil
	}
	recent, err := w.v.writing(w.to)
	return withSeen(changed, recent, w.last, w.flip), err
}

// sole returns the only one of several changes that was not seen to be none, nil if there are more or fewer.
func (w *ending) sole(changed []*Node) (only *Node, err error) {
	for _, n := range changed {
		quiet := false
		if len(changed) > 1 {
			if quiet, err = w.v.quiet(n); err != nil {
				return nil, err
			}
		}
		switch {
		case quiet:
		case only != nil:
			return nil, nil
		default:
			only = n
		}
	}
	return only, nil
}

// weighAll weighs the ties, and the changes that are no ties. Both lists are newest first, and so are the causes, so
// that the last writer of a resource is found first.
func (w *ending) weighAll(ties []tie, changed []*Node) error {
	tied := map[schemas.Position]bool{}
	for i := range ties {
		tied[ties[i].from.Position] = true
	}
	for len(ties) > 0 || len(changed) > 0 {
		var from *Node
		var t *tie
		if len(changed) > 0 && (len(ties) == 0 || changed[0].Position.Offset > ties[0].from.Position.Offset) {
			from, changed = changed[0], changed[1:]
			if tied[from.Position] {
				continue
			}
		} else {
			t, ties = &ties[0], ties[1:]
			from = t.from
		}
		if err := w.weigh(from, t); err != nil {
			return err
		}
	}
	return nil
}

// weigh adds an earlier intent if the evidence makes it a cause. t is the tie to it, nil if there is none.
func (w *ending) weigh(from *Node, t *tie) error {
	if w.flip && w.failed && from.before(w.last) {
		return nil // the same thing succeeded after it
	}
	e := weighing{}
	for _, weigh := range []func(*weighing, *Node, *tie) error{w.weighName, w.weighTie, w.weighFlip} {
		if err := weigh(&e, from, t); err != nil {
			return err
		}
	}
	if e.enough(w.failed) {
		w.add(from, e.weight(), e.evidence...)
	}
	return nil
}

// weighName adds the evidence that the output of the failure names what the other wrote.
func (w *ending) weighName(e *weighing, from *Node, t *tie) error {
	strength := strengthSeen
	r, ok, err := w.v.seenNamed(w.failure, from)
	if err == nil && !ok {
		strength = strengthNamed
		r, ok, err = w.v.namedBy(w.failure, from)
	}
	if err != nil {
		return err
	}
	if t != nil && !ok && !t.exact && t.resource.Access&Implied == 0 && from.session == w.to.session && names(w.failure.mentioned, t.used) {
		r, ok, strength = t.used, true, strengthNamed/2
	}
	if !ok || from.Failed() && from.Effects&Installs == 0 || t != nil && t.proven {
		return nil
	}
	if w.named[r.String()] {
		strength /= 2
	}
	if w.named[r.String()] = true; strength == strengthSeen {
		e.evidence = append(e.evidence, Evidence{Position: from.Position, Shows: showsSeen, Resource: r.String()})
	}
	e.add(kindOfNamed, strength, Evidence{Position: w.failure.Outcome, Shows: "the output of the failure names it", Resource: r.String()})
	return nil
}

// weighTie adds the evidence of a tie.
func (w *ending) weighTie(e *weighing, from *Node, t *tie) error {
	switch {
	case t == nil:
	case t.shown:
		if w.failed && names(w.to.mentioned, t.resource) {
			e.add(kindOfShown, strengthShown, t.evidence...)
			e.add(kindOfShown, strengthAbsent, Evidence{Position: w.to.Outcome, Shows: "its output names it", Resource: t.resource.String()})
		}
	case from.Failed():
		if t.exact && t.rank == 0 && from.Goal != w.to.Goal {
			e.add(kindOfUses, strengthBelow, t.evidence...)
			e.add(kindOfFailed, strengthFailed, from.ending())
		}
	case t.proven && !w.flip:
	default:
		strength := strengthUses
		if !t.exact {
			strength = strengthBelow
		}
		if t.rank > 0 {
			strength /= 2
		}
		e.add(kindOfUses, strength, t.evidence...)
		if t.exact && t.rank == 0 && !w.flip {
			first, err := w.v.firstUse(from, w.to, t.resource)
			if first && err == nil {
				e.add(kindOfFirst, strengthFirst, Evidence{Position: w.to.Position, Shows: "is the first to use it since", Resource: t.resource.String()})
			}
			return err
		}
	}
	return nil
}

// weighFlip adds the evidence that the last attempt, before the other, ended differently.
func (w *ending) weighFlip(e *weighing, from *Node, _ *tie) error {
	if !w.flip || from.Position.TP() != w.last.Position.TP() || from.Position.Offset <= w.last.Position.Offset {
		return nil
	}
	e.add(kindOfFlip, strengthFlip, w.last.ending(), w.to.ending())
	idle, err := w.v.idle(from)
	if err != nil || idle || from.session != w.to.session {
		return err
	}
	if w.only != nil && w.only.Position == from.Position {
		e.add(kindOfSole, strengthSole, Evidence{Position: from.Position, Shows: "was the only change between"})
	}
	if wide := wideEffect(from); wide != "" {
		e.add(kindOfWide, strengthWide, Evidence{Position: from.Position, Shows: wide})
	}
	return nil
}
