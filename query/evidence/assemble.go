package evidence

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
)

// These limit the texts shown in an answer, in bytes, and the number of versions. A title is
// omitted if the snippet begins with it.
const (
	maxTitle        = 80
	maxSnippet      = 160
	maxOutcome      = 120
	wideSnippet     = 600
	newestVersions  = 3
	maxVersions     = 1000
	scoresSignified = 1e6
)

// answer is a response under construction.
type answer struct {
	*session
	resp  Response
	words []string
	// hits is the number of its objects that are hits, which come first. toOthers is the number of
	// its edges that lead to things of other kinds.
	hits, toOthers int
}

// assemble puts the hits and everything that belongs to them into the response.
func (a *session) assemble(hits []*hit, x *expansion) (*answer, error) {
	w := &answer{session: a, words: wordsOf(a.r.Text)}
	w.resp = Response{
		Status: query.StatusOK, Objects: make([]Object, 0, len(hits)), Edges: a.told, Provenance: []Event{}, Versions: []Version{},
		Watermark: a.at.Below,
	}
	for _, h := range hits {
		o, err := w.hit(h)
		if err != nil {
			return nil, err
		}
		w.find(o)
		w.versions(h)
	}
	if a.r.Mode == ModeSubgraph {
		for _, p := range x.objects {
			o, err := w.session.object(p.ref)
			if err != nil {
				return nil, err
			}
			out, err := w.object(o, -1, maxSnippet)
			if err != nil {
				return nil, err
			}
			out.Role = "around"
			w.show(out)
		}
	}
	w.edges(hits, x)
	return w, w.provenance(hits, x)
}

// find adds an object after the existing hits.
func (w *answer) find(o Object) {
	w.shown[o.ID] = true
	w.resp.Objects = slices.Insert(w.resp.Objects, w.hits, o)
	w.hits++
}

// show adds an object that is not a hit after all others.
func (w *answer) show(o Object) {
	w.shown[o.ID] = true
	w.resp.Objects = append(w.resp.Objects, o)
}

// hit returns a hit as the answer shows it.
func (w *answer) hit(h *hit) (Object, error) {
	most := maxSnippet
	if len(w.r.Include) > 0 {
		most = wideSnippet
	}
	o, err := w.object(h.o, h.part, most)
	if err != nil {
		return o, err
	}
	o.Score = round(h.score)
	if o.Results, err = w.outcomes(h, most*maxOutcome/maxSnippet); err != nil {
		return o, err
	}
	if w.r.includes(IncludeProof) {
		o.Scores = h.scores
		standing := h.standing // copied, because the memory of a hit is reused
		o.Standing = &standing
	}
	j := &h.judged
	o.SupersededBy, o.Contradicted = j.superseded, j.contradicted
	o.Used = len(j.uses)
	if j.support > 1 {
		o.Support = &Support{Count: j.support}
		if j.agents > 1 {
			o.Support.Agents = j.agents
		}
		if w.r.includes(IncludeProof) {
			o.Support.Positions = j.positions[:min(len(j.positions), 100)]
		}
	}
	if h.chain != nil {
		o.Chain = h.chain.toAnswer()
	}
	return o, nil
}

// object returns an object as the answer shows it, with a snippet of a part of its text.
func (w *answer) object(o *objects.Stored, part, most int) (Object, error) {
	out := Object{
		ID: o.IDText, EventID: o.EventID.String(), Position: o.At,
		Type: typeName(o.Type), Memory: memoryName(o.Memory), Form: attribute(o, "form"), Tenant: o.Tenant, Workspace: o.Workspace, Agent: o.Agent, Session: o.Session,
		Time: time.Unix(0, o.TimeUnixNano).UTC(), Visibility: visibilityName(o.Visibility), Removed: o.Removed,
	}
	var err error
	if w.r.includes(IncludeText) {
		if out.Text, err = w.view.Text(o); err != nil {
			return out, err
		}
	}
	text, err := w.passage(o, part)
	if err != nil {
		return out, err
	}
	out.Snippet = snippet(text, w.words, most)
	if out.Title = brief(o.Title, maxTitle); strings.HasPrefix(out.Snippet, o.Title) {
		out.Title = ""
	}
	if o.ValidFromUnixNano != o.TimeUnixNano {
		out.ValidFrom = time.Unix(0, o.ValidFromUnixNano).UTC()
	}
	if o.ValidUntilUnixNano != 0 {
		out.ValidUntil = time.Unix(0, o.ValidUntilUnixNano).UTC()
	}
	if c := o.Claim; c != nil {
		out.Claim = &Claim{Subject: c.Subject, Predicate: c.Predicate, Value: brief(c.Value, 200), Confidence: round(float64(c.Confidence))}
	}
	if t := o.Tool; t != nil {
		out.ExitCode, out.Failed = t.ExitCode, t.Failed
	}
	return out, nil
}

