package vector

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

// ObjectQuery asks for the objects that have a passage nearest to a vector.
type ObjectQuery struct {
	// Vector and Embedder are as in Query.
	Vector   []float32
	Embedder string
	// Audiences are those whose objects are searched; none finds nothing. No other
	// one's objects have a part in the answer or in what it counts.
	Audiences []schemas.AudienceID
	// Below is a watermark, as in Query. Where a space is compared in whole the
	// answer is the one that there was then; where its graph is walked, ways may lead
	// over rows that came later, and what the walk misses may differ.
	Below schemas.Watermark
	// K is how many objects are wanted. 0 or less finds nothing; more than MaxK is MaxK.
	K int
	// EF is how many candidates a walk keeps; 0 is four times the projection's
	// Options.Ef, and it is never less than three times K.
	EF int
	// Filter, if not nil, says which objects count, before they are ranked: one that
	// keeps few loses none of them. It is asked in any order and while nothing is
	// locked.
	Filter func(schemas.ObjectRef) bool
	// Only, if not nil, are the objects that are compared, and no others.
	Only []schemas.ObjectRef
}

// ObjectHit is an object and its passage that is nearest to the vector asked about.
type ObjectHit struct {
	Ref schemas.ObjectRef
	// Part is its number in Object.parts.
	Part uint32
	// Score is as in Hit.
	Score float64
}

// compare orders hits: the highest score first, then by partition, then the newest
// first.
func (h ObjectHit) compare(o ObjectHit) int {
	if h.Score != o.Score {
		return cmp.Compare(o.Score, h.Score)
	}
	return cmp.Or(
		h.Ref.TP().Compare(o.Ref.TP()), cmp.Compare(o.Ref.Offset, h.Ref.Offset),
		cmp.Compare(h.Ref.Index, o.Ref.Index), cmp.Compare(h.Part, o.Part),
	)
}

// ObjectStats says what a search looked at in one partition, of the audiences asked
// about and below the watermark.
type ObjectStats struct {
	TP schemas.TopicPartition
	// Spaces are audiences that have vectors of the embedder, Rows those vectors.
	Spaces, Rows int
	// Walked is how many of the rows were searched by walking a graph; the others
	// that may count were compared one by one.
	Walked int
	// Hits is how many of the hits are of it.
	Hits int
}

// SearchObjects finds the objects nearest to a vector, over all partitions. It may
// be called while batches are applied, and then is of the state when it began.
func (p *Projection) SearchObjects(ctx context.Context, q ObjectQuery) ([]ObjectHit, []ObjectStats, error) {
	if err := p.enter(); err != nil {
		return nil, nil, err
	}
	defer p.leave()
	if err := check(q.Vector); err != nil {
		return nil, nil, fmt.Errorf("search objects: %w", err)
	}
	q.K = min(q.K, MaxK)
	if q.K <= 0 || len(q.Audiences) == 0 {
		return nil, nil, nil
	}
	if q.EF <= 0 {
		q.EF = 4 * p.opts.Ef
	}
	g := &objectsSearch{ObjectQuery: &q, kern: kernel.Best(), objectScratch: scratches.Get().(*objectScratch)}
	defer func() {
		clear(g.seen)
		scratches.Put(g.objectScratch)
	}()
	rows.Encode(g.code, q.Vector)
	g.pairs = kernel.AppendPairs(g.pairs[:0], g.code)
	if err := g.run(ctx, p.objectSearches(&q)); err != nil {
		return nil, nil, fmt.Errorf("search objects: %w", err)
	}
	var stats []ObjectStats
	for i := range g.parts {
		stats = append(stats, g.parts[i].stats)
	}
	return g.hits, stats, nil
}

// objectsSearch is a query over all partitions. What is nearest by codes is kept of all of
// them together: so many vectors are compared as are wanted, however many partitions
// there are.
type objectsSearch struct {
	*ObjectQuery
	*objectScratch
	kern  *kernel.Set
	parts []*objectSearch // those that have rows that exist
	hits  []ObjectHit
}

// objectScratch is what searches leave to the next ones: none of it is of any meaning
// there.
type objectScratch struct {
	code   []int8        // of the vector
	pairs  []kernel.Pair // those of its elements that are not zero
	sums   []int32       // of rows in columns
	batch  []uint32      // rows, and their scores
	scores []float32
	walked []index.Neighbour // of a graph
	best   nearestRows
	seen   map[schemas.ObjectRef]struct{} // those that are hits; empty
	// passages are those of the objects asked about; touched is of no meaning at all.
	passages []compared
	touched  float32
}

var scratches = sync.Pool{New: func() any {
	return &objectScratch{
		code: make([]int8, kernel.Stride(dim)), batch: make([]uint32, 0, scanBatch), scores: make([]float32, scanBatch),
		sums: make([]int32, columnRows),
		seen: map[schemas.ObjectRef]struct{}{},
	}
}}

// run fills hits with the best K of the partitions' searches.
func (g *objectsSearch) run(ctx context.Context, all []*objectSearch) error {
	for _, s := range all {
		if s.begin(g, uint32(len(g.parts))) {
			g.parts = append(g.parts, s)
		}
	}
	if g.Only != nil {
		for _, s := range g.parts {
			if err := ctx.Err(); err != nil {
				return err
			}
			s.only()
		}
	} else if err := g.nearest(ctx); err != nil {
		return err
	}
	slices.SortFunc(g.hits, ObjectHit.compare)
	g.hits = g.hits[:min(len(g.hits), g.K)]
	for i := range g.hits {
		for _, s := range g.parts {
			if s.v.tp == g.hits[i].Ref.TP() {
				s.stats.Hits++
			}
		}
	}
	return nil
}

// nearest takes as hits what is nearest by codes, then by vectors, of ever more rows
// until there are K, or no more rows.
func (g *objectsSearch) nearest(ctx context.Context) error {
	for want := max(3*g.K, 32); ; want *= 4 {
		g.best.reset(want)
		more := false // rows than those among which the best are
		for _, s := range g.parts {
			s.stats.Walked = 0
			for i := range s.spaces {
				if err := ctx.Err(); err != nil {
					return err
				}
				cut, err := s.near(&s.spaces[i], want)
				if err != nil {
					return fmt.Errorf("%s: %w", s.v.tp, err)
				}
				more = more || cut
			}
		}
		g.collect()
		if len(g.hits) >= g.K || !more && !g.best.cut {
			return nil
		}
	}
}

// collect makes hits of the candidates: of each object the best passage.
func (g *objectsSearch) collect() {
	all := g.best.list
	for i, c := range all {
		all[i].score = g.kern.Dot(g.Vector, g.parts[c.part].v.vector(c.row))
	}
	slices.SortFunc(all, candidate.compare)
	g.hits = slices.Grow(g.hits[:0], min(len(all), 2*g.K))
	clear(g.seen)
	for _, c := range all {
		if n := len(g.hits); n >= g.K && float64(c.score) < g.hits[n-1].Score {
			break
		}
		g.parts[c.part].runsOf(c)
	}
}

// objectSearches are one state of all partitions of objects.
func (p *Projection) objectSearches(q *ObjectQuery) []*objectSearch {
	p.mu.RLock() // no shard begins: see snapshot
	defer p.mu.RUnlock()
	all := p.sortedObjects()
	for _, s := range all {
		s.mu.RLock()
	}
	var out []*objectSearch
	for _, s := range all {
		out = append(out, s.search(q))
		s.mu.RUnlock()
	}
	return out
}
