package evidence

import (
	"slices"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxShared is the maximum number of other objects found by a shared name outside; the newest are
// found.
const maxShared = 8

// expansion is what surrounds the hits.
type expansion struct {
	// objects are those reached from the hits by edges, the nearest first, without the hits.
	objects []*part
	edges   []Edge
	// followed is the number of edges examined, cut the number without room.
	followed, cut int
	// room is how many objects may be added, next has those that were reached in this step.
	room int
	next []*part
}

// expand follows edges of the requested kinds from the hits, in both directions and in the order of
// the hits, up to the requested number of steps and of objects. Objects that are not visible, and
// edges stated by them, are treated as if they did not exist.
func (a *session) expand(hits []*hit) (*expansion, error) {
	x := &expansion{edges: a.expanded, room: max(0, a.r.Expand.Nodes-len(hits))}
	kinds := followed
	if len(a.r.Expand.Kinds) > 0 {
		kinds = nil
		for _, name := range a.r.Expand.Kinds {
			kinds = append(kinds, edgeKind(name))
		}
	}
	outside := a.outside()
	for _, h := range hits {
		p := a.partAt(h.ref)
		p.reached = true
		x.next = append(x.next, p)
	}
	for hop := 1; hop <= *a.r.Expand.Hops && len(x.next) > 0; hop++ {
		open := x.next
		x.next = nil
		for _, o := range open {
			if err := a.Ctx.Err(); err != nil {
				return nil, err
			}
			around, err := a.around(o)
			if err != nil {
				return nil, err
			}
			for i := range around {
				n := &around[i]
				if !slices.Contains(kinds, n.kind) || n.confidence < a.r.Expand.MinConfidence {
					continue
				}
				x.followed++
				if n.to == nil && n.entity != "" {
					if outside {
						err = a.expandShared(x, o, n, hop < *a.r.Expand.Hops)
					}
				} else if n.to == nil || x.reach(n.to) {
					a.addEdge(x, n.edge(o))
				}
				if err != nil {
					return nil, err
				}
			}
		}
	}
	a.expanded = x.edges
	return x, nil
}

// expandShared follows an edge to a thing outside and, unless this is the last step, from there to the
// objects that name it too. Unless kinds were asked for, only objects that were reached otherwise count.
func (a *session) expandShared(x *expansion, o *part, n *neighbor, further bool) error {
	shared, err := a.sharing(o, n)
	if err != nil {
		return err
	}
	asked := len(a.r.Expand.Kinds) > 0
	if asked || len(shared) > 0 {
		a.addEdge(x, n.edge(o))
	}
	for _, s := range shared {
		if further && (asked || s.to.reached) && x.reach(s.to) {
			a.addEdge(x, s.edge(s.to))
		}
	}
	return nil
}

// addEdge adds an edge, unless it is there.
func (a *session) addEdge(x *expansion, e Edge) {
	if k := e.key(e.Kind); !a.have[k] {
		a.have[k] = true
		x.edges = append(x.edges, e)
	}
}

// reach adds an object, unless it was reached already, and reports whether there was room for it.
func (x *expansion) reach(o *part) bool {
	if o.reached {
		return true
	}
	if x.room == 0 {
		x.cut++
		return false
	}
	x.room--
	o.reached = true
	x.objects = append(x.objects, o)
	x.next = append(x.next, o)
	return true
}

type edgeKey struct{ from, fromVersion, to, toVersion, kind string }

func (e *Edge) key(kind string) edgeKey {
	return edgeKey{e.From, e.FromVersion, e.To, e.ToVersion, kind}
}

// turn reverses the edge.
func (e *Edge) turn() {
	e.From, e.FromVersion, e.To, e.ToVersion = e.To, e.ToVersion, e.From, e.FromVersion
}

// version returns the position that identifies a version, or "" for a thing without versions.
func version(versioned bool, at string) string {
	if !versioned {
		return ""
	}
	return at
}

// edge returns the edge between an object and its neighbor, as stated in its event.
func (n *neighbor) edge(o *part) Edge {
	e := Edge{From: o.idText, FromVersion: version(o.versioned, o.at), Kind: n.name, Confidence: round(n.confidence), Rule: n.rule}
	switch {
	case n.to != nil:
		e.To, e.ToVersion = n.to.idText, version(n.to.versioned, n.to.at)
	case n.entity != "":
		e.To = n.entity
	default:
		e.To, e.Dangling = n.event.String(), true
	}
	if n.back {
		e.turn()
	}
	if n.rule == ruleCallID && n.to != nil {
		e.Evidence = []string{o.at, n.to.at}
		if n.back {
			slices.Reverse(e.Evidence)
		}
	}
	return e
}

// sharing returns other objects of the workspace that name the same thing outside, the newest, as
// neighbors.
func (a *session) sharing(p *part, n *neighbor) ([]neighbor, error) {
	if n.kind != edgeRefersTo {
		return nil, nil // belonging to the same session or agent is not a relation
	}
	o, err := a.object(p.ref)
	if err != nil || o == nil {
		return nil, err
	}
	named, err := a.view.Entity(a.related(o), n.entity, a.bound(maxShared+1))
	if err != nil {
		return nil, err
	}
	var all []neighbor
	for _, e := range named {
		s := a.partAt(e.Ref)
		if s == nil || s == p || s.workspace != p.workspace || len(all) == maxShared {
			continue
		}
		all = append(all, neighbor{kind: e.Kind, name: edgeName(e.ObjectEdge), confidence: float64(e.Confidence), rule: e.Rule, entity: n.entity, to: s})
	}
	return all, nil
}

func edgeKind(name string) recountv1.ObjectEdgeKind {
	for k, word := range edgeKinds {
		if word == name {
			return recountv1.ObjectEdgeKind(k)
		}
	}
	return recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_UNSPECIFIED
}