// passage returns the text of a part of an object, or the beginning of its text if part is none.
func (w *answer) passage(o *objects.Stored, part int) (string, error) {
	if part < 0 || part >= len(o.Parts) {
		return o.Text, nil
	}
	return w.view.Passage(o, int(o.Parts[part].Start), int(o.Parts[part].End))
}

// versions adds the versions of a hit that has several.
func (w *answer) versions(h *hit) {
	all := h.judged.versions
	if len(all) < 2 {
		return
	}
	if most := w.versionsShown(); len(all) > most {
		w.left().Versions += len(all) - most
		all = all[:most]
	}
	for i, v := range all {
		w.resp.Versions = append(w.resp.Versions, Version{
			Object: v.IDText, Number: i + 1, EventID: v.EventID.String(), Position: v.At,
			Time: time.Unix(0, v.TimeUnixNano).UTC(), Title: brief(v.Title, maxTitle), Removed: v.Removed,
		})
	}
}

func (w *answer) left() *Left {
	if w.resp.Left == nil {
		w.resp.Left = &Left{}
	}
	return w.resp.Left
}

// edges adds the edges of the chains, hit by hit, then those of the expansion, without duplicates.
func (w *answer) edges(hits []*hit, x *expansion) {
	// joined has the kind of the first edge between two objects; have has the kinds of further
	// ones.
	joined, have := w.joined, w.have
	clear(have) // the expansion has used it
	add := func(e *Edge) {
		pair := e.key("")
		switch kind, known := joined[pair]; {
		case !known:
			joined[pair] = e.Kind
		case kind == e.Kind || e.Rule == ruleType || have[e.key(e.Kind)]:
			return // an artifact's edge by type adds nothing to another edge between the two
		default:
			have[e.key(e.Kind)] = true
		}
		told := *e
		told.Confidence = round(e.Confidence)
		w.resp.Edges = append(w.resp.Edges, told)
	}
	// Edges among the shown objects come first, then the others, nearest first.
	among := func(e *Edge) bool { return w.shown[e.From] && w.shown[e.To] }
	for _, h := range hits {
		if h.chain == nil {
			continue
		}
		for _, t := range h.chain.edges {
			if w.tied[t] {
				continue
			}
			w.tied[t] = true
			if e := t.edge(); among(&e) {
				add(&e)
			} else {
				w.chained = append(w.chained, e)
			}
		}
	}
	for i := range x.edges {
		if e := &x.edges[i]; among(e) {
			add(e)
		}
	}
	for i := range w.chained {
		add(&w.chained[i])
	}
	for i := range x.edges {
		if e := &x.edges[i]; !among(e) && !w.outcomeOf(e, hits) {
			add(e)
		}
	}
}

// provenance collects the events that the answer rests on besides those of its objects, in order;
// with include provenance, those as well. fit decides how many are shown.
func (w *answer) provenance(hits []*hit, x *expansion) error {
	full := w.r.includes(IncludeProvenance)
	if !full {
		for _, h := range hits {
			w.own[h.ref.Position] = true
		}
		if w.r.Mode == ModeSubgraph {
			for _, p := range x.objects {
				w.own[p.ref.Position] = true
			}
		}
	}
	add := func(p *part) {
		if !w.own[p.ref.Position] {
			w.parts = append(w.parts, p)
		}
	}
	for _, h := range hits {
		add(h.known)
		for _, s := range h.same {
			add(s)
		}
		if h.chain != nil {
			for _, p := range h.chain.parts {
				add(p)
			}
		}
	}
	for _, p := range x.objects {
		add(p)
	}
	slices.SortFunc(w.parts, comparePart)
	w.parts = slices.Compact(w.parts)
	if full {
		for _, p := range w.parts {
			o, err := w.session.object(p.ref)
			if err != nil {
				return err
			}
			p.title = o.Title
		}
	}
	return nil
}

// event returns an event that the answer rests on, as the answer shows it.
func (w *answer) event(p *part) Event {
	e := Event{ID: p.event.String(), Position: p.at, Type: p.eventType, Object: p.idText}
	if w.r.includes(IncludeProvenance) {
		e.Title, e.Agent, e.Session, e.Time = brief(p.title, maxTitle), p.agent, p.session, time.Unix(0, p.time).UTC()
	}
	return e
}

// keep copies the parts of the answer that are in the scratch memory.
func (w *answer) keep() { w.resp.Edges = append([]Edge{}, w.resp.Edges...) }

// round rounds a number to the digits that are significant.
func round(x float64) float64 { return math.Round(x*scoresSignified) / scoresSignified }
