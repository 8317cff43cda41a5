package graph

// retry/1: the attempt before it at the same thing had failed. An attempt is an
// intent of the same goal in the same workspace (see goal.go); of the sixteen
// before it the one that is most alike counts, the newest of those, and the
// weight is how alike it is (see likeness).
var retryRule = rule{
	kind: Retry,
	name: "retry/1",
	in: func(f *forming) error {
		from, alike, err := f.v.attempt(f.to)
		if from == nil || err != nil || !from.Failed() {
			return err
		}
		return f.edge(from, alike, from.ending())
	},
	ends: (*View).laterAttempts,
}
