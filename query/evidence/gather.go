package evidence

import (
	"cmp"
	"math"
	"slices"

	"github.com/recountdb/recount/projections/graph/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// window is how many of the best candidates are read and judged for so many hits.
func window(limit int) int { return limit + limit/2 + 5 }

// hit is a candidate that was read and judged.
type hit struct {
	candidate
	o *objects.Stored
	// same are others that say the same, or are older versions of the same thing: they
	// collapsed into this one.
	same   []*objects.Stored
	judged judgement
	chain  *chain
}

// gather reads the best candidates, collapses those that say the same, judges what
// stands, and gives the hits in order.
func (t *retrieval) gather() ([]*hit, error) {
	var hits []*hit
	most := window(t.r.Limit)
	byText, byID := make(map[textKey]*hit, most), make(map[schemas.ObjectID]*hit, most)
	read, collapsed := 0, 0
	for key := range t.best() {
		if len(hits) == most {
			break
		}
		o, err := t.object(t.candidates[key].ref)
		if err != nil {
			return nil, err
		}
		if o == nil {
			continue
		}
		read++
		text := textKey{o.Tenant, o.Workspace, o.ContentHash}
		twin := byID[o.ObjectID()]
		if twin == nil && o.ContentHash != 0 {
			twin = byText[text]
		}
		if twin != nil {
			twin.same = append(twin.same, o)
			collapsed++
			continue
		}
		h := t.newHit()
		h.candidate, h.o = t.candidates[key], o
		if t.r.includes(IncludeProof) {
			h.scores = scoresOf(key, t.lists)
		}
		byText[text], byID[o.ObjectID()] = h, h
		hits = append(hits, h)
	}
	t.step(Step{Operator: "collapse", Counts: map[string]int64{"read": int64(read), "collapsed": int64(collapsed)}, Hits: t.evidence(hits)})
	t.lap("read")
	if err := t.judge(hits); err != nil {
		return nil, err
	}
	slices.SortStableFunc(hits, func(x, y *hit) int { return cmp.Or(cmp.Compare(y.score, x.score), x.before(&y.candidate)) })
	return hits[:min(len(hits), t.r.Limit)], nil
}

// textKey tells apart what is said, within a workspace.
type textKey struct {
	tenant, workspace string
	hash              uint64
}

// judge says of each hit whether it stands, and ranks what does not behind what took its
// place.
func (t *retrieval) judge(hits []*hit) error {
	byRef := make(map[schemas.ObjectRef]*hit, len(hits))
	for _, h := range hits {
		byRef[h.ref] = h
	}
	superseded, contradicted, used := 0, 0, 0
	for _, h := range hits {
		var err error
		if h.judged, err = t.judgementOf(h.o); err != nil {
			return err
		}
		if len(h.judged.uses) > 0 {
			used++
			h.standing.Use = t.w.use(h.judged.uses)
			h.score *= h.standing.Use
		}
		if !h.judged.holds {
			superseded++
			h.standing.Holds = t.w.Superseded
			h.score *= t.w.Superseded
		}
		if len(h.judged.contradicted) > 0 {
			contradicted++
		}
	}
	for range hits { // of a row of them each is behind the one before
		moved := false
		for _, h := range hits {
			by := byRef[h.judged.by]
			if by != nil && by != h && h.score >= by.score && by.score > 0 {
				h.score = math.Nextafter(by.score, 0)
				moved = true
			}
		}
		if !moved {
			break
		}
	}
	t.step(Step{
		Operator: "judge", Inputs: map[string]string{"rules": "stated version valid_until restated other_agent", "use": "by session, the last time"},
		Counts: map[string]int64{"judged": int64(len(hits)), "superseded": int64(superseded), "contradicted": int64(contradicted), "used": int64(used)},
	})
	t.lap("judge")
	return nil
}

// evidence is where hits stand in a step, for a proof that was asked for.
func (a *asking) evidence(hits []*hit) []query.Evidence {
	if !a.r.includes(IncludeProof) {
		return nil
	}
	var all []query.Evidence
	for i, h := range hits {
		all = append(all, query.Evidence{Position: h.ref.Position, Rank: i + 1, Score: h.score})
	}
	return all
}
