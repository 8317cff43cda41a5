package evidence

import (
	"strconv"

	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/projections/vector/kernel"
	"github.com/recountdb/recount/query/fusion"
	"github.com/recountdb/recount/schemas"
)

// minCosine is the minimum cosine of an object found only by its embedding. Some object is always
// the nearest, even to a text without meaning here.
const minCosine = 0.25

// byMeaning searches by the cosine of embeddings: over the whole scope, or, if lexical matches make
// it impossible for anything else to be ranked, over what the other paths found.
func (t *retrieval) byMeaning(l *fusion.List, vec []float32) error {
	l.Operator = "search"
	l.Inputs["embedder"] = t.s.Embedder.Name()
	l.Inputs["min_cosine"] = strconv.FormatFloat(minCosine, 'g', -1, 64)
	only, k := t.scope.only, t.depth()
	if t.wordsSuffice() {
		l.Operator = "compare"
		only = t.found()
		k = len(only)
	}
	hits, _, err := t.vector.SearchObjects(t.Ctx, vector.ObjectQuery{
		Vector: vec, Embedder: t.s.Embedder.Name(), Audiences: t.scope.ids, Below: t.at.Below, K: k, Filter: t.scope.pushed, Only: only,
	})
	if err != nil {
		return err
	}
	for _, h := range hits {
		if h.Score < minCosine {
			continue
		}
		if key := t.take(h.Ref, int(h.Part)); key >= 0 {
			l.Add(key, h.Score)
		}
	}
	return nil
}

// wordsSuffice reports whether the lexical path found its maximum number, and even the last of
// these ranks above anything found only by its meaning, whatever the age and importance of both.
func (t *retrieval) wordsSuffice() bool {
	for _, l := range t.lists {
		if l.Path == pathLexical {
			n := len(l.Keys)
			return n >= t.depth() && t.w.Lexical*l.Scores[n-1]/l.Unit*(1-t.w.Age)*(1-t.w.Importance) > t.w.Dense*(1+t.w.Importance)
		}
	}
	return false
}

// found returns the candidates so far.
func (t *retrieval) found() []schemas.ObjectRef {
	refs := make([]schemas.ObjectRef, len(t.candidates))
	for i := range t.candidates {
		refs[i] = t.candidates[i].ref
	}
	return refs
}

// embed returns the question's embedding, or nil if it has none.
func (a *session) embed() []float32 {
	if a.s.Embedder == nil || a.refs.words == "" {
		return nil
	}
	v := a.s.Embedder.Embed(a.refs.words)
	if kernel.Best().Dot(v[:], v[:]) == 0 {
		return nil
	}
	return v[:]
}
