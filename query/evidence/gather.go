package evidence

import (
	"cmp"
	"math"
	"slices"

	"github.com/recountdb/recount/internal/lazyregexp"
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
	// outcomes are what came of it, those that were found first.
	outcomes []outcome
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
		found := t.candidates[key]
		call, err := t.callShown(p)
		if err != nil {
			return nil, err
		}
		shown := cmp.Or(call, p)
		text := textKey{shown.tenant, shown.workspace, shown.content}
		if shown.calls() {
			results, err := t.resultsOf(shown)
			if err != nil {
				return nil, err
			}
			for _, r := range results { // equal calls with other results say something else
				text.hash = text.hash*31 + r.content
			}
		}
		same := byID[shown.id]
		if same == nil && shown.content != 0 {
			same = byText[text]
		}
		if same != nil {
			same.join(p, found.part)
			collapsed++
			continue
		}
		h := t.newHit()
		h.candidate, h.known = found, shown
		if call != nil {
			h.outcomes = append(h.outcomes, outcome{p, found.part})
			h.part = -1
			h.ref, h.time = call.ref, call.time
		}
		if t.r.includes(IncludeProof) {
			h.scores = fusion.ScoresOf(key, t.lists)
		}
		byText[text], byID[shown.id] = h, h
		hits = append(hits, h)
	}
	t.Step(Step{Operator: "collapse", Counts: map[string]int64{"read": int64(read), "collapsed": int64(collapsed)}, Hits: t.evidence(hits)})
	t.RecordTime("collapse")
	if err := t.judge(hits); err != nil {
		return nil, err
	}
	slices.SortStableFunc(hits, func(x, y *hit) int { return cmp.Or(cmp.Compare(y.score, x.score), x.before(&y.candidate)) })
	shown := hits[:0]
	lists := map[string]*hit{} // the hit that shows a session's list of tasks
	for _, h := range hits {
		if len(shown) == t.r.Limit {
			break
		}
		var err error
		if h.o, err = t.object(h.ref); err != nil {
			return nil, err
		}
		if h.known.calls() && listsTasks.MatchString(h.o.Title) {
			if first := lists[h.o.Workspace+"\x00"+h.o.Session]; first != nil {
				first.same = append(first.same, h.known)
				continue
			}
			lists[h.o.Workspace+"\x00"+h.o.Session] = h
		}
		if err = t.support(h.o, &h.judged); err == nil {
			err = t.follow(h)
		}
		if err != nil {
			return nil, err
		}
		shown = append(shown, h)
	}
	t.RecordTime("read")
	return shown, nil
}

// listsTasks matches the titles of tool calls that write an agent's list of tasks. Each writes the whole
// list again, so that those of a session are nearly equal, and one of them is shown.
var listsTasks = lazyregexp.New(`(?i)^(?:todo_?write|update_plan|write_todos|task_tracker)\b`)

// join adds what belongs to a hit: an equal or older object, the call itself, or a result of it.
func (h *hit) join(p *part, part int) {
	switch {
	case p == h.known:
		h.part = part
	case h.known.calls() && p.eventType == schemas.TypeToolResult:
		h.outcomes = append(h.outcomes, outcome{p, part})
	default:
		h.same = append(h.same, p)
	}
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
