package code

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/recountdb/recount/query"
)

// FlowRequest asks for the paths of calls from one symbol to another.
type FlowRequest struct {
	Scope
	From          string  `json:"from" minLength:"1" maxLength:"4096" example:"main.run" doc:"The symbol that the calls start from. A type stands for what it declares."`
	To            string  `json:"to" minLength:"1" maxLength:"4096" example:"kgo.Client.Produce" doc:"The symbol that the calls lead to."`
	MinConfidence float64 `json:"min_confidence,omitempty" minimum:"0" maximum:"1" example:"0.8" doc:"Follow only edges with at least this confidence."`
	Limit         int     `json:"limit,omitempty" minimum:"1" maximum:"100" default:"5" example:"5" doc:"Maximum number of paths."`
}

// FlowResponse is the answer of flow.
type FlowResponse struct {
	query.Basis
	Revision Revision `json:"revision" doc:"The revision that was queried."`
	From     Symbol   `json:"from" doc:"The symbol that from refers to."`
	To       Symbol   `json:"to" doc:"The symbol that to refers to."`
	Paths    []Path   `json:"paths" nullable:"false" doc:"The shortest paths, by confidence, highest first."`
	// Truncated reports that there are more paths of the same length.
	Truncated bool `json:"truncated" doc:"Whether there are more paths of the same length."`
}

// Path is one path from symbol to symbol.
type Path struct {
	Confidence float64 `json:"confidence" example:"0.98" doc:"The lowest confidence on the path."`
	Steps      []Hop   `json:"steps" nullable:"false" doc:"The symbols in order."`
}

// Hop is a symbol on a path, with the edge that leads to it.
type Hop struct {
	Symbol
	Edge       string  `json:"edge,omitempty" example:"calls" doc:"The kind of the edge that leads here; absent for the first."`
	Provenance string  `json:"provenance,omitempty" example:"types_resolved" doc:"How the edge was found."`
	Confidence float64 `json:"confidence" example:"0.98" doc:"Confidence of the edge; 1 for the first symbol."`
	Site       string  `json:"site,omitempty" example:"pkg/kgo/sink.go:88" doc:"The edge's place in the code."`
}

const (
	defaultPaths = 5
	maxPaths     = 100
)

func (r FlowRequest) check() error {
	if r.Limit < 0 || r.Limit > maxPaths {
		return &query.RequestError{Field: "limit", Value: r.Limit, Reason: fmt.Sprintf("want 1 to %d", maxPaths)}
	}
	return cmp.Or(r.Scope.check(), checkSubject("from", r.From), checkSubject("to", r.To), checkConfidence(r.MinConfidence))
}

// Flow returns the shortest paths of calls from one symbol to another.
func Flow(ctx context.Context, s Sources, r FlowRequest) (FlowResponse, error) {
	var resp FlowResponse
	r.Limit = cmp.Or(r.Limit, defaultPaths)
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	snap, w, err := a.world(r.Scope, r.From, r.To)
	if err != nil {
		return resp, err
	}
	from, err := a.named(w, r.From)
	if err != nil {
		return resp, err
	}
	to, err := a.named(w, r.To)
	if err != nil {
		return resp, err
	}
	by := toCallees
	by.min = permille(r.MinConfidence)
	paths, more := w.shortest(w.seeds(from), w.seeds(to), &by, r.Limit)
	a.Step(query.Step{
		Operator: "flow",
		Inputs:   map[string]string{"from": w.exact(from[0]), "to": w.exact(to[0]), "min_confidence": fmt.Sprint(r.MinConfidence)},
		Counts:   map[string]int64{"paths": int64(len(paths))},
	})
	a.RecordTime("flow")
	resp.Revision, resp.From, resp.To, resp.Paths, resp.Truncated = revisionAt(snap), w.symbol(from[0]), w.symbol(to[0]), []Path{}, more
	for _, p := range paths {
		resp.Paths = append(resp.Paths, w.path(p))
	}
	hint := w.leftOut()
	if len(paths) == 0 {
		hint = "no calls lead from the first to the second; `impact` also follows other edges"
	}
	resp.Basis = a.basis(len(paths) == 0, hint, confidenceFilter(r.MinConfidence)...)
	return resp, nil
}

// hop is a step of a path: a node, and the link to it.
type hop struct {
	ref
	by link
}

// shortest returns the shortest paths from any of some nodes to any of others, those with the
// highest confidence first, and whether there are more.
func (w *world) shortest(from, to []ref, by *rules, limit int) (paths [][]hop, more bool) {
	goal := map[ref]bool{}
	for _, t := range to {
		goal[t] = true
	}
	type arrival struct {
		from ref
		by   link
	}
	seen := w.visits() // depth plus one
	into := map[ref][]arrival{}
	level := slices.Clone(from)
	for _, f := range level {
		*seen.slot(w, f) = 1
	}
	begins := func(r ref) bool { return *seen.slot(w, r) == 1 }
	reachedGoal := func() (ends []ref) {
		for _, r := range level {
			if goal[r] {
				ends = append(ends, r)
			}
		}
		return ends
	}
	ends := reachedGoal()
	for d := int32(2); len(ends) == 0 && len(level) > 0; d++ {
		var next []ref
		for _, f := range level {
			w.from(f, by, func(t ref, l link) {
				p := seen.slot(w, t)
				if *p == 0 {
					*p = d
					next = append(next, t)
				}
				if *p == d {
					into[t] = append(into[t], arrival{f, l})
				}
			})
		}
		level = next
		ends = reachedGoal()
	}
	// Paths are followed back from the goals; if there are very many, only the first are.
	const enough = 1000
	var tail []hop
	var back func(r ref)
	back = func(r ref) {
		if len(paths) > enough {
			return
		}
		if begins(r) {
			p := append(slices.Clone(tail), hop{ref: r})
			slices.Reverse(p)
			paths = append(paths, p)
			return
		}
		for _, in := range into[r] {
			tail = append(tail, hop{r, in.by})
			back(in.from)
			tail = tail[:len(tail)-1]
		}
	}
	for _, e := range ends {
		back(e)
	}
	slices.SortStableFunc(paths, func(a, b []hop) int { return cmp.Compare(minOf(b), minOf(a)) })
	if len(paths) > limit {
		return paths[:limit], true
	}
	return paths, false
}

func minOf(p []hop) uint16 {
	least := uint16(1000)
	for _, h := range p[1:] {
		least = min(least, h.by.confidence)
	}
	return least
}

func (w *world) path(p []hop) Path {
	out := Path{Confidence: confidence(minOf(p))}
	for i, h := range p {
		step := Hop{Symbol: w.symbol(h.ref), Confidence: 1}
		if i > 0 {
			step.Edge, step.Provenance, step.Confidence, step.Site = edgeName(h.by.kind), provenanceName(h.by.provenance), confidence(h.by.confidence), w.site(h.by)
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}
