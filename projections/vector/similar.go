package vector

import (
	"context"
	"math"
	"slices"

	"github.com/recountdb/recount/schemas"
)

// SimilarRule is the name and version of the rule that makes the edges of Similar: of the rows that
// index.AddNear returns for a new row, which it ranks by exact cosine, the best SimilarK of other
// contents.
const SimilarRule = "similar/1"

// maxNamed bounds how many of the rows that name a row SimilarTo looks at.
const maxNamed = 4096

// Similar returns the earlier intents most similar to the one at a position, best first. They were
// found when its content was first seen and never change. For each content it returns the newest
// run before the position, with Runs the number of runs before it. It returns none if there is no
// embedded intent at the position.
func (p *Projection) Similar(ctx context.Context, pos schemas.Position) ([]Hit, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, sp, run := p.locate(pos)
	if sp == nil {
		return nil, nil
	}
	var hits []Hit
	row := sp.row[run]
	for i := row * SimilarK; i < (row+1)*SimilarK; i++ {
		if like := sp.simRow[i]; like != noRow {
			before := sp.before(like, pos.Offset)
			hits = append(hits, Hit{
				TP: v.tp, Offset: sp.offset[before], Score: float64(sp.simCos[i]),
				ContentHash: sp.content[like], Runs: sp.runs(like, pos.Offset),
			})
		}
	}
	return hits, nil
}

// SimilarTo returns the later intents for which Similar returns the one at a position: at most k,
// the most similar first. For each content it returns the first such run, and Runs counts its runs
// up to that one. For a content to which very many others are similar, only the newest few thousand
// of those are examined. Below is a watermark, as in Query: what lies above it counts neither among
// the k nor among those examined, so the answer is what it was then. Nil means all that is visible.
func (p *Projection) SimilarTo(ctx context.Context, pos schemas.Position, k int, below schemas.Watermark) ([]Hit, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, sp, run := p.locate(pos)
	if sp == nil || k <= 0 {
		return nil, nil
	}
	row := sp.row[run]
	until := sp.after(row, pos.Offset) // from there on another run is the one named
	if below != nil {
		until = min(until, below[v.tp])
	}
	var hits []Hit
	entry, n := unchain(sp.named.at(row).Load())
	if n == 0 {
		entry = noRow
	}
	for looked := 0; entry != noRow && looked < maxNamed; entry = sp.simPrev.at(entry) {
		if int(entry) >= len(sp.simRow) {
			continue // added since the snapshot
		}
		from := entry / SimilarK
		if below != nil && looked == 0 && sp.runs(from, below[v.tp]) == 0 {
			continue // its first run is later; the rows before it in the chain are older
		}
		looked++
		first := sp.after(from, pos.Offset)
		if first == math.MaxInt64 || first >= until {
			continue
		}
		hits = append(hits, Hit{
			TP: v.tp, Offset: first, Score: float64(sp.simCos[entry]),
			ContentHash: sp.content[from], Runs: sp.runs(from, first+1),
		})
	}
	slices.SortFunc(hits, Hit.compare)
	return hits[:min(len(hits), k)], nil
}

// locate returns the run at a position; a nil space means that there is none.
func (p *Projection) locate(pos schemas.Position) (view, *spaceView, int) {
	s := p.shard(pos.TP())
	if s == nil {
		return view{}, nil, 0
	}
	v := s.snapshot()
	for i := range v.spaces {
		if run, ok := slices.BinarySearch(v.spaces[i].offset, pos.Offset); ok {
			return v, &v.spaces[i], run
		}
	}
	return view{}, nil, 0
}

// before returns a row's newest run below an offset; there must be one.
func (c *columns) before(row uint32, below int64) uint32 {
	run, _ := c.near(row, below)
	for !c.visible(run, below) {
		run = c.prev.at(run)
	}
	return run
}

// after returns the offset of a row's first run above an offset, or math.MaxInt64.
func (c *columns) after(row uint32, above int64) int64 {
	first := int64(math.MaxInt64)
	for run, _ := c.near(row, above+1); run != noRun; run = c.prev.at(run) {
		if !c.visible(run, math.MaxInt64) {
			continue
		}
		if c.offset[run] <= above {
			break
		}
		first = c.offset[run]
	}
	return first
}
