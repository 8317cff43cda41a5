package evidence

import (
	"encoding/json"
)

// shortSnippet is what a passage is cut to where that is needed.
const shortSnippet = 80

// fit cuts an answer to the size that it may have: first what tells of events and
// versions far from the hits, then edges, then passages. What is cut is counted.
func (w *answer) fit() error {
	if len(w.r.Include) > 0 || w.r.Mode == ModeSubgraph || w.r.Mode == ModeContext {
		return nil
	}
	hits := len(w.resp.Objects)
	budget := max(DefaultBytes, hits*DefaultBytes/DefaultLimit) - reserve
	resp := &w.resp
	objects, err := sizes(resp.Objects)
	if err != nil {
		return err
	}
	edges, err := sizes(resp.Edges)
	if err != nil {
		return err
	}
	events, err := sizes(resp.Provenance)
	if err != nil {
		return err
	}
	versions, err := sizes(resp.Versions)
	if err != nil {
		return err
	}
	rest, err := json.Marshal(struct {
		Filters, Proof any
		Watermark      any
		Hint           string
	}{resp.AppliedFilters, w.proof, resp.Watermark, resp.Hint})
	if err != nil {
		return err
	}
	left := budget - len(rest) - sum(objects)
	for i := range resp.Objects {
		if left >= edgeShare {
			break
		}
		o := &resp.Objects[len(resp.Objects)-1-i]
		if short := brief(o.Snippet, shortSnippet); len(short) < len(o.Snippet) {
			left += len(o.Snippet) - len(short)
			o.Snippet = short
		}
	}
	keep := func(sizes []int, share int) int {
		n := 0
		for _, size := range sizes {
			if size > share {
				break
			}
			share -= size
			left -= size
			n++
		}
		return n
	}
	if n := keep(edges, left*6/10); n < len(edges) {
		w.left().Edges += len(edges) - n
		resp.Edges = resp.Edges[:n]
	}
	if n := keep(versions, left/2); n < len(versions) {
		w.left().Versions += len(versions) - n
		resp.Versions = resp.Versions[:n]
	}
	if n := keep(events, left); n < len(events) {
		w.left().Provenance += len(events) - n
		resp.Provenance = resp.Provenance[:n]
	}
	return nil
}

// reserve is what the answer has besides: names of fields, timing, and what a door adds.
// edgeShare is what edges and events have at least, passages cut short for it.
const (
	reserve   = 900
	edgeShare = 1200
)

// sizes are those of the elements of a list as JSON, commas included.
func sizes[T any](list []T) ([]int, error) {
	out := make([]int, len(list))
	for i := range list {
		b, err := json.Marshal(&list[i])
		if err != nil {
			return nil, err
		}
		out[i] = len(b) + 1
	}
	return out, nil
}

func sum(list []int) int {
	n := 0
	for _, x := range list {
		n += x
	}
	return n
}
