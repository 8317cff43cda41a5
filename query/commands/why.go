package commands

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Why follows edges backwards from a command and ranks what led to it. An error is a
// *RequestError, a *NotVisibleError, a *NotFoundError, an *AmbiguousError, the context's,
// or one of the projections.
func Why(ctx context.Context, s Sources, r WhyRequest) (WhyResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return WhyResponse{}, err
	}
	t, err := s.openNarrative(ctx, r.Walk, r.Moment)
	if err != nil {
		return WhyResponse{}, err
	}
	defer t.Close()
	root, err := t.root(r.Ref)
	if err != nil {
		return WhyResponse{}, err
	}
	w := walk{back: true}
	if len(t.kinds) == 0 {
		w.least = minCause
	}
	found, err := t.from(root, whyFactors, w)
	if err != nil {
		return WhyResponse{}, err
	}
	judged, err := t.judged(found, root)
	if err != nil {
		return WhyResponse{}, err
	}
	answered := found.taken[:min(len(found.taken), 1+r.Limit)]
	stops := make([]stop, len(answered))
	index := map[schemas.EventID]int{}
	for i, c := range answered {
		stops[i], index[c.ID] = c.stop, i
	}
	// A cause may be named by way of a command that is not.
	for _, c := range answered[1:] {
		if _, ok := index[c.from.ID]; !ok {
			index[c.from.ID] = len(stops)
			stops = append(stops, c.from.stop)
		}
	}
	rows, err := t.scanned(stops)
	if err != nil {
		return WhyResponse{}, err
	}
	t.proveOutcomes(rows)
	between, err := t.between(answered)
	if err != nil {
		return WhyResponse{}, err
	}
	resp := WhyResponse{Root: rows[0].Intent, Causes: []Cause{}, Edges: []Edge{}}
	rank := query.Step{Operator: "rank", Counts: map[string]int64{"causes": int64(len(found.taken) - 1)}}
	limit := query.Step{Operator: "limit", Inputs: map[string]string{"limit": strconv.Itoa(r.Limit)}, Counts: map[string]int64{"causes": int64(len(answered) - 1)}}
	for i, c := range found.taken[1:] {
		hit := query.Evidence{Position: c.Position, Rank: i + 1, Score: c.score}
		if j, ok := judged[c.ID]; ok {
			hit.Score = j.confidence
		}
		rank.Hits = append(rank.Hits, hit)
	}
	for i, c := range answered[1:] {
		via, err := t.told(c.via)
		if err != nil {
			return WhyResponse{}, err
		}
		resp.Causes = append(resp.Causes, Cause{
			Intent: rows[i+1].Intent, Score: c.score, Depth: c.depth, Path: c.path(),
			Confidence: judged[c.ID].confidence, Signals: judged[c.ID].signals,
			Why: sentence(via, &rows[i+1], &rows[index[c.from.ID]], c.depth == 1, between),
		})
	}
	for _, e := range found.edges {
		_, from := index[e.From]
		if _, to := index[e.To]; from && to && e.carries >= found.least {
			told, err := t.told(e.Edge)
			if err != nil {
				return WhyResponse{}, err
			}
			resp.Edges = append(resp.Edges, edgeOf(told))
		}
	}
	t.Step(rank)
	t.Step(limit)
	if resp.Fixes, err = t.fixes(root, r.Limit); err != nil {
		return WhyResponse{}, err
	}
	if resp.Replays, err = t.replaysOf(resp.Root); err != nil {
		return WhyResponse{}, err
	}
	resp.Basis = t.basis(whyFactors)
	resp.Hint = s.knownSince(t.whyHint(found, len(answered)-1), time.Time{})
	if len(resp.Causes) == 0 {
		resp.Status = query.StatusEmpty
	}
	return resp, nil
}

