package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// These are shorter names for the kinds of edges.
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

// followed are the edges that an expansion follows by default: those that relate what was said and
// done. Edges for mere membership (a session, an agent, a tool, a task) would connect everything.
var followed = []recountv1.ObjectEdgeKind{
	edgeCausedBy, edgeDerivedFrom, edgeToolProduces, edgeSupports, edgeContradicts, edgeSupersedes, edgeRefersTo,
}

// maxFan is the maximum number of edges examined that lead to one object or to one name outside;
// the newest are examined. So a message that everything replies to does not make a walk endless.
const maxFan = 64

// ruleType is the rule of an edge that follows from the type of the event alone (processors/agent).
const ruleType = "type"

// neighbor is one end of an edge, seen from the other.
type neighbor struct {
	kind       recountv1.ObjectEdgeKind
	name       string // of the kind
	confidence float64
	rule       string
	// back means that the edge leads from the neighbor.
	back bool
	// Exactly one of these is set: an object, the id of an unknown event, or a name outside.
	to     *part
	event  schemas.EventID
	entity string
}

// carries reports whether the edge passes on relevance from an object to its neighbor: edges that
// relate what was said and done do, edges for membership do not.
func (n *neighbor) carries() bool {
	return n.kind != edgeRefersTo && slices.Contains(followed, n.kind)
}

// compare orders neighbors by kind, those that the object names first, then in log order, then by
// name.
func (n *neighbor) compare(m *neighbor) int {
	order := cmp.Or(cmp.Compare(n.kind, m.kind), cmp.Compare(n.name, m.name), compareBool(n.back, m.back))
	if order != 0 {
		return order
	}
	switch {
	case n.to != nil && m.to != nil:
		return n.to.ref.Compare(m.to.ref)
	case n.to != nil || m.to != nil:
		return compareBool(n.to == nil, m.to == nil)
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

// around returns the neighbors of an object in both directions, in order. Names outside, other than
// those of calls, are included only if the request asks for them.
func (a *session) around(p *part) ([]neighbor, error) {
	if p.hasEnds {
		return p.ends, nil
	}
	all := a.building[:0]
	links := p.node.Links(a.links[:0])
	a.links = links
	var err error
	for i := range links {
		if all, err = a.leadsTo(p, &links[i], all); err != nil {
			return nil, err
		}
	}
	if a.outside() {
		if all, err = a.namesOutside(p, all); err != nil {
			return nil, err
		}
	}
	if all, err = a.comeFrom(p, nil, all); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y neighbor) int { return x.compare(&y) })
	a.building = all
	p.ends, p.hasEnds = append(a.roomFor(len(all)), all...), true
	return p.ends, nil
}

// outside reports whether a request asks for names outside.
func (a *session) outside() bool { return len(a.r.Expand.Kinds) > 0 || a.r.Mode == ModeSubgraph }

// namesOutside adds the names outside that an object names, other than those of calls.
func (a *session) namesOutside(p *part, all []neighbor) ([]neighbor, error) {
	o, err := a.object(p.ref)
	if err != nil || o == nil {
		return all, err
	}
	for _, e := range o.Edges {
		if e.Entity != "" && !isCall(e) {
			all = append(all, neighbor{kind: e.Kind, name: edgeName(e), confidence: float64(e.Confidence), rule: e.Rule, entity: e.Entity})
		}
	}
	return all, nil
}

// leadsTo resolves an edge of an object and adds its visible targets.
func (a *session) leadsTo(p *part, l *objects.Link, all []neighbor) ([]neighbor, error) {
	base := neighbor{kind: l.Kind, name: kindName(l.Kind, l.Name), confidence: float64(l.Confidence), rule: l.Rule}
	switch l.To {
	case objects.ToEvent, objects.ToUsed:
		found, err := a.madeBy(l.ID)
		if err != nil {
			return nil, err
		}
		found = meant(p.tenant, p.workspace, found)
		if len(found) == 0 {
			base.event = l.ID
			return append(all, base), nil
		}
		for _, to := range found {
			n := base
			n.to = to
			all = append(all, n)
		}
		return all, nil
	case objects.ToObject:
		versions, err := a.view.VersionsOf(l.ID, a.bound(1))
		if err != nil {
			return nil, err
		}
		if len(versions) > 0 {
			base.to = a.part(versions[0])
		} else {
			base.event = l.ID
		}
		return append(all, base), nil
	}
	if l.Kind != edgeToolProduces {
		return all, nil // namesOutside adds these
	}
	return a.otherSides(p, l, base, all)
}

// madeBy returns the visible objects of the events with an id.
func (a *session) madeBy(id schemas.EventID) ([]*part, error) {
	found, err := a.view.MadeBy(id, a.bound(maxFan))
	return a.partsOf(found), err
}

// means reports whether the event id of p identifies p to an object of a tenant and workspace that
// names it, since other objects may have the same event id.
func (a *session) means(p *part, tenant, workspace string) (bool, error) {
	found, err := a.madeBy(p.event)
	return slices.Contains(meant(tenant, workspace, found), p), err
}

// meant filters a list to a tenant, and to a workspace if any of the list are in it.
func meant(tenant, workspace string, list []*part) []*part {
	near := func(x *part) bool { return x.tenant == tenant && x.workspace == workspace }
	if !slices.ContainsFunc(list, func(x *part) bool { return !near(x) }) {
		return list // the most common case is a single object
	}
	of := near
	if !slices.ContainsFunc(list, near) {
		of = func(x *part) bool { return x.tenant == tenant }
	}
	var all []*part
	for _, x := range list {
		if of(x) {
			all = append(all, x)
		}
	}
	return all
}

// disputing reports whether edges of a kind state that an object is superseded or wrong.
func disputing(kind recountv1.ObjectEdgeKind) bool {
	return kind == edgeSupersedes || kind == edgeContradicts
}

// disputes returns, in order, the neighbors joined by disputing edges. It looks up no others.
func (a *session) disputes(p *part) ([]neighbor, error) {
	all, err := a.comeFrom(p, disputing, nil)
	if err != nil {
		return nil, err
	}
	a.links = p.node.Links(a.links[:0])
	for i := range a.links {
		if l := &a.links[i]; disputing(l.Kind) {
			if all, err = a.leadsTo(p, l, all); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(all, func(x, y neighbor) int { return x.compare(&y) })
	return all, nil
}

// comeFrom adds the neighbors whose edges lead to an object or to its event: those for which kinds
// returns true, or all if it is nil.
func (a *session) comeFrom(p *part, kinds func(recountv1.ObjectEdgeKind) bool, all []neighbor) ([]neighbor, error) {
	if kinds != nil {
		if led, _ := a.view.MayHaveEdgesTo(p.node, kinds); !led {
			return all, nil
		}
	}
	ids := [...]schemas.EventID{p.event, p.id}
	for i, id := range ids {
		if i == 1 && id == ids[0] {
			break
		}
		leading, err := a.view.LinksTo(id, a.bound(maxFan))
		if err != nil {
			return nil, err
		}
		for _, l := range leading {
			if l.From == p.node || kinds != nil && !kinds(l.Kind) {
				continue
			}
			from := a.part(l.From)
			means := from.tenant == p.tenant
			if l.To != objects.ToObject {
				if means, err = a.means(p, from.tenant, from.workspace); err != nil {
					return nil, err
				}
			}
			if means {
				all = append(all, neighbor{
					kind: l.Kind, name: kindName(l.Kind, l.Name), confidence: float64(l.Confidence), rule: l.Rule, back: true, to: from,
				})
			}
		}
	}
	return all, nil
}
