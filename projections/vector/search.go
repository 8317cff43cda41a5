package vector

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/schemas"
)

// MaxK is the maximum number of hits of a search.
const MaxK = 10_000

// Query is a query for the intents nearest to a vector.
type Query struct {
	// Vector has schemas.EmbeddingDim elements and unit length; otherwise the search fails with an
	// index.ErrVector.
	Vector []float32
	// Embedder is the name and version of what computed the vector ("hash/1"). Only vectors of the
	// same embedder are compared with it.
	Embedder string
	// K is how many hits are wanted: contents with Distinct, else runs. 0 or less finds nothing;
	// more than MaxK means MaxK.
	K int
	// EF is how many candidates the search keeps: more finds more, more slowly. 0 means the
	// projection's Options.Ef. A value below three times K is raised to that.
	EF int
	// Below is a watermark: only intents of its partitions at offsets below it are found. Nil means
	// all that are visible.
	Below schemas.Watermark
	// Filter, if not nil, reports whether an intent may be a hit. It is called in any order,
	// without locks held. A content matches if one of its runs does.
	Filter func(tp schemas.TopicPartition, offset int64) bool
	// Distinct returns one hit for each content and partition, its newest matching run, and makes
	// K count contents. Otherwise each run is a hit.
	Distinct bool
}

// Hit is an intent near to the query's vector.
type Hit struct {
	TP     schemas.TopicPartition
	Offset int64
	// Score is the cosine, -1 to 1 up to rounding: a float32 dot product in a fixed order of sums,
	// the same on every CPU.
	Score       float64
	ContentHash uint64
	// Runs is how often the content was run in the partition with the same embedding, below Below
	// and regardless of Filter.
	Runs int
}

// Position returns the intent's position in the log.
func (h Hit) Position() schemas.Position {
	return schemas.Position{Topic: h.TP.Topic, Partition: h.TP.Partition, Offset: h.Offset}
}

// compare orders hits: the highest score first, then by partition, then the newest first.
func (h Hit) compare(o Hit) int {
	switch {
	case h.Score != o.Score:
		return cmp.Compare(o.Score, h.Score)
	case h.TP != o.TP:
		return h.TP.Compare(o.TP)
	}
	return cmp.Compare(o.Offset, h.Offset)
}

// SearchStats reports what a search looked at in one shard.
type SearchStats struct {
	TP schemas.TopicPartition
	// Rows is how many distinct vectors of the embedder the shard has, Runs how many intents.
	Rows, Runs int
	// Scanned is true if all rows were compared, as they are few; otherwise the graph was walked
	// with EF candidates.
	Scanned bool
	EF      int
	// Checked is how many rows were tested against Below and Filter.
	Checked int
	// Hits is how many runs the shard contributed, before those of all shards were merged.
	Hits int
}

// Search returns the intents nearest to a vector, over all shards. The answer is a function of the
// query and of the state. Search may be called while batches are applied, and then uses the state
// when it began.
func (p *Projection) Search(ctx context.Context, q Query) ([]Hit, []SearchStats, error) {
	if err := p.enter(); err != nil {
		return nil, nil, err
	}
	defer p.leave()
	if err := check(q.Vector); err != nil {
		return nil, nil, fmt.Errorf("search: %w", err)
	}
	q.K = min(q.K, MaxK)
	if q.K <= 0 {
		return nil, nil, nil
	}
	if q.EF <= 0 {
		q.EF = p.opts.Ef
	}
	var all []Hit
	var stats []SearchStats
	for _, of := range p.parts(commands, q.Embedder, noAudience, q.Below) {
		if len(of.spaces) == 0 || of.spaces[0].all() == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		s := &search{Query: q, shardView: of, in: &of.spaces[0]}
		if err := s.run(ctx); err != nil {
			return nil, nil, fmt.Errorf("search %s: %w", s.v.tp, err)
		}
		rows := int(s.in.all())
		all = append(all, s.hits...)
		stats = append(stats, SearchStats{
			TP: s.v.tp, Rows: rows, Runs: int(s.in.seen.runs), EF: s.EF,
			Scanned: p.opts.scans(rows), Checked: s.checked, Hits: len(s.hits),
		})
	}
	if err := p.damage.found(); err != nil {
		return nil, nil, fmt.Errorf("search: %w", err)
	}
	slices.SortFunc(all, Hit.compare)
	return cut(all, q), stats, nil
}

// cut returns the first K hits, or those of the first K contents.
func cut(hits []Hit, q Query) []Hit {
	if !q.Distinct {
		return hits[:min(len(hits), q.K)]
	}
	contents := make(map[uint64]bool, min(q.K, len(hits))+1)
	for i, h := range hits {
		if contents[h.ContentHash] = true; len(contents) > q.K {
			return hits[:i]
		}
	}
	return hits
}

// search is a query in one partition.
type search struct {
	Query
	shardView
	in      *target
	checked int
	hits    []Hit
}

// run fills hits with the best K rows; without Distinct a content may have several runs among them.
func (s *search) run(ctx context.Context) error {
	counts := func(i uint32) bool {
		run, _ := s.match(i)
		return run != none
	}
	// A walk without a filter is cheaper.
	keep := counts
	if s.Filter == nil && (s.Below == nil || s.Below[s.v.tp] >= s.v.next) {
		keep = nil
	}
	for k := s.K; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		near, err := s.in.index.Search(s.Vector, k, s.EF, keep)
		if err != nil {
			return err
		}
		if keep == nil && slices.ContainsFunc(near, func(n index.Neighbour) bool { return !counts(n.Row) }) {
			keep = counts // some were added since this search began
			continue
		}
		contents := s.collect(near)
		// A content may have several rows, one for each of its embeddings.
		if !s.Distinct || contents >= s.K || len(near) < k {
			return nil
		}
		k *= 2
	}
}

// collect makes hits of rows of the space, the best first, and counts their contents.
func (s *search) collect(near []index.Neighbour) int {
	s.hits = slices.Grow(s.hits[:0], len(near))
	seen := make(map[uint64]bool, len(near))
	for _, n := range near {
		content := s.content(s.in, n.Row)
		if s.Distinct && seen[content] {
			continue
		}
		seen[content] = true
		run, runs := s.match(n.Row)
		h := Hit{TP: s.v.tp, Score: float64(n.Score), ContentHash: content, Runs: runs}
		for ; run != none; run = s.next(s.chains.at(run).prev) {
			h.Offset = s.offset(run)
			s.hits = append(s.hits, h)
			if s.Distinct || len(s.hits) >= s.K {
				break
			}
		}
		if !s.Distinct && len(s.hits) >= s.K {
			break
		}
	}
	return len(seen)
}

// match returns the newest run of row i of the space that is below the watermark and that the filter
// accepts, or none, and how many runs below the watermark the row has.
func (s *search) match(i uint32) (run uint32, runs int) {
	if i >= s.in.all() {
		return none, 0 // added since this search began
	}
	s.checked++
	run, runs, _ = s.chains.before(s.head(s.in, i), s.shardView.runs)
	return s.next(run), runs
}

// next returns the first run along a chain that the filter accepts, or none.
func (s *search) next(run uint32) uint32 {
	for run != none && s.Filter != nil && !s.Filter(s.v.tp, s.offset(run)) {
		run = s.chains.at(run).prev
	}
	return run
}
