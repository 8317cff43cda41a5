package narrative

import "github.com/recountdb/recount/schemas"

// fixesRule (fixes/2) finds the failed attempt at the same thing that this intent, which succeeded,
// follows; or the intent of the session that failed to change, in another way, what this one
// changed. The weight is how alike the two are (see likeness; 0.6 for the other way; an attempt of
// another session counts only within an hour), times
//
//	1.0  if something that both name, or that the failure's output names, was changed between them
//	0.9  if something else in the workspace was changed between them
//	0.7  if nothing is known to have changed
//
// The evidence is both outcomes and the newest four changes.
var fixesRule = rule{
	kind: Fixes,
	name: "fixes/2",
	in: func(f *forming) error {
		if !f.to.Succeeded() {
			return nil
		}
		from, alike, err := f.v.attempt(f.to)
		if err != nil {
			return err
		}
		if from == nil || !from.Failed() {
			if from, err = f.v.otherWay(f.to); err != nil {
				return err
			}
			alike = 0.6
		}
		if from == nil || !from.Failed() || !from.near(f.to) {
			return nil
		}
		changed, err := f.v.changesSince(from, f.to)
		if err != nil {
			return err
		}
		evidence := []Evidence{from.ending(), f.to.ending()}
		factor := 0.7
		for _, c := range changed {
			e := Evidence{Position: c.Position, Shows: "changed something between"}
			factor = max(factor, 0.9)
			if r, ok := touches(c, from, f.to); ok {
				e.Shows, e.Resource, factor = "changed between", r.String(), 1
			}
			if len(evidence) < 6 {
				evidence = append(evidence, e)
			}
		}
		return f.edge(from, alike*factor, evidence...)
	},
	ends: func(v *View, n *Node, found func(schemas.Position)) error {
		if err := v.laterAttempts(n, found); err != nil {
			return err
		}
		return dependants(v, n, found)
	},
}

// otherWay returns the intent of the session that last worked on what a node changes, with another
// program; or nil.
func (v *View) otherWay(n *Node) (*Node, error) {
	var found *Node
	for _, r := range n.Resources {
		if r.Access&(Write|Implied) != Write {
			continue
		}
		err := v.writers(kindWrite, n, r, 1, func(from *Node, w Resource, _ int, _ bool) {
			if from.session == n.session && w.Access&Implied == 0 && (found == nil || found.before(from)) {
				found = from
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, nil
	}
	ok, err := v.known(found)
	if !ok {
		found = nil
	}
	return found, err
}
