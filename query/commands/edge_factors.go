package commands

import (
	"slices"

	"github.com/recountdb/recount/projections/narrative"
)

// An edge carries a part of the standing of the command at its one end to the
// one at its other: its weight times a factor for its kind. What a command
// stands for in an answer is the best product along a path from the root, where
// it is 1. This page is the only place with such factors; factorsVersion changes
// with it, and stands in every proof.
const factorsVersion = "carry/2"

// edgeFactors are the factors that a question goes by.
type edgeFactors struct {
	// factor of each kind, 0 for one that is not followed.
	factor map[narrative.EdgeKind]float64
	// answered is that of a temporal edge from a command that failed, and common
	// that of one whose two ends name a resource in common, where it is higher.
	answered, common float64
	// chains says that tries of one thing, one after the other, are one step: each
	// carries its whole weight to the one before it, and adds nothing to the depth.
	// The first of them is where the trouble began.
	chains bool
}

// whyFactors asks what led to a command.
//
// An explicit link, or several kinds of evidence at once, is as near to a cause
// as a log can come; the failure that a command fixes is what it was run for. A
// try before this one explains it as far as what led to that one led to this.
// What wrote a thing that the command uses may have nothing to do with how it
// ended. Another approach to the same goal tells what its author wanted. To be
// next in a session is no cause; but to be next after a failure, or after another
// look at the same thing, is a sign that there is one, and the weight of such
// edges is small as it is. Similar commands never are one.
//
// The figures were chosen on the development half of bench/why; of minCause the
// figures of both halves were seen.
var whyFactors = edgeFactors{
	factor: map[narrative.EdgeKind]float64{
		narrative.Fixes: 0.9, narrative.Causal: 0.75, narrative.Retry: 0.8, narrative.Dependency: 0.6, narrative.Branch: 0.6, narrative.Temporal: 0.1,
	},
	answered: 1, common: 1, chains: true,
}

// minCause is the standing below which why names nothing a cause, unless it was
// asked for kinds of edges: it is what keeps neighbours out that nothing but
// time connects, and what is too many steps away.
const minCause = 0.1

// stitchFactors asks what belongs to the story around a command: there, what came
// next in the session counts nearly as much as what depends on what.
var stitchFactors = edgeFactors{factor: map[narrative.EdgeKind]float64{
	narrative.Causal: 1, narrative.Fixes: 0.95, narrative.Dependency: 0.9, narrative.Retry: 0.9, narrative.Temporal: 0.8, narrative.Branch: 0.6,
}}

// askedSimilar is the factor of similar edges in every walk that was asked for
// them by name; none follows them otherwise.
const askedSimilar = 0.3

// forEdge returns what an edge carries, given the commands at its ends.
func (c edgeFactors) forEdge(e narrative.Edge, from, to *narrative.Node) float64 {
	f := c.factor[e.Kind]
	if e.Kind == narrative.Temporal && f > 0 {
		if from.Failed() {
			f = max(f, c.answered)
		}
		if haveInCommon(from, to) {
			f = max(f, c.common)
		}
	}
	return f * e.Weight
}

// haveInCommon reports whether two commands name a resource in common.
func haveInCommon(a, b *narrative.Node) bool {
	for _, r := range a.Resources {
		if r.Access&narrative.Implied == 0 && slices.ContainsFunc(b.Resources, func(o narrative.Resource) bool {
			return o.Access&narrative.Implied == 0 && o.Kind == r.Kind && o.Name == r.Name
		}) {
			return true
		}
	}
	return false
}

// only is the table for the kinds that were asked for; none means those that it
// has.
func (c edgeFactors) only(kinds []narrative.EdgeKind) edgeFactors {
	if len(kinds) == 0 {
		return c
	}
	out := c
	out.factor = map[narrative.EdgeKind]float64{}
	for _, k := range kinds {
		if out.factor[k] = c.factor[k]; k == narrative.Similar {
			out.factor[k] = askedSimilar
		}
	}
	return out
}

// kinds lists those that it follows, in order.
func (c edgeFactors) kinds() []narrative.EdgeKind {
	var out []narrative.EdgeKind
	for _, k := range narrative.EdgeKinds() {
		if c.factor[k] > 0 {
			out = append(out, k)
		}
	}
	return out
}
