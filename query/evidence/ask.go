package evidence

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Ask answers a request on behalf of a principal. An error is a *query.RequestError, a
// *query.NotVisibleError, that of ctx, or that of one of the projections.
func Ask(ctx context.Context, s Sources, p schemas.Principal, r Request) (Response, error) {
	r, err := r.Normal()
	if err != nil {
		return Response{}, err
	}
	a, err := s.open(ctx, p, r)
	if err != nil {
		return Response{}, err
	}
	defer a.Close()
	return a.answer()
}

// answer plans, retrieves, fuses, expands, assembles and proves.
func (a *session) answer() (Response, error) {
	contradicted := a.limitScope()
	a.limitTime()
	sc, err := a.scoped()
	if err != nil {
		return Response{}, err
	}
	if err := a.setMoment(sc); err != nil {
		return Response{}, err
	}
	vec := a.embed()
	p := planOf(&a.r, a.refs, readCues(a.r.Text, a.moment), has{dense: vec != nil, wide: a.wide(), hops: *a.r.Expand.Hops}, &a.w)
	a.Proof = append(a.Proof, p.steps(&a.r)...)
	a.RecordTime("plan")

	why := cmp.Or(a.r.impossible(), contradicted)
	var hits []*hit
	x := &expansion{}
	if why == "" && p.answers(KindObjects) {
		t, err := a.retrieve(p, sc, vec)
		if err != nil {
			return Response{}, err
		}
		if hits, err = t.gather(); err != nil {
			return Response{}, err
		}
		if x, err = a.trace(hits); err != nil {
			return Response{}, err
		}
		t.prove(hits)
	}
	w, err := a.assemble(hits, x)
	if err != nil {
		return Response{}, err
	}
	if why == "" {
		if err := w.others(&p, hits); err != nil {
			return Response{}, err
		}
	}
	if a.r.Mode == ModeContext {
		if err := w.pack(hits); err != nil {
			return Response{}, err
		}
	}
	resp := &w.resp
	if resp.AppliedFilters = a.filters; len(resp.Objects) == 0 {
		resp.Status = query.StatusEmpty
		if resp.Hint = why; why == "" {
			if resp.Hint, err = a.nothing(sc); err != nil {
				return Response{}, err
			}
		}
	}
	if p.answers(KindObjects) {
		resp.Hint = query.KnownSince(resp.Hint, "agents' events", a.s.Since, w.since(&p))
	}
	if p.answers(KindCommands) && a.s.Commands.Set != nil {
		resp.Hint = query.KnownSince(resp.Hint, "commands", a.s.Commands.Since, w.since(&p))
	}
	w.fit(&p)
	w.keep()
	a.Step(Step{Operator: "assemble", Inputs: map[string]string{"mode": a.r.Mode}, Counts: map[string]int64{
		"objects": int64(len(resp.Objects)), "edges": int64(len(resp.Edges)), "events": int64(len(resp.Provenance)), "versions": int64(len(resp.Versions)),
	}})
	a.RecordTime("assemble")
	resp.Proof = a.Proof
	resp.Timing = a.Timing()
	return *resp, nil
}

// trace follows the causes of the hits and the edges around them, as far as the mode requires.
func (a *session) trace(hits []*hit) (*expansion, error) {
	if a.r.Mode == ModeObjects && *a.r.Expand.Hops == 0 {
		return &expansion{}, nil
	}
	if err := a.chains(hits); err != nil {
		return nil, err
	}
	x, err := a.expand(hits)
	if err != nil {
		return nil, err
	}
	s := Step{
		Operator: "expand", Inputs: map[string]string{"hops": strconv.Itoa(*a.r.Expand.Hops), "nodes": strconv.Itoa(a.r.Expand.Nodes)},
		Counts: map[string]int64{"objects": int64(len(x.objects)), "edges": int64(len(x.edges)), "cut": int64(x.cut)},
	}
	if len(a.r.Expand.Kinds) > 0 {
		s.Inputs["kinds"] = strings.Join(a.r.Expand.Kinds, " ")
	}
	if a.r.Expand.MinConfidence > 0 {
		s.Inputs["min_confidence"] = strconv.FormatFloat(a.r.Expand.MinConfidence, 'g', -1, 64)
	}
	a.Step(s)
	a.RecordTime("expand")
	return x, nil
}

