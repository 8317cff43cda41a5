package graph

// fixes/1: it succeeded where the attempt before it, at the same thing, had
// failed. The weight is how alike the two are (see likeness), times
//
//	1.0  something that both name, or that the failure's output names, was changed between them
//	0.9  something else in the workspace was changed between them
//	0.7  nothing was, as far as is known
//
// The evidence is both outcomes and what changed, the newest four changes.
var fixesRule = rule{
	kind: Fixes,
	name: "fixes/1",
	in: func(f *forming) error {
		if !f.to.Succeeded() {
			return nil
		}
		from, alike, err := f.v.attempt(f.to)
		if from == nil || err != nil || !from.Failed() {
			return err
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
	ends: (*View).laterAttempts,
}
