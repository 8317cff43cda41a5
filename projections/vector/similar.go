package vector

import (
	"context"
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
	in, space, run := p.locate(pos, nil)
	if space == nil {
		return nil, nil
	}
	var hits []Hit
	row, _ := in.v.rowOf(run)
	rows, cosines := in.v.like(row)
	for i, like := range rows {
		if like != none {
			before, runs, _ := in.chains.before(in.head(space, like), run)
			hits = append(hits, Hit{
				TP: in.v.tp, Offset: in.offset(before), Score: float64(cosines[i]),
				ContentHash: in.content(space, like), Runs: runs,
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
	in, space, run := p.locate(pos, below)
	if space == nil || k <= 0 {
		return nil, nil
	}
	row, _ := in.v.rowOf(run)
	_, _, until := in.before(row, run+1) // from there on another run is the one named
	until = min(until, in.runs)
	var hits []Hit
	entry := space.seen.named.at(in.numberOf(space, row)).Load()
	for looked := 0; entry != none && looked < maxNamed; entry = space.similar.prev.at(entry) {
		number := entry / SimilarK
		if number >= space.rows {
			continue // its first run is later; the rows before it in the chain are older
		}
		looked++
		from := in.row(space, number)
		_, runs, first := in.before(from, run+1)
		if first >= until {
			continue
		}
		_, cosines := in.v.like(from)
		hits = append(hits, Hit{
			TP: in.v.tp, Offset: in.offset(first), Score: float64(cosines[entry%SimilarK]),
			ContentHash: in.content(space, number), Runs: runs + 1,
		})
	}
	slices.SortFunc(hits, Hit.compare)
	return hits[:min(len(hits), k)], nil
}

// locate returns the partition of a position and, if there is a run of a command at the position,
// its space and the run.
func (p *Projection) locate(pos schemas.Position, below schemas.Watermark) (in shardView, space *target, run uint32) {
	p.mu.RLock()
	s := p.shards[pos.TP()]
	p.mu.RUnlock()
	if s == nil || s.source != commands {
		return in, nil, none
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	in = shardView{v: s.view, chains: s.chains}
	run = in.v.runsBelow(pos.Offset)
	if run == in.v.allRuns() || in.offset(run) != pos.Offset {
		return in, nil, none
	}
	_, number := in.v.rowOf(run)
	in.spaces = []target{{space: s.spaces[number], seen: s.spaces[number].seen}}
	in.limit(below)
	return in, &in.spaces[0], run
}
