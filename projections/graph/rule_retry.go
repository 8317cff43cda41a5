package graph

// retry/1: the attempt before it at the same thing had failed. The same thing is
// the same template in the same workspace and, of the eight runs before it, the
// one that is most alike; the weight is how alike (see likeness).
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
