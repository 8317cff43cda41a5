package commands

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Stitch returns the narrative around a command: it walks in both directions, best first,
// so that the commands most related to the root are included, however large the whole is,
// and returns them in chronological order. An error is a *RequestError, a
// *NotVisibleError, a *NotFoundError, an *AmbiguousError, the context's, or one of the
// projections.
func Stitch(ctx context.Context, s Sources, r StitchRequest) (StitchResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return StitchResponse{}, err
	}
	t, err := s.openNarrative(ctx, r.Walk, r.Moment)
	if err != nil {
		return StitchResponse{}, err
	}
	defer t.Close()
	root, err := t.root(r.Ref)
	if err != nil {
		return StitchResponse{}, err
	}
	w, err := t.from(root, stitchFactors, walk{back: true, on: true})
	if err != nil {
		return StitchResponse{}, err
	}
	taken := slices.SortedFunc(slices.Values(w.taken), func(a, b *reached) int { return a.compareOlder(b.stop) })
	stops := make([]stop, len(taken))
	for i, c := range taken {
		stops[i] = c.stop
	}
	rows, err := t.scanned(stops)
	if err != nil {
		return StitchResponse{}, err
	}
	t.proveOutcomes(rows)
	resp := StitchResponse{Root: root.ID, Nodes: []Node{}, Truncated: w.cutDepth || w.cutNodes || w.cutFan}
	for i, c := range taken {
		resp.Nodes = append(resp.Nodes, Node{Intent: rows[i].Intent, Depth: c.depth})
	}
	if resp.Edges, err = t.edgesBetween(w, taken); err != nil {
		return StitchResponse{}, err
	}
	resp.Basis = t.basis(stitchFactors)
	if len(taken) == 1 {
		resp.Hint = "no recorded evidence connects it with another command"
	}
	resp.Hint = s.knownSince(resp.Hint, time.Time{})
	return resp, nil
}

// edgesBetween returns the edges between commands, which are given oldest first, ordered by later
// end, earlier end, then kind.
func (t *narrativeQuery) edgesBetween(w *walk, taken []*reached) ([]Edge, error) {
	order := map[schemas.EventID]int{}
	for i, c := range taken {
		order[c.ID] = i
	}
	out := []Edge{}
	for _, c := range taken {
		edges, err := w.edgesOf(c.stop, true, false)
		if err != nil {
			return nil, err
		}
		edges = slices.DeleteFunc(edges, func(e weightedEdge) bool {
			_, in := order[e.From]
			return !in
		})
		slices.SortStableFunc(edges, func(a, b weightedEdge) int {
			return cmp.Or(cmp.Compare(order[a.From], order[b.From]), cmp.Compare(a.Kind, b.Kind), bytes.Compare(a.From[:], b.From[:]))
		})
		for _, e := range edges {
			told, err := t.told(e.Edge)
			if err != nil {
				return nil, err
			}
			out = append(out, edgeOf(told))
		}
	}
	t.Step(query.Step{Operator: "edges", Counts: map[string]int64{"edges": int64(len(out))}})
	t.RecordTime("edges")
	return out, nil
}
