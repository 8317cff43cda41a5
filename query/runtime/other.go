package runtime

import (
	observed "github.com/recountdb/recount/projections/runtime"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxOperations is the maximum number of operations of a service that traffic lists by name. A
// service has more if paths contain values that are not recognised as such, or if a scanner
// requests arbitrary paths.
const maxOperations = 1000

// other is the name of the sum of the operations beyond maxOperations.
const other = observed.Other

// listed is an operation of an answer, or the sum of several.
type listed struct {
	observed.ServerSum
	confidence float64
	// folded is the number of operations in the sum; 0 for a single operation.
	folded int
}

// foldOperations keeps the first operations of each service and sums up the others by kind. The
// rows must be in the order of the answer, so that the operations that a query is interested in are
// kept. The result must be sorted again, since a sum may exceed each of its parts. The confidence
// of a sum is the maximum of its parts.
func foldOperations(rows []observed.ServerSum, sure func(*observed.ServerSum) float64) (all []listed, folded int) {
	type sum struct {
		service string
		kind    recountv1.RuntimeKind
	}
	kept := map[string]int{}
	at := map[sum]int{}
	for i := range rows {
		x := &rows[i]
		// What the projection already sums up (observed.Other) is added to the sum.
		if kept[x.Service] < maxOperations && (x.Operation != other || x.Templated) {
			kept[x.Service]++
			all = append(all, listed{ServerSum: *x, confidence: sure(x)})
			continue
		}
		folded++
		n, ok := at[sum{x.Service, x.Kind}]
		if !ok {
			n = len(all)
			at[sum{x.Service, x.Kind}] = n
			all = append(all, listed{ServerSum: observed.ServerSum{Service: x.Service, Kind: x.Kind, Operation: other, Sum: x.Sum}, confidence: sure(x), folded: 1})
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
