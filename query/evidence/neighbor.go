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
	named   []neighbor     // what it names
	leading []objects.Edge // the edges that lead to it, or to its event
	around  []neighbor     // both, in order
	// Which of these were asked for.
	hasNamed, hasLeading, hasAround bool
}

// endsOf are the ends of an object, as far as they were asked for.
func (a *asking) endsOf(o *objects.Stored) *ends {
	e := a.ends[o]
	if e == nil {
		e = &ends{}
		a.ends[o] = e
	}
	return e
}

// around are the neighbors of an object, both ways, in order.
func (a *asking) around(o *objects.Stored) ([]neighbor, error) {
	e := a.endsOf(o)
	if !e.hasAround {
		named, err := a.named(o)
		if err != nil {
			return nil, err
		}
		leading, err := a.leading(o)
		if err != nil {
			return nil, err
		}
		all, err := a.comeFrom(o, nil, append(a.roomFor(len(named)+len(leading)), named...))
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(all, func(x, y neighbor) int { return x.compare(&y) })
		e.around, e.hasAround = all, true
	}
	return e.around, nil
}

// named are the neighbors that an object names.
func (a *asking) named(o *objects.Stored) ([]neighbor, error) {
	e := a.endsOf(o)
	if !e.hasNamed {
		all := a.roomFor(len(o.Edges))
		for i := range o.Edges {
			var err error
			if all, err = a.leadsTo(o, i, all); err != nil {
				return nil, err
			}
		}
		e.named, e.hasNamed = all, true
	}
	return e.named, nil
}

// leadsTo resolves an edge of an object, by its number, and adds what is named, among what
// may be known of.
func (a *asking) leadsTo(o *objects.Stored, number int, all []neighbor) ([]neighbor, error) {
	e := o.Edges[number]
	base := neighbor{kind: e.Kind, name: edgeName(e), confidence: float64(e.Confidence), rule: e.Rule, at: o.Ref.Position}
	switch {
	case len(e.EventId) > 0:
		found, err := a.view.Named(o, number, a.bound(maxFan))
		if err != nil {
			return nil, err
		}
		found = meant(o.Tenant, o.Workspace, a.keep(found))
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

// means says whether the event's id of an object means that object to one of a tenant and
// workspace that names it: it may mean others of that id.
func (a *asking) means(o *objects.Stored, tenant, workspace string) (bool, error) {
	found, err := a.view.OfEvent(o, a.bound(maxFan))
	return slices.ContainsFunc(meant(tenant, workspace, found), func(x *objects.Stored) bool { return x.Ref == o.Ref }), err
}

// leading are the edges that lead to an object, or to its event, as they are told.
func (a *asking) leading(o *objects.Stored) ([]objects.Edge, error) {
	e := a.endsOf(o)
	if !e.hasLeading {
		all, err := a.view.ToEvent(o, a.bound(maxFan))
		if err == nil && o.ObjectID() != o.EventID {
			var more []objects.Edge
			more, err = a.view.ToThing(o, a.bound(maxFan))
			all = append(all, more...)
		}
		if err != nil {
			return nil, err
		}
		e.leading, e.hasLeading = all, true
	}
	return e.leading, nil
}

// meant are those of a list that are of a tenant, and of these the ones of a workspace, if
// there are.
func meant(tenant, workspace string, list []*objects.Stored) []*objects.Stored {
	near := func(x *objects.Stored) bool { return x.Tenant == tenant && x.Workspace == workspace }
	if !slices.ContainsFunc(list, func(x *objects.Stored) bool { return !near(x) }) {
		return list // as nearly always: there is one
	}
	of := near
	if !slices.ContainsFunc(list, near) {
		of = func(x *objects.Stored) bool { return x.Tenant == tenant }
	}
	var all []*objects.Stored
	for _, x := range list {
		if of(x) {
			all = append(all, x)
		}
	}
	return all
}

// disputing are the edges that say that something took an object's place, or otherwise.
func disputing(kind recountv1.ObjectEdgeKind) bool {
	return kind == edgeSupersedes || kind == edgeContradicts
}

// disputes are the neighbors that say of an object that something took its place, or
// otherwise, in order; no others are looked up.
func (a *asking) disputes(o *objects.Stored) ([]neighbor, error) {
	all, err := a.comeFrom(o, disputing, nil)
	if err != nil {
		return nil, err
	}
	for i, e := range o.Edges {
		if !disputing(e.Kind) {
			continue
		}
		if all, err = a.leadsTo(o, i, all); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(x, y neighbor) int { return x.compare(&y) })
	return all, nil
}

// comeFrom adds the neighbors whose edges lead to an object, or to its event: those of some
// kinds, or all.
func (a *asking) comeFrom(o *objects.Stored, kinds func(recountv1.ObjectEdgeKind) bool, all []neighbor) ([]neighbor, error) {
	edges, err := a.leading(o)
	if err != nil {
		return nil, err
	}
	for _, e := range edges {
		if e.Ref == o.Ref || kinds != nil && !kinds(e.Kind) {
			continue
		}
		from, err := a.object(e.Ref)
		if err != nil {
			return nil, err
		}
		if from == nil {
			continue
		}
		means := from.Tenant == o.Tenant
		if len(e.EventId) > 0 {
			if means, err = a.means(o, from.Tenant, from.Workspace); err != nil {
				return nil, err
			}
		}
		if means {
			all = append(all, neighbor{
				kind: e.Kind, name: edgeName(e.ObjectEdge), confidence: float64(e.Confidence), rule: e.Rule,
				back: true, at: from.Ref.Position, o: from,
			})
		}
	}
	return all, nil
}
