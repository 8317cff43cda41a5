package objects

import (
	"container/heap"
	"context"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// Latest returns the k newest objects that pass a filter, the newest first. Objects of the same
// time are in the order of partitions, the later offset first. It reads memory only: of each
// audience the list of the filter's session or agent, or of all objects, from its end.
func (v *View) Latest(ctx context.Context, f Filter, k int) ([]schemas.ObjectRef, error) {
	best, err := v.latest(ctx, f, k)
	out := make([]schemas.ObjectRef, len(best))
	for i, w := range best {
		out[i] = w.ref
	}
	return out, err
}

func (v *View) latest(ctx context.Context, f Filter, k int) ([]when, error) {
	if k <= 0 {
		return nil, nil
	}
	var best oldestFirst
	for i := range v.parts {
		p := &v.parts[i]
		c := p.compile(f)
		if c.n == 0 {
			continue
		}
		key := postingKey{of: ofAll}
		switch {
		case c.session >= 0:
			key = postingKey{name: uint32(c.session), of: ofSession}
		case c.agent >= 0:
			key = postingKey{name: uint32(c.agent), of: ofAgent}
		}
		for n := range p.audiences.n.Load() {
			if c.audiences != nil && (int(n) >= len(c.audiences) || !c.audiences[n]) {
				continue
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			key.audience = n
			p.postings.get(key, c.n).latest(p, &c, &best, k)
		}
	}
	slices.SortFunc(best, when.compare)
	return best, nil
}

// members returns the objects of some audiences that belong to an entity "session:…" or "agent:…".
// No stored list contains them.
func (v *View) members(audiences []schemas.AudienceID, entity string, b Bound, k int) ([]when, error) {
	if len(audiences) == 0 {
		return nil, nil
	}
	f := Filter{At: b.At, Audiences: audiences}
	if name, ok := strings.CutPrefix(entity, sessionEntity("")); ok && name != "" {
		f.Session = name
	} else if name, ok := strings.CutPrefix(entity, agentEntity("")); ok && name != "" {
		f.Agent = name
	} else {
		return nil, nil
	}
	return v.latest(context.Background(), f, k)
}

// oldestFirst is a heap with the oldest entry at the top.
type oldestFirst []when

// offer adds w if there are fewer than k entries, or replaces the oldest entry if w is newer.
func (h *oldestFirst) offer(w when, k int) {
	switch {
	case len(*h) < k:
		heap.Push(h, w)
	case w.compare((*h)[0]) < 0:
		(*h)[0] = w
		heap.Fix(h, 0)
	}
}

func (h oldestFirst) Len() int           { return len(h) }
func (h oldestFirst) Less(i, j int) bool { return h[i].compare(h[j]) > 0 }
func (h oldestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *oldestFirst) Push(x any) { *h = append(*h, x.(when)) }

// Pop implements heap.Interface; it is never called.
func (h *oldestFirst) Pop() any { panic("unused") }
