package evidence

import (
	"cmp"
	"slices"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// part has the properties of an object that are in memory (objects.Node): enough for a link of a
// chain, and usually to judge it. A query has one part per object.
type part struct {
	node      objects.Node
	ref       schemas.ObjectRef
	id        schemas.ObjectID
	idText    string
	at        string // position of its event
	event     schemas.EventID
	eventType string
	typ       recountv1.ObjectType
	tenant    string
	workspace string
	agent     string
	session   string
	time      int64
	versioned bool
	content   uint64 // hash of the content
	// conditional means that it must be read to be judged.
	conditional bool
	// asks means that it ends in a question.
	asks  bool
	title string // set for shown objects; it is not in memory

	// taken means that a chain contains it, reached that the expansion does.
	taken, reached bool
	// led are its causes, ends its neighbors and results those of a call, if they were looked up.
	led                         []led
	ends                        []neighbor
	results                     []*part
	hasLed, hasEnds, hasResults bool
}

// compare orders parts by time, the oldest first.
func (p *part) compare(q *part) int {
	return cmp.Or(cmp.Compare(p.time, q.time), p.ref.Compare(q.ref))
}

func (p *part) calls() bool { return p.typ == recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL }

// ofTool reports whether it is a tool's call or result.
func (p *part) ofTool() bool { return p.calls() || p.eventType == schemas.TypeToolResult }

// part returns the part of a visible object.
func (a *session) part(n objects.Node) *part {
	p := a.nodes[n]
	if p == nil {
		k := n.Known()
		p = a.newPart()
		*p = part{
			node: n, ref: k.Ref, id: k.ID, idText: k.ID.String(), at: k.Ref.Position.String(), event: k.EventID, eventType: k.EventType,
			typ: k.Type, tenant: k.Tenant, workspace: k.Workspace, agent: k.Agent, session: k.Session, time: k.TimeUnixNano, versioned: k.Versioned,
			content: k.ContentHash, conditional: k.Conditional, asks: k.Asks,
		}
		a.nodes[n] = p
	}
	return p
}

// partAt returns the part of the object at a position, or nil if none is visible there.
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

// led is one cause of an object: the object, or the event if that is not known.
type led struct {
	kind       string
	confidence float64
	rule       string
	// back means that the edge leads from the cause: from a call to its result.
	back  bool
	event schemas.EventID
	to    *part
}

// causes returns the causes that an object names, in the order of its edges. An event id means the
// objects of the same workspace, if there are any; an object id means the newest version. An
// unknown call is not a cause; an unknown event is, and is then missing in the chain.
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

// meaning returns the objects that a link names as causes.
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
