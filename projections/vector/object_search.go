package vector

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/recountdb/recount/projections/vector/flat"
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
	// Hits is how many objects came of it, before those of all partitions were merged.
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
	kern, code := kernel.Best(), make([]int8, kernel.Stride(dim))
	rows.Encode(code, q.Vector)
	var hits []ObjectHit
	var stats []ObjectStats
	for _, s := range p.objectSearches(&q) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		s.code, s.kern, s.below = code, kern, int64(math.MaxInt64)
		if q.Below != nil {
			s.below = q.Below[s.v.tp]
		}
		if err := s.run(ctx); err != nil {
			return nil, nil, fmt.Errorf("search objects of %s: %w", s.v.tp, err)
		}
		if s.stats.Spaces == 0 {
			continue
		}
		s.stats.TP, s.stats.Hits = s.v.tp, len(s.hits)
		hits, stats = append(hits, s.hits...), append(stats, s.stats)
	}
	slices.SortFunc(hits, ObjectHit.compare)
	return hits[:min(len(hits), q.K)], stats, nil
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

// objectSearch is a query in one partition.
type objectSearch struct {
	*ObjectQuery
	v      objectView
	prev   *links
	spaces []target
	walkAt int    // rows that a graph has at least where it is walked
	code   []int8 // of the vector
	kern   *kernel.Set
	below  int64
	runs   uint32 // those below: runs and rows from there on do not exist
	hits   []ObjectHit
	stats  ObjectStats

	best   nearestRows
	exact  []candidate // of graphs: their scores are those of vectors
	batch  []uint32
	scores []float32
}

// target is a space that is asked about, as it is in the view.
type target struct {
	*objectSpace
	ranges []rowRange
	tail   []uint32
	rows   uint32 // that exist
}

// search begins a search. The caller holds mu.
func (s *objectShard) search(q *ObjectQuery) *objectSearch {
	out := &objectSearch{ObjectQuery: q, v: s.view, prev: s.prev, walkAt: s.opts.linkRows}
	embedder := slices.Index(s.view.embedders, q.Embedder)
	if embedder < 0 {
		return out
	}
	for _, a := range q.Audiences {
		if n, ok := s.number[spaceKey{a, uint32(embedder)}]; ok {
			sp := s.spaces[n]
			out.spaces = append(out.spaces, target{objectSpace: sp, ranges: *sp.ranges.Load(), tail: sp.seen})
		}
	}
	// In the order of the log, each once.
	slices.SortFunc(out.spaces, func(a, b target) int { return cmp.Compare(a.number, b.number) })
	out.spaces = slices.CompactFunc(out.spaces, func(a, b target) bool { return a.number == b.number })
	return out
}

// run fills hits with the best K.
func (s *objectSearch) run(ctx context.Context) error {
	s.runs = s.v.runsBelow(s.below)
	some := s.spaces[:0]
	for _, t := range s.spaces {
		if t.rows = s.existing(&t); t.rows > 0 {
			some = append(some, t)
			s.stats.Rows += int(t.rows)
		}
	}
	s.spaces, s.stats.Spaces = some, len(some)
	if s.Only != nil {
		s.only()
		return nil
	}
	s.batch, s.scores = make([]uint32, 0, scanBatch), make([]float32, scanBatch)
	for want := max(3*s.K, 32); ; want *= 4 {
		s.best.reset(want)
		s.exact, s.stats.Walked = s.exact[:0], 0
		more := false // rows than those among which the best are
		for i := range s.spaces {
			if err := ctx.Err(); err != nil {
				return err
			}
			cut, err := s.near(&s.spaces[i], want)
			if err != nil {
				return err
			}
			more = more || cut
		}
		s.collect()
		if len(s.hits) >= s.K || !more && !s.best.cut {
			return nil
		}
	}
}

// existing counts the rows of a space that exist: its first ones.
func (s *objectSearch) existing(t *target) uint32 {
	n := uint32(0)
	for i := len(t.ranges) - 1; i >= 0; i-- {
		r := &t.ranges[i]
		if r.step.firstRun+uint32(len(r.step.offset)) <= s.runs {
			n = r.before + r.n
			break
		}
		if r.step.firstRun < s.runs {
			in, _ := slices.BinarySearch(r.step.first[r.start:r.start+r.n], s.runs-r.step.firstRun)
			n = r.before + uint32(in)
			break
		}
	}
	if s.runs <= s.v.runs {
		return n
	}
	in, _ := slices.BinarySearchFunc(t.tail, s.runs-s.v.runs, func(row, run uint32) int { return cmp.Compare(s.v.tail.first[row], run) })
	return n + uint32(in)
}

