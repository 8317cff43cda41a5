package runtime

import (
	observed "github.com/recountdb/recount/projections/runtime"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxOperations is how many operations of a service traffic lists by name. A service has
// more where paths hold values that nobody recognises, or a scanner asks for whatever it
// can think of.
const maxOperations = 1000

// other is the name of what the operations beyond maxOperations are summed in.
const other = observed.Other

// listed is an operation of an answer, or the sum of several.
type listed struct {
	observed.Served
	confidence float64
	// folded is how many operations it sums up; 0 where it is one.
	folded int
}

// foldOperations keeps the first of each service's operations, and sums up the others of
// one kind. The rows come in the order of the answer, so that what a question looks for is
// what it keeps; the order has to be made again, as a sum may be more than any of its parts.
// A sum is as sure as the surest of it.
func foldOperations(rows []observed.Served, sure func(*observed.Served) float64) (all []listed, folded int) {
	type sum struct {
		service string
		kind    recountv1.RuntimeKind
	}
	kept := map[string]int{}
	at := map[sum]int{}
	for i := range rows {
		x := &rows[i]
		// What the projection sums up already (observed.Other) belongs to the sum.
		if kept[x.Service] < maxOperations && (x.Operation != other || x.Templated) {
			kept[x.Service]++
			all = append(all, listed{Served: *x, confidence: sure(x)})
			continue
		}
		folded++
		n, ok := at[sum{x.Service, x.Kind}]
		if !ok {
			n = len(all)
			at[sum{x.Service, x.Kind}] = n
			all = append(all, listed{Served: observed.Served{Service: x.Service, Kind: x.Kind, Operation: other, Sum: x.Sum}, confidence: sure(x), folded: 1})
			continue
		}
		o := &all[n]
		o.Merge(&x.Sum)
		o.confidence = max(o.confidence, sure(x))
		o.folded++
	}
	return all, folded
}

func sumOfListed(x *listed) *observed.Sum { return &x.Sum }
