package narrative

import "time"

// retry/1: the attempt before it at the same thing had failed. An attempt is an
// intent of the same goal in the same workspace (see goal.go); of the sixteen
// before it the one that is most alike counts, the newest of those, and the
// weight is how alike it is (see likeness). One of another session counts within
// an hour only.
var retryRule = rule{
	kind: Retry,
	name: "retry/1",
	in: func(f *forming) error {
		from, alike, err := f.v.attempt(f.to)
		if from == nil || err != nil || !from.Failed() || !from.near(f.to) {
			return err
		}
		if err := f.edge(from, alike, from.ending()); err != nil {
			return err
		}
		first, alike, err := f.v.firstAttempt(f.to, from)
		if first == nil || err != nil {
			return err
		}
		return f.edge(first, 0.9*alike, first.ending())
	},
	ends: (*View).laterAttempts,
}

// near reports whether an earlier intent is of the same session, or not an hour
// before.
func (n *Node) near(later *Node) bool {
	return n.session == later.session || time.Duration(n.gap(later)) <= time.Hour
}

// firstAttempt is the first of the attempts at the same thing that failed one
// after the other before last, which failed too; or nil if last is the first.
// Those that are looked at are the same that attempt looks at.
func (v *View) firstAttempt(n, last *Node) (first *Node, alike float64, err error) {
	err = v.back(v.list(kindGoal, n, goalList(n.Workspace, n.Goal)), n.Position.Offset, maxAttempts, func(offset int64, _ []byte) (bool, error) {
		if offset >= last.Position.Offset {
			return true, nil
		}
		a, err := v.sibling(n, offset)
		if a == nil || err != nil || a.Goal != n.Goal || a.Workspace != n.Workspace || !a.Failed() && !a.Succeeded() {
			return true, err
		}
		l := likeness(a, n)
		if l < sameThing {
			return true, nil
		}
		ok, err := v.known(a)
		if !ok || err != nil {
			return true, err
		}
		if !a.Failed() || !a.near(n) {
			return false, nil
		}
		first, alike = a, l
		return true, nil
	})
	return first, alike, err
}