// counts reports whether a row has a run that exists and counts.
func (s *objectSearch) counts(row uint32) bool {
	for run := s.v.newest(row, &s.v.tail).Load(); run != noRun; run = s.prev.at(run) {
		if run < s.runs && (s.Filter == nil || s.Filter(s.ref(run))) {
			return true
		}
	}
	return false
}

func (s *objectSearch) ref(run uint32) schemas.ObjectRef {
	offset, index, _ := s.v.run(run)
	return s.refOf(offset, index)
}

func (s *objectSearch) refOf(offset int64, index uint32) schemas.ObjectRef {
	return schemas.ObjectRef{Position: schemas.Position{Topic: s.v.tp.Topic, Partition: s.v.tp.Partition, Offset: offset}, Index: index}
}

// near takes the best rows of a space into best, or into exact, and reports whether
// a graph may have more of them.
func (s *objectSearch) near(t *target, want int) (more bool, err error) {
	from := uint32(0)
	if g := t.graph.Load(); g != nil {
		if from, more, err = s.walk(t, g, want); err != nil {
			return false, err
		}
		s.stats.Walked += int(from)
	}
	for i := range t.ranges {
		r := &t.ranges[i]
		if r.before >= t.rows {
			return more, nil
		}
		lo, hi := max(from, r.before), min(t.rows, r.before+r.n)
		for lo < hi {
			s.batch = s.batch[:0]
			for ; lo < hi && len(s.batch) < scanBatch; lo++ {
				s.batch = append(s.batch, r.start+lo-r.before)
			}
			s.scan(r.step.blocks, r.step.firstRow)
		}
	}
	sealed := uint32(0)
	if n := len(t.ranges); n > 0 {
		sealed = t.ranges[n-1].before + t.ranges[n-1].n
	}
	if t.rows > sealed {
		blocks := s.v.tail.rows.Table().Blocks
		for all := t.tail[:t.rows-sealed]; len(all) > 0; {
			n := min(len(all), scanBatch)
			s.batch, all = append(s.batch[:0], all[:n]...), all[n:]
			s.scan(blocks, s.v.rows)
		}
	}
	return more, nil
}

// scanBatch is how many rows are scored at a time at most.
const scanBatch = 512

// scan takes the rows in batch into best. base is what is added to their numbers
// to give those of the shard.
func (s *objectSearch) scan(blocks []kernel.Block, base uint32) {
	scores := s.scores[:len(s.batch)]
	s.kern.Scores(s.code, blocks, s.batch, scores)
	for i, row := range s.batch {
		if scores[i] < s.best.floor {
			continue
		}
		if s.Filter != nil && !s.counts(base+row) {
			continue
		}
		s.best.add(newCandidate(scores[i], base+row, s.v.first(base+row)))
	}
}

// scanShare: a graph is walked only where more than one in so many of its rows
// exist, and are kept by the filter. Below that comparing all of them costs less.
const (
	scanShare   = 16
	filterTried = 512
)

// walk searches a space's graph and gives how many of the space's rows that was a
// search of: none, if it is to be scanned.
func (s *objectSearch) walk(t *target, g *flat.Index, want int) (linked uint32, more bool, err error) {
	linked = min(uint32(g.Len()), t.rows)
	if int(linked) < s.walkAt || want > int(linked)/scanShare {
		return 0, false, nil
	}
	shard := func(row uint32) uint32 {
		st, at := locate(t.ranges, row)
		return st.firstRow + at
	}
	keep := func(row uint32) bool { return row < linked && (s.Filter == nil || s.counts(shard(row))) }
	if s.Filter != nil {
		kept := 0
		for i := range uint32(filterTried) {
			if keep(uint32(uint64(linked) * uint64(i) / filterTried)) {
				kept++
			}
		}
		if kept*scanShare < filterTried {
			return 0, false, nil
		}
	} else if uint32(g.Len()) == linked {
		keep = nil
	} else if uint32(g.Len())/scanShare > linked {
		return 0, false, nil // most ways lead over rows that do not exist
	}
	k := max(s.K, want/3) // it compares three times as many vectors
	near, err := g.Search(s.Vector, k, s.EF, keep)
	if err != nil {
		return 0, false, err
	}
	if keep == nil && slices.ContainsFunc(near, func(n index.Neighbour) bool { return n.Row >= linked }) {
		// Some were linked since the search began.
		near, err = g.Search(s.Vector, k, s.EF, func(row uint32) bool { return row < linked })
		if err != nil {
			return 0, false, err
		}
	}
	for _, n := range near {
		row := shard(n.Row)
		s.exact = append(s.exact, newCandidate(n.Score, row, s.v.first(row)))
	}
	return linked, len(near) == k, nil
}

