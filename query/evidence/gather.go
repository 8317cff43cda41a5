package evidence

import (
	"cmp"
	"math"
	"slices"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/fusion"
	"github.com/recountdb/recount/schemas"
)

// window returns how many of the best candidates are judged for a limit of hits.
func window(limit int) int { return limit + limit/2 + 5 }

// hit is a candidate that was judged, and read if it is among the best.
type hit struct {
	candidate
	known *part
	o     *objects.Stored
	// same are duplicates by content and older versions of the same object, which were collapsed
	// into this hit.
	same   []*part
	judged judgement
	chain  *chain
}

// gather examines the best candidates, collapses duplicates, judges the rest, and reads the hits,
// in order.
func (t *retrieval) gather() ([]*hit, error) {
	var hits []*hit
	most := window(t.r.Limit)
	byText, byID := make(map[textKey]*hit, most), make(map[schemas.ObjectID]*hit, most)
	read, collapsed := 0, 0
	for key := range t.best() {
		if len(hits) == most {
			break
		}
		p := t.partAt(t.candidates[key].ref)
		if p == nil {
			continue
		}
		read++
		text := textKey{p.tenant, p.workspace, p.content}
		twin := byID[p.id]
		if twin == nil && p.content != 0 {
			twin = byText[text]
		}
		if twin != nil {
			twin.same = append(twin.same, p)
			collapsed++
			continue
		}
		h := t.newHit()
		h.candidate, h.known = t.candidates[key], p
		if t.r.includes(IncludeProof) {
			h.scores = fusion.ScoresOf(key, t.lists)
		}
		byText[text], byID[p.id] = h, h
		hits = append(hits, h)
	}
	t.Step(Step{Operator: "collapse", Counts: map[string]int64{"read": int64(read), "collapsed": int64(collapsed)}, Hits: t.evidence(hits)})
	t.RecordTime("collapse")
	if err := t.judge(hits); err != nil {
		return nil, err
	}
	slices.SortStableFunc(hits, func(x, y *hit) int { return cmp.Or(cmp.Compare(y.score, x.score), x.before(&y.candidate)) })
	hits = hits[:min(len(hits), t.r.Limit)]
	for _, h := range hits {
		var err error
		if h.o, err = t.object(h.ref); err == nil {
			err = t.support(h.o, &h.judged)
		}
		if err != nil {
			return nil, err
		}
	}
	t.RecordTime("read")
	return hits, nil
}

// textKey identifies a content within a workspace.
type textKey struct {
	tenant, workspace string
	hash              uint64
}

// judge determines for each hit whether it still holds, and ranks a superseded hit below the one
// that replaced it.
func (t *retrieval) judge(hits []*hit) error {
	byRef := make(map[schemas.ObjectRef]*hit, len(hits))
	for _, h := range hits {
		byRef[h.ref] = h
	}
	superseded, contradicted, used := 0, 0, 0
	for _, h := range hits {
		var err error
		if h.judged, err = t.judgementOf(h.known); err != nil {
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
	for range hits { // in a sequence of replacements each is below its replacement
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
	t.Step(Step{
		Operator: "judge", Inputs: map[string]string{"rules": "stated version valid_until restated other_agent", "use": "by session, the last time"},
		Counts: map[string]int64{"judged": int64(len(hits)), "superseded": int64(superseded), "contradicted": int64(contradicted), "used": int64(used)},
	})
	t.RecordTime("judge")
	return nil
}

// evidence returns the ranks of hits in a step, if a proof was requested.
func (a *session) evidence(hits []*hit) []query.Evidence {
	if !a.r.includes(IncludeProof) {
		return nil
	}
	var all []query.Evidence
	for i, h := range hits {
		all = append(all, query.Evidence{Position: h.ref.Position, Rank: i + 1, Score: h.score})
	}
	return all
}
