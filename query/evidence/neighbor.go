package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/graph/objects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// The kinds of edges, by shorter names.
const (
	edgeCausedBy     = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_CAUSED_BY
	edgeDerivedFrom  = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_DERIVED_FROM
	edgeToolProduces = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_TOOL_PRODUCES
	edgeSupports     = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_SUPPORTS
	edgeContradicts  = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_CONTRADICTS
	edgeSupersedes   = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_SUPERSEDES
	edgeRefersTo     = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_REFERS_TO
	edgePartOfTask   = recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_PART_OF_TASK
)

// followed are the edges that an expansion follows where it is not told: those that tie
// what was said and done to each other. What merely belongs together (a session, an
// agent, a tool, a task) ties everything to everything.
var followed = []recountv1.ObjectEdgeKind{
	edgeCausedBy, edgeDerivedFrom, edgeToolProduces, edgeSupports, edgeContradicts, edgeSupersedes, edgeRefersTo,
}

// maxFan is how many edges that lead to one object, or to one name outside, are looked
// at: the newest. A message that everything answers makes no walk endless.
const maxFan = 64

// ruleType is an edge that follows from the type of the event alone (processors/agent).
const ruleType = "type"

// neighbor is one end of an edge, seen from the other.
type neighbor struct {
	kind       recountv1.ObjectEdgeKind
	name       string // the kind's
	confidence float64
	rule       string
	// back says that the edge leads from the neighbor.
	back bool
	// at is the event that tells of the edge.
	at schemas.Position
	// One of the three: an object; an event that is not known; a name outside.
	o      *objects.Stored
	event  schemas.EventID
	entity string
}

// carries reports whether the neighbor is found because of an object: edges that tie
// what was said and done to each other carry, others only say what belongs together.
func (n *neighbor) carries() bool {
	return n.kind != edgeRefersTo && slices.Contains(followed, n.kind)
}

// compare orders neighbors: by kind, those that the object names first, in the order of
// the log, then by name.
func (n *neighbor) compare(m *neighbor) int {
	order := cmp.Or(cmp.Compare(n.kind, m.kind), cmp.Compare(n.name, m.name), compareBool(n.back, m.back))
	if order != 0 {
		return order
	}
	switch {
	case n.o != nil && m.o != nil:
		return n.o.Ref.Compare(m.o.Ref)
	case n.o != nil || m.o != nil:
		return compareBool(n.o == nil, m.o == nil)
	}
	return cmp.Or(slices.Compare(n.event[:], m.event[:]), strings.Compare(n.entity, m.entity))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ends are what edges of an object lead to, and come from.
type ends struct {
	named    []neighbor // what it names
	around   []neighbor // both, in order, once they were asked for
	complete bool       // they were
}

// around are the neighbors of an object, both ways, in order.
func (a *asking) around(o *objects.Stored) ([]neighbor, error) {
	e, err := a.endsOf(o)
	if err != nil {
		return nil, err
	}
	if !e.complete {
		namedBy, err := a.comeFrom(o, nil)
		if err != nil {
			return nil, err
		}
		e.around, e.complete = slices.Concat(e.named, namedBy), true
		slices.SortStableFunc(e.around, func(x, y neighbor) int { return x.compare(&y) })
	}
	return e.around, nil
}

// endsOf are the ends of what an object names.
func (a *asking) endsOf(o *objects.Stored) (*ends, error) {
	if e := a.ends[o.Ref]; e != nil {
		return e, nil
	}
	e := &ends{named: make([]neighbor, 0, len(o.Edges))}
	for _, edge := range o.Edges {
		var err error
		if e.named, err = a.leadsTo(o, edge, e.named); err != nil {
			return nil, err
		}
	}
	a.ends[o.Ref] = e
	return e, nil
}

// leadsTo resolves an edge of an object, and adds what is named, among what may be known of.
func (a *asking) leadsTo(o *objects.Stored, e *recountv1.ObjectEdge, all []neighbor) ([]neighbor, error) {
	base := neighbor{kind: e.Kind, name: edgeName(e), confidence: float64(e.Confidence), rule: e.Rule, at: o.Ref.Position}
	switch {
	case len(e.EventId) > 0:
		found, err := a.event(o.Tenant, o.Workspace, schemas.EventID(e.EventId))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			base.event = schemas.EventID(e.EventId)
			return append(all, base), nil
		}
		for _, to := range found {
			n := base
			n.o = to
			all = append(all, n)
		}
		return all, nil
	case len(e.ObjectId) > 0:
		versions, err := a.view.Versions(schemas.ObjectID(e.ObjectId), a.bound(1))
		if err != nil {
			return nil, err
		}
		if len(versions) > 0 {
			base.o = a.keep(versions)[0]
		} else {
			base.event = schemas.EventID(e.ObjectId)
		}
		return append(all, base), nil
	case isCall(e):
		others, err := a.otherSides(o, base, e.Entity)
		return append(all, others...), err
	}
	base.entity = e.Entity
	return append(all, base), nil
}

