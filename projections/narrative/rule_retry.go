package narrative

import "time"

// retryRule (retry/1) finds the previous attempt at the same thing, if it failed. An attempt is an
// intent of the same goal in the same workspace (see goal.go). Of the sixteen before it the one
// most alike counts, and the newest of equals; the weight is the likeness. An attempt of another
// session counts only within an hour.
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

// near reports whether n is of the same session as a later intent, or at most an hour before it.
func (n *Node) near(later *Node) bool {
	return n.session == later.session || time.Duration(n.gap(later)) <= time.Hour
}

// firstAttempt returns the first of the consecutive failed attempts at the same thing that end with
// last, or nil if last is the first. It examines the same intents as attempt.
func (v *View) firstAttempt(n, last *Node) (first *Node, alike float64, err error) {
	err = v.visitBackward(v.list(kindGoal, n, goalList(n.Workspace, n.Goal)), n.Position.Offset, maxAttempts, func(offset int64, _ []byte) (bool, error) {
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
