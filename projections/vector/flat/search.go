package flat

import (
	"container/heap"
	"slices"
	"sync/atomic"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/rows"
)

// rerankAtLeast is the minimum number of candidates that are compared exactly, however small k is.
const rerankAtLeast = 16

// Search returns the k nearest rows for which keep, if not nil, returns true.
func (x *Index) Search(query []float32, k, ef int, keep func(row uint32) bool) ([]index.Neighbour, error) {
	var out []index.Neighbour
	err := x.search(query, k, max(3*k, rerankAtLeast), ef, keep, func(v *view, best []key) { out = x.rank(v, query, best, k) })
	return out, err
}

// AppendNearest appends the n rows nearest by their codes, best first, for which keep, if not nil,
// returns true. Scores are those of the codes, as kernel.Scores computes them. It is for callers
// that compare the vectors of the best rows of several indexes.
func (x *Index) AppendNearest(to []index.Neighbour, query []float32, n, ef int, keep func(row uint32) bool) ([]index.Neighbour, error) {
	err := x.search(query, n, n, ef, keep, func(_ *view, best []key) {
		for _, k := range best {
			to = append(to, index.Neighbour{Row: k.row(), Score: k.score()})
		}
	})
	return to, err
}

// search calls use with the rows that are nearest by codes, best first: at most exact rows, and at
// least k if there are as many.
func (x *Index) search(query []float32, k, exact, ef int, keep func(row uint32) bool, use func(v *view, best []key)) error {
	if err := index.Check(query, x.opt.Dim); err != nil {
		return err
	}
	e := unpackEntry(x.entry.Load()) // read before n, so that its row is below n
	n := uint32(x.rows.Len())
	if k <= 0 || n == 0 {
		return nil
	}
	v := &view{n: n, rows: x.rows.Table(), graph: x.graph.Load(), kern: x.kern}
	k = min(k, int(n))
	if ef <= 0 {
		ef = x.opt.Ef
	}
	// Codes rank coarsely, so the walk keeps half as many candidates again as requested. This costs
	// far less than the rows that it would miss.
	ef = min(ef, int(n))
	ef = max(ef+ef/2, exact)

	s := x.pool.Get().(*scratch)
	defer x.pool.Put(s)
	rows.Encode(s.code, query)
	var best []key
	switch {
	case int(n) <= x.opt.ScanBelow || ef >= int(n)/4:
		best = s.scan(v, exact, keep)
	case keep == nil:
		s.walk(v, 0, s.descend(v, e, 0), ef)
		if best = s.unfold(v, s.pool, exact); len(best) < k {
			best = s.scan(v, exact, nil) // the walk cannot reach k rows
		}
	default:
		if !s.walkFiltered(v, s.descend(v, e, 0), ef, keep) || len(s.found) < k {
			best = s.scan(v, exact, keep)
		} else {
			best = s.found
		}
	}
	use(v, best[:min(len(best), exact)])
	return nil
}

// rank returns the k best of candidates by exact score.
func (x *Index) rank(v *view, query []float32, candidates []key, k int) []index.Neighbour {
	out := make([]index.Neighbour, len(candidates))
	for i, c := range candidates {
		out[i] = index.Neighbour{Row: c.row(), Score: v.kern.Dot(query, x.vectors(c.row()))}
	}
	index.Sort(out)
	return out[:min(k, len(out))]
}

// scanStep is the maximum number of rows scored at a time. It is at least the number of links of
// abreast lists.
const scanStep = 512

// scan compares all rows and returns the best limit of those for which counts, if not nil, returns
// true.
func (s *scratch) scan(v *view, limit int, counts func(row uint32) bool) []key {
	s.found = s.found[:0]
	large := limit > scanStep // too many to keep sorted during the scan
	for row := uint32(0); row < v.n; {
		s.batch = s.batch[:0]
		for ; row < v.n && len(s.batch) < scanStep; row++ {
			if counts == nil || counts(row) {
				s.batch = append(s.batch, row)
			}
		}
		s.score(v)
		for i, r := range s.batch {
			if k := makeKey(s.scores[i], r); large {
				s.found = append(s.found, k)
			} else {
				s.found, _ = insert(s.found, k, limit)
			}
		}
	}
	if large {
		slices.Sort(s.found)
	}
	return s.found[:min(limit, len(s.found))]
}

// walkFiltered leaves in found the best ef matching rows of those that it meets on layer 0,
// beginning at row start. It continues while it may find better ones. It gives up and returns false
// when it has scored so many rows that a scan of all costs no more than continuing.
func (s *scratch) walkFiltered(v *view, start uint32, ef int, counts func(row uint32) bool) bool {
	s.begin(v.n)
	s.visited[start] = s.epoch
	s.batch = append(s.batch[:0], start)
	s.found, s.heap = s.found[:0], s.heap[:0]
	budget := max(int(v.n)/4, 8*ef)
	for scored := 0; ; {
		s.score(v)
		scored += len(s.batch)
		for i, row := range s.batch {
			k := makeKey(s.scores[i], row)
			if len(s.found) == ef && k >= s.found[ef-1] {
				continue
			}
			heap.Push((*nearest)(&s.heap), k)
			for ; row < v.n; row = atomic.LoadUint32(v.graph.next(row)) {
				if counts(row) {
					s.found, _ = insert(s.found, makeKey(s.scores[i], row), ef)
				}
			}
		}
		if len(s.heap) == 0 {
			return true
		}
		if scored > budget {
			return false
		}
		at := heap.Pop((*nearest)(&s.heap)).(key)
		if len(s.found) == ef && at > s.found[ef-1] {
			return true
		}
		s.batch = v.graph.base.unseen(at.row(), s.visited, s.epoch, s.batch[:0])
	}
}

// nearest is a heap with the nearest candidate on top.
type nearest []key

func (h nearest) Len() int           { return len(h) }
func (h nearest) Less(i, j int) bool { return h[i] < h[j] }
func (h nearest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nearest) Push(k any)        { *h = append(*h, k.(key)) }
func (h *nearest) Pop() any {
	old := *h
	k := old[len(old)-1]
	*h = old[:len(old)-1]
	return k
}
