package objects

import (
	"slices"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Node is an object of a view, by its row; its properties are read from memory. Nodes of one view
// are equal if they are the same object. The zero Node is no object.
type Node struct {
	p   *shardView
	row uint32
}

// Node returns the object at a position, or false if this state does not contain it.
func (v *View) Node(ref schemas.ObjectRef) (Node, bool) {
	p := v.part(ref.TP())
	if p == nil {
		return Node{}, false
	}
	row, ok := p.rowOf(p.n, ref.Offset, ref.Index)
	return Node{p, row}, ok
}

// Ref returns the object's position.
func (n Node) Ref() schemas.ObjectRef { return n.when().ref }

func (n Node) when() when { return n.p.when(n.p.at(n.row)) }

// Known are the properties of a node.
type Known struct {
	Ref          schemas.ObjectRef
	ID           schemas.ObjectID
	EventID      schemas.EventID
	EventType    string
	TimeUnixNano int64
	Type         recountv1.ObjectType
	Versioned    bool
	// Conditional means that it makes a claim, or is not valid at all times from its own on: the
	// object must be read to decide whether it holds.
	Conditional bool
	// Asks means that it is a message that ends in a question.
	Asks                              bool
	ContentHash                       uint64
	Tenant, Workspace, Agent, Session string
}

// Known returns the properties of the node.
func (n Node) Known() Known {
	r := n.p.at(n.row)
	k := Known{
		Ref: n.p.when(r).ref, TimeUnixNano: r.time, Type: recountv1.ObjectType(r.typ), Versioned: r.memory&flagVersioned != 0, Conditional: r.memory&flagConditional != 0, Asks: r.memory&flagAsks != 0,
		Tenant: n.p.audiences.at(r.audience).Tenant, Workspace: *n.p.names.at(r.workspace), Agent: *n.p.names.at(r.agent), Session: *n.p.names.at(r.session),
	}
	l := &n.p.links
	l.mu.RLock()
	defer l.mu.RUnlock()
	k.ID, k.EventID = n.p.ids(n.row)
	k.EventType, k.ContentHash = *n.p.names.at(l.rows[n.row].typ), l.rows[n.row].contentHash()
	return k
}

// Link is an edge to an event, an object or a call, as stated in its event.
type Link struct {
	From Node // the node it leads from
	ID   schemas.EventID
	To   To
	// Kind, Rule, Name and Confidence are those of the edge.
	Kind       recountv1.ObjectEdgeKind
	Rule, Name string
	Confidence float32
}

func (p *shardView) link(e *link) Link {
	x := Link{From: Node{p, e.from}, ID: p.links.ids[e.to].id, Confidence: e.confidence}
	x.To, x.Kind, x.Rule, x.Name, _ = labelled(*p.names.at(e.label))
	return x
}

// Links appends the links that lead from a node, in the order of its edges.
func (n Node) Links(all []Link) []Link {
	l := &n.p.links
	l.mu.RLock()
	defer l.mu.RUnlock()
	edges, _ := l.edgesOf(n.row)
	for i := range edges {
		all = append(all, n.p.link(&edges[i]))
	}
	return all
}

// maxLinked is the maximum number of entries of an id that are examined in memory. If there are
// more, the stored lists give the newest.
const maxLinked = 64

// eachMade calls use with the rows of an id in all parts. It returns false if there are more than
// maxLinked.
func (v *View) eachMade(id *schemas.EventID, use func(p *shardView, row uint32, number uint32)) bool {
	for i := range v.parts {
		if p := &v.parts[i]; !p.eachMade(id, use) {
			return false
		}
	}
	return true
}

func (p *shardView) eachMade(id *schemas.EventID, use func(p *shardView, row uint32, number uint32)) bool {
	l := &p.links
	l.mu.RLock()
	defer l.mu.RUnlock()
	number, ok := l.find(id)
	if !ok {
		return true
	}
	looked := 0
	for at := l.ids[number].made; at != 0; at = l.older[idRow{number, at - 1}] {
		if looked++; looked > maxLinked {
			return false
		}
		if row := at - 1; row < p.n {
			use(p, row, number)
		}
	}
	return true
}

// MadeBy returns the same objects as ByEvent.
func (v *View) MadeBy(id schemas.EventID, b Bound) ([]Node, error) {
	var all []Node
	few := v.eachMade(&id, func(p *shardView, row, number uint32) {
		first := p.at(row)
		if first.index != 0 || p.links.rows[row].event != number {
			return
		}
		for ; row < p.n && p.at(row).offset == first.offset; row++ {
			if n := (Node{p, row}); b.knows(n.when()) {
				all = append(all, n)
			}
		}
	})
	if !few {
		stored, err := v.ByEvent(id, b)
		return v.nodes(stored), err
	}
	slices.SortFunc(all, func(x, y Node) int { return x.Ref().Compare(y.Ref()) })
	if b.full(len(all)) {
		all = all[:b.Limit]
	}
	return all, nil
}

// VersionsOf returns the same versions as Versions.
func (v *View) VersionsOf(id schemas.ObjectID, b Bound) ([]Node, error) {
	var all []Node
	few := v.eachMade(&id, func(p *shardView, row, number uint32) {
		thing, ok := p.links.things[row]
		if n := (Node{p, row}); ok && thing == number && b.knows(n.when()) {
			all = append(all, n)
		}
	})
	if !few {
		stored, err := v.Versions(id, b)
		return v.nodes(stored), err
	}
	for i := range v.parts {
		p := &v.parts[i]
		row, ok, err := v.own(p, id)
		if err != nil {
			return nil, err
		}
		if n := (Node{p, row}); ok && b.knows(n.when()) {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(x, y Node) int { return x.when().compare(y.when()) })
	if b.full(len(all)) {
		all = all[:b.Limit]
	}
	return all, nil
}

func (v *View) nodes(stored []*Stored) []Node {
	all := make([]Node, len(stored))
	for i, s := range stored {
		all[i], _ = v.Node(s.Ref)
	}
	return all
}

// LinksTo returns the same edges as To.
func (v *View) LinksTo(id schemas.EventID, b Bound) ([]Link, error) {
	all, few := v.linksTo(&id, func(to To) bool { return to == ToEvent || to == ToObject }, nil, &b)
	if few {
		return all, nil
	}
	edges, err := v.To(id, b)
	return v.links(edges, id), err
}

// Meeting returns the edges that objects of the same audience have to the call that l names, as
// Entity does.
func (v *View) Meeting(l *Link, b Bound) ([]Link, error) {
	a := l.From.p.audiences.at(l.From.p.at(l.From.row).audience).id
	all, few := v.linksTo(&l.ID, func(to To) bool { return to == ToCall }, &a, &b)
	if few {
		return all, nil
	}
	s, err := v.Get(l.From.Ref())
	if err != nil || s == nil {
		return nil, err
	}
	for _, e := range s.Edges {
		if id, to := linkOf(a, e); to == ToCall && id == l.ID {
			edges, err := v.Entity([]schemas.AudienceID{a}, e.Entity, b)
			return v.links(edges, l.ID), err
		}
	}
	return nil, nil
}

func (v *View) links(edges []Edge, id schemas.EventID) []Link {
	all := make([]Link, len(edges))
	for i, e := range edges {
		from, _ := v.Node(e.Ref)
		_, to := linkOf(e.Audience, e.ObjectEdge)
		all[i] = Link{From: from, ID: id, To: to, Kind: e.Kind, Rule: e.Rule, Name: e.Name, Confidence: e.Confidence}
	}
	return all
}

// linksTo returns the edges to an id for which names returns true, from objects of an audience, or
// of any if it is nil, the newest first. few is false if there are more than maxLinked.
func (v *View) linksTo(id *schemas.EventID, names func(To) bool, of *schemas.AudienceID, b *Bound) (all []Link, few bool) {
	for i := range v.parts {
		p := &v.parts[i]
		l := &p.links
		l.mu.RLock()
		number, ok := l.find(id)
		at := uint32(0)
		if ok {
			at = l.ids[number].led
		}
		looked := 0
		start := len(all)
		for ; at != 0 && looked <= maxLinked; looked++ {
			e := &l.edges[at-1]
			at = e.next
			if e.from >= p.n {
				continue
			}
			x := p.link(e)
			if names(x.To) && (of == nil || p.audiences.at(p.at(e.from).audience).id == *of) && b.knows(x.From.when()) {
				all = append(all, x)
			}
		}
		l.mu.RUnlock()
		if looked > maxLinked {
			return nil, false
		}
		slices.Reverse(all[start:]) // the edges of an object in their order
	}
	slices.SortStableFunc(all, func(x, y Link) int { return x.From.when().compare(y.From.when()) })
	if b.full(len(all)) {
		all = all[:b.Limit]
	}
	return all, true
}

// MayHaveEdgesTo reports whether edges of some kinds may lead to a node or its event, regardless of who may
// see them. used reports whether edges may record that its event was used.
func (v *View) MayHaveEdgesTo(n Node, kinds func(recountv1.ObjectEdgeKind) bool) (led, used bool) {
	k := &n.p.links
	k.mu.RLock()
	id, event := n.p.ids(n.row)
	k.mu.RUnlock()
	ids := [...]schemas.EventID{id, event}
	for i := range v.parts {
		p := &v.parts[i]
		l := &p.links
		l.mu.RLock()
		for _, id := range ids {
			number, ok := l.find(&id)
			if !ok {
				continue
			}
			looked := 0
			for at := l.ids[number].led; at != 0; at = l.edges[at-1].next {
				if looked++; looked > maxLinked {
					led, used = true, true
					break
				}
				to, kind, _, _, _ := labelled(*p.names.at(l.edges[at-1].label))
				led = led || to != ToUsed && kinds(kind)
				used = used || to == ToUsed
			}
		}
		l.mu.RUnlock()
	}
	return led, used
}
