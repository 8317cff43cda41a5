package evidence

import (
	"cmp"
	"slices"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// part is what memory has of an object (objects.Node): enough for a link of a chain, and
// mostly to judge it. A question has one of each.
type part struct {
	node      objects.Node
	ref       schemas.ObjectRef
	id        schemas.ObjectID
	idText    string
	at        string // where its event stands in the log
	event     schemas.EventID
	eventType string
	typ       recountv1.ObjectType
	tenant    string
	workspace string
	agent     string
	session   string
	time      int64
	versioned bool
	content   uint64 // what is said, by its hash
	// conditional says that it is to be read to be judged.
	conditional bool
	title       string // where the answer shows it: it is not in memory

	// taken says that chains have come to it, reached that the expansion has.
	taken, reached bool
	// led are its causes, and ends what edges of it lead to and come from, where that was
	// looked up.
	led             []led
	ends            []neighbor
	hasLed, hasEnds bool
}

// compare orders parts by time, the oldest first.
func (p *part) compare(q *part) int {
	return cmp.Or(cmp.Compare(p.time, q.time), p.ref.Compare(q.ref))
}

func (p *part) calls() bool { return p.typ == recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL }

// part is that of an object that may be known of.
func (a *session) part(n objects.Node) *part {
	p := a.nodes[n]
	if p == nil {
		k := n.Known()
		p = a.newPart()
		*p = part{
			node: n, ref: k.Ref, id: k.ID, idText: k.ID.String(), at: k.Ref.Position.String(), event: k.EventID, eventType: k.EventType,
			typ: k.Type, tenant: k.Tenant, workspace: k.Workspace, agent: k.Agent, session: k.Session, time: k.TimeUnixNano, versioned: k.Versioned,
			content: k.ContentHash, conditional: k.Conditional,
		}
		a.nodes[n] = p
	}
	return p
}

// partAt is that of the object at a place, nil where there is none that may be known of.
func (a *session) partAt(ref schemas.ObjectRef) *part {
	n, ok := a.view.Node(ref)
	if !ok || !a.known(ref) {
		return nil
	}
	return a.part(n)
}

func (a *session) partsOf(list []objects.Node) []*part {
	all := make([]*part, len(list))
	for i, n := range list {
		all[i] = a.part(n)
	}
	return all
}

// led is one cause of an object, as far as it may be known: the object, or the event
// that is not known.
type led struct {
	kind       string
	confidence float64
	rule       string
	// back says that the edge leads from the cause: from a call to its result.
	back  bool
	event schemas.EventID
	to    *part
}

// causes are what an object names as its causes, in the order of its edges: of what an
// event's id means what is of the object's workspace, if there is any; of a thing the newest
// version. A call that is not known is no cause; an event is, which the chain then misses.
func (a *session) causes(p *part) ([]led, error) {
	if p.hasLed {
		return p.led, nil
	}
	links := p.node.Links(a.links[:0])
	a.links = links
	for i := range links {
		l := &links[i]
		c := led{kind: kindName(l.Kind, l.Name), confidence: float64(l.Confidence), rule: l.Rule, event: l.ID}
		var found []*part
		var err error
		switch {
		case l.To == objects.ToCall && l.Kind == edgeToolProduces && !p.calls():
			c.back, c.rule, c.event = true, ruleCallID, schemas.EventID{}
			found, err = a.callFor(p, l)
		case l.To != objects.ToCall && (l.Kind == edgeCausedBy || l.Kind == edgeDerivedFrom):
			found, err = a.meaning(p, l)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, to := range found {
			c.to = to
			p.led = append(p.led, c)
		}
		if len(found) == 0 && !c.back {
			p.led = append(p.led, c)
		}
	}
	p.hasLed = true
	return p.led, nil
}

// meaning are the objects that a link of an object means as its causes.
func (a *session) meaning(p *part, l *objects.Link) ([]*part, error) {
	lookUp := a.view.MadeBy
	if l.To == objects.ToObject {
		lookUp = a.view.VersionsOf
	}
	list, err := lookUp(l.ID, a.bound(maxFan))
	found, same := a.partsOf(list), false
	found = slices.DeleteFunc(found, func(x *part) bool { return x == p || x.tenant != p.tenant })
	for _, x := range found {
		same = same || x.workspace == p.workspace
	}
	if same {
		found = slices.DeleteFunc(found, func(x *part) bool { return x.workspace != p.workspace })
	}
	slices.SortFunc(found, (*part).compare)
	if l.To == objects.ToObject && len(found) > 1 {
		found = found[len(found)-1:]
	}
	return found, err
}