// collect makes hits of the candidates: of each object the best passage.
func (s *objectSearch) collect() {
	all := s.exact
	for _, c := range s.best.take() {
		all = append(all, newCandidate(s.kern.Dot(s.Vector, s.v.vector(c.row)), c.row, uint32(c.order)))
	}
	s.exact = all
	slices.SortFunc(all, candidate.compare)
	s.hits = s.hits[:0]
	seen := map[objectAt]bool{}
	for _, c := range all {
		if n := len(s.hits); n >= s.K && float64(c.score) < s.hits[n-1].Score {
			break
		}
		s.runsOf(c, seen)
	}
	slices.SortFunc(s.hits, ObjectHit.compare)
	s.hits = s.hits[:min(len(s.hits), s.K)]
}

// objectAt is an object within a partition.
type objectAt struct {
	offset int64
	index  uint32
}

// runsOf makes hits of a row's runs, the newest K objects of them that count.
func (s *objectSearch) runsOf(c candidate, seen map[objectAt]bool) {
	added := 0
	for run := s.v.newest(c.row, &s.v.tail).Load(); run != noRun; run = s.prev.at(run) {
		if run >= s.runs {
			continue
		}
		offset, index, part := s.v.run(run)
		at := objectAt{offset, index}
		if n := len(s.hits); added > 0 && s.hits[n-1].Ref.Offset == offset && s.hits[n-1].Ref.Index == index {
			s.hits[n-1].Part = part // an earlier part says the same
			continue
		}
		if added == s.K {
			return
		}
		ref := s.refOf(offset, index)
		if seen[at] || s.Filter != nil && !s.Filter(ref) {
			continue
		}
		seen[at] = true
		s.hits = append(s.hits, ObjectHit{Ref: ref, Part: part, Score: float64(c.score)})
		added++
	}
}

// only compares the passages of the objects in Only.
func (s *objectSearch) only() {
	asked := map[uint32]bool{}
	for _, t := range s.spaces {
		asked[t.number] = true
	}
	seen := map[objectAt]bool{}
	for _, ref := range s.Only {
		at := objectAt{ref.Offset, ref.Index}
		if ref.TP() != s.v.tp || ref.Offset >= s.below || seen[at] {
			continue
		}
		seen[at] = true
		best := ObjectHit{Ref: ref, Score: math.Inf(-1)}
		for run := s.v.runsBelow(ref.Offset); run < s.runs; run++ {
			offset, index, part := s.v.run(run)
			if offset != ref.Offset || index > ref.Index {
				break
			}
			if index < ref.Index {
				continue
			}
			row, space := s.v.rowOf(run)
			if !asked[space] {
				break // an object is of one audience
			}
			if score := float64(s.kern.Dot(s.Vector, s.v.vector(row))); score > best.Score {
				best.Part, best.Score = part, score
			}
		}
		if !math.IsInf(best.Score, -1) && (s.Filter == nil || s.Filter(ref)) {
			s.hits = append(s.hits, best)
		}
	}
	slices.SortFunc(s.hits, ObjectHit.compare)
	s.hits = s.hits[:min(len(s.hits), s.K)]
}

// candidate is a row of the shard that may be among the nearest.
type candidate struct {
	// order rises as the score falls, and of equal scores as the row's first run
	// does: that orders rows as the log does, wherever they stand.
	order uint64
	score float32
	row   uint32
}

func newCandidate(score float32, row, first uint32) candidate {
	b := math.Float32bits(score)
	b ^= uint32(int32(b)>>31) | 1<<31 // rises with the score, as an unsigned number
	return candidate{order: uint64(^b)<<32 | uint64(first), score: score, row: row}
}

func (c candidate) compare(o candidate) int { return cmp.Compare(c.order, o.order) }

// nearestRows are the best of the candidates added, limit of them.
type nearestRows struct {
	limit int
	list  []candidate // up to twice as many, before the others are left out
	floor float32     // who has a lower score is not among them
	cut   bool        // some were left out
}

func (b *nearestRows) reset(limit int) {
	*b = nearestRows{limit: limit, list: b.list[:0], floor: float32(math.Inf(-1))}
}

func (b *nearestRows) add(c candidate) {
	if b.list = append(b.list, c); len(b.list) >= 2*b.limit {
		b.take()
	}
}

// take gives the best so far, sorted.
func (b *nearestRows) take() []candidate {
	slices.SortFunc(b.list, candidate.compare)
	if len(b.list) > b.limit {
		b.list, b.cut = b.list[:b.limit], true
		b.floor = b.list[b.limit-1].score
	}
	return b.list
}
