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

// ObjectQuery is a query for the objects with a passage nearest to a vector.
type ObjectQuery struct {
	// Vector and Embedder are as in Query.
	Vector   []float32
	Embedder string
	// Audiences are the audiences whose objects are searched; none finds nothing. Objects of other
	// audiences affect neither the answer nor its counts.
	Audiences []schemas.AudienceID
	// Below is a watermark, as in Query. If a space is compared in whole, the answer is the one
	// that there was then. If its graph is walked, paths may lead over later rows, and the walk may
	// miss other rows than it did then.
	Below schemas.Watermark
	// K is how many objects are wanted. 0 or less finds nothing; more than MaxK means MaxK.
	K int
	// EF is how many candidates a walk keeps; 0 means four times the projection's Options.Ef. A
	// value below three times K is raised to that.
	EF int
	// Filter, if not nil, reports whether an object may be a hit. It is called before ranking, so a
	// filter that accepts few objects loses none of them. It is called in any order, without locks
	// held.
	Filter func(schemas.ObjectRef) bool
	// Only, if not nil, restricts the search to these objects, whose passages are compared one by
	// one.
	Only []schemas.ObjectRef
}

// ObjectHit is an object with its passage nearest to the query's vector.
type ObjectHit struct {
	Ref schemas.ObjectRef
	// Part is the index of the passage in Object.parts.
	Part uint32
	// Score is as in Hit.
	Score float64
}

// compare orders hits: the highest score first, then by partition, then the newest first.
func (h ObjectHit) compare(o ObjectHit) int {
	if h.Score != o.Score {
		return cmp.Compare(o.Score, h.Score)
	}
	return cmp.Or(
		h.Ref.TP().Compare(o.Ref.TP()), cmp.Compare(o.Ref.Offset, h.Ref.Offset),
		cmp.Compare(h.Ref.Index, o.Ref.Index), cmp.Compare(h.Part, o.Part),
	)
}

// ObjectStats reports what a search looked at in one partition, restricted to the query's audiences
// and watermark.
type ObjectStats struct {
	TP schemas.TopicPartition
	// Spaces is how many of the audiences have vectors of the embedder, Rows how many vectors these
	// are.
	Spaces, Rows int
	// Walked is how many of the rows were searched by walking a graph; the others were compared one
	// by one.
	Walked int
	// Hits is how many of the hits are in the partition.
	Hits int
}

// SearchObjects returns the objects nearest to a vector, over all partitions. It may be called
// while batches are applied, and then uses the state when it began.
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
	g := &objectsSearch{ObjectQuery: &q, kern: kernel.Best(), walkAt: p.opts.linkRows, objectScratch: scratches.Get().(*objectScratch)}
	defer func() {
		clear(g.seen)
		scratches.Put(g.objectScratch)
	}()
	rows.Encode(g.code, q.Vector)
	g.pairs = kernel.AppendPairs(g.pairs[:0], g.code)
	if err := g.run(ctx, p.parts(objects, q.Embedder, q.Audiences, q.Below)); err != nil {
		return nil, nil, fmt.Errorf("search objects: %w", err)
	}
	var stats []ObjectStats
	for i := range g.parts {
		stats = append(stats, g.parts[i].stats)
	}
	return g.hits, stats, nil
}

// objectsSearch is a query over all partitions. The nearest rows by codes are collected over all of
// them, so the number of vectors that are compared depends on the number of hits wanted, not on the
// number of partitions.
type objectsSearch struct {
	*ObjectQuery
	*objectScratch
	kern   *kernel.Set
	walkAt int             // the minimum number of linked rows for which a graph is walked
	parts  []*objectSearch // the partitions with visible rows
	hits   []ObjectHit
}

// objectScratch is memory that searches reuse. Its content has no meaning for the next one.
type objectScratch struct {
	code   []int8        // of the query's vector
	pairs  []kernel.Pair // its non-zero elements
	sums   []int32       // of rows in columns
	batch  []uint32      // rows whose scores are in scores
	scores []float32
	walked []index.Neighbour // results of a walk
	best   nearestRows
	seen   map[schemas.ObjectRef]struct{} // the objects that are hits; empty between searches
	// passages are those of the objects in Only. touched is never used.
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
func (g *objectsSearch) run(ctx context.Context, all []shardView) error {
	for _, in := range all {
		s := &objectSearch{objectsSearch: g, shardView: in, number: uint32(len(g.parts)), stats: ObjectStats{TP: in.v.tp}}
		s.spaces = slices.DeleteFunc(s.spaces, func(t target) bool { return t.rows == 0 })
		for _, t := range s.spaces {
			s.stats.Spaces++
			s.stats.Rows += int(t.rows)
		}
		if len(s.spaces) > 0 {
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

// nearest fills hits with the best rows by codes, then by vectors. It considers more and more rows
// until there are K hits or no more rows.
func (g *objectsSearch) nearest(ctx context.Context) error {
	for want := max(3*g.K, 32); ; want *= 4 {
		g.best.reset(want)
		more := false // there are rows beyond those that were considered
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

// collect makes hits of the candidates: the best passage of each object.
func (g *objectsSearch) collect() {
	all := g.best.list
	for i, c := range all {
		all[i].score = g.kern.Dot(g.Vector, g.parts[c.part].v.vector(c.row))
	}
	slices.SortFunc(all, scoredRow.compare)
	g.hits = slices.Grow(g.hits[:0], min(len(all), 2*g.K))
	clear(g.seen)
	for _, c := range all {
		if n := len(g.hits); n >= g.K && float64(c.score) < g.hits[n-1].Score {
			break
		}
		g.parts[c.part].runsOf(c)
	}
}
