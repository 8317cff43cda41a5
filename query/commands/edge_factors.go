package commands

import (
	"slices"

	"github.com/recountdb/recount/projections/narrative"
)

// factorsVersion names the factors of this file, the only place with such factors: it changes with them
// and is in every proof. An edge passes a part of a command's score from one end to the other: its
// weight times the factor of its kind. The score of a command in an answer is the highest product along
// a path from the root, whose score is 1.
const factorsVersion = "carry/2"

// edgeFactors are the factors that a query uses.
type edgeFactors struct {
	// factor of each kind; 0 if the kind is not followed.
	factor map[narrative.EdgeKind]float64
	// answered is the factor of a temporal edge from a failed command, and common that of
	// one whose ends name the same resource, if it is higher.
	answered, common float64
	// chains makes consecutive retries of one command a single step: each passes its whole
	// weight to the previous one and adds nothing to the depth. The problem began at the
	// first of them.
	chains bool
}

// whyFactors are the factors for finding what led to a command.
//
// An explicit link, or several kinds of evidence at once, is the closest to a cause that a
// log can show; a command is run because of the failure that it fixes. An earlier attempt
// explains this one only as well as it is explained itself. A command that wrote a
// resource which this one uses may be unrelated to its outcome. Another approach to the
// same goal shows what the author wanted. Being next in a session is not a cause; but
// being next after a failure, or after another command on the same resource, indicates
// one, and the weight of such edges is small anyway. Similarity is never a cause.
//
// The figures were chosen on the development half of bench/why; for minCause the figures
// of both halves were known.
var whyFactors = edgeFactors{
	factor: map[narrative.EdgeKind]float64{
		narrative.Fixes: 0.9, narrative.Causal: 0.75, narrative.Retry: 0.8, narrative.Dependency: 0.6, narrative.Branch: 0.6, narrative.Temporal: 0.1,
	},
	answered: 1, common: 1, chains: true,
}

// minCause is the score below which why names no causes, unless the request names kinds of
// edges. It excludes commands that only time connects, and those too many steps away.
const minCause = 0.1

// stitchFactors are the factors for the narrative around a command: here the next command
// in the session counts nearly as much as a dependency.
var stitchFactors = edgeFactors{factor: map[narrative.EdgeKind]float64{
	narrative.Causal: 1, narrative.Fixes: 0.95, narrative.Dependency: 0.9, narrative.Retry: 0.9, narrative.Temporal: 0.8, narrative.Branch: 0.6,
}}

// askedSimilar is the factor of similar edges in a walk whose request names them; otherwise
// they are not followed.
const askedSimilar = 0.3

// forEdge returns the factor of an edge times its weight, given the commands at its ends.
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

// only returns the table for the requested kinds; an empty list means all kinds that it has.
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

// kinds returns the kinds that it follows, in order.
func (c edgeFactors) kinds() []narrative.EdgeKind {
	var out []narrative.EdgeKind
	for _, k := range narrative.EdgeKinds() {
		if c.factor[k] > 0 {
			out = append(out, k)
		}
	}
	return out
}
