package commands

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/query"
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
