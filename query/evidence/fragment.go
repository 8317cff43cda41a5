package evidence

import (
	"cmp"
	"slices"

	"github.com/recountdb/recount/projections/graph/objects"
	"github.com/recountdb/recount/schemas"
)

// fragment is one link of chains of causes: an object, and what it names as its causes,
// looked up.
//
// One that is kept (Fragments) was looked up among all that there is, and says nothing of
// who may see what: each question takes of it what it may know (asking.causes). So one
// serves every principal, and of chains that have a part in common each link is looked up
// once.
type fragment struct {
	part
	causes []cause
	// rests are the ids that it was made of: with a touch of one of them it may be
	// another (objects.Touched).
	rests []schemas.EventID
	// wide says that there was more than is kept of a fragment.
	wide bool
}

// part is what an answer needs of an object in a chain.
type part struct {
	ref       schemas.ObjectRef
	id        schemas.ObjectID
	idText    string
	at        string // where its event stands in the log
	event     schemas.EventID
	eventType string
	workspace string
	agent     string
	session   string
	time      int64
	title     string
	versioned bool
}

// compare orders parts by time, the oldest first.
func (p *part) compare(q *part) int {
	return cmp.Or(cmp.Compare(p.time, q.time), p.ref.Compare(q.ref))
}

// cause is what one edge names.
type cause struct {
	kind       string
	confidence float64
	rule       string
	// back says that the edge leads from the cause: from a call to its result.
	back bool
	// event is what is named, of a thing its id; parts are what that means, the newest
	// last, of the object's tenant. thing says that they are versions of one thing.
	event schemas.EventID
	parts []*part
	thing bool
}

// maxParts is how many meanings of one name a fragment keeps: there is nearly always one.
const maxParts = 16

func partOf(o *objects.Stored) part {
	return part{
		ref: o.Ref, id: o.ObjectID(), idText: o.IDText, at: o.At, event: o.EventID, eventType: o.EventType,
		workspace: o.Workspace, agent: o.Agent, session: o.Session, time: o.TimeUnixNano, title: o.Title, versioned: o.Versioned,
	}
}

// fragment is that of an object that may be known of: what was read for this question, or
// is kept, or is looked up. What is kept is of now: a question as of another time looks
// up for itself.
func (a *asking) fragment(ref schemas.ObjectRef) (*fragment, error) {
	if f := a.fragments[ref]; f != nil {
		return f, nil
	}
	keeping := a.s.Fragments != nil && a.r.AsOf.IsZero()
	var f *fragment
	if keeping {
		f = a.s.Fragments.get(a.store, ref)
	}
	if f == nil {
		o, err := a.object(ref)
		if err != nil || o == nil {
			return nil, err
		}
		if keeping {
			if f, err = newFragment(a.view, o, objects.Bound{Limit: maxParts + 1}); err != nil {
				return nil, err
			}
			if f.wide {
				f = nil
			} else {
				a.s.Fragments.put(a.store, a.view, f)
			}
		}
		if f == nil {
			if f, err = newFragment(a.view, o, a.bound(maxFan)); err != nil {
				return nil, err
			}
		}
	}
	a.fragments[ref] = f
	return f, nil
}

// newFragment looks up the causes that an object names, within a bound.
func newFragment(v *objects.View, o *objects.Stored, b objects.Bound) (*fragment, error) {
	f := &fragment{part: partOf(o), rests: []schemas.EventID{o.ObjectID(), o.EventID}}
	for _, e := range o.Edges {
		c := cause{kind: edgeName(e), confidence: float64(e.Confidence), rule: e.Rule}
		var list []*objects.Stored
		var err error
		switch {
		case isCall(e) && !calls(o):
			c.back, c.rule = true, ruleCallID
			f.rests = append(f.rests, objects.EntityID(o.AudienceID, e.Entity))
			list, err = callsNamed(v, o, e.Entity, b)
		case e.Kind != edgeCausedBy && e.Kind != edgeDerivedFrom:
			continue
		case len(e.EventId) > 0:
			c.event = schemas.EventID(e.EventId)
			f.rests = append(f.rests, c.event)
			list, err = v.ByEvent(c.event, b)
		case len(e.ObjectId) > 0:
			c.event, c.thing = schemas.EventID(e.ObjectId), true
			f.rests = append(f.rests, c.event)
			list, err = v.Versions(c.event, b)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		f.wide = f.wide || len(list) > maxParts
		list = slices.DeleteFunc(list, func(x *objects.Stored) bool { return x.Tenant != o.Tenant })
		for _, x := range list {
			p := partOf(x)
			c.parts = append(c.parts, &p)
		}
		slices.SortFunc(c.parts, (*part).compare)
		f.causes = append(f.causes, c)
	}
	return f, nil
}
