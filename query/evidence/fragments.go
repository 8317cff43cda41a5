package evidence

import (
	"sync"

	"github.com/recountdb/recount/projections/graph/objects"
	"github.com/recountdb/recount/schemas"
)

// maxFragments is how many links of chains are kept, about 1 KB each.
const maxFragments = 32 << 10

// Fragments keeps links of chains of causes from one question to the next, and forgets
// exactly those that an event may have changed, by what the projection tells of it
// (objects.Touched). It is for any number of goroutines. The zero Fragments is empty.
type Fragments struct {
	// mu guards all.
	mu sync.Mutex
	// of is the generation of the projection that all is of, since the count up to which
	// its touches are known.
	of    *objects.Objects
	since uint64
	all   map[schemas.ObjectRef]*fragment
	// resting are the fragments that rest on an id.
	resting map[schemas.EventID][]schemas.ObjectRef
	// order is that in which they came, as a ring: the oldest gives way.
	order []schemas.ObjectRef
	next  int

	hits, misses, dropped uint64
}

// Kept says how many links are kept, how many were asked for and there or not, and how
// many were forgotten because of an event.
func (c *Fragments) Kept() (n int, hits, misses, dropped uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all), c.hits, c.misses, c.dropped
}

// get is the fragment of an object, nil where none is kept.
func (c *Fragments) get(of *objects.Objects, ref schemas.ObjectRef) *fragment {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(of)
	f := c.all[ref]
	if f == nil {
		c.misses++
	} else {
		c.hits++
	}
	return f
}

// put keeps a fragment that was looked up in a view, unless it may have changed since.
func (c *Fragments) put(of *objects.Objects, v *objects.View, f *fragment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(of)
	touched, _, whole := of.Touched(v.Touched())
	if !whole {
		return
	}
	mark := v.Watermark()
	for _, t := range touched {
		if t.At.Offset < mark[t.At.TP()] {
			continue
		}
		for _, id := range f.rests {
			if t.ID == id {
				return
			}
		}
	}
	if c.all[f.ref] != nil {
		return
	}
	if len(c.order) < maxFragments {
		c.order = append(c.order, f.ref)
	} else {
		c.drop(c.order[c.next])
		c.order[c.next] = f.ref
		c.next = (c.next + 1) % maxFragments
	}
	c.all[f.ref] = f
	for _, id := range f.rests {
		c.resting[id] = append(c.resting[id], f.ref)
	}
}

// follow forgets what events have changed since it was called last. c.mu is held.
func (c *Fragments) follow(of *objects.Objects) {
	if c.of == of {
		touched, now, whole := of.Touched(c.since)
		c.since = now
		if whole {
			for _, t := range touched {
				refs := c.resting[t.ID]
				delete(c.resting, t.ID)
				for _, ref := range refs {
					if c.drop(ref) {
						c.dropped++
					}
				}
			}
			return
		}
	}
	// Another generation, or too much has happened: begin anew.
	c.of, c.all, c.resting, c.order, c.next = of, map[schemas.ObjectRef]*fragment{}, map[schemas.EventID][]schemas.ObjectRef{}, nil, 0
	_, c.since, _ = of.Touched(0)
}

// drop forgets a fragment; its place in the ring stays until it is its turn.
func (c *Fragments) drop(ref schemas.ObjectRef) bool {
	f := c.all[ref]
	if f == nil {
		return false
	}
	delete(c.all, ref)
	for _, id := range f.rests {
		left := c.resting[id][:0]
		for _, r := range c.resting[id] {
			if r != ref {
				left = append(left, r)
			}
		}
		if len(left) == 0 {
			delete(c.resting, id)
		} else {
			c.resting[id] = left
		}
	}
	return true
}
