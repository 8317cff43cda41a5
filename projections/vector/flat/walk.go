package flat

import (
	"math"

	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/projections/vector/rows"
)

// key orders candidates by score, the nearest first, then by row. From the highest bit it holds 32
// bits that fall as the score rises, 31 bits of the row, and one bit that is set when the walk has
// expanded the row.
type key uint64

const walked key = 1

func makeKey(score float32, row uint32) key {
	b := math.Float32bits(score)
	b ^= uint32(int32(b)>>31) | 1<<31 // rises with the score, as an unsigned number
	return key(^b)<<32 | key(row)<<1
}

func (k key) row() uint32 { return uint32(k) >> 1 }

func (k key) score() float32 {
	b := ^uint32(k >> 32)
	b ^= uint32(int32(^b)>>31) | 1<<31
	return math.Float32frombits(b)
}

// view is what one search sees: the rows below n.
type view struct {
	n     uint32
	rows  *rows.Table
	graph *graph
	kern  *kernel.Set
}

// scratch is the memory of one search, reused by later ones.
type scratch struct {
	code    []int8 // of the query
	pool    []key  // the best so far, sorted
	batch   []uint32
	scores  []float32
	visited []uint8 // for each row below n: epoch if this walk has scored it
	epoch   uint8

	// Fields of filtered searches.
	found []key // the best that match, sorted
	heap  []key // rows at which the walk may continue

	// Fields of the writer.
	links [maxLevel + 1][]uint32
	order []key
}

func newScratch(stride int) *scratch {
	return &scratch{code: make([]int8, stride), batch: make([]uint32, 0, scanStep), scores: make([]float32, scanStep)}
}

// begin marks all rows as not visited.
func (s *scratch) begin(n uint32) {
	if uint32(cap(s.visited)) < n {
		s.visited = make([]uint8, stampsFor(n))
		s.epoch = 0
	}
	if s.epoch++; s.epoch == 0 {
		clear(s.visited[:cap(s.visited)])
		s.epoch = 1
	}
	s.visited = s.visited[:n]
}

// score fills scores with those of the rows in batch.
func (s *scratch) score(v *view) {
	s.scores = s.scores[:len(s.batch)]
	v.kern.Scores(s.code, v.rows.Blocks, s.batch, s.scores)
}

// descend walks from e to the nearest row that it finds on the layers above layer, moving to the
// nearest neighbour as long as that is nearer.
func (s *scratch) descend(v *view, e entry, layer int) uint32 {
	s.batch = append(s.batch[:0], e.row)
	s.score(v)
	best := makeKey(s.scores[0], e.row)
	for l := e.level; l > layer; l-- {
		s.begin(v.n)
		for {
			at := best
			ls, i := v.graph.list(at.row(), l)
			s.batch = ls.unseen(i, s.visited, s.epoch, s.batch[:0])
			s.score(v)
			for j, row := range s.batch {
				best = min(best, makeKey(s.scores[j], row))
			}
			if best == at {
				break
			}
		}
	}
	return best.row()
}

// abreast is how many rows a walk expands at a time. Most of its time is spent waiting for links
// and codes to come from memory, and loads for several rows overlap: four at a time take a fifth
// less time than one after another, for 1 % more rows scored, at 60,000 rows.
const abreast = 4

// walk leaves in pool the ef nearest rows that it finds on a layer, beginning at row start: it
// expands the nearest rows in the pool that it has not expanded, until none is left. (Malkov,
// Yashunin: Efficient and robust approximate nearest neighbor search using HNSW, 2016, algorithm 2,
// with one sorted pool for its two heaps.)
func (s *scratch) walk(v *view, layer int, start uint32, ef int) {
	s.begin(v.n)
	s.visited[start] = s.epoch
	s.batch = append(s.batch[:0], start)
	s.score(v)
	s.pool = append(s.pool[:0], makeKey(s.scores[0], start))
	for next := 0; next < len(s.pool); {
		found := 0
		for taken := 0; taken < abreast && next < len(s.pool); next++ {
			at := s.pool[next]
			if at&walked != 0 {
				continue
			}
			s.pool[next] |= walked
			taken++
			ls, i := v.graph.list(at.row(), layer)
			found += len(ls.unseen(i, s.visited, s.epoch, s.batch[found:cap(s.batch)]))
		}
		s.batch = s.batch[:found]
		s.score(v)
		for j, row := range s.batch {
			k := makeKey(s.scores[j], row)
			if len(s.pool) == ef && k >= s.pool[ef-1] {
				continue
			}
			var at int
			if s.pool, at = insert(s.pool, k, ef); at < next {
				next = at
			}
		}
	}
}

// insert inserts k into a sorted list of at most limit keys and returns its index. If the list is
// full, its last key is dropped. If limit keys are nearer, k is not inserted.
func insert(list []key, k key, limit int) ([]key, int) {
	if len(list) == limit {
		if k >= list[limit-1] {
			return list, limit
		}
		list = list[:limit-1]
	}
	at := find(list, k)
	list = append(list, 0)
	copy(list[at+1:], list[at:])
	list[at] = k
	return list, at
}

// find returns the index of k in a sorted list, or where k belongs. No branch depends on the keys,
// which the processor could not predict.
func find(list []key, k key) int {
	at := 0
	for n := len(list); n > 0; {
		half := (n + 1) / 2
		next := at + half
		if list[next-1] >= k {
			next = at
		}
		at = next
		n -= half
	}
	return at
}