// setMoment sets the moment that counts as now: that of the request, or of as_of, or of the newest
// object in the scope.
func (a *session) setMoment(sc *scope) error {
	from := "the newest object of the scope"
	switch {
	case !a.r.At.IsZero():
		a.moment, from = a.r.At.UnixNano(), "the request"
	case a.at.Time != 0:
		a.moment, from = a.at.Time, "as_of"
	default:
		refs, err := a.newest(sc, 1)
		if err != nil {
			return err
		}
		if len(refs) == 0 {
			return nil
		}
		a.moment, _, _ = a.view.Ranking(refs[0])
	}
	a.Step(Step{Operator: "moment", Inputs: map[string]string{"now": time.Unix(0, a.moment).UTC().Format(time.RFC3339Nano), "from": from}})
	return nil
}

// prove adds to the proof what each path searched for and counted, and the ranks of the hits in it.
func (t *retrieval) prove(hits []*hit) {
	var place map[schemas.ObjectRef]bool
	if t.r.includes(IncludeProof) {
		place = make(map[schemas.ObjectRef]bool, len(hits))
		for _, h := range hits {
			place[h.ref] = true
			for _, o := range h.outcomes {
				place[o.p.ref] = true
			}
		}
	}
	steps := make([]Step, 0, len(t.lists)+1)
	for _, l := range t.lists {
		s := Step{Path: l.Path, Operator: l.Operator, Why: t.plan.why(l.Path), Inputs: l.Inputs, Counts: l.Counts}
		if len(place) > 0 {
			for i, key := range l.Keys {
				if place[t.candidates[key].ref] {
					s.Hits = append(s.Hits, query.Evidence{Position: t.candidates[key].ref.Position, Rank: i + 1, Score: l.Scores[i]})
				}
			}
		}
		steps = append(steps, s)
	}
	steps = append(steps, Step{
		Operator: "fuse", Inputs: map[string]string{"method": "sum of weighted scores"},
		Counts: map[string]int64{"candidates": int64(len(t.candidates))},
	})
	// These steps happened before the hits were collapsed, judged and followed.
	t.Proof = slices.Insert(t.Proof, t.began, steps...)
	t.Step(Step{Operator: "rank", Inputs: map[string]string{"limit": strconv.Itoa(t.r.Limit)}, Counts: map[string]int64{"hits": int64(len(hits))}, Hits: t.evidence(hits)})
}

// nothing returns the reason why there is no hit.
func (a *session) nothing(sc *scope) (string, error) {
	some, err := a.view.Latest(a.Ctx, a.everything(), 1)
	if err != nil {
		return "", err
	}
	passing, err := a.newest(sc, 1)
	if err != nil {
		return "", err
	}
	switch {
	case len(some) == 0 && !a.r.AsOf.IsZero():
		return "nothing that you may see was known then; as_of may name too early a time, or leave a partition out", nil
	case len(some) == 0:
		return "there is nothing that you may see yet: append events to topic agents, or import a session with recount import agents", nil
	case len(passing) == 0:
		return "nothing that you may see passes the filters: " + a.filtersInWords(), nil
	}
	if names := a.filtersInWords(); names != "" {
		return "what passes the filters (" + names + ") shares no word and no meaning with the text; try other words, or remove a filter", nil
	}
	return "nothing that you may see shares a word or a meaning with the text; try words that occur in the objects", nil
}

// everything selects all that is visible, regardless of the request's filters.
func (a *session) everything() (f objects.Filter) {
	f.At, f.Audiences = a.at, ids(a.audiences)
	return f
}

// filtersInWords lists the request's own filters.
func (a *session) filtersInWords() string {
	var all []string
	for _, f := range a.filters {
		if f.Field != "principal" && f.Field != "as_of" {
			all = append(all, f.Words())
		}
	}
	return strings.Join(all, ", ")
}
