package evidence

import (
	"strconv"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query/fusion"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// These are the shares of its score that a candidate gives to what is near it. What comes next in
// its session gets nextShare, and answerShare more if the candidate ends in a question; what comes
// before gets priorShare, and what is one step further half of the share. Calls and results neither
// give nor get: what an agent does next answers nothing, and a result has the words of its call
// (projections/lexical). Objects joined by an edge get linkShare times its confidence. bench/evidence has the figures by which they were chosen.
const (
	nextShare   = 0.3
	answerShare = 0.5
	priorShare  = 0.2
	linkShare   = 0.4
)

// byNearness adds what is near the best candidates of the other paths: the objects before and after
// them in their session, and, for the best, those joined to them by edges. What answers a question
// often shares no word with it, but is said next to something that does.
func (t *retrieval) byNearness(l *fusion.List) error {
	order := t.first(t.depth())
	gain := map[int]float64{}
	near := map[int]float64{} // shares of the current candidate's score
	give := func(n objects.Node, share float64) {
		if to := t.take(n.Ref(), -1); to >= 0 {
			near[to] = max(near[to], share)
		}
	}
	bound := objects.Bound{Visible: t.besides}
	for rank, key := range order {
		from := t.candidates[key]
		p := t.partAt(from.ref)
		if p == nil {
			continue
		}
		clear(near)
		if !p.ofTool() {
			before, after := t.view.Beside(p.node, 2, bound)
			for i, n := range before {
				if !t.part(n).ofTool() {
					give(n, priorShare/float64(1+i))
				}
			}
			for i, n := range after {
				share := nextShare / float64(1+i)
				if i == 0 && p.asks {
					share += answerShare
				}
				if !t.part(n).ofTool() {
					give(n, share)
				}
			}
		}
		if rank < seeds {
			around, err := t.around(p)
			if err != nil {
				return err
			}
			for _, n := range around {
				if n.to != nil && n.carries() && n.confidence >= t.r.Expand.MinConfidence {
					give(n.to.node, linkShare*n.confidence)
				}
			}
		}
		delete(near, key)
		for to, share := range near {
			gain[to] += float64(from.score * share) // the conversion prevents a fused multiply-add
		}
	}
	t.rank(l, gain)
	l.Operator = "expand"
	l.Inputs["seeds"] = strconv.Itoa(len(order))
	return nil
}

// besides reports whether an object of the scope counts as next to another in a session. What only
// records a state, or that something was used, is passed over.
func (t *retrieval) besides(ref schemas.ObjectRef) bool {
	if !t.scope.holds(ref) {
		return false
	}
	a, ok := t.view.Attributes(ref)
	return ok && a.Type != recountv1.ObjectType_OBJECT_TYPE_STATE && a.Type != recountv1.ObjectType_OBJECT_TYPE_RECALL
}
