package narrative

import (
	"fmt"

	"github.com/recountdb/recount/schemas"
)

// EdgeKind is the kind of relation between two intents.
type EdgeKind uint8

// These are the kinds of narrative edges. Every edge runs from the earlier intent to the later one.
// schemas.NarrativeEdges has their names, in this order.
const (
	// Temporal joins an intent to the next one of its session.
	Temporal EdgeKind = 1 + iota
	// Retry joins a failed intent to a later attempt at the same thing.
	Retry
	// Fixes joins a failed attempt to the attempt that succeeded after it.
	Fixes
	// Dependency joins an intent to one that reads what it wrote, or works on what it created.
	Dependency
	// Branch joins a failed intent to another approach to the same goal.
	Branch
	// Causal rests on an explicit link or on several kinds of evidence together, never on
	// similarity or adjacency alone.
	Causal
	// Similar joins intents that are near in meaning. It is never presented as a cause.
	Similar
	edgeKinds
)

// String returns the kind's name in requests and answers, such as "retry".
func (k EdgeKind) String() string {
	if k == 0 || k >= edgeKinds {
		return fmt.Sprintf("EdgeKind(%d)", uint8(k))
	}
	return schemas.NarrativeEdges[k-1]
}

// ParseEdgeKind is the inverse of String; it returns false for an unknown name.
func ParseEdgeKind(s string) (EdgeKind, bool) {
	for k := Temporal; k < edgeKinds; k++ {
		if schemas.NarrativeEdges[k-1] == s {
			return k, true
		}
	}
	return 0, false
}

// EdgeKinds returns all kinds in the order of their declaration.
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
	// Weight in 0..1 is how strongly the evidence supports the edge.
	Weight float64
	// Rule is the name and version of the rule that produced the edge, such as "retry/1".
	Rule string
	// Evidence lists the facts that support the edge, in log order.
	Evidence []Evidence
}

// Evidence is one fact that supports an edge.
type Evidence struct {
	// Position is that of the event that shows the fact.
	Position schemas.Position
	// Shows describes the fact in a few words: "failed with exit code 2", "wrote".
	Shows string
	// Resource is the kind and name of the resource that both intents have in common, such as
	// "path:/src/app/Makefile", or empty.
	Resource string
	// Score is a measure if the evidence has one (a cosine for similar), else 0.
	Score float64
}
