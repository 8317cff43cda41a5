package vector

import (
	"cmp"
	"math"
	"slices"

	"github.com/recountdb/recount/schemas"
)

// compared is a passage of an object in Only.
type compared struct {
	ref    schemas.ObjectRef
	part   uint32
	vector []float32
}

// only compares the passages of the objects in Only.
func (s *objectSearch) only() {
	s.passages = s.passages[:0]
	for _, ref := range s.Only {
		if ref.TP() != s.v.tp {
			continue
		}
		if _, twice := s.seen[ref]; twice || s.Filter != nil && !s.Filter(ref) {
			continue
		}
		s.seen[ref] = struct{}{}
		for run := s.v.runsBelow(ref.Offset); run < s.runs; run++ {
			offset, index, part := s.v.run(run)
			if offset != ref.Offset || index > ref.Index {
				break
			}
			if index < ref.Index {
				continue
			}
			row, space := s.v.rowOf(run)
			if !s.asks(space) {
				break // an object has one audience
			}
			s.passages = append(s.passages, compared{ref, part, s.v.vector(row)})
		}
	}
	s.fetch()
	best := ObjectHit{Score: math.Inf(-1)}
	for i, p := range s.passages {
		if score := float64(s.kern.Dot(s.Vector, p.vector)); score > best.Score {
			best = ObjectHit{Ref: p.ref, Part: p.part, Score: score}
		}
		if last := i == len(s.passages)-1; last || s.passages[i+1].ref != p.ref {
			s.hits = append(s.hits, best)
			best.Score = math.Inf(-1)
		}
	}
	clear(s.passages)
}

// asks reports whether the query covers a space.
func (s *objectSearch) asks(space uint32) bool {
	_, asked := slices.BinarySearchFunc(s.spaces, space, func(t target, n uint32) int { return cmp.Compare(t.number, n) })
	return asked
}

// fetched is how many elements one memory access loads: two cache lines.
const fetched = 32

// fetch reads one element of every cache line pair of each vector. The vectors are scattered in
// memory, and a CPU overlaps many independent reads, while a dot product waits for its own reads
// one after the other.
func (s *objectSearch) fetch() {
	var sum float32
	for i := range s.passages {
		for v := s.passages[i].vector; len(v) > 0; v = v[min(fetched, len(v)):] {
			sum += v[0]
		}
	}
	s.touched = sum // keeps the compiler from dropping the reads
}
