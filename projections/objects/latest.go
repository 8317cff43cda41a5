package objects

import (
	"container/heap"
	"context"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// Latest are the k objects that pass a filter and happened last, the newest first; what
// happened at once is in the order of partitions, the later offset first. It reads memory
// alone: of each audience the list of the session or the agent that the filter names, or
// of all that it has, from the end on.
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

// members are the objects of some audiences that an entity says are of it, as
// "session:…" or "agent:…": they stand in no stored list of it.
func (v *View) members(audiences []schemas.AudienceID, entity string, b Bound, k int) ([]when, error) {
	f := Filter{At: b.At, Audiences: slices.Concat([]schemas.AudienceID{}, audiences)}
	if name, ok := strings.CutPrefix(entity, sessionEntity("")); ok && name != "" {
		f.Session = name
	} else if name, ok := strings.CutPrefix(entity, agentEntity("")); ok && name != "" {
		f.Agent = name
	} else {
		return nil, nil
	}
	return v.latest(context.Background(), f, k)
}

// oldestFirst is a heap.
type oldestFirst []when

// offer takes one in where there are fewer than k, or where it is newer than the oldest,
// which then goes.
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

// Push is for package heap.
func (h *oldestFirst) Push(x any) { *h = append(*h, x.(when)) }

// Pop makes it a heap; nothing is taken out.
func (h *oldestFirst) Pop() any { panic("unused") }
