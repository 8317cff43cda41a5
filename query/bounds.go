package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/projections/narrative"
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
	if r.Limit < 0 || r.Limit > MaxLimit {
		return r, &RequestError{"limit", r.Limit, fmt.Sprintf("want 1 to %d", MaxLimit)}
	}
	if r.Walk, err = r.Walk.normal(); err != nil {
		return r, err
	}
	r.Moment, err = r.Moment.normal()
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
	r.Moment, err = r.Moment.normal()
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
	r.Moment, err = r.Moment.normal()
	return r, err
}

func normalRef(field, ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	switch {
	case ref == "":
		return ref, &RequestError{field, `""`, "want a command's id, the start of it, or TOPIC/PARTITION/OFFSET"}
	case len(ref) > MaxRef:
		return ref, &RequestError{field, fmt.Sprintf("%d bytes", len(ref)), fmt.Sprintf("want at most %d", MaxRef)}
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
		return w, &RequestError{"depth", w.Depth, fmt.Sprintf("want 1 to %d", MaxDepth)}
	case w.Nodes < 0 || w.Nodes > MaxNodes:
		return w, &RequestError{"nodes", w.Nodes, fmt.Sprintf("want 1 to %d", MaxNodes)}
	case !(w.MinWeight >= 0 && w.MinWeight <= 1): // also not a number
		return w, &RequestError{"min_weight", fmt.Sprint(w.MinWeight), "want 0 to 1"}
	}
	var kinds []narrative.EdgeKind
	for _, name := range w.Kinds {
		k, ok := narrative.ParseEdgeKind(name)
		if !ok {
			return w, &RequestError{"kinds", strconv.Quote(name), "want of " + strings.Join(kindNames(narrative.EdgeKinds()), ", ")}
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
