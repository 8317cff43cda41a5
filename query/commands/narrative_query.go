package commands

import (
	"context"
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

// narrativeQuery is the state of one query about narratives.
type narrativeQuery struct {
	*session
	walk  Walk
	kinds []narrative.EdgeKind // that were asked for
	n     graphReader
	view  *narrative.View
}

// openNarrative begins a query. The walk and the moment are normal.
func (s Sources) openNarrative(ctx context.Context, w Walk, m query.Moment) (*narrativeQuery, error) {
	t := &narrativeQuery{walk: w}
	for _, name := range w.Kinds {
		if k, ok := narrative.ParseEdgeKind(name); ok {
			t.kinds = append(t.kinds, k)
		}
	}
	names := s.withReplays(segment.Name, narrative.Name)
	if slices.Contains(t.kinds, narrative.Similar) {
		names = append(names, vector.Name)
	}
	var err error
	if t.session, err = s.open(ctx, m, names...); err != nil {
		return nil, err
	}
	if t.view, err = t.graph.ViewAt(t.seen()); err != nil {
		t.Close()
		return nil, err
	}
	t.OnClose(func() { _ = t.view.Close() }) // every read before has reported the view's errors
	t.n = narrativeReader{t}
	return t, nil
}

// root returns the command that a reference names, as a stop of the walk.
func (t *narrativeQuery) root(ref string) (stop, error) {
	l, err := t.locate(ref)
	if err != nil {
		return stop{}, err
	}
	s, found, err := t.n.stop(l.id)
	if err == nil && !found {
		err = fmt.Errorf("command %s at %s: in the segments but not in the graph: run recount verify", l.id, l.pos)
	}
	return s, err
}

// from walks from a root and adds the walk to the proof.
func (t *narrativeQuery) from(root stop, c edgeFactors, w walk) (*walk, error) {
	w.n, w.factors = t.n, c.only(t.kinds)
	w.depth, w.nodes, w.minWeight = t.walk.Depth, t.walk.Nodes, t.walk.MinWeight
	err := w.run(t.Ctx, root)
	t.RecordTime("walk")
	way := map[[2]bool]string{{true, false}: "back", {false, true}: "on", {true, true}: "both"}[[2]bool{w.back, w.on}]
	st := query.Step{
		Operator: "walk",
		Inputs:   map[string]string{"from": root.Position.String(), "way": way, "carry": factorsVersion, "kinds": strings.Join(kindNames(w.factors.kinds()), ",")},
		Counts:   map[string]int64{"commands": int64(len(w.taken))},
	}
	for _, k := range w.factors.kinds() {
		st.Counts[k.String()] = w.followed[k]
		if n := w.weak[k]; n > 0 {
			st.Counts[k.String()+" too weak"] = n
		}
	}
	for _, r := range w.taken {
		st.Hits = append(st.Hits, query.Evidence{Position: r.Position, Score: r.score})
	}
	t.Step(st)
	return &w, err
}

// bounds returns the filters of the walk.
func (t *narrativeQuery) bounds(c edgeFactors) []query.AppliedFilter {
	f := []query.AppliedFilter{
		{Field: "depth", Op: "le", Value: strconv.Itoa(t.walk.Depth)},
		{Field: "nodes", Op: "le", Value: strconv.Itoa(t.walk.Nodes)},
		{Field: "kinds", Op: "in", Value: strings.Join(kindNames(c.only(t.kinds).kinds()), ",")},
	}
	if t.walk.MinWeight > 0 {
		f = append(f, query.AppliedFilter{Field: "min_weight", Op: "ge", Value: strconv.FormatFloat(t.walk.MinWeight, 'g', -1, 64)})
	}
	return append(f, t.asOfFilter()...)
}

// scanned reads commands with their outcomes, in the given order.
func (t *narrativeQuery) scanned(stops []stop) ([]Scanned, error) {
	positions := make([]schemas.Position, len(stops))
	for i, s := range stops {
		positions[i] = s.Position
	}
	rows := make([]Scanned, 0, len(stops))
	err := t.segment.ViewAt(t.Ctx, positions, func(_ int, v *segment.View) error {
		var row Scanned
		row.Intent, row.Detail = fill(v)
		err := t.complete(&row.Intent)
		rows = append(rows, row)
		return err
	})
	if err == nil && len(rows) < len(stops) {
		err = fmt.Errorf("%d of %d commands of the graph are not in the segments: run recount verify", len(stops)-len(rows), len(stops))
	}
	t.RecordTime("rows")
	return rows, err
}

// proveOutcomes adds the events with the commands' outcomes to the proof.
func (t *narrativeQuery) proveOutcomes(rows []Scanned) {
	joined := t.joined.Load()
	if joined == 0 {
		return
	}
	st := query.Step{Operator: "outcome", Counts: map[string]int64{"looked_up": joined}}
	for _, r := range rows {
		if r.Outcome != nil {
			st.Hits = append(st.Hits, query.Evidence{Position: *r.Outcome})
		}
	}
	t.Step(st)
}

// basis returns the basis of the answer.
func (t *narrativeQuery) basis(c edgeFactors) query.Basis {
	return query.BasisOf(&t.Session, false, "", t.bounds(c))
}

// told returns an edge whose evidence says of what a command was seen to remove that it removed it, where the rules
// say of all that changes that it was written.
func (t *narrativeQuery) told(e narrative.Edge) (narrative.Edge, error) {
	e.Evidence = slices.Clone(e.Evidence)
	for i, v := range e.Evidence {
		name, isPath := strings.CutPrefix(v.Resource, "path:")
		shows, may := showsRemoved[v.Shows]
		if !isPath || !may {
			continue
		}
		switch removed, err := t.view.Removed(v.Position, name); {
		case err != nil:
			return e, err
		case removed:
			e.Evidence[i].Shows = shows
		}
	}
	return e, nil
}

// edgeOf returns an edge as an answer shows it.
func edgeOf(e narrative.Edge) Edge {
	out := Edge{From: e.From, To: e.To, Kind: e.Kind.String(), Weight: e.Weight, Rule: e.Rule, Evidence: []EdgeEvidence{}}
	for _, v := range e.Evidence {
		out.Evidence = append(out.Evidence, EdgeEvidence{Position: v.Position, Shows: v.Shows, Resource: v.Resource, Score: v.Score})
	}
	return out
}

// seen returns the limits of what the answer may see of the narrative.
func (a *session) seen() narrative.Seen {
	s := narrative.Seen{Below: a.Visible, Looked: a.looked, Timed: true}
	if !a.as.Time.IsZero() {
		until := schemas.UnixNano(a.as.Time)
		s.Started = func(unixNano int64) bool { return unixNano <= until }
		s.Outcome = func(o narrative.Outcome) bool { return o.ObservedUnixNano <= until }
	}
	return s
}
