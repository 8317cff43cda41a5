package evidence

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/graph/objects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A call of a tool and its result both name the call, and meet at that name. Some agents
// use one name for many calls: a result is then that of the last call before it or, if it
// came before all of them, of the first.

// ruleCallID is how a tool's result is known to be that of a call: both name it.
const ruleCallID = "call_id"

// isCall says whether an edge names a call of a tool, which calls and results meet at.
func isCall(e *recountv1.ObjectEdge) bool {
	return e.Kind == edgeToolProduces && strings.HasPrefix(e.Entity, "call:")
}

func calls(o *objects.Stored) bool { return o.Type == recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL }

// meet says whether two objects that name one call may belong together.
func meet(o, x *objects.Stored) bool {
	return x.Ref != o.Ref && x.Tenant == o.Tenant && x.Workspace == o.Workspace
}

// callOf is the call that a result is of, among those of its name, the oldest first: nil
// if there is none.
func callOf(result *part, all []*part) *part {
	var of *part
	for _, call := range all {
		if of == nil || call.compare(result) < 0 {
			of = call
		}
	}
	return of
}

// otherSides are, of a result, its call, and of a call its results: those of one audience.
func (a *asking) otherSides(o *objects.Stored, base neighbor, name string) ([]neighbor, error) {
	edges, err := a.view.Entity([]schemas.AudienceID{o.AudienceID}, name, a.bound(maxFan))
	if err != nil {
		return nil, err
	}
	self := partOf(o)
	made, results := []*part{}, []*part{}
	of := map[schemas.ObjectRef]*objects.Stored{}
	if calls(o) {
		made = append(made, &self)
	} else {
		results = append(results, &self)
	}
	for _, e := range edges {
		x, err := a.object(e.Ref)
		if err != nil {
			return nil, err
		}
		if x == nil || !meet(o, x) || of[x.Ref] != nil {
			continue
		}
		of[x.Ref] = x
		p := partOf(x)
		if calls(x) {
			made = append(made, &p)
		} else {
			results = append(results, &p)
		}
	}
	slices.SortFunc(made, (*part).compare)
	base.rule, base.back = ruleCallID, !calls(o)
	var all []neighbor
	for _, result := range results {
		call := callOf(result, made)
		var other *part
		switch {
		case call == nil:
			continue
		case result == &self:
			other = call
		case call == &self:
			other = result
		default:
			continue
		}
		n := base
		n.o, n.at = of[other.ref], other.ref.Position
		all = append(all, n)
	}
	return all, nil
}

// callsNamed are the calls of a name that an object's result may be of.
func callsNamed(v *objects.View, o *objects.Stored, name string, b objects.Bound) ([]*objects.Stored, error) {
	edges, err := v.Entity([]schemas.AudienceID{o.AudienceID}, name, b)
	var all []*objects.Stored
	for _, e := range edges {
		x, err := v.Get(e.Ref)
		if err != nil {
			return nil, err
		}
		if x != nil && meet(o, x) && calls(x) {
			all = append(all, x)
		}
	}
	return all, err
}
