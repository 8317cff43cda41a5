package query

import "github.com/recountdb/recount/projections/graph"

// An edge carries a part of the standing of the command at its one end to the
// one at its other: its weight times a factor for its kind. What a command
// stands for in an answer is the best product along a path from the root, where
// it is 1. This page is the only place with such factors; carryVersion changes
// with it, and stands in every proof.
const carryVersion = "carry/1"

// carry is the factor of each kind, 0 for one that is not followed.
type carry map[graph.EdgeKind]float64

// whyCarry asks what led to a command.
//
// An explicit link, or several kinds of evidence at once, is as near to a cause
// as a log can come. What wrote what the command reads, and the failure that it
// fixes, are causes that a person would name too, though the log cannot say that
// nothing else was. A try before this one explains little by itself, but what
// led to that one led to this. Another approach to the same goal tells what its
// author wanted, seldom what made this happen. To be next in a session is
// no cause; similar commands never are one.
var whyCarry = carry{
	graph.Causal: 1, graph.Fixes: 0.9, graph.Dependency: 0.9, graph.Retry: 0.8, graph.Branch: 0.3, graph.Temporal: 0.1,
}

// leastCause is the standing below which why names nothing a cause, unless it was
// asked for kinds of edges: it is what keeps neighbours out that nothing but
// time connects.
const leastCause = 0.15

// tellCarry asks what belongs to the story around a command: there, what came
// next in the session counts nearly as much as what depends on what.
var tellCarry = carry{
	graph.Causal: 1, graph.Fixes: 0.95, graph.Dependency: 0.9, graph.Retry: 0.9, graph.Temporal: 0.8, graph.Branch: 0.6,
}

// askedSimilar is the factor of similar edges in every walk that was asked for
// them by name; none follows them otherwise.
const askedSimilar = 0.3

// of is what an edge carries.
func (c carry) of(e graph.Edge) float64 { return c[e.Kind] * e.Weight }

// only is the table for the kinds that were asked for; none means those that it
// has.
func (c carry) only(kinds []graph.EdgeKind) carry {
	if len(kinds) == 0 {
		return c
	}
	out := carry{}
	for _, k := range kinds {
		if out[k] = c[k]; k == graph.Similar {
			out[k] = askedSimilar
		}
	}
	return out
}

// kinds lists those that it follows, in order.
func (c carry) kinds() []graph.EdgeKind {
	var out []graph.EdgeKind
	for _, k := range graph.EdgeKinds() {
		if c[k] > 0 {
			out = append(out, k)
		}
	}
	return out
}
