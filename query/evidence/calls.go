package evidence

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/objects"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A tool call and its result both name the call, and are joined by that name. Some agents use one
// name for many calls: a result then belongs to the last call before it, or to the first if it came
// before all of them.

// ruleCallID is the rule that joins a tool's result to a call: both name it.
const ruleCallID = "call_id"

// isCall reports whether an edge names a tool call, by which calls and results are joined.
func isCall(e *recountv1.ObjectEdge) bool {
	return e.Kind == edgeToolProduces && strings.HasPrefix(e.Entity, "call:")
}

func calls(o *objects.Stored) bool { return o.Type == recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL }

// callOf returns the call that a result belongs to, among the calls of its name, the oldest first;
// nil if there is none.
func callOf(result *part, all []*part) *part {
	var of *part
	for _, call := range all {
		if of == nil || call.compare(result) < 0 {
			of = call
		}
	}
	return of
}

// meeting returns the objects of the same workspace that name the call that a link of an object
// names, without duplicates.
func (a *session) meeting(p *part, l *objects.Link) ([]*part, error) {
	links, err := a.view.Meeting(l, a.bound(maxFan))
	var all []*part
	for i := range links {
		x := a.part(links[i].From)
		if x != p && x.tenant == p.tenant && x.workspace == p.workspace && !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, (*part).compare)
	return all, err
}

// otherSides adds the call of a result, or the results of a call, of the same audience.
func (a *session) otherSides(p *part, l *objects.Link, base neighbor, all []neighbor) ([]neighbor, error) {
	base.rule, base.back = ruleCallID, !p.calls()
	if base.back {
		made, err := a.callFor(p, l)
		for _, call := range made {
			base.to = call
			all = append(all, base)
		}
		return all, err
	}
	found, err := a.meeting(p, l)
	if err != nil {
		return nil, err
	}
	made := []*part{p}
	for _, x := range found {
		if x.calls() {
			made = append(made, x)
		}
	}
	slices.SortFunc(made, (*part).compare)
	for _, x := range found {
		if !x.calls() && callOf(x, made) == p {
			base.to = x
			all = append(all, base)
		}
	}
	return all, nil
}

// callFor returns the call that a result belongs to, by the link that names it; none if it is not
// known.
func (a *session) callFor(result *part, l *objects.Link) ([]*part, error) {
	found, err := a.meeting(result, l)
	found = slices.DeleteFunc(found, func(x *part) bool { return !x.calls() })
	if call := callOf(result, found); call != nil {
		return []*part{call}, err
	}
	return nil, err
}
