package graph

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
		return f.edge(from, alike, from.ending())
	},
	ends: (*View).laterAttempts,
}

// near reports whether an earlier intent is of the same session, or not an hour
// before.
func (n *Node) near(later *Node) bool {
	return n.session == later.session || time.Duration(n.gap(later)) <= time.Hour
}
