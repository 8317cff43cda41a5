package objects

import (
	"math"
	"slices"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Attributes are the properties of an object that are held in memory.
type Attributes struct {
	TimeUnixNano              int64
	Type                      recountv1.ObjectType
	Audience                  schemas.AudienceID
	Tenant                    string
	Workspace, Agent, Session string
}

// shardView is what a view includes of a shard: the first n objects of its table, whose offsets are
// below next.
type shardView struct {
	*table
	n    uint32
	next int64
}

// part returns the part of a partition, or nil.
func (v *View) part(tp schemas.TopicPartition) *shardView {
	// There are few parts, and topics are mostly the same string.
	for i := range v.parts {
		if p := &v.parts[i]; p.tp.Partition == tp.Partition && p.tp.Topic == tp.Topic {
			return p
		}
	}
	return nil
}

func (v *View) row(ref schemas.ObjectRef) (*shardView, *row) {
	p := v.part(schemas.TopicPartition{Topic: ref.Topic, Partition: ref.Partition})
	if p == nil {
		return nil, nil
	}
	if r, ok := p.find(p.n, ref.Offset, ref.Index); ok {
		return p, r
	}
	return p, nil
}

// Attributes returns the attributes of an object, or false if this state does not contain it.
func (v *View) Attributes(ref schemas.ObjectRef) (Attributes, bool) {
	p, r := v.row(ref)
	if r == nil {
		return Attributes{}, false
	}
	return Attributes{
		TimeUnixNano: r.time, Type: recountv1.ObjectType(r.typ),
		Audience: p.audiences.at(r.audience).id, Tenant: p.audiences.at(r.audience).Tenant, Workspace: *p.names.at(r.workspace), Agent: *p.names.at(r.agent), Session: *p.names.at(r.session),
	}, true
}

// Ranking returns the attributes of an object that affect its rank: its time and importance. It
// returns false if this state does not contain the object.
func (v *View) Ranking(ref schemas.ObjectRef) (nanos int64, importance float32, ok bool) {
	_, r := v.row(ref)
	if r == nil {
		return 0, 0, false
	}
	return r.time, r.importance, true
}

// At limits what is visible, for `as_of` queries. The zero At sets no limit.
type At struct {
	// Below is a watermark: only events below it are visible, and none of a partition that it does
	// not contain. Nil sets no limit.
	Below schemas.Watermark
	// Time is the maximum time of visible events, inclusive, in nanoseconds since 1970. 0 sets no
	// limit.
	Time int64
}

// Filter selects objects. Empty fields select everything.
type Filter struct {
	At
	// Audiences are the audiences whose objects are selected. Nil selects all of them, which only
	// an operator may see.
	Audiences                 []schemas.AudienceID
	Workspace, Agent, Session string
	Types                     []recountv1.ObjectType
	Without                   []recountv1.ObjectType // types to exclude
	Memory                    []recountv1.MemoryKind
	Events                    []string // types of the events that stated the objects
	// Since (inclusive) and Until (exclusive) limit the time of events, in nanoseconds since 1970.
	// 0 sets no limit.
	Since, Until int64
}

// Filter returns a function that reports whether an object passes a filter. Any goroutine may call
// it while the view is open. It reads memory only and takes tens of nanoseconds.
func (v *View) Filter(f Filter) func(schemas.ObjectRef) bool {
	compiled := make([]compiled, len(v.parts))
	for i := range v.parts {
		compiled[i] = v.parts[i].compile(f)
	}
	return func(ref schemas.ObjectRef) bool {
		for i := range v.parts {
			if p := &v.parts[i]; p.tp.Partition == ref.Partition && p.tp.Topic == ref.Topic {
				c := &compiled[i]
				if c.n == 0 {
					return false
				}
				k, ok := p.rowOf(c.n, ref.Offset, ref.Index)
				return ok && c.passes(k, p.at(k))
			}
		}
		return false
	}
}

// compiled is a filter in terms of the numbers of one shard.
type compiled struct {
	n                         uint32 // the number of visible rows; 0 if no row passes
	audiences                 []bool // indexed by number; nil allows all
	types, memory             uint64 // bit sets; 0 allows all
	since, until              int64  // both inclusive
	workspace, agent, session int64  // -1 allows any
	// events are the numbers of types of events; nil allows all. of has the type of each row.
	events []uint32
	of     *links
}

func (p *shardView) compile(f Filter) compiled {
	c := compiled{n: p.n, since: math.MinInt64, until: math.MaxInt64, workspace: -1, agent: -1, session: -1}
	if f.Below != nil {
		if next := f.Below[p.tp]; next < p.next {
			c.n = p.below(next)
		}
	}
	if f.Since != 0 {
		c.since = f.Since
	}
	if f.Until == math.MinInt64 {
		return compiled{}
	}
	if f.Until != 0 {
		c.until = f.Until - 1
	}
	if f.Time != 0 {
		c.until = min(c.until, f.Time)
	}
	for _, n := range [...]struct {
		name   string
		number *int64
	}{{f.Workspace, &c.workspace}, {f.Agent, &c.agent}, {f.Session, &c.session}} {
		if n.name == "" {
			continue
		}
		number, ok := p.number(n.name)
		if !ok {
			return compiled{}
		}
		*n.number = int64(number)
	}
	if f.Audiences != nil {
		c.audiences = make([]bool, p.audiences.n.Load())
		some := false
		for _, id := range f.Audiences {
			if n, ok := p.audiences.find(string(id[:])); ok && int(n) < len(c.audiences) {
				c.audiences[n], some = true, true
			}
		}
		if !some {
			return compiled{}
		}
	}
	for _, t := range f.Types {
		if t >= 0 && t < 64 {
			c.types |= 1 << t
		}
	}
	for _, t := range f.Without {
		if c.types == 0 {
			c.types = math.MaxUint64
		}
		c.types &^= 1 << t
	}
	for _, m := range f.Memory {
		if m >= 0 && m < 64 {
			c.memory |= 1 << m
		}
	}
	if len(f.Events) > 0 {
		c.events, c.of = make([]uint32, 0, len(f.Events)), &p.links
		for _, typ := range f.Events {
			if n, ok := p.number(typ); ok {
				c.events = append(c.events, n)
			}
		}
		if len(c.events) == 0 {
			return compiled{}
		}
	}
	if len(f.Types) > 0 && c.types == 0 || len(f.Memory) > 0 && c.memory == 0 || c.since > c.until {
		return compiled{}
	}
	return c
}

// passes reports whether the row with a number passes.
func (c *compiled) passes(k uint32, r *row) bool {
	return r.time >= c.since && r.time <= c.until &&
		(c.audiences == nil || int(r.audience) < len(c.audiences) && c.audiences[r.audience]) &&
		(c.session < 0 || c.session == int64(r.session)) &&
		(c.agent < 0 || c.agent == int64(r.agent)) &&
		(c.workspace < 0 || c.workspace == int64(r.workspace)) &&
		(c.types == 0 || r.typ < 64 && c.types>>r.typ&1 != 0) &&
		(c.memory == 0 || c.memory>>(r.memory&memoryBits)&1 != 0) &&
		(c.events == nil || c.isEvent(k))
}

// isEvent reports whether a row's event has one of the types.
func (c *compiled) isEvent(k uint32) bool {
	c.of.mu.RLock()
	defer c.of.mu.RUnlock()
	return slices.Contains(c.events, c.of.rows[k].typ)
}

// Audiences returns, in order, the audiences to which a principal belongs and that have an object
// below a watermark. If below is nil, the whole view counts.
func (v *View) Audiences(p schemas.Principal, below schemas.Watermark) []schemas.Audience {
	var all []schemas.Audience
	seen := map[schemas.AudienceID]bool{}
	for i := range v.parts {
		t := &v.parts[i]
		next := t.next
		if below != nil {
			next = min(next, below[t.tp])
		}
		add := func(n uint32) {
			if a := t.audiences.at(n); a.first < next && !seen[a.id] && p.Sees(a.Audience) {
				seen[a.id] = true
				all = append(all, a.Audience)
			}
		}
		if !p.Operator {
			for _, n := range t.audiencesOf(p.Tenant) {
				add(n)
			}
			continue
		}
		for n := range t.audiences.n.Load() {
			add(n)
		}
	}
	slices.SortFunc(all, schemas.Audience.Compare)
	return all
}
