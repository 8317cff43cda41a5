package commands

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Normal fills in the defaults and checks the request. The error is a
// *RequestError.
func (r WhyRequest) Normal() (WhyRequest, error) {
	var err error
	if r.Ref, err = normalRef("id", r.Ref); err != nil {
		return r, err
	}
	if r.Limit == 0 {
		r.Limit = DefaultCauses
	}
	if err := query.CheckLimit(r.Limit, MaxLimit); err != nil {
		return r, err
	}
	if r.Walk, err = r.Walk.normal(); err != nil {
		return r, err
	}
	r.Moment, err = r.Moment.Normal()
	return r, err
}

// Normal fills in the defaults and checks the request. The error is a
// *RequestError.
func (r StitchRequest) Normal() (StitchRequest, error) {
	var err error
	if r.Ref, err = normalRef("id", r.Ref); err != nil {
		return r, err
	}
	if r.Walk, err = r.Walk.normal(); err != nil {
		return r, err
	}
	r.Moment, err = r.Moment.Normal()
	return r, err
}

// Normal fills in the defaults and checks the request. The error is a
// *RequestError.
func (r DiffRequest) Normal() (DiffRequest, error) {
	var err error
	if r.A, err = normalRef("a", r.A); err != nil {
		return r, err
	}
	if r.B, err = normalRef("b", r.B); err != nil {
		return r, err
	}
	if r.Walk, err = r.Walk.normal(); err != nil {
		return r, err
	}
	r.Moment, err = r.Moment.Normal()
	return r, err
}

func normalRef(field, ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	switch {
	case ref == "":
		return ref, &query.RequestError{Field: field, Value: `""`, Reason: "want a command's id, a prefix of it, or TOPIC/PARTITION/OFFSET"}
	case len(ref) > MaxRef:
		return ref, &query.RequestError{Field: field, Value: fmt.Sprintf("%d bytes", len(ref)), Reason: fmt.Sprintf("want at most %d", MaxRef)}
	}
	return ref, nil
}

// normal fills in the defaults, checks the bounds, and puts the kinds in order,
// each once.
func (w Walk) normal() (Walk, error) {
	if w.Depth == 0 {
		w.Depth = DefaultDepth
	}
	if w.Nodes == 0 {
		w.Nodes = DefaultNodes
	}
	switch {
	case w.Depth < 0 || w.Depth > MaxDepth:
		return w, &query.RequestError{Field: "depth", Value: w.Depth, Reason: fmt.Sprintf("want 1 to %d", MaxDepth)}
	case w.Nodes < 0 || w.Nodes > MaxNodes:
		return w, &query.RequestError{Field: "nodes", Value: w.Nodes, Reason: fmt.Sprintf("want 1 to %d", MaxNodes)}
	case !(w.MinWeight >= 0 && w.MinWeight <= 1): // also not a number
		return w, &query.RequestError{Field: "min_weight", Value: fmt.Sprint(w.MinWeight), Reason: "want 0 to 1"}
	}
	var kinds []narrative.EdgeKind
	for _, name := range w.Kinds {
		k, ok := narrative.ParseEdgeKind(name)
		if !ok {
			return w, &query.RequestError{Field: "kinds", Value: strconv.Quote(name), Reason: "want of " + strings.Join(kindNames(narrative.EdgeKinds()), ", ")}
		}
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	w.Kinds = kindNames(slices.Compact(kinds))
	return w, nil
}

func kindNames(kinds []narrative.EdgeKind) []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.String())
	}
	return names
}

// narrativeReader reads the narrative from the projections: the edges of the projection
// narrative and, if similar edges were requested, those of the vector index.
type narrativeReader struct{ t *narrativeQuery }

func (n narrativeReader) stop(id schemas.EventID) (stop, bool, error) {
	node, found, err := n.t.view.Node(id)
	return stop{node}, found, err
}

func (n narrativeReader) incoming(id schemas.EventID) ([]narrative.Edge, error) {
	edges, err := n.t.view.In(id)
	if err != nil || n.t.vector == nil {
		return edges, err
	}
	s, found, err := n.stop(id)
	if err != nil || !found {
		return edges, err
	}
	hits, err := n.t.vector.Similar(n.t.Ctx, s.Position)
	if err != nil {
		return nil, err
	}
	like, err := n.like(id, hits, true)
	return append(edges, like...), err
}

func (n narrativeReader) outgoing(id schemas.EventID) ([]narrative.Edge, error) {
	edges, err := n.t.view.Out(id)
	if err != nil || n.t.vector == nil {
		return edges, err
	}
	s, found, err := n.stop(id)
	if err != nil || !found {
		return edges, err
	}
	hits, err := n.t.vector.SimilarTo(n.t.Ctx, s.Position, maxFan, n.t.Visible)
	if err != nil {
		return nil, err
	}
	like, err := n.like(id, hits, false)
	return append(edges, like...), err
}

// like returns edges for the vector index's hits for a command: from the hits to it, or
// from it to them. Hits that are not visible to the answer give none.
func (n narrativeReader) like(id schemas.EventID, hits []vector.Hit, earlier bool) ([]narrative.Edge, error) {
	positions := make([]schemas.Position, len(hits))
	for i, h := range hits {
		positions[i] = h.Position()
	}
	var edges []narrative.Edge
	err := n.t.segment.ViewAt(n.t.Ctx, positions, func(i int, v *segment.View) error {
		// In the narrative an id names one command, even if its event has several positions.
		o, found, err := n.stop(v.ID())
		if err != nil || !found || o.Position != positions[i] || hits[i].Score <= 0 {
			return err
		}
		e := narrative.Edge{
			From: v.ID(), To: id, Kind: narrative.Similar, Weight: min(hits[i].Score, 1), Rule: vector.SimilarRule,
			Evidence: []narrative.Evidence{{Position: positions[i], Shows: "is near in meaning", Score: hits[i].Score}},
		}
		if !earlier {
			e.From, e.To = id, v.ID()
		}
		edges = append(edges, e)
		return nil
	})
	return edges, err
}