// event are the objects that an event's id means to an object of a tenant and workspace
// that names it: those of its tenant, and of these the ones of its workspace, if there are.
func (a *asking) event(tenant, workspace string, id schemas.EventID) ([]*objects.Stored, error) {
	list, known := a.byEvent[id]
	if !known {
		var err error
		if list, err = a.view.ByEvent(id, a.bound(maxFan)); err != nil {
			return nil, err
		}
		list = a.keep(list)
		a.byEvent[id] = list
	}
	return meant(tenant, workspace, list), nil
}

// leading are the edges that lead to an event or an object.
func (a *asking) leading(id schemas.EventID) ([]objects.Edge, error) {
	if edges, known := a.to[id]; known {
		return edges, nil
	}
	edges, err := a.view.To(id, a.bound(maxFan))
	if err == nil {
		a.to[id] = edges
	}
	return edges, err
}

// meant are those of a list that are of a tenant, and of these the ones of a workspace, if
// there are.
func meant(tenant, workspace string, list []*objects.Stored) []*objects.Stored {
	var near, far []*objects.Stored
	for _, x := range list {
		switch {
		case x.Tenant != tenant:
		case x.Workspace == workspace:
			near = append(near, x)
		default:
			far = append(far, x)
		}
	}
	if len(near) > 0 {
		return near
	}
	return far
}

// disputes are the neighbors that say of an object that something took its place, or
// otherwise, in order; no others are looked up.
func (a *asking) disputes(o *objects.Stored) ([]neighbor, error) {
	kinds := []recountv1.ObjectEdgeKind{edgeSupersedes, edgeContradicts}
	all, err := a.comeFrom(o, kinds)
	if err != nil {
		return nil, err
	}
	for _, e := range o.Edges {
		if !slices.Contains(kinds, e.Kind) {
			continue
		}
		if all, err = a.leadsTo(o, e, all); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(x, y neighbor) int { return x.compare(&y) })
	return all, nil
}

// comeFrom are the neighbors whose edges lead to an object, or to its event: those of some
// kinds, or all.
func (a *asking) comeFrom(o *objects.Stored, kinds []recountv1.ObjectEdgeKind) ([]neighbor, error) {
	all := []neighbor{}
	ids := []schemas.EventID{o.EventID}
	if o.ObjectID() != o.EventID {
		ids = append(ids, o.ObjectID())
	}
	for _, id := range ids {
		edges, err := a.leading(id)
		if err != nil {
			return nil, err
		}
		for _, e := range edges {
			if e.Ref == o.Ref || kinds != nil && !slices.Contains(kinds, e.Kind) {
				continue
			}
			from, err := a.object(e.Ref)
			if err != nil {
				return nil, err
			}
			if from == nil {
				continue
			}
			if len(e.EventId) > 0 { // it may mean another object of the same event's id
				found, err := a.event(from.Tenant, from.Workspace, schemas.EventID(e.EventId))
				if err != nil {
					return nil, err
				}
				if !slices.ContainsFunc(found, func(x *objects.Stored) bool { return x.Ref == o.Ref }) {
					continue
				}
			} else if from.Tenant != o.Tenant {
				continue
			}
			all = append(all, neighbor{
				kind: e.Kind, name: edgeName(e.ObjectEdge), confidence: float64(e.Confidence), rule: e.Rule,
				back: true, at: from.Ref.Position, o: from,
			})
		}
	}
	return all, nil
}
