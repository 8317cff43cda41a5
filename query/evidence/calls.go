package evidence

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/objects"
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

// meeting are the objects that name the call that a link of an object names, and may belong
// together with it, each once.
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

// otherSides adds, of a result, its call, and of a call its results: those of one audience.
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

// callFor is the call that a result is of, by the link with which it names it; none if it is
// not known.
func (a *session) callFor(result *part, l *objects.Link) ([]*part, error) {
	found, err := a.meeting(result, l)
	found = slices.DeleteFunc(found, func(x *part) bool { return !x.calls() })
	if call := callOf(result, found); call != nil {
		return []*part{call}, err
	}
	return nil, err
}
