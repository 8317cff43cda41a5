package commands

import (
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/schemas"
)

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
