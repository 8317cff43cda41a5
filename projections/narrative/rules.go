package narrative

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// rule forms the edges of one kind. Adding a kind of edge is one file with its
// rule, and one line here.
type rule struct {
	kind EdgeKind
	// name and version, "retry/1". The version changes with what the rule says.
	name string
	// in forms the edges that end in f.to.
	in func(f *forming) error
	// ends finds the intents in which an edge from a node can end: more than do,
	// at most some dozens.
	ends func(v *View, from *Node, found func(schemas.Position)) error
}

var rules = [...]rule{temporalRule, retryRule, fixesRule, dependencyRule, branchRule, causalRule}

// forming is a rule at work on the edges that end in one intent.
type forming struct {
	v     *View
	rule  *rule
	to    *Node
	edges []Edge
	// evidence is room for a rule to collect what it finds.
	evidence []Evidence
}

// edge adds one. An intent that its id does not mean, or that does not come
// before, gives none.
func (f *forming) edge(from *Node, weight float64, evidence ...Evidence) error {
	if ok, err := f.v.known(from); !ok || err != nil || !from.before(f.to) {
		return err
	}
	f.edges = append(f.edges, Edge{
		From: from.ID, To: f.to.ID, Kind: f.rule.kind, Weight: weight, Rule: f.rule.name, Evidence: evidence,
	})
	return nil
}

// compare orders edges by kind, weight (the heaviest first) and ends.
func (e Edge) compare(o Edge) int {
	return cmp.Or(
		cmp.Compare(e.Kind, o.Kind), cmp.Compare(o.Weight, e.Weight),
		bytes.Compare(e.From[:], o.From[:]), bytes.Compare(e.To[:], o.To[:]), strings.Compare(e.Rule, o.Rule),
	)
}
