package evidence

import (
	"strconv"

	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/projections/vector/kernel"
)

// minCosine is how near an object must be that only its embedding speaks for: something is
// always nearest, also to a text that means nothing here.
const minCosine = 0.25

// byMeaning searches by the cosine of embeddings.
func (t *retrieval) byMeaning(l *ranked, vec []float32) error {
	l.operator = "search"
	l.inputs["embedder"] = t.s.Embedder.Name()
	l.inputs["min_cosine"] = strconv.FormatFloat(minCosine, 'g', -1, 64)
	hits, _, err := t.vector.SearchObjects(t.ctx, vector.ObjectQuery{
		Vector: vec, Embedder: t.s.Embedder.Name(), Audiences: t.scope.ids, Below: t.at.Below, K: max(depth, 3*t.r.Limit), Filter: t.scope.pushed, Only: t.scope.only,
	})
	if err != nil {
		return err
	}
	for _, h := range hits {
		if h.Score < minCosine {
			continue
		}
		if key := t.take(h.Ref, int(h.Part)); key >= 0 {
			l.add(key, h.Score)
		}
	}
	return nil
}

// embed is the question's embedding, nil where it has none.
func (a *asking) embed() []float32 {
	if a.s.Embedder == nil || a.r.Text == "" {
		return nil
	}
	v := a.s.Embedder.Embed(a.r.Text)
	if kernel.Best().Dot(v[:], v[:]) == 0 {
		return nil
	}
	return v[:]
}
