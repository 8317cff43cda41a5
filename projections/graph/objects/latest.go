package objects

import (
	"container/heap"
	"context"
	"slices"

	"github.com/recountdb/recount/schemas"
)

// Latest are the k objects that pass a filter and happened last, the newest first; what
// happened at once is in the order of partitions, the later offset first. It reads the
// list of a session or an agent where the filter names one, so what it costs grows with
// what that has, from the newest on, and with the number of audiences.
func (v *View) Latest(ctx context.Context, f Filter, k int) ([]schemas.ObjectRef, error) {
	if k <= 0 {
		return nil, nil
	}
	audiences := f.Audiences
	if audiences == nil {
		for _, a := range v.Audiences(schemas.Principal{Operator: true}, f.Below) {
			audiences = append(audiences, a.ID())
		}
	}
	b := Bound{At: f.At, Visible: v.Filter(f)}
	if f.Until != 0 && (b.Time == 0 || f.Until-1 < b.Time) && f.Until-1 != 0 {
		b.Time = f.Until - 1
	}
	list, name := byte(listAll), uint64(0)
	switch {
	case f.Session != "":
		list, name = listEntity, entityHash(sessionEntity(f.Session))
	case f.Agent != "":
		list, name = listEntity, entityHash(agentEntity(f.Agent))
	}
	var best oldestFirst
	var key []byte
	for _, a := range audiences {
		key = listPrefix(key[:0], a, list, name)
		err := v.walk(ctx, key, b, func(w when) (bool, error) {
			switch {
			case f.Since != 0 && w.time < f.Since:
				return false, nil
			case len(best) < k:
				heap.Push(&best, w)
			case w.compare(best[0]) < 0:
				best[0] = w
				heap.Fix(&best, 0)
			default:
				return false, nil // so is all that follows
			}
			return true, nil
		})
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	slices.SortFunc(best, when.compare)
	return refs(best), nil
}

// oldestFirst is a heap.
type oldestFirst []when

func (h oldestFirst) Len() int           { return len(h) }
func (h oldestFirst) Less(i, j int) bool { return h[i].compare(h[j]) > 0 }
func (h oldestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *oldestFirst) Push(x any)        { *h = append(*h, x.(when)) }

// Pop is for package heap.
func (h *oldestFirst) Pop() any {
	w := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return w
}
