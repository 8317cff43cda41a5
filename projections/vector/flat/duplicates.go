package flat

import (
	"slices"
	"sync/atomic"
)

// Duplicates are rows of one code. Only the first of them, the head, is in the graph: otherwise many
// copies of a vector would be linked to one another and to nothing else, and hide the rows behind
// them. The others follow the head in a chain, in order.
//
// Invariants: a row other than 0 is a duplicate if and only if its list on layer 0 is empty; no link and
// no entry is a duplicate; a chain ascends, and only ever grows at its end, by one atomic store before
// the row at the end is published.

// head searches the pool for a row with the code in s.
func (s *scratch) head(v *view, self float32) (uint32, bool) {
	for _, k := range s.pool {
		if k.score() == self && slices.Equal(v.rows.Code(k.row()), s.code) {
			return k.row(), true
		}
	}
	return 0, false
}

// appendDuplicate appends row to the chain of head.
func (x *Index) appendDuplicate(g *graph, head, row uint32) {
	end, ok := x.ends[head]
	if !ok {
		end = head
	}
	x.ends[head] = row
	atomic.StoreUint32(g.next(end), row)
}

// next returns the address of the row that follows in a chain; it holds none at the end.
func (g *graph) next(row uint32) *uint32 { return &g.chain[row/perBlock][row%perBlock] }

// duplicate reports whether a row is a duplicate. Only the writer may call it.
func (g *graph) duplicate(row uint32) bool { return row > 0 && len(g.base.own(row)) == 0 }

// unfold returns the rows of heads and of their chains, best first, at most limit of them.
func (s *scratch) unfold(v *view, heads []key, limit int) []key {
	s.found = s.found[:0]
	for _, k := range heads {
		if len(s.found) == limit && k > s.found[limit-1] {
			break
		}
		for row := k.row(); row < v.n; row = atomic.LoadUint32(v.graph.next(row)) {
			k := makeKey(k.score(), row)
			if len(s.found) == limit && k > s.found[limit-1] {
				break
			}
			s.found, _ = insert(s.found, k, limit)
		}
	}
	return s.found
}
