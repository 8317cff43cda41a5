package vector

import (
	"slices"

	"github.com/recountdb/recount/projections/vector/flat"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/schemas"
)

// objectSearch is a query in one partition.
type objectSearch struct {
	*objectsSearch
	shardView
	number uint32 // its index in parts
	stats  ObjectStats
}

// counts reports whether a row has a visible run that the filter accepts.
func (s *objectSearch) counts(row uint32) bool {
	run, _, _ := s.before(row, s.runs)
	for run != none && s.Filter != nil && !s.Filter(s.ref(run)) {
		run = s.chains.at(run).prev
	}
	return run != none
}

func (s *objectSearch) ref(run uint32) schemas.ObjectRef {
	offset, index, _ := s.v.run(run)
	return s.refOf(offset, index)
}

func (s *objectSearch) refOf(offset int64, index uint32) schemas.ObjectRef {
	return schemas.ObjectRef{Position: schemas.Position{Topic: s.v.tp.Topic, Partition: s.v.tp.Partition, Offset: offset}, Index: index}
}

// near adds the best rows of a space to best and reports whether a graph may have more of them.
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
		if lo, hi := max(from, r.before), min(t.rows, r.before+r.n); lo < hi {
			s.scanStep(r.step, r.start+lo-r.before, r.start+hi-r.before)
		}
	}
	if sealed := t.seen.n; t.rows > sealed {
		blocks := s.v.tail.codes.Table().Blocks
		for all := t.seen.tail[:t.rows-sealed]; len(all) > 0; {
			n := min(len(all), scanBatch)
			s.batch, all = append(s.batch[:0], all[:n]...), all[n:]
			s.scan(blocks, s.v.rows)
		}
	}
	return more, nil
}

// scanStep adds the rows of a step to best.
func (s *objectSearch) scanStep(st *step, from, to uint32) {
	for from < to {
		block := from / columnRows
		end := min(to, (block+1)*columnRows)
		codes, stride := st.columns(int(block))
		first := from % columnRows / kernel.ColumnAlign * kernel.ColumnAlign
		sums := s.sums[:kernel.ColumnStride(int(end-block*columnRows-first))]
		s.kern.Columns(codes[first:], stride, s.pairs, sums)
		sums = sums[from-block*columnRows-first:]
		for i, scale := range st.scales[from:end] {
			score := float32(sums[i]) * scale
			if !s.best.reaches(score) {
				continue
			}
			row := st.firstRow + from + uint32(i)
			if s.Filter == nil || s.counts(row) {
				s.best.add(scoredRow{score: score, part: s.number, row: row, first: st.firstRun + st.first[from+uint32(i)]})
			}
		}
		from = end
	}
}

// scanBatch is the maximum number of rows scored at a time.
const scanBatch = 512

// scan adds the rows of the tail in batch to best. Their numbers plus base are those of the shard.
func (s *objectSearch) scan(blocks []kernel.Block, base uint32) {
	scores := s.scores[:len(s.batch)]
	s.kern.Scores(s.code, blocks, s.batch, scores)
	for i, row := range s.batch {
		if !s.best.reaches(scores[i]) || s.Filter != nil && !s.counts(base+row) {
			continue
		}
		s.best.add(scoredRow{score: scores[i], part: s.number, row: base + row, first: s.v.first(base + row)})
	}
}

// scanShare limits walks: a graph is walked only if more than one in scanShare of its rows are visible and
// accepted by the filter. Below that, comparing all of them costs less.
//
// Scanning also costs less for a vector with few non-zero elements, such as that which the embedder
// hash makes of a few words: of each row only those elements are read. Such a vector is also unlike
// those that are linked, so a walk misses much. A space is therefore scanned whole if that reads no
// more than all elements of twice the minimum number of linked rows.
const (
	scanShare   = 16
	filterTried = 512
	fewElements = dim / 4
)

// few reports whether a space is scanned because few elements of each row are read.
func (s *objectSearch) few(rows uint32) bool {
	elements := 2 * len(s.pairs)
	return elements <= fewElements && elements*int(rows) <= 2*dim*s.walkAt
}

// walk searches a space's graph and returns how many of the space's rows that covered: 0 if the
// space is to be scanned instead.
func (s *objectSearch) walk(t *target, g *flat.Index, want int) (linked uint32, more bool, err error) {
	linked = min(uint32(g.Len()), t.rows)
	if int(linked) < s.walkAt || want > int(linked)/scanShare || s.few(t.rows) {
		return 0, false, nil
	}
	keep := func(row uint32) bool { return row < linked && (s.Filter == nil || s.counts(s.row(t, row))) }
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
		return 0, false, nil // most paths lead over rows that are not visible
	}
	near, err := g.AppendNearest(s.walked[:0], s.Vector, want, s.EF, keep)
	if err != nil {
		return 0, false, err
	}
	if keep == nil && slices.ContainsFunc(near, func(n index.Neighbour) bool { return n.Row >= linked }) {
		// Some rows were linked since the search began.
		near, err = g.AppendNearest(near[:0], s.Vector, want, s.EF, func(row uint32) bool { return row < linked })
		if err != nil {
			return 0, false, err
		}
	}
	for _, n := range near {
		if !s.best.reaches(n.Score) {
			break
		}
		row := s.row(t, n.Row)
		s.best.add(scoredRow{score: n.Score, part: s.number, row: row, first: s.v.first(row)})
	}
	s.walked = near
	return linked, len(near) == want, nil
}

// runsOf makes hits of a row's runs: of the matching objects the newest K.
func (s *objectSearch) runsOf(c scoredRow) {
	added := 0
	run, _, _ := s.before(c.row, s.runs)
	for ; run != none; run = s.chains.at(run).prev {
		offset, index, part := s.v.run(run)
		if n := len(s.hits); added > 0 && s.hits[n-1].Ref.Offset == offset && s.hits[n-1].Ref.Index == index {
			s.hits[n-1].Part = part // an earlier part has the same vector
			continue
		}
		if added == s.K {
			return
		}
		ref := s.refOf(offset, index)
		if _, known := s.seen[ref]; known || s.Filter != nil && !s.Filter(ref) {
			continue
		}
		s.seen[ref] = struct{}{}
		s.hits = append(s.hits, ObjectHit{Ref: ref, Part: part, Score: float64(c.score)})
		added++
	}
}
