package narrative

import (
	"fmt"

	"github.com/recountdb/recount/schemas"
)

// EdgeKind is what an edge says of the two intents it joins.
type EdgeKind uint8

// The kinds of narrative edges. All run from the earlier intent to
// the later one.
const (
	// Temporal: next in the session.
	Temporal EdgeKind = 1 + iota
	// Retry: the same template again, after a failure.
	Retry
	// Fixes: from the last failure of a template to its first success.
	Fixes
	// Dependency: reads what the other wrote, or works on what it created.
	Dependency
	// Branch: another approach to the same goal after the same predecessor.
	Branch
	// Causal: rests on an explicit link, or on several kinds of evidence together;
	// never on similarity or adjacency alone.
	Causal
	// Similar: near in meaning. Never called a cause.
	Similar
	edgeKinds
)

var edgeKindNames = [edgeKinds]string{"", "temporal", "retry", "fixes", "dependency", "branch", "causal", "similar"}

// String is the kind's name in requests and answers: "retry".
func (k EdgeKind) String() string {
	if k == 0 || k >= edgeKinds {
		return fmt.Sprintf("EdgeKind(%d)", uint8(k))
	}
	return edgeKindNames[k]
}

// ParseEdgeKind reads a name that String gives.
func ParseEdgeKind(s string) (EdgeKind, bool) {
	for k := Temporal; k < edgeKinds; k++ {
		if edgeKindNames[k] == s {
			return k, true
		}
	}
	return 0, false
}

// EdgeKinds lists all kinds, in the order of their declaration.
func EdgeKinds() []EdgeKind {
	var all []EdgeKind
	for k := Temporal; k < edgeKinds; k++ {
		all = append(all, k)
	}
	return all
}

// Edge joins an earlier intent to a later one.
type Edge struct {
	From, To schemas.EventID
	Kind     EdgeKind
	// Weight in 0..1 is how much the evidence supports the edge.
	Weight float64
	// Rule is the name and the version of what formed the edge: "retry/1".
	Rule string
	// Evidence is what the edge rests on, in log order.
	Evidence []Evidence
}

// Evidence is one thing that supports an edge.
type Evidence struct {
	// Position is the event that shows it.
	Position schemas.Position
	// Shows says what, in a few words: "failed with exit code 2", "wrote".
	Shows string
	// Resource is the kind and name of what the two have in common, or empty:
	// "path:/src/app/Makefile".
	Resource string
	// Score is the measure where there is one, else 0: a cosine for similar.
	Score float64
}
