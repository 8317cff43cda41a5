package narrative

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// rule produces the edges of one kind. A new kind of edge takes one file with its rule, and one
// line in rules.
type rule struct {
	kind EdgeKind
	// name is the name and version, such as "retry/1". The version changes with the rule's
	// definition.
	name string
	// in adds the edges that end in f.to.
	in func(f *forming) error
	// ends calls found for candidates in which an edge from a node may end: a superset of the real
	// ones, some dozens at most.
	ends func(v *View, from *Node, found func(schemas.Position)) error
}

var rules = [...]rule{temporalRule, retryRule, fixesRule, dependencyRule, branchRule, causalRule}

// forming is the context of a rule that produces the edges ending in one intent.
type forming struct {
	v     *View
	rule  *rule
	to    *Node
	edges []Edge
	// evidence is a buffer in which a rule collects its findings.
	evidence []Evidence
}

// edge adds an edge. It adds none if from is not the intent that its id means, or does not come
// before f.to.
func (f *forming) edge(from *Node, weight float64, evidence ...Evidence) error {
	if ok, err := f.v.known(from); !ok || err != nil || !from.before(f.to) || f.v.contradict(from, f.to) {
		return err
	}
	f.edges = append(f.edges, Edge{
		From: from.ID, To: f.to.ID, Kind: f.rule.kind, Weight: weight, Rule: f.rule.name, Evidence: evidence,
	})
	return nil
}

// compare orders edges by kind, then weight (the heaviest first), then ends.
func (e Edge) compare(o Edge) int {
	return cmp.Or(
		cmp.Compare(e.Kind, o.Kind), cmp.Compare(o.Weight, e.Weight),
		bytes.Compare(e.From[:], o.From[:]), bytes.Compare(e.To[:], o.To[:]), strings.Compare(e.Rule, o.Rule),
	)
}