// fixes returns the success that fixed a command that failed, and what changed something in between,
// limit of these at most.
func (t *narrativeQuery) fixes(root stop, limit int) ([]ask.Reason, error) {
	fixes := []ask.Reason{}
	if !root.Failed() {
		return fixes, nil
	}
	edges, err := t.view.OutOf(root.ID, narrative.Fixes)
	if err != nil {
		return nil, err
	}
	shows := map[schemas.Position]string{}
	var positions []schemas.Position
	st := query.Step{Operator: "fixes"}
	for _, e := range edges {
		for _, v := range e.Evidence {
			if _, again := shows[v.Position]; !again && v.Position != root.Position && len(positions) <= limit {
				positions = append(positions, v.Position)
				shows[v.Position] = fixedBy(v)
				st.Hits = append(st.Hits, query.Evidence{Position: v.Position, Score: e.Weight})
			}
		}
	}
	err = t.segment.ViewAt(t.Ctx, positions, func(_ int, v *segment.View) error {
		in := intentOf(v)
		fixes = append(fixes, ask.Reason{Intent: in, Why: shows[in.Position]})
		return t.complete(&fixes[len(fixes)-1].Intent)
	})
	slices.SortStableFunc(fixes, func(a, b ask.Reason) int { return a.Time.Compare(b.Time) })
	if len(fixes) > 0 {
		t.Step(st)
	}
	return fixes, err
}

// fixedBy says what a piece of evidence of a fix shows, as a sentence.
func fixedBy(v narrative.Evidence) string {
	what, between := strings.CutSuffix(v.Shows, " between")
	said := strings.TrimSpace("it " + what + " " + resourceInWords(v.Resource))
	if between {
		said += " in between"
	}
	return said
}

// judgement is the confidence in a cause and what it follows from.
type judgement struct {
	confidence float64
	signals    []string
}

// judged orders the causes of a failure by confidence and leaves out those below minConfidence,
// those from before the last success of the same command, what only came before and is that success or
// was seen to change nothing, and the strangers to a program that was not found, unless the request names
// kinds of edges. For a root that did not fail it does nothing.
func (t *narrativeQuery) judged(w *walk, root stop) (map[schemas.EventID]judgement, error) {
	if !root.Failed() || len(w.taken) == 1 {
		return nil, nil
	}
	output, err := t.view.Output(root.ID)
	if err == nil && output == "" {
		var rows []Scanned
		if rows, err = t.scanned([]stop{root}); err == nil {
			output = rows[0].OutputTail
		}
	}
	if err != nil {
		return nil, err
	}
	j, err := t.judge(w, output)
	if err != nil {
		return nil, err
	}
	out := map[schemas.EventID]judgement{}
	for _, c := range w.taken[1:] {
		s := j.signals(c)
		out[c.ID] = judgement{j.confidence(s), s}
	}
	if len(t.kinds) == 0 {
		success, succeeded, err := t.view.LastSuccess(root.ID)
		if err != nil {
			return nil, err
		}
		idle := strangers(w, j)
		for id, edges := range j.direct {
			if idle[id] || slices.ContainsFunc(edges, func(e narrative.Edge) bool { return e.Kind != narrative.Temporal }) {
				continue
			}
			if idle[id] = succeeded && id == success.ID; idle[id] {
				continue
			}
			if idle[id], err = t.view.OnlyLooked(id); err != nil {
				return nil, err
			}
		}
		w.taken = slices.DeleteFunc(w.taken, func(c *reached) bool {
			return c.from != nil && (c.by(idle) || out[c.ID].confidence < minConfidence || succeeded && c.compareOlder(stop{success}) < 0)
		})
	}
	rank := ranks(w.taken[1:], out)
	slices.SortStableFunc(w.taken[1:], func(a, b *reached) int { return cmp.Compare(rank[b.ID], rank[a.ID]) })
	return out, nil
}

// ranks returns by what the causes of a failure are ordered: by confidence, but that earlier failures of the same command,
// which are the same failure rather than its cause, come after what changed since the last of them.
func ranks(causes []*reached, judged map[schemas.EventID]judgement) map[schemas.EventID]float64 {
	rank, least := map[schemas.EventID]float64{}, 2.0
	for _, c := range causes {
		j := judged[c.ID]
		rank[c.ID] = j.confidence
		if c.depth == 1 && slices.Contains(j.signals, "changed") && slices.Contains(j.signals, "since the attempt") {
			least = min(least, j.confidence)
		}
	}
	for _, c := range causes {
		if c.Failed() && slices.Contains(judged[c.ID].signals, "same command") && rank[c.ID] >= least {
			rank[c.ID] = math.Nextafter(least, 0)
		}
	}
	return rank
}

// strangers returns the commands that say nothing about why a program was not found: those that ran just
// before, or wrote files in its directory, and are no attempt at it and changed nothing that decides which
// programs there are. It returns none if the failure is another, or may be that of a script.
func strangers(w *walk, j *judge) map[schemas.EventID]bool {
	out := map[schemas.EventID]bool{}
	root := w.taken[0]
	if *root.ExitCode != 127 || slices.ContainsFunc(root.Resources, func(r narrative.Resource) bool {
		return r.Kind == recountv1.ResourceKind_RESOURCE_KIND_PATH && r.Access&narrative.Implied == 0
	}) {
		return out
	}
	for _, c := range w.taken[1:] {
		edges := j.direct[c.ID]
		out[c.ID] = len(edges) > 0 && c.Goal != root.Goal && c.Effects&(narrative.Installs|narrative.SetsEnvironment|narrative.Configures) == 0 &&
			!slices.ContainsFunc(edges, func(e narrative.Edge) bool {
				return e.Kind != narrative.Temporal && (e.Kind != narrative.Dependency || slices.ContainsFunc(e.Evidence, func(v narrative.Evidence) bool { return signalOf[v.Shows] != "below" }))
			})
	}
	return out
}

// by reports whether a command, or one on its path, is among some.
func (c *reached) by(ids map[schemas.EventID]bool) bool {
	for ; c.from != nil; c = c.from {
		if ids[c.ID] {
			return true
		}
	}
	return false
}

// between returns the commands in the evidence of fixes: those that changed something
// between a failure and the success after it.
func (t *narrativeQuery) between(answered []*reached) (map[schemas.Position]string, error) {
	var positions []schemas.Position
	for _, c := range answered[1:] {
		if c.via.Kind != narrative.Fixes {
			continue
		}
		for _, v := range c.via.Evidence {
			if v.Position != c.Position && v.Position != c.from.Position {
				positions = append(positions, v.Position)
			}
		}
	}
	names := map[schemas.Position]string{}
	err := t.segment.ViewAt(t.Ctx, positions, func(_ int, v *segment.View) error {
		names[v.Position()] = inBrief(v.Command())
		return nil
	})
	return names, err
}

// whyHint returns the reason why there are no causes, or what was cut off.
func (t *narrativeQuery) whyHint(w *walk, answered int) string {
	weak := int64(0)
	for _, n := range w.weak {
		weak += n
	}
	switch more := len(w.taken) - 1 - answered; {
	case answered == 0 && w.cutNodes:
		return "nodes 1 allows no cause; raise it"
	case answered == 0 && t.walk.MinWeight > 0 && weak > 0:
		return fmt.Sprintf("edges lead to it, but none with a weight of at least %g; lower min_weight", t.walk.MinWeight)
	case answered == 0 && len(t.kinds) > 0:
		return fmt.Sprintf("no %s edge leads to it; give other kinds, or none to follow all kinds that can be causes", strings.Join(t.walk.Kinds, " or "))
	case answered == 0:
		return ask.NothingShows + ask.RanBefore
	case more > 0:
		if more == 1 {
			return "1 weaker cause is left out; raise limit to see it"
		}
		return fmt.Sprintf("%d weaker causes are left out; raise limit to see them", more)
	case w.cutNodes:
		return fmt.Sprintf("the search stopped at %d commands; raise nodes to continue", t.walk.Nodes)
	case w.cutDepth:
		return fmt.Sprintf("the search stopped %d edges away; raise depth to continue", t.walk.Depth)
	}
	return ""
}
